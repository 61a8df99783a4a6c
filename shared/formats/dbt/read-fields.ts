/** Reads fields from JSON that dbt wrote. A value of an unexpected type counts as absent. */
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'

/** Null for an empty text, and for a value that is not a text. */
export const textOf = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null

export const objectOf = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {})

/** The texts in a list. A single text counts as a list of one. */
export const textsOf = (value: JsonValue | undefined): string[] =>
  (typeof value === 'string' ? [value] : listOf(value)).flatMap((each) => textOf(each) ?? [])
