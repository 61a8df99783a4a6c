/** Checks texts that people write: one-line names, descriptions, ids. */
import { CatalogError } from '../errors.ts'
import { limits, type LimitName } from '../limits.ts'

type Place = { field: string; limit: LimitName }

/**
 * A name: trimmed, not empty, one line, without control characters and marks that change the direction of
 * text (bidi overrides and isolates). Throws BAD_REQUEST, LIMIT_EXCEEDED, INVALID_CHARACTER.
 */
export function checkLine(text: string, { field, limit }: Place): string {
  const line = text.trim()
  if (line === '') throw new CatalogError('BAD_REQUEST', `${field} must not be empty`, { field })
  checkLength(line, { field, limit })
  for (const character of line) {
    const code = character.codePointAt(0) ?? 0
    if (isControl(code) || reordersText(code) || isSurrogate(code)) throw forbidden(code, field)
  }
  return line
}

/**
 * A text of several lines: any characters that Postgres can store. Throws LIMIT_EXCEEDED, INVALID_CHARACTER.
 */
export function checkLines(text: string, { field, limit }: Place): string {
  checkLength(text, { field, limit })
  if (text.includes('\0')) throw forbidden(0, field)
  if (!text.isWellFormed())
    throw new CatalogError(
      'INVALID_CHARACTER',
      `${field} contains a lone surrogate, which cannot be stored`,
      {
        field
      }
    )
  return text
}

/**
 * Whether a text is a UUID. Check this before a query, because Postgres reports an error for any other text.
 */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Characters are code points: an emoji counts once. */
function checkLength(text: string, { field, limit }: Place): void {
  const maximum = limits[limit]
  if (text.length <= maximum) return
  const actual = [...text].length
  if (actual > maximum)
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `${field} has ${actual} characters; at most ${maximum} are allowed`,
      { field, limit, maximum, actual }
    )
}

const isControl = (code: number): boolean =>
  code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0x2028 || code === 0x2029
const reordersText = (code: number): boolean =>
  (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)
const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff

const forbidden = (code: number, field: string): CatalogError =>
  new CatalogError(
    'INVALID_CHARACTER',
    `${field} contains U+${code.toString(16).toUpperCase().padStart(4, '0')}, which is not allowed here`,
    { field }
  )
