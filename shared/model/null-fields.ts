/** Leaves out the fields of a document that are null: they say the same as absent ones. */
import type { JsonObject, JsonValue } from './changes.ts'
import { isObject } from './json-values.ts'

/** At every depth, except for nulls that are entries of a list. The document itself where it has none, for most have none. */
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
