/**
 * Unpacks a line of `GET /loads/{id}/rejects` that is sent again after a correction: only the record in it
 * counts.
 */
import { membersOfFirst } from '../model/json-members.ts'
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
    return isObject(value.record) ? textOfRecord(text) : null
  } catch {
    // Not JSON: the parser of the record will report it.
    return null
  }
}

/** As it was sent: printing it again would change numbers that JavaScript cannot represent. */
function textOfRecord(text: string): string | null {
  let found: string | null = null
  for (const { name, value } of membersOfFirst(text)) if (name === 'record') found = value
  return found
}
