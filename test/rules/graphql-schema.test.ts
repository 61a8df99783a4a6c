/**
 * The GraphQL schema matches what DataHub's clients know, and does not change by accident. WRITE_SCHEMA=1 npm
 * test -- test/rules/graphql-schema.test.ts rewrites the snapshot; review the difference.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import {
  buildSchema,
  findBreakingChanges,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  lexicographicSortSchema,
  parse,
  print,
  printSchema,
  validate,
  visit,
  type GraphQLEnumType,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType
} from 'graphql'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'

const read = (path: string): string => readFileSync(packagePath(path), 'utf8')
const ours = buildSchema(read('api/graphql/schema.graphql'))
const snapshot = 'test/cases/graphql/schema-snapshot.graphql'

/** Without descriptions, which may be improved at any time. */
const shapeOf = (schema: GraphQLSchema): string =>
  `${print(
    visit(parse(printSchema(lexicographicSortSchema(schema))), {
      enter: (node) =>
        'description' in node && node.description ? { ...node, description: undefined } : undefined
    })
  )}\n`

t.test('the schema is its snapshot, so that a change of it is seen', async (t) => {
  if (process.env.WRITE_SCHEMA === '1') writeFileSync(packagePath(snapshot), shapeOf(ours))
  const before = read(snapshot)
  t.strictSame(
    findBreakingChanges(buildSchema(before), ours).map(({ description }) => description),
    [],
    'nothing that a client may use is gone'
  )
  t.equal(shapeOf(ours), before)
})

t.test('every type, field, argument, input field and enum value has a sentence of description', async (t) => {
  t.strictSame(
    Object.values(ours.getTypeMap())
      .filter((type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type))
      .flatMap(undescribed),
    []
  )
})

/** The places in a type without a description, or where the description is not a sentence. */
function undescribed(type: GraphQLNamedType): string[] {
  const values = isEnumType(type) ? type.getValues() : []
  const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : []
  const inputFields = isInputObjectType(type) ? Object.values(type.getFields()) : []
  return [
    { place: type.name, description: type.description },
    ...[...values, ...fields, ...inputFields].map(({ name, description }) => ({
      place: `${type.name}.${name}`,
      description
    })),
    ...fields.flatMap((field) =>
      field.args.map(({ name, description }) => ({
        place: `${type.name}.${field.name}(${name})`,
        description
      }))
    )
  ]
    .filter(({ description }) => !/^\S[^]*\S\.$/.test(description ?? ''))
    .map(({ place }) => place)
}

t.test('every field and argument that clients of DataHub use is there, with its type', async (t) => {
  const theirs = buildSchema(read('test/cases/graphql/datahub.graphql'))
  const faults = Object.values(theirs.getTypeMap())
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((wanted) => faultsOf(wanted, ours.getType(wanted.name)))
  t.strictSame(faults, [])
})

/** Enums that DataHub does not have. */
const ownEnums: ReadonlySet<string> = new Set([
  'GraphSide',
  'LineageLevel',
  'LineageMapBoxKind',
  'MissingReferences'
])

t.test("every enum has the values of DataHub's, and others only as deprecated names", async (t) => {
  const theirs = buildSchema(read('test/cases/graphql/datahub.graphql'))
  for (const found of Object.values(ours.getTypeMap())) {
    if (!isEnumType(found) || found.name.startsWith('__') || ownEnums.has(found.name)) continue
    const wanted = theirs.getType(found.name)
    t.strictSame(
      valueNames(found, ({ deprecationReason }) => !deprecationReason),
      isEnumType(wanted) ? valueNames(wanted) : [],
      found.name
    )
  }
})

const valueNames = (type: GraphQLEnumType, isListed?: (value: GraphQLEnumValue) => boolean): string[] =>
  type
    .getValues()
    .filter((value) => isListed?.(value) ?? true)
    .map(({ name }) => name)
    .sort()

t.test("what DataHub's SDK and command line send is valid", async (t) => {
  t.strictSame(
    validate(ours, parse(read('test/cases/graphql/clients.graphql'))).map(({ message }) => message),
    []
  )
})

function faultsOf(wanted: GraphQLNamedType, found: GraphQLNamedType | undefined): string[] {
  const { name } = wanted
  if (!found || found.constructor !== wanted.constructor)
    return [`${name} is not there as ${wanted.constructor.name}`]
  if (isEnumType(wanted) && isEnumType(found))
    return wanted
      .getValues()
      .filter((value) => !found.getValue(value.name))
      .map((value) => `${name}.${value.name}`)
  if (isUnionType(wanted) && isUnionType(found))
    return wanted
      .getTypes()
      .filter((type) => !found.getTypes().some((other) => other.name === type.name))
      .map((type) => `${name} of ${type.name}`)
  if (isInputObjectType(wanted) && isInputObjectType(found))
    return sentFaults(name, Object.values(wanted.getFields()), found.getFields())
  if ((isObjectType(wanted) || isInterfaceType(wanted)) && (isObjectType(found) || isInterfaceType(found))) {
    return Object.values(wanted.getFields()).flatMap((field) =>
      fieldFaults(`${name}.${field.name}`, field, found.getFields()[field.name])
    )
  }
  return []
}

function fieldFaults(
  path: string,
  wanted: GraphQLField<unknown, unknown>,
  found: GraphQLField<unknown, unknown> | undefined
): string[] {
  if (!found) return [path]
  const shown = isShownAs(wanted.type, found.type)
    ? []
    : [`${path}: ${String(found.type)} in place of ${String(wanted.type)}`]
  const args = Object.fromEntries(found.args.map((argument) => [argument.name, argument]))
  return [...shown, ...sentFaults(path, wanted.args, args)]
}

type Sent = Pick<GraphQLInputField, 'name' | 'type' | 'defaultValue'>

/** The differences that break a client that sends only what it knows. */
function sentFaults(path: string, wanted: readonly Sent[], found: { [name: string]: Sent }): string[] {
  const unknown = wanted.flatMap(({ name, type }) => {
    const other = found[name]
    if (!other) return [`${path}.${name}`]
    return isTakenAs(type, other.type)
      ? []
      : [`${path}.${name}: ${String(other.type)} in place of ${String(type)}`]
  })
  const demanded = Object.values(found).filter(
    ({ name, type, defaultValue }) =>
      isNonNullType(type) && defaultValue === undefined && !wanted.some((other) => other.name === name)
  )
  return [...unknown, ...demanded.map(({ name }) => `${path}.${name} is demanded`)]
}

/** Our output types may be stricter. */
function isShownAs(wanted: GraphQLType, found: GraphQLType): boolean {
  if (isNonNullType(found)) return isShownAs(isNonNullType(wanted) ? wanted.ofType : wanted, found.ofType)
  if (isNonNullType(wanted)) return false
  if (isListType(wanted)) return isListType(found) && isShownAs(wanted.ofType, found.ofType)
  return !isListType(found) && String(wanted) === String(found)
}

/** Our input types may be less strict. */
const isTakenAs = (wanted: GraphQLType, found: GraphQLType): boolean => isShownAs(found, wanted)
