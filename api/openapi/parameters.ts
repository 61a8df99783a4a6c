/**
 * Reads parameters of the OpenAPI routes. Unknown ones are ignored, because clients send some that have no
 * meaning here.
 */
import type { Slice } from '../../shared/catalog/entities/slice.ts'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import { aspectNameOf } from './entity-path.ts'

export type Parameters = { [name: string]: unknown }

/** Throws BAD_REQUEST for a text other than true and false. */
export function readFlag(query: Parameters, name: string, fallback: boolean): boolean {
  const sent = query[name]
  if (sent === undefined || sent === '') return fallback
  const text = typeof sent === 'string' ? sent.toLowerCase() : ''
  if (text !== 'true' && text !== 'false')
    throw new CatalogError('BAD_REQUEST', `${name} must be true or false`, {
      field: name,
      allowed: ['true', 'false']
    })
  return text === 'true'
}

/** Throws BAD_REQUEST unless the text is a whole number of at least `minimum`. */
export function readNumber(query: Parameters, name: string, fallback: number, minimum = 0): number {
  const sent = query[name]
  if (sent === undefined || sent === '') return fallback
  const number = typeof sent === 'string' && /^\d{1,15}$/.test(sent) ? Number(sent) : NaN
  if (Number.isNaN(number) || number < minimum)
    throw new CatalogError('BAD_REQUEST', `${name} must be a whole number, at least ${minimum}`, {
      field: name
    })
  return number
}

/** The size of a page. Throws as readNumber does, and LIMIT_EXCEEDED (pageMaxCount). */
export function readPageCount(query: Parameters, fallback: number): number {
  const count = readNumber(query, 'count', fallback, 1)
  const maximum = limits.pageMaxCount
  if (count > maximum)
    throw new CatalogError('LIMIT_EXCEEDED', `${count} in one page; at most ${maximum} are allowed`, {
      field: 'count',
      limit: 'pageMaxCount',
      maximum,
      actual: count
    })
  return count
}

/**
 * The slice of a scroll, from `sliceId` and `sliceMax`; null without both. Throws BAD_REQUEST, also if only
 * one is given.
 */
export function readSlice(query: Parameters): Slice | null {
  const [id, max] = [readNumber(query, 'sliceId', -1), readNumber(query, 'sliceMax', -1, 1)]
  if (id < 0 && max < 0) return null
  const missing = id < 0 ? 'sliceId' : max < 0 ? 'sliceMax' : null
  if (missing)
    throw new CatalogError('BAD_REQUEST', `${missing} is missing: a slice needs both sliceId and sliceMax`, {
      field: missing
    })
  if (id >= max)
    throw new CatalogError(
      'BAD_REQUEST',
      `sliceId must be less than sliceMax (${max}): slices are numbered from 0`,
      { field: 'sliceId' }
    )
  return { id, max }
}

/** A parameter that may be given only once. Throws BAD_REQUEST. */
export function readText(query: Parameters, name: string): string | null {
  const sent = query[name]
  if (sent === undefined || sent === '') return null
  if (typeof sent !== 'string')
    throw new CatalogError('BAD_REQUEST', `${name} is given twice`, { field: name })
  return sent
}

/**
 * Names of aspects, repeated or separated by commas; null means all. Throws INVALID_CHARACTER,
 * LIMIT_EXCEEDED.
 */
export function readAspectNames(query: Parameters): string[] | null {
  const sent = query.aspects ?? query.aspectNames
  const texts = (Array.isArray(sent) ? sent : [sent]).flatMap((text) =>
    typeof text === 'string' ? text.split(',') : []
  )
  const names = texts.map((text) => text.trim()).filter((text) => text !== '')
  return names.length === 0 ? null : [...new Set(names.map((name) => aspectNameOf(name, 'aspects')))]
}
