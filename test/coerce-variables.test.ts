/** Variables of GraphQL requests: what is coerced by what was worked out once is what graphql makes of them. */
import { readFileSync } from 'node:fs'
import { buildSchema, getOperationAST, getVariableValues, isEnumType, isInputObjectType, isInputType, isListType, isNonNullType, parse, type GraphQLInputType } from 'graphql'
import t from 'tap'
import { createCoerceVariables } from '../api/graphql/coerce-variables.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { fc, seed } from './support/fast-check.ts'

const sdl = `${readFileSync(packagePath('api/graphql/schema.graphql'), 'utf8')}
input ForTestNested { required: Int!, preset: [String!] = ["a"], presetRequired: Boolean! = true, self: ForTestNested, list: [[Float]!] }
`
const schema = buildSchema(sdl)
const maxErrors = 10

const junk = fc.constantFrom<unknown>(null, 0, -1, 1.5, 2 ** 53, true, '', 'x', '1', [], {}, [null], [[]], { x: 1 }, 'ASSETS', undefined)

/** Values that mostly fit a type, and now and then do not. */
function valuesOf(type: GraphQLInputType, depth = 0): fc.Arbitrary<unknown> {
  if (isNonNullType(type)) return valuesOf(type.ofType, depth)
  return fc.oneof({ weight: 12, arbitrary: fitting(type, depth) }, { weight: 1, arbitrary: junk })
}

function fitting(type: GraphQLInputType, depth: number): fc.Arbitrary<unknown> {
  if (isListType(type)) return fc.oneof({ weight: 5, arbitrary: fc.array(valuesOf(type.ofType, depth + 1), { maxLength: 3 }) }, { weight: 1, arbitrary: valuesOf(type.ofType, depth + 1) })
  if (isEnumType(type)) return fc.constantFrom(...type.getValues().map(({ name }) => name))
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter((field) => depth < 4 || isNonNullType(field.type))
    const required = fields.filter((field) => isNonNullType(field.type)).map(({ name }) => name)
    const model = Object.fromEntries(fields.map((field) => [field.name, valuesOf(field.type, depth + 1)]))
    return fc.oneof({ weight: 20, arbitrary: fc.record(model, { requiredKeys: required }) }, { weight: 1, arbitrary: fc.record({ ...model, unknown: fc.constant(1) }, { requiredKeys: [] }) })
  }
  if (isNonNullType(type)) return fitting(type.ofType, depth)
  const named: Record<string, fc.Arbitrary<unknown>> = { Int: fc.integer({ min: -5, max: 5 }), Float: fc.double({ noNaN: true, noDefaultInfinity: true }), Boolean: fc.boolean(), Long: fc.integer({ min: 0, max: 2 ** 40 }) }
  return named[type.name] ?? fc.string({ maxLength: 4 })
}

const inputNames = Object.values(schema.getTypeMap()).filter((type) => isInputObjectType(type)).map(({ name }) => name)

t.test('every input type of the schema is coerced as graphql coerces it', (t) => {
  t.comment(`seed ${seed}`)
  let plain = 0
  let refused = 0
  for (const name of inputNames) {
    const document = parse(`query($input: ${name}!, $list: [${name}!] = [], $count: Int = 3, $text: String) { __typename }`)
    const definitions = getOperationAST(document)?.variableDefinitions ?? []
    const coerceVariables = createCoerceVariables(schema, { maxErrors })
    const type = schema.getType(name)
    if (!type || !isInputType(type)) throw new Error(`${name} is no input type`)
    const variables = fc.record({ input: valuesOf(type), list: fc.oneof(fc.array(valuesOf(type), { maxLength: 2 }), junk), count: fc.oneof(fc.integer({ min: 0, max: 9 }), junk), text: fc.oneof(fc.string(), junk) }, { requiredKeys: [] })
    fc.assert(fc.property(variables, (drawn) => {
      // As they come from a body: what is undefined is not there.
      const sent = JSON.parse(JSON.stringify(drawn)) as Record<string, unknown>
      const expected = getVariableValues(schema, definitions, sent, { maxErrors })
      const found = coerceVariables(document, definitions, sent)
      if (expected.errors) refused += 1
      else plain += 1
      return JSON.stringify([found.errors?.map(String), found.coerced]) === JSON.stringify([expected.errors?.map(String), expected.coerced])
    }), { seed, numRuns: 100 })
  }
  t.ok(plain > 5 * inputNames.length && refused > 5 * inputNames.length, `${plain} fit and ${refused} do not`)
  t.end()
})

t.test('a variable of a type that is no input type is refused as graphql refuses it', (t) => {
  const document = parse('query($a: Dataset, $b: NoSuchType) { __typename }')
  const definitions = getOperationAST(document)?.variableDefinitions ?? []
  const found = createCoerceVariables(schema, { maxErrors })(document, definitions, { a: 1, b: 1 })
  t.strictSame(found.errors?.map(String), getVariableValues(schema, definitions, { a: 1, b: 1 }, { maxErrors }).errors?.map(String))
  t.equal(found.errors?.length, 2)
  t.end()
})
