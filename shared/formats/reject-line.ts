/**
 * Unpacks a line of `GET /loads/{id}/rejects` that is sent again after a correction: only the record in it
 * counts.
 */
import { isObject } from '../model/json-values.ts'

/** The record in a line of rejects, as text or as JSON; any other line is returned unchanged. */
export function recordOfReject(text: string): string {
  // No valid record has this field, so almost no line is parsed twice.
  return text.includes('"record"') ? (opened(text) ?? text) : text
}

function opened(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value) || typeof value.line !== 'number' || typeof value.code !== 'string') return null
    if (typeof value.record === 'string') return value.record
    return isObject(value.record) ? JSON.stringify(value.record) : null
  } catch {
    // Not JSON, or nested too deeply to be printed: the parser of the record will report it.
    return null
  }
}
