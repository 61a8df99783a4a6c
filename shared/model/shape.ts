/**
 * The building blocks of an aspect's shape. Each checks a value and returns it prepared.
 *
 * Prepared means: with defaults, without nulls in optional fields, with Avro's unions with null unwrapped,
 * and with unknown fields kept as sent. An invalid value is refused with DataHub's message and the path in
 * `details.field`. The value must have passed checkJson.
 */
import { CatalogError } from '../errors.ts'
import type { ErrorDetails } from '../errors.ts'
import type { LimitName } from '../limits.ts'
import { toUrn, entityTypeOf } from '../urn/urn.ts'
import type { JsonObject, JsonValue } from './changes.ts'
import { checkCount } from './count-checks.ts'
import { isObject } from './json-values.ts'

/** `place` is the path of the value, for example `aspect.upstreams[3].dataset`. */
export type Shape = (value: JsonValue, place: string) => JsonValue

/** A field of a record. `fallback` makes the value if none was sent. */
type Field = { shape: Shape; isRequired: boolean; fallback?: () => JsonValue }

export const required = (shape: Shape): Field => ({ shape, isRequired: true })
export const optional = (shape: Shape): Field => ({ shape, isRequired: false })
export const defaulted = (shape: Shape, fallback: () => JsonValue): Field => ({
  shape,
  isRequired: false,
  fallback
})

/** The error VALIDATION_FAILED with a path, in the wording of DataHub. */
export const shapeFault = (place: string, reason: string, details: ErrorDetails = {}): CatalogError =>
  new CatalogError('VALIDATION_FAILED', `ERROR :: ${pointerOf(place)} :: ${reason}`, {
    field: place,
    ...details
  })

/** Prints `aspect.upstreams[3].dataset` as DataHub does: `/upstreams/3/dataset`. */
const pointerOf = (place: string): string =>
  `/${place
    .replace(/^aspect\.?/, '')
    .replaceAll('[', '/')
    .replaceAll(']', '')
    .replaceAll('.', '/')}`

export const record = (fields: { [name: string]: Field }): Shape => {
  const known = new Map(Object.entries(fields))
  return (value, place) => {
    if (!isObject(value)) throw shapeFault(place, 'record type is not backed by an object')
    const prepared: JsonObject = {}
    for (const [name, given] of Object.entries(value)) {
      const field = known.get(name)
      if (!field) prepared[name] = given
      else if (given !== null)
        prepared[name] = field.isRequired
          ? field.shape(given, `${place}.${name}`)
          : prepareOptional(field.shape, given, `${place}.${name}`)
    }
    for (const [name, { isRequired, fallback }] of known) {
      if (Object.hasOwn(prepared, name)) continue
      if (fallback) prepared[name] = fallback()
      else if (isRequired)
        throw shapeFault(`${place}.${name}`, 'field is required but not found and has no default value')
    }
    return prepared
  }
}

const avroBranches = new Set(['string', 'boolean', 'int', 'long', 'float', 'double', 'array', 'map'])

/**
 * In Avro's JSON, a nullable field is a union, with the value under the name of its branch: `{"string":
 * "x"}`, `{"com.linkedin.pegasus2avro.common.AuditStamp": {…}}`. Old snapshots have this form; it is
 * unwrapped.
 */
function prepareOptional(shape: Shape, given: JsonValue, place: string): JsonValue {
  const [pair, ...others] = isObject(given) ? Object.entries(given) : []
  if (!pair || others.length > 0 || shape === anything) return shape(given, place)
  const [branch, inner] = pair
  if (branch.startsWith('com.linkedin.') && isObject(inner)) return shape(inner, place)
  if (!avroBranches.has(branch)) return shape(given, place)
  try {
    return shape(given, place)
  } catch (error) {
    if (error instanceof CatalogError && (error.code === 'VALIDATION_FAILED' || error.code === 'INVALID_URN'))
      return shape(inner, place)
    throw error
  }
}

/** `limit` is the name of the limit on the length, in limits.ts. */
export const list =
  (shape: Shape, limit?: LimitName): Shape =>
  (value, place) => {
    if (!Array.isArray(value)) throw shapeFault(place, 'array type is not backed by a list')
    if (limit) checkCount(value.length, limit, { field: place, what: `${place} has ${value.length} entries` })
    return value.map((entry, index) => shape(entry, `${place}[${index}]`))
  }

/** An object whose values all have one shape. Null values are left out. */
export const map =
  (shape: Shape): Shape =>
  (value, place) => {
    if (!isObject(value)) throw shapeFault(place, 'map type is not backed by an object')
    const prepared: JsonObject = {}
    for (const [name, given] of Object.entries(value)) {
      if (given !== null) prepared[name] = shape(given, `${place}.${name}`)
    }
    return prepared
  }

export const anything: Shape = (value) => value

export const text: Shape = (value, place) => {
  if (typeof value !== 'string') throw shapeFault(place, 'value cannot be coerced to String')
  return value
}

export const filledText: Shape = (value, place) => {
  if (typeof value !== 'string' || value === '') throw shapeFault(place, 'must be a string that is not empty')
  return value
}

export const flag: Shape = (value, place) => {
  if (typeof value !== 'boolean') throw shapeFault(place, 'value cannot be coerced to Boolean')
  return value
}

/** A whole number that JavaScript represents exactly. Times are epoch milliseconds. */
export const wholeNumber: Shape = (value, place) => {
  if (!Number.isSafeInteger(value)) throw shapeFault(place, 'value cannot be coerced to Long')
  return value
}

export const numberBetween =
  (least: number, most: number): Shape =>
  (value, place) => {
    if (typeof value !== 'number' || !(value >= least && value <= most))
      throw shapeFault(place, `must be a number from ${least} to ${most}`)
    return value
  }

export const oneOf =
  (...allowed: string[]): Shape =>
  (value, place) => {
    if (typeof value !== 'string' || !allowed.includes(value))
      throw shapeFault(place, `must be one of ${allowed.join(', ')}`, { allowed })
    return value
  }

/**
 * A URN of one of these entity types; of any type if none is given. Throws INVALID_URN, INVALID_CHARACTER,
 * LIMIT_EXCEEDED.
 */
export const urn =
  (...entityTypes: readonly string[]): Shape =>
  (value, place) => {
    const parsed = toUrn(value, place, entityTypes[0])
    if (entityTypes.length > 0 && !entityTypes.includes(entityTypeOf(parsed))) {
      throw shapeFault(place, `must be the URN of a ${entityTypes.join(' or ')}, not ${parsed}`, {
        urn: parsed,
        allowed: entityTypes
      })
    }
    return parsed
  }
