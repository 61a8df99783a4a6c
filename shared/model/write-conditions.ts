/**
 * The conditions that a write may have in its headers: on the version or time of the last change, or that the
 * aspect is absent.
 */
import { CatalogError } from '../errors.ts'
import type { JsonObject, JsonValue, WriteHeaders } from './changes.ts'
import { isObject } from './json-values.ts'

/**
 * Reads the conditions from the headers of one proposal. Ignores the case of names, and other headers. Throws
 * BAD_REQUEST for an invalid condition, with its name in `details.field`.
 */
export function parseConditions(headers: JsonValue | undefined): WriteHeaders {
  if (headers === undefined || headers === null) return {}
  if (!isObject(headers))
    throw new CatalogError('BAD_REQUEST', 'headers must be an object', { field: 'headers' })
  const sent = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const conditions: WriteHeaders = {}
  const version = textOf(sent.get('if-version-match'))
  if (version !== undefined) conditions.ifVersionMatch = parseVersion(version)
  const modified = textOf(sent.get('if-modified-since'))
  if (modified !== undefined) conditions.ifModifiedSince = parseTime(modified, 'If-Modified-Since')
  const unmodified = textOf(sent.get('if-unmodified-since'))
  if (unmodified !== undefined) conditions.ifUnmodifiedSince = parseTime(unmodified, 'If-Unmodified-Since')
  const noneMatch = textOf(sent.get('if-none-match'))
  if (noneMatch !== undefined) conditions.ifNoneMatch = parseNoneMatch(noneMatch)
  return conditions
}

/** The inverse of parseConditions. */
export const conditionHeaders = ({
  ifVersionMatch,
  ifModifiedSince,
  ifUnmodifiedSince,
  ifNoneMatch
}: WriteHeaders): JsonObject => ({
  ...(ifVersionMatch === undefined ? {} : { 'If-Version-Match': String(ifVersionMatch) }),
  ...(ifModifiedSince === undefined ? {} : { 'If-Modified-Since': String(ifModifiedSince) }),
  ...(ifUnmodifiedSince === undefined ? {} : { 'If-Unmodified-Since': String(ifUnmodifiedSince) }),
  ...(ifNoneMatch ? { 'If-None-Match': '*' } : {})
})

/** The stored facts that a condition is compared with; null if the aspect is absent. */
type Stored = { version: number; modifiedAt: Date } | null

/** Throws PRECONDITION_FAILED if a condition is not met. An absent aspect counts as never changed. */
export function checkConditions(
  { ifVersionMatch, ifModifiedSince, ifUnmodifiedSince }: WriteHeaders,
  stored: Stored
): void {
  const version = stored?.version ?? -1
  if (ifVersionMatch !== undefined && version !== ifVersionMatch)
    throw failed('If-Version-Match', `Expected version ${ifVersionMatch}, actual version ${version}.`)
  const modifiedAt = stored?.modifiedAt.getTime() ?? 0
  if (ifModifiedSince !== undefined && modifiedAt <= ifModifiedSince)
    throw failed('If-Modified-Since', `Item last modified ${modifiedAt} <= ${ifModifiedSince} (epoch ms)`)
  if (ifUnmodifiedSince !== undefined && modifiedAt > ifUnmodifiedSince)
    throw failed('If-Unmodified-Since', `Item last modified ${modifiedAt} > ${ifUnmodifiedSince} (epoch ms)`)
}

const failed = (field: string, message: string): CatalogError =>
  new CatalogError('PRECONDITION_FAILED', message, { field })

const unreadable = (name: string, message: string): CatalogError =>
  new CatalogError('BAD_REQUEST', message, { field: `headers.${name}` })

/**
 * Undefined if it was not sent. A value other than a text or a number becomes the empty text, which is never
 * a valid condition.
 */
const textOf = (value: JsonValue | undefined): string | undefined =>
  value === undefined || value === null ? undefined : typeof value === 'object' ? '' : String(value)

function parseVersion(text: string): number {
  // No aspect has a version below -1, but such versions are accepted because DataHub accepts them, and
  // clients send them for a write that must fail.
  if (!/^-?\d{1,15}$/.test(text))
    throw unreadable(
      'If-Version-Match',
      'If-Version-Match must be the number of a version, or -1 for an absent aspect'
    )
  return Number(text)
}

/** The time in a condition: epoch milliseconds, an HTTP date or an ISO date. */
function parseTime(text: string, name: string): number {
  const time = /^\d{1,15}$/.test(text)
    ? Number(text)
    : /^(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2}, \d\d )/.test(text)
      ? Date.parse(text)
      : NaN
  if (!Number.isSafeInteger(time))
    throw unreadable(name, `${name} must be a time: an HTTP date, an ISO date, or epoch milliseconds`)
  return time
}

function parseNoneMatch(text: string): boolean {
  if (text !== '*') throw unreadable('If-None-Match', 'If-None-Match must be *')
  return true
}
