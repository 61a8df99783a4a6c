/**
 * Checks any JSON before it is used: bounded depth and size, storable characters, finite numbers, and no key
 * that could reach a prototype. It does not know what the JSON means.
 */
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { JsonValue } from './changes.ts'
import { findInexactNumber } from './exact-numbers.ts'
import { checkKeyCounts } from './json-keys.ts'
import { isObject } from './json-values.ts'

type CheckOptions = { maxDepth?: number; maxBytes?: number }

/**
 * Returns `value` as JSON after checking it. `field` names the input in errors. Throws LIMIT_EXCEEDED (jsonMaxDepth,
 * jsonObjectKeysMaxCount, jsonKeysMaxCount, jsonKeyMaxChars, jsonValuesMaxCount, aspectMaxBytes), INVALID_CHARACTER, and BAD_REQUEST
 * for `__proto__`, `constructor.prototype` and numbers that are not finite.
 */
export const checkJson = (
  value: unknown,
  field: string,
  { maxDepth = limits.jsonMaxDepth, maxBytes = limits.aspectMaxBytes }: CheckOptions = {}
): JsonValue => {
  const bounds = { maxDepth, valuesLeft: limits.jsonValuesMaxCount, keyCount: 0 }
  const most = check(value, field, maxDepth, bounds)
  if (bounds.keyCount > limits.jsonKeysMaxCount) checkDifferentKeys(value, new Set())
  // `most` is a cheap upper bound; the exact size is measured only if the bound exceeds the limit.
  if (most > maxBytes) {
    const actual = Buffer.byteLength(JSON.stringify(value))
    if (actual > maxBytes)
      throw new CatalogError(
        'LIMIT_EXCEEDED',
        `${field || 'The record'} has ${actual} bytes of JSON; at most ${maxBytes} are allowed`,
        { field, limit: 'aspectMaxBytes', maximum: maxBytes, actual }
      )
  }
  // Safe: only JSON passes the check.
  return value as JsonValue
}

/** Parses a text into checked JSON. Throws BAD_REQUEST if it is not valid JSON, and what checkJson throws. */
export const parseJsonText = (text: string, field: string, options: CheckOptions = {}): JsonValue => {
  try {
    checkKeyCounts(text)
    const value = parsed(text, field)
    checkNumbers(text, field)
    return checkJson(value, field, options)
  } catch (error) {
    throw error instanceof CatalogError && error.details.field === undefined
      ? new CatalogError(error.code, error.message, { ...error.details, field }, { cause: error })
      : error
  }
}

/**
 * Parses a text without checking the result. `what` names it in the message. Throws BAD_REQUEST if it is not
 * valid JSON or contains a whole number that would not be kept as sent, and LIMIT_EXCEEDED
 * (jsonObjectKeysMaxCount).
 */
export const parseJson = (text: string, what: string): unknown => {
  checkKeyCounts(text, 'body')
  const value = parsed(text, what)
  checkNumbers(text)
  return value
}

const parsed = (text: string, what: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw syntaxFault(what, cause)
  }
}

/** The error for a text that cannot be parsed, from what JSON.parse threw. `what` names the text. */
export const syntaxFault = (what: string, cause: unknown): CatalogError =>
  new CatalogError('BAD_REQUEST', `${what} is not JSON: ${reasonOf(cause)}`, {}, { cause })

const shownPlaceMaxChars = 500

/**
 * `text` must be valid JSON. Throws BAD_REQUEST for a whole number that JavaScript would change. `field`
 * names the text.
 */
export const checkNumbers = (text: string, field = ''): void => {
  const found = findInexactNumber(text)
  if (!found) return
  const inner = found.place.slice(0, shownPlaceMaxChars).toWellFormed()
  const place = field === '' || inner === '' || inner.startsWith('[') ? field + inner : `${field}.${inner}`
  const literal = found.literal.length > 40 ? `${found.literal.slice(0, 40)}…` : found.literal
  throw new CatalogError(
    'BAD_REQUEST',
    `${place || 'A number'} is ${literal}: a whole number beyond 2^53 cannot be kept exactly; send it as a text`,
    place === '' ? {} : { field: place }
  )
}

/** Throws INVALID_CHARACTER for U+0000 and lone surrogates, which cannot be stored. */
export const checkText = (text: string, field: string): void => {
  if (text.includes('\u0000'))
    throw new CatalogError('INVALID_CHARACTER', `${field} contains U+0000, which cannot be stored`, { field })
  if (!text.isWellFormed())
    throw new CatalogError(
      'INVALID_CHARACTER',
      `${field} contains a lone surrogate, which cannot be stored`,
      {
        field
      }
    )
}

/**
 * The parser's message without the quoted input, which may contain secrets or characters that cannot be
 * stored.
 */
const reasonOf = (cause: unknown): string => {
  const message = cause instanceof Error ? cause.message : ''
  if (message.startsWith('Unexpected end')) return 'it ends too early'
  const [place] = /at position \d+/.exec(message) ?? []
  return place ? `there is unexpected text ${place}` : 'it contains unexpected text'
}

const tooManyValues = (): CatalogError => {
  const maximum = limits.jsonValuesMaxCount
  return new CatalogError('LIMIT_EXCEEDED', `The JSON has more than ${maximum} values`, {
    limit: 'jsonValuesMaxCount',
    maximum
  })
}

const tooManyKeys = (field: string, actual: number): CatalogError => {
  const maximum = limits.jsonObjectKeysMaxCount
  return new CatalogError(
    'LIMIT_EXCEEDED',
    `${field || 'The record'} has ${actual} keys in one object; at most ${maximum} are allowed`,
    { field, limit: 'jsonObjectKeysMaxCount', maximum, actual }
  )
}

const keyTooLong = (field: string, actual: number): CatalogError => {
  const maximum = limits.jsonKeyMaxChars
  return new CatalogError(
    'LIMIT_EXCEEDED',
    `${field || 'The record'} has a key of ${actual} characters; at most ${maximum} are allowed`,
    { field, limit: 'jsonKeyMaxChars', maximum, actual }
  )
}

/** `value` has been checked otherwise. Throws LIMIT_EXCEEDED (jsonKeysMaxCount). */
const checkDifferentKeys = (value: unknown, met: Set<string>): void => {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) for (const key of Object.keys(value)) met.add(key)
  const maximum = limits.jsonKeysMaxCount
  if (met.size > maximum)
    throw new CatalogError('LIMIT_EXCEEDED', `The JSON has more than ${maximum} different keys`, {
      limit: 'jsonKeysMaxCount',
      maximum
    })
  for (const inner of Object.values(value)) checkDifferentKeys(inner, met)
}

type Bounds = { maxDepth: number; valuesLeft: number; keyCount: number }

/** Returns an upper bound of the value's size as JSON, in bytes. */
const check = (value: unknown, field: string, depthLeft: number, bounds: Bounds): number => {
  if ((bounds.valuesLeft -= 1) < 0) throw tooManyValues()
  if (typeof value === 'string') {
    checkText(value, field)
    return value.length * 6 + 3
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      throw new CatalogError('BAD_REQUEST', `${field} is a number too large to keep`, { field })
    return 26
  }
  if (typeof value === 'boolean' || value === null) return 6
  if (typeof value !== 'object') throw new CatalogError('BAD_REQUEST', `${field} is not JSON`, { field })
  if (depthLeft === 0)
    throw new CatalogError('LIMIT_EXCEEDED', `The JSON is nested deeper than ${bounds.maxDepth} levels`, {
      limit: 'jsonMaxDepth',
      maximum: bounds.maxDepth
    })

  let most = 2
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1)
      most += check(value[index], `${field}[${index}]`, depthLeft - 1, bounds)
    return most
  }
  const keys = Object.keys(value)
  if (keys.length > limits.jsonObjectKeysMaxCount) throw tooManyKeys(field, keys.length)
  bounds.keyCount += keys.length
  for (const key of keys) {
    const inner: unknown = Reflect.get(value, key)
    if (key.length > limits.jsonKeyMaxChars) throw keyTooLong(field, key.length)
    if (
      key === '__proto__' ||
      (key === 'constructor' && isObject(inner) && Object.hasOwn(inner, 'prototype'))
    ) {
      throw new CatalogError(
        'BAD_REQUEST',
        `${field || 'The record'} contains a key that is not allowed: ${key}`,
        {
          field
        }
      )
    }
    checkText(key, field)
    most += key.length * 6 + 4 + check(inner, field === '' ? key : `${field}.${key}`, depthLeft - 1, bounds)
  }
  return most
}
