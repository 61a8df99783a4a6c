/** A line of `GET /loads/{id}/rejects` that is sent again, fixed: what counts is the record in it. */
import { isObject } from '../model/json-values.ts'

/** The record that a line of rejects holds, as a text or as JSON; of any other line the line itself. */
export function recordOfReject(text: string): string {
  // No record has such a field, so almost no line is looked at twice.
  return text.includes('"record"') ? (opened(text) ?? text) : text
}

function opened(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value) || typeof value.line !== 'number' || typeof value.code !== 'string') return null
    if (typeof value.record === 'string') return value.record
    return isObject(value.record) ? JSON.stringify(value.record) : null
  } catch {
    // No JSON, or too deep to be written again: its parser says so.
    return null
  }
}
