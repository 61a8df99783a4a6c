/**
 * Parses the text of events without losing digits: a whole number beyond 2^53, such as the snapshot id of an
 * Iceberg table, is kept as written.
 */
import { findInexactNumber } from '../model/exact-numbers.ts'
import { parseJson } from '../model/json-checks.ts'
import { checkKeyCounts } from '../model/json-keys.ts'

/** TypeScript's library does not declare it yet. */
const { rawJSON } = JSON as unknown as { rawJSON: (literal: string) => unknown }

/**
 * The result is not checked, and JSON.stringify writes it as it was sent. `what` names the text in errors.
 * Throws BAD_REQUEST if the text is not JSON, LIMIT_EXCEEDED (jsonObjectKeysMaxCount).
 */
export function parseEventText(text: string, what: string): unknown {
  if (findInexactNumber(text) === null) return parseJson(text, what)
  checkKeyCounts(text, Infinity)
  try {
    return JSON.parse(text, keepDigits)
  } catch {
    // Throws the error that says what is wrong with the text.
    return parseJson(text, what)
  }
}

const keepDigits = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' &&
  Number.isInteger(value) &&
  context?.source !== undefined &&
  String(value) !== context.source
    ? rawJSON(context.source)
    : value
