/** Reads JSON answers: a text as JSON, and the value at a path within. */
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'

export const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A text as JSON, or the text itself if it is not JSON. */
export const parsed = (text: string): JsonValue => {
  try {
    const value: JsonValue = JSON.parse(text)
    return value
  } catch {
    return text
  }
}

/**
 * The value at a path such as `data.dataset.urn`; `\.` is a dot within a name. Undefined if there is none.
 */
export const valueAt = (value: JsonValue | undefined, path: string): JsonValue | undefined => {
  let current = value
  for (const step of path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'))) {
    if (Array.isArray(current)) current = current[Number(step)]
    else if (isJsonObject(current)) current = current[step]
    else return undefined
  }
  return current
}

/**
 * The parts of `actual` at the places that `expected` contains, so that the two can be compared as a whole.
 */
export const pick = (actual: JsonValue | undefined, expected: JsonValue): JsonValue | undefined => {
  if (Array.isArray(expected) && Array.isArray(actual))
    return actual.map((entry, index) =>
      index < expected.length ? (pick(entry, expected[index] ?? null) ?? null) : entry
    )
  if (!isJsonObject(expected) || !isJsonObject(actual)) return actual
  return Object.fromEntries(
    Object.entries(expected).flatMap(([key, entry]) => {
      const found = pick(actual[key], entry)
      return found === undefined ? [] : [[key, found]]
    })
  )
}
