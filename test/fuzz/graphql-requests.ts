/**
 * Random GraphQL requests from the schema: all operations, arguments and fields, with valid and invalid
 * values.
 */
import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema
} from 'graphql'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { isObject } from '../../shared/model/json-values.ts'
import { strangeNumber, strangeText, strangeValue, urns, type Random } from './random.ts'

const strangeShare = 0.06
const fieldsPerSelection = 4
const maxLevels = 4

/** The body of a request. */
export function graphqlBody(random: Random, schema: GraphQLSchema): JsonValue {
  if (random.chance(0.02))
    return random.chance(0.5)
      ? strangeValue(random)
      : { query: strangeValue(random), variables: strangeValue(random), operationName: strangeValue(random) }
  const mutation = schema.getMutationType()
  const isMutation = mutation !== undefined && mutation !== null && random.chance(0.3)
  const root = isMutation ? mutation : schema.getQueryType()
  if (!root) throw new Error('the schema has no queries')
  const variables: JsonObject = {}
  const declared: string[] = []
  const asVariable = (type: GraphQLInputType, value: JsonValue): string => {
    const name = `v${declared.length}`
    declared.push(`$${name}: ${String(type)}`)
    variables[name] = value
    return `$${name}`
  }
  const fields = Array.from(
    { length: random.chance(0.8) ? 1 : 2 },
    (_, index) => `f${index}: ${fieldText(random, schema, pickField(random, root), asVariable, 1)}`
  )
  const query = `${isMutation ? 'mutation' : 'query'} q${declared.length > 0 ? `(${declared.join(', ')})` : ''} { ${fields.join(' ')} }`
  return {
    query: random.chance(0.01) ? query.slice(0, random.below(query.length)) : query,
    variables,
    ...(random.chance(0.02) ? { operationName: strangeValue(random) } : {})
  }
}

type AsVariable = (type: GraphQLInputType, value: JsonValue) => string

function pickField(
  random: Random,
  type: GraphQLObjectType | { getFields: GraphQLObjectType['getFields'] }
): GraphQLField<unknown, unknown> {
  const fields = Object.values(type.getFields())
  const field = fields[random.below(fields.length)]
  if (!field) throw new Error('a type has no fields')
  return field
}

function fieldText(
  random: Random,
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  asVariable: AsVariable,
  level: number
): string {
  const args = field.args
    .filter((arg) => (isNonNullType(arg.type) ? !random.chance(0.02) : random.chance(0.5)))
    .map((arg) => `${arg.name}: ${argumentText(random, arg, asVariable)}`)
  return `${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}${selectionOf(random, schema, field.type, asVariable, level)}`
}

function argumentText(random: Random, { type }: GraphQLArgument, asVariable: AsVariable): string {
  const value = random.chance(strangeShare) ? strangeValue(random) : valueOf(random, type, 0)
  return random.chance(0.6) ? asVariable(type, value) : literal(value)
}

/** A value in GraphQL syntax; a text that looks like the name of an enum value is not quoted. */
function literal(value: JsonValue): string {
  if (typeof value === 'string')
    return /^[A-Z][A-Z_]+$/.test(value) ? value : JSON.stringify(value.toWellFormed())
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (isObject(value))
    return `{${Object.entries(value)
      .filter(([name]) => /^[_A-Za-z]\w*$/.test(name))
      .map(([name, inner]) => `${name}: ${literal(inner)}`)
      .join(', ')}}`
  return String(value)
}

function valueOf(random: Random, type: GraphQLInputType, depth: number): JsonValue {
  if (random.chance(strangeShare / 2)) return strangeValue(random)
  if (isNonNullType(type)) return valueOf(random, type.ofType, depth)
  if (isListType(type))
    return Array.from({ length: random.below(3) }, () => valueOf(random, type.ofType, depth + 1))
  if (isEnumType(type)) return type.getValues()[random.below(type.getValues().length)]?.name ?? null
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(
      (field) => isNonNullType(field.type) || (depth < 4 && random.chance(0.4))
    )
    return Object.fromEntries(fields.map((field) => [field.name, valueOf(random, field.type, depth + 1)]))
  }
  if (type.name === 'Boolean') return random.chance(0.5)
  if (type.name === 'Int' || type.name === 'Long')
    return random.chance(0.5) ? random.below(20) : strangeNumber(random)
  if (type.name === 'Float') return strangeNumber(random)
  return random.chance(0.7) ? random.pick(urns) : strangeText(random)
}

function selectionOf(
  random: Random,
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  asVariable: AsVariable,
  level: number
): string {
  const named = getNamedType(type)
  if (isUnionType(named)) return ` { __typename }`
  if (!isObjectType(named) && !isInterfaceType(named)) return ''
  if (level >= maxLevels) return ' { __typename }'
  const fields = Array.from(
    { length: 1 + random.below(fieldsPerSelection) },
    (_, index) => `s${index}: ${fieldText(random, schema, pickField(random, named), asVariable, level + 1)}`
  )
  const [possible] = isInterfaceType(named) ? schema.getPossibleTypes(named).slice(random.below(10)) : []
  const inline = possible
    ? ` ... on ${possible.name} { i: ${fieldText(random, schema, pickField(random, possible), asVariable, level + 1)} }`
    : ''
  return ` { ${fields.join(' ')}${inline} }`
}
