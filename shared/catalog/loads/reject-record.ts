/** Makes the row that says why a record was not applied. */
import type { CatalogError, ErrorCode } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Reject } from '../../store/rejects.ts'

/** Postgres cannot store U+0000, and a lone surrogate would change the text. */
const storable = (text: string): string => text.replaceAll('\0', '\u{fffd}').toWellFormed()

/** The first bytes of a text, ending at a whole character. */
function firstBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= maxBytes) return text
  let end = maxBytes
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}

/** `text` is the record as it was sent; rejectRecordMaxBytes of it are kept. */
export function toReject(
  line: number,
  text: string,
  reason: { code: ErrorCode; message: string; field?: string | undefined }
): Reject {
  const kept = firstBytes(storable(text), limits.rejectRecordMaxBytes)
  return {
    line,
    code: reason.code,
    message: storable(reason.message),
    field: reason.field === undefined ? null : storable(reason.field),
    record: kept,
    isWhole: kept === text
  }
}

export const reasonOf = (
  error: CatalogError
): { code: ErrorCode; message: string; field?: string | undefined } => ({
  code: error.code,
  message: error.message,
  field: error.details.field
})
