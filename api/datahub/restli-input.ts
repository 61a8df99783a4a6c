/**
 * Reads the input of RestLi calls: fields of bodies, and parameters in RestLi's list syntax (`List(a,b)`).
 */
import type { FastifyRequest } from 'fastify'
import { CatalogError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import { checkLines } from '../../shared/model/text-checks.ts'
import { toUrn, type Urn } from '../../shared/urn/urn.ts'

/** Throws BAD_REQUEST if the field is absent or not a text. */
export function textField(body: JsonObject, name: string): string {
  const value = optionalText(body, name)
  if (value === undefined || value === '')
    throw new CatalogError('BAD_REQUEST', `${name} is missing`, { field: name })
  return value
}

/** Null counts as absent. Throws BAD_REQUEST if the field is not a text, and what storableText throws. */
export function optionalText(body: JsonObject, name: string): string | undefined {
  const value = body[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value !== 'string')
    throw new CatalogError('BAD_REQUEST', `${name} must be a string`, { field: name })
  return storableText(value, name)
}

/** A text that Postgres can store. Throws INVALID_CHARACTER, LIMIT_EXCEEDED. */
export const storableText = (text: string, name: string): string =>
  checkLines(text, { field: name, limit: 'descriptionMaxChars' })

/** A whole number; null counts as absent. Throws BAD_REQUEST. */
export function optionalInteger(body: JsonObject, name: string): number | undefined {
  const value = body[name] ?? undefined
  if (value !== undefined && !Number.isSafeInteger(value))
    throw new CatalogError('BAD_REQUEST', `${name} must be a whole number`, { field: name })
  return value === undefined ? undefined : Number(value)
}

/** Null counts as absent; the texts `true` and `false` count as booleans. Throws BAD_REQUEST. */
export function optionalFlag(body: JsonObject, name: string): boolean {
  const value = body[name] ?? false
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw new CatalogError('BAD_REQUEST', `${name} must be true or false`, { field: name })
}

export const urnField = (body: JsonObject, name = 'urn'): Urn => toUrn(textField(body, name), name)

/**
 * The items of a list parameter; null if it is not given. Each item, and the list as a whole, may be
 * percent-encoded or raw: nesting tells the commas and parentheses of a raw URN from those of the list. A
 * parameter that is not a `List(…)` is one item each time it is given. Throws BAD_REQUEST if it cannot be
 * decoded, and what storableText throws.
 */
export function listParameter({ raw }: FastifyRequest, name: string): string[] | null {
  const pairs = (raw.url?.split('?').slice(1).join('?') ?? '').split('&').map((pair): [string, string] => {
    const [key = '', ...rest] = pair.split('=')
    return [key, rest.join('=')]
  })
  const given = pairs
    .filter(([key]) => decode(key, name) === name)
    .map(([, value]) => value.replaceAll('+', '%20'))
  return given.length === 0
    ? null
    : given.flatMap((text) => itemsOf(text, name)).map((item) => storableText(item, name))
}

const listBegin = 'List('

function itemsOf(text: string, name: string): string[] {
  const isRaw = text.startsWith(listBegin)
  const list = isRaw ? text : decode(text, name)
  if (!list.startsWith(listBegin)) return [list]
  if (!list.endsWith(')'))
    throw new CatalogError(
      'BAD_REQUEST',
      `The parameter ${name} must be List(…), with its last parenthesis`,
      { field: name }
    )
  const items = splitAtCommas(list.slice(listBegin.length, -1))
  return (
    (isRaw ? items.flatMap((item) => commasSentEncoded(decode(item, name))) : items)
      // An item may be encoded itself, and again with the list: a URN that still begins encoded is decoded
      // once more.
      .map((item) => (isUrnEncoded(item) ? decode(item, name) : item))
  )
}

const isUrnEncoded = (text: string): boolean => /^urn%3a/i.test(text)

/**
 * Splits an item of a list whose commas were encoded but not its parentheses. A comma within an id is never
 * followed by another URN.
 */
function commasSentEncoded(item: string): string[] {
  const pieces = splitAtCommas(item)
  const urns = pieces.filter((piece) => piece.startsWith('urn:') || isUrnEncoded(piece)).length
  return urns === 0 || urns === pieces.length ? pieces : [item]
}

/** Splits at commas outside of parentheses. */
function splitAtCommas(text: string): string[] {
  if (text === '') return []
  const items: string[] = []
  let [depth, start] = [0, 0]
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]
    if (character === '(') depth += 1
    else if (character === ')') depth -= 1
    else if (character === ',' && depth === 0) {
      items.push(text.slice(start, index))
      start = index + 1
    }
  }
  return [...items, text.slice(start)]
}

function decode(text: string, name: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new CatalogError(
      'BAD_REQUEST',
      `The parameter ${name} is not percent-encoded text`,
      { field: name },
      { cause }
    )
  }
}
