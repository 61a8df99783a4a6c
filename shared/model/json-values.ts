/** Type checks for JSON of unknown shape. */
import type { JsonObject, JsonValue } from './changes.ts'

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The entries of a list; empty for any other value. */
export const listOf = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : [])
