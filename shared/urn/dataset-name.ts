/**
 * Reads the whole name of a dataset, `platform:name` or `platform:name@ENV`, and makes its URN. The text alone
 * decides, so the same text means the same dataset whatever the catalog contains.
 */
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import { fabricTypes } from './kind-shapes.ts'
import { datasetUrn } from './kinds.ts'
import { hasPaths, isFileStore, isInLowerCase, knownPlatform, nearPlatforms } from './platforms.ts'
import type { Urn } from './urn.ts'

/**
 * The parts of a reference as they were written; null if absent. `origin` is an environment in capitals, and
 * `rest` everything before it.
 */
export type ReferenceParts = { qualifier: string | null; name: string; origin: string | null; rest: string }

/**
 * Splits a text before its first colon and behind its last at sign. Either may instead be part of the name.
 * A path is written `s3://bucket/key`; its name in a URN is bucket/key.
 */
export function referenceParts(text: string): ReferenceParts {
  const [, before = text, after] = /^(.+)@(\w+)$/s.exec(text) ?? []
  const origin = fabricTypes.find((known) => known === after?.toUpperCase()) ?? null
  const rest = origin === null ? text : before
  const [, qualifier, name] = /^([A-Za-z][\w-]*):(.+)$/s.exec(rest) ?? []
  return qualifier === undefined || name === undefined
    ? { qualifier: null, name: rest, origin, rest }
    : { qualifier, name: name.replace(/^\/\/(?=.)/, ''), origin, rest }
}

/** `platform` is as it was written. */
export type DatasetName = { platform: string; name: string; origin: string }

/**
 * The whole name in a text. Throws INVALID_URN for a text without a platform, with an unknown environment or
 * with the address of a server, LIMIT_EXCEEDED (urnMaxBytes) and INVALID_CHARACTER.
 */
export function readDatasetName(text: string, field: string): DatasetName {
  checkLength(text, field)
  checkVisible(text, field)
  const { qualifier, name, origin } = referenceParts(text.trim())
  if (qualifier === null || name.trim() === '')
    throw new CatalogError(
      'INVALID_URN',
      `${field} must be a URN, or the whole name of a dataset as platform:name or platform:name@ENV, such as hive:shop.orders; ${quoted(text)} does not name its platform`,
      { field }
    )
  const store = knownPlatform(qualifier)
  if (/^[^:]+:\/\//.test(text.trim()) && (store === null || !isFileStore(store)))
    throw new CatalogError(
      'INVALID_URN',
      `${field} contains the address of a server: ${quoted(text)}. Write the dataset as platform:name, without its server, such as hive:shop.orders; only names of files begin with //, such as s3://bucket/key`,
      { field }
    )
  const [, last] = origin === null ? (/@(\w+)$/.exec(name) ?? []) : []
  if (last !== undefined)
    throw new CatalogError(
      'INVALID_URN',
      `${field} ends with @${last}, which is not an environment (${fabricTypes.join(', ')}). A dataset whose name contains it is named by its URN`,
      { field, allowed: fabricTypes }
    )
  return { platform: qualifier, name: name.trim(), origin: origin ?? 'PROD' }
}

/**
 * The URN of the dataset of this name on a platform, spelt as DataHub's connectors do. Throws LIMIT_EXCEEDED
 * (urnMaxBytes).
 */
export function urnOfDatasetName({ name, origin }: DatasetName, platform: string, field: string): Urn {
  const composed = name.normalize('NFC')
  const cased = isInLowerCase(platform) ? composed.toLowerCase() : composed
  const kept = hasPaths(platform) ? cased.replace(/(?<=.)\/+$/, '') : cased
  return datasetUrn(platform, kept.replaceAll(/[(),\u241f]/g, percentEncoded), origin, field)
}

/** DataHub's encoding of the characters that separate the parts of a URN. */
const percentEncoded = (character: string): string =>
  [...Buffer.from(character, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase()}`).join('')

/** The refusal of a platform that is neither in the list nor in the catalog. */
export function unknownPlatform(text: string, platform: string, field: string): CatalogError {
  const near = nearPlatforms(platform)
  return new CatalogError(
    'INVALID_URN',
    `${field} names a dataset on ${quoted(platform)}, which is not a known platform: ${quoted(text)}${near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '.'} A new platform begins with a URN, such as urn:li:dataset:(urn:li:dataPlatform:${shortened(platform)},name,PROD); jobs, charts and dashboards are named by their URNs`,
    { field, ...(near.length > 0 ? { candidates: near } : {}) }
  )
}

function checkLength(text: string, field: string): void {
  const [actual, maximum] = [Buffer.byteLength(text), limits.urnMaxBytes]
  if (actual > maximum)
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `${field} is a name of ${actual} bytes; at most ${maximum} are allowed`,
      { field, limit: 'urnMaxBytes', maximum, actual }
    )
}

/** Besides what no URN may contain: white space that looks like a space or like nothing. */
const unseen = /[\p{Cc}\u00a0\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]/u

function checkVisible(text: string, field: string): void {
  const trimmed = text.trim()
  const at = trimmed.search(unseen)
  if (at < 0 && trimmed.isWellFormed()) return
  const what =
    at < 0
      ? 'a lone surrogate'
      : `U+${trimmed.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')} at character ${at + 1}`
  throw new CatalogError(
    'INVALID_CHARACTER',
    `${field} contains ${what}, which is not allowed in a name: ${quoted(trimmed)}`,
    { field }
  )
}

const shownMaxChars = 200
const shortened = (text: string): string =>
  text.length > shownMaxChars ? `${text.slice(0, shownMaxChars).toWellFormed()}…` : text.toWellFormed()
const quoted = (text: string): string => JSON.stringify(shortened(text))
