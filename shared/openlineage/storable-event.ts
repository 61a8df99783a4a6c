/** Leaves out what cannot be stored of an event, such as a text with U+0000, so that the rest of it counts. */
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { JsonValue } from '../model/changes.ts'
import { checkJson } from '../model/json-checks.ts'
import { isObject } from '../model/json-values.ts'
import type { EventParts } from './parts.ts'

/**
 * The event as JSON that can be stored. Members that cannot be are left out and noted, and elements of lists
 * become null, so that the places of the others stay. Throws LIMIT_EXCEEDED (jsonValuesMaxCount).
 */
export function storableEvent(sent: unknown, field: string, parts: EventParts): JsonValue {
  try {
    return checkJson(sent, field, { maxBytes: Infinity })
  } catch (error) {
    if (!(error instanceof CatalogError) || error.details.limit === 'jsonValuesMaxCount') throw error
  }
  return checkJson(storable(sent, field, limits.jsonMaxDepth, parts) ?? null, field, { maxBytes: Infinity })
}

/** Undefined if the value itself cannot be stored. */
function storable(value: unknown, field: string, depthLeft: number, parts: EventParts): unknown {
  if (typeof value !== 'object' || value === null)
    return parts.take(() => checkJson(value, field)) ?? (value === null ? null : undefined)
  if (depthLeft === 0) {
    parts.drop(
      new CatalogError('LIMIT_EXCEEDED', `${field} is nested deeper than ${limits.jsonMaxDepth} levels`, {
        field,
        limit: 'jsonMaxDepth',
        maximum: limits.jsonMaxDepth
      })
    )
    return undefined
  }
  if (Array.isArray(value))
    return value.map((each, index) => storable(each, `${field}[${index}]`, depthLeft - 1, parts) ?? null)
  const keys = Object.keys(value)
  // A number that is kept digit by digit has no keys.
  if (keys.length === 0) return value
  const kept = keys.flatMap((key): [string, unknown][] => {
    const inner: unknown = Reflect.get(value, key)
    const place = field === '' ? key : `${field}.${key}`
    if (parts.take(() => checkKey(key, inner, place)) === null) return []
    const found = storable(inner, place, depthLeft - 1, parts)
    return found === undefined ? [] : [[key, found]]
  })
  return Object.fromEntries(kept)
}

/** Checks the key alone. Returns true, and throws what checkJson throws. */
function checkKey(key: string, inner: unknown, place: string): true {
  const alone = isObject(inner) && Object.hasOwn(inner, 'prototype') ? { prototype: null } : null
  checkJson(Object.fromEntries([[key, alone]]), place)
  return true
}
