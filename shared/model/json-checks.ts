/**
 * What must hold of any JSON before it is looked at: bounded depth and size, storable characters, finite numbers, and no
 * key that could reach a prototype. Knows nothing of what the JSON means.
 */
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { JsonValue } from './changes.ts'
import { isObject } from './json-values.ts'

type CheckOptions = { maxDepth?: number, maxBytes?: number }

/**
 * Returns `value` as JSON after checking it. `field` names the input in errors.
 * Throws LIMIT_EXCEEDED (jsonMaxDepth, aspectMaxBytes), INVALID_CHARACTER, and BAD_REQUEST for `__proto__`,
 * `constructor.prototype` and numbers that are not finite.
 */
export const checkJson = (value: unknown, field: string, { maxDepth = limits.jsonMaxDepth, maxBytes = limits.aspectMaxBytes }: CheckOptions = {}): JsonValue => {
  const most = check(value, field, maxDepth, maxDepth)
  // `most` is an upper bound that costs nothing; only what is near the limit is measured.
  if (most > maxBytes) {
    const actual = Buffer.byteLength(JSON.stringify(value))
    if (actual > maxBytes) throw new CatalogError('LIMIT_EXCEEDED', `${field || 'The record'} has ${actual} bytes of JSON; at most ${maxBytes} are allowed`, { field, limit: 'aspectMaxBytes', maximum: maxBytes, actual })
  }
  // Nothing but JSON passes the check.
  return value as JsonValue
}

/** Parses a text into checked JSON. Throws BAD_REQUEST where it is no JSON, and what checkJson throws. */
export const parseJsonText = (text: string, field: string, options: CheckOptions = {}): JsonValue => {
  try {
    return checkJson(parseJson(text, field), field, options)
  } catch (error) {
    throw error instanceof CatalogError && error.details.field === undefined ? new CatalogError(error.code, error.message, { ...error.details, field }, { cause: error }) : error
  }
}

/** Parses a text; what comes out is not checked. `what` names it in the message. Throws BAD_REQUEST where it is no JSON. */
export const parseJson = (text: string, what: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new CatalogError('BAD_REQUEST', `${what} is not JSON: ${reasonOf(cause)}`, {}, { cause })
  }
}

/** Throws INVALID_CHARACTER for U+0000 and lone surrogates: neither can be stored. */
export const checkText = (text: string, field: string): void => {
  if (text.includes('\u0000')) throw new CatalogError('INVALID_CHARACTER', `${field} holds U+0000, which cannot be stored`, { field })
  if (!text.isWellFormed()) throw new CatalogError('INVALID_CHARACTER', `${field} holds a lone surrogate, which cannot be stored`, { field })
}

/** What the parser found, without the piece of input it may quote: that is not ours to show, and may not be storable. */
const reasonOf = (cause: unknown): string => {
  const message = cause instanceof Error ? cause.message : ''
  if (message.startsWith('Unexpected end')) return 'it ends too early'
  const [place] = /at position \d+/.exec(message) ?? []
  return place ? `something unexpected stands ${place}` : 'it holds something unexpected'
}

/** Returns an upper bound of the bytes that the value takes as JSON. */
const check = (value: unknown, field: string, depthLeft: number, maxDepth: number): number => {
  if (typeof value === 'string') {
    checkText(value, field)
    return value.length * 6 + 3
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new CatalogError('BAD_REQUEST', `${field} is a number too large to keep`, { field })
    return 26
  }
  if (typeof value === 'boolean' || value === null) return 6
  if (typeof value !== 'object') throw new CatalogError('BAD_REQUEST', `${field} is not JSON`, { field })
  if (depthLeft === 0) throw new CatalogError('LIMIT_EXCEEDED', `The JSON is nested deeper than ${maxDepth} levels`, { limit: 'jsonMaxDepth', maximum: maxDepth })

  let most = 2
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) most += check(value[index], `${field}[${index}]`, depthLeft - 1, maxDepth)
    return most
  }
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__' || (key === 'constructor' && isObject(inner) && Object.hasOwn(inner, 'prototype'))) {
      throw new CatalogError('BAD_REQUEST', `${field} holds a key that is not allowed: ${key}`, { field })
    }
    checkText(key, field)
    most += key.length * 6 + 4 + check(inner, field === '' ? key : `${field}.${key}`, depthLeft - 1, maxDepth)
  }
  return most
}
