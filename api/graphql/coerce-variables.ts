/**
 * Brings the variables of a request into the shape that the document says, as graphql does, by what was worked out once for
 * the document. Whatever is not plainly right is left to graphql, which says what is wrong with it.
 *
 * graphql works the types out anew for each value of each request: a sixth of what a small read cost.
 */
import {
  getVariableValues, isInputObjectType, isInputType, isListType, isNonNullType, typeFromAST, valueFromAST,
  type DocumentNode, type GraphQLError, type GraphQLInputObjectType, type GraphQLInputType, type GraphQLSchema, type VariableDefinitionNode
} from 'graphql'
import { isObject } from '../../shared/model/json-values.ts'

export type Variables = { [name: string]: unknown }
export type CoercedVariables = { coerced: Variables, errors?: undefined } | { coerced?: undefined, errors: readonly GraphQLError[] }

/** Not plainly right. */
const doubt = Symbol('doubt')
type Coerce = (value: unknown) => unknown
type Variable = { name: string, coerce: Coerce, preset: unknown, isRequired: boolean }

/** `document` must be one whose only or wanted operation has these definitions, each time it comes. */
export type CoerceVariables = (document: DocumentNode, definitions: readonly VariableDefinitionNode[], variables: Variables) => CoercedVariables

export function createCoerceVariables(schema: GraphQLSchema, { maxErrors }: { maxErrors: number }): CoerceVariables {
  const ofDocument = new WeakMap<DocumentNode, readonly Variable[] | null>()
  const ofObject = new Map<GraphQLInputObjectType, Coerce>()

  /** Null where a type is none of the schema: graphql has words for that. */
  function variablesOf(definitions: readonly VariableDefinitionNode[]): readonly Variable[] | null {
    const found: Variable[] = []
    for (const { variable, type: node, defaultValue } of definitions) {
      const type = typeFromAST(schema, node)
      if (!isInputType(type)) return null
      found.push({ name: variable.name.value, coerce: coerceTo(type, ofObject), preset: defaultValue ? valueFromAST(defaultValue, type) : undefined, isRequired: isNonNullType(type) })
    }
    return found
  }

  return (document, definitions, variables) => {
    let known = ofDocument.get(document)
    if (known === undefined) ofDocument.set(document, known = variablesOf(definitions))
    const coerced = known && coerceAll(known, variables)
    return coerced ? { coerced } : getVariableValues(schema, definitions, variables, { maxErrors })
  }
}

function coerceAll(known: readonly Variable[], variables: Variables): Variables | null {
  const coerced: Variables = {}
  for (const { name, coerce, preset, isRequired } of known) {
    if (Object.hasOwn(variables, name)) {
      const value = coerce(variables[name])
      if (value === doubt) return null
      coerced[name] = value
    } else if (preset !== undefined) coerced[name] = preset
    else if (isRequired) return null
  }
  return coerced
}

/** Types may hold themselves, so objects are looked up when they are met. */
function coerceTo(type: GraphQLInputType, ofObject: Map<GraphQLInputObjectType, Coerce>): Coerce {
  if (isNonNullType(type)) {
    const inner = coerceTo(type.ofType, ofObject)
    return (value) => value === null || value === undefined ? doubt : inner(value)
  }
  if (isListType(type)) return orNull(coerceList(coerceTo(type.ofType, ofObject)))
  if (isInputObjectType(type)) {
    return orNull((value) => {
      let coerce = ofObject.get(type)
      if (!coerce) ofObject.set(type, coerce = coerceObject(type, ofObject))
      return coerce(value)
    })
  }
  return orNull((value) => {
    try {
      return type.parseValue(value) ?? doubt
    } catch {
      return doubt
    }
  })
}

const orNull = (coerce: Coerce): Coerce => (value) => value === null ? null : value === undefined ? doubt : coerce(value)

/** One value stands for a list of it. */
const coerceList = (inner: Coerce): Coerce => (value) => {
  const items: unknown[] = []
  for (const each of Array.isArray(value) ? value : [value]) {
    const item = inner(each)
    if (item === doubt) return doubt
    items.push(item)
  }
  return items
}

function coerceObject(type: GraphQLInputObjectType, ofObject: Map<GraphQLInputObjectType, Coerce>): Coerce {
  const fields = Object.values(type.getFields()).map((field) => ({ name: field.name, coerce: coerceTo(field.type, ofObject), preset: field.defaultValue, isRequired: isNonNullType(field.type) }))
  const names = new Set(fields.map(({ name }) => name))
  return (value) => {
    if (!isObject(value) || type.isOneOf) return doubt
    for (const key of Object.keys(value)) if (!names.has(key)) return doubt
    const coerced: Variables = {}
    for (const { name, coerce, preset, isRequired } of fields) {
      const own = value[name]
      if (own === undefined) {
        if (preset !== undefined) coerced[name] = preset
        else if (isRequired) return doubt
        continue
      }
      const inner = coerce(own)
      if (inner === doubt) return doubt
      coerced[name] = inner
    }
    return coerced
  }
}
