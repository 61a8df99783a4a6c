/** Removes the null fields of a document: they mean the same as absent ones. */
import type { JsonObject, JsonValue } from './changes.ts'
import { isObject } from './json-values.ts'

/**
 * Removes them at every depth, but keeps nulls that are entries of a list. Returns the same document if it
 * has none, as most do.
 */
export const withoutNulls = (document: JsonObject): JsonObject =>
  hasNull(document) ? cleaned(document) : document

const hasNull = (value: JsonValue): boolean => {
  if (Array.isArray(value)) return value.some(hasNull)
  return isObject(value) && Object.values(value).some((field) => field === null || hasNull(field))
}

const cleaned = (document: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(document).flatMap(([name, field]) => (field === null ? [] : [[name, cleanedValue(field)]]))
  )

const cleanedValue = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(cleanedValue)
  return isObject(value) ? cleaned(value) : value
}
