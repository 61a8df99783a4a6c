/**
 * Parses, prints and brands a URN: `urn:li:<type>:<id>` or `urn:li:<type>:(<part>,<part>,…)`, where parts may
 * be URNs.
 *
 * The parser is written by hand and takes one pass over the text (each nested URN is scanned once more, and
 * nesting is bounded), so that no input is slow. A URN is kept byte for byte as it was sent: nothing is
 * decoded, folded or normalised.
 *
 * The kind decides which commas separate parts. The first part ends at the first comma outside nested
 * parentheses, the last part begins after the last such comma, and the name is in between. So the name of a
 * dataset and the path of a column may contain balanced parentheses and commas (`sum(word_count)`, `a,b`).
 */
import { CatalogError } from '../errors.ts'
import type { ErrorCode, ErrorDetails } from '../errors.ts'
import { limits } from '../limits.ts'
import { exampleUrn } from './example-urns.ts'
import { kindShapeOf } from './kind-shapes.ts'
import type { KindShape } from './kind-shapes.ts'
import { isOrdinaryDataset } from './ordinary-dataset.ts'

/** The text of a parsed URN. Only this file makes one. */
export type Urn = string & { readonly __brand: 'Urn' }

export type ParsedUrn = {
  urn: Urn
  entityType: string
  /** The id alone, or the parts of the tuple, as they were sent. No part is empty. */
  parts: readonly string[]
  /** True if the parts are in parentheses. */
  isTuple: boolean
}

const prefix = 'urn:li:'
const shownMaxChars = 200

/**
 * Parses a URN. `field` names the input in errors, for example `input.edgesToAdd[3].upstreamUrn`. `wanted` is
 * the entity type of the example that errors show; any type is accepted. The parts, joined again, give the
 * text. Throws INVALID_URN, LIMIT_EXCEEDED (urnMaxBytes, schemaFieldUrnMaxBytes, urnMaxNesting) and
 * INVALID_CHARACTER.
 */
export const parseUrn = (text: unknown, field = 'urn', wanted?: string): ParsedUrn => {
  if (typeof text !== 'string')
    throw new CatalogError('INVALID_URN', `${field} must be a URN such as ${exampleUrn(field, wanted)}`, {
      field
    })
  if (text === '')
    throw new CatalogError(
      'INVALID_URN',
      `${field} is empty; it must be a URN such as ${exampleUrn(field, wanted)}`,
      { field }
    )
  checkLength(text, field)
  checkCharacters(text, field)
  if (!text.startsWith(prefix))
    throw refuse('INVALID_URN', `it must begin with "urn:li:", as ${exampleUrn(field, wanted)} does`, {
      field,
      whole: text
    })
  return parseChecked(text, { field, whole: text })
}

/**
 * Parses a URN and returns only the URN. Most URNs are recognised without parsing. Throws as parseUrn does.
 */
export const toUrn = (text: unknown, field = 'urn', wanted?: string): Urn =>
  typeof text === 'string' && isOrdinaryDataset(text) ? text : parseUrn(text, field, wanted).urn

/** The entity type of a parsed URN, without parsing it again. */
export const entityTypeOf = (urn: Urn): string => urn.slice(prefix.length, urn.indexOf(':', prefix.length))

/**
 * The entity type and parts of a URN that was parsed before, without checking it again: 0.3 us instead of 3
 * to 6. For a kind without a shape, the parts are those that parseUrn finds.
 */
export const splitUrn = (urn: Urn): Pick<ParsedUrn, 'entityType' | 'parts'> => {
  const entityType = entityTypeOf(urn)
  const begin = prefix.length + entityType.length + 1
  const shape = kindShapeOf(entityType)
  if (!shape) return { entityType, parts: parseUrn(urn).parts }
  if (shape.keyFields.length === 1) return { entityType, parts: [urn.slice(begin)] }
  const end = urn.length - 1
  const first = outerComma(urn, begin + 1, 1)
  const parts = [urn.slice(begin + 1, first)]
  if (shape.keyFields.length === 2) return { entityType, parts: [...parts, urn.slice(first + 1, end)] }
  const last = outerComma(urn, end - 1, -1)
  return { entityType, parts: [...parts, urn.slice(first + 1, last), urn.slice(last + 1, end)] }
}

/**
 * The first part, for a kind whose first part is a URN; it was checked together with the whole URN. Throws an
 * Error for any other kind.
 */
export const firstUrnOf = (urn: Urn): Urn => {
  const entityType = entityTypeOf(urn)
  if (kindShapeOf(entityType)?.firstIs === undefined) throw new Error(`the first part of ${urn} is not a URN`)
  const begin = prefix.length + entityType.length + 2
  return urn.slice(begin, outerComma(urn, begin, 1)) as Urn
}

/** The next comma outside parentheses, in the direction of `step`. */
const outerComma = (text: string, from: number, step: 1 | -1): number => {
  let depth = 0
  for (let index = from; ; index += step) {
    const code = text.charCodeAt(index)
    if (code === 0x28) depth += 1
    else if (code === 0x29) depth -= 1
    else if (code === 0x2c && depth === 0) return index
    else if (Number.isNaN(code)) throw new Error(`${text} was not parsed`)
  }
}

/** What an error names: the input field, and the whole URN if the fault is in a part of it. */
type Place = { field: string; whole: string }

const refuse = (
  code: ErrorCode,
  reason: string,
  { field, whole }: Place,
  details: ErrorDetails = {}
): CatalogError => {
  const shown = whole.length > shownMaxChars ? `${whole.slice(0, shownMaxChars).toWellFormed()}…` : whole
  return new CatalogError(code, `Invalid urn: ${reason}: ${shown}`, { field, urn: shown, ...details })
}

const checkLength = (text: string, field: string): void => {
  const limit = text.startsWith('urn:li:schemaField:') ? 'schemaFieldUrnMaxBytes' : 'urnMaxBytes'
  const maximum = limits[limit]
  if (text.length * 3 <= maximum) return
  const actual = Buffer.byteLength(text)
  if (actual > maximum)
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `${field} is a URN of ${actual} bytes; at most ${maximum} are allowed`,
      { field, limit, maximum, actual }
    )
}

/**
 * Refuses characters that cannot be stored or that display as something else: controls, bidi overrides,
 * U+241F, lone surrogates.
 */
const checkCharacters = (text: string, field: string): void => {
  let sawWide = false
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code >= 0x20 && code < 0x7f) continue
    const isForbidden =
      code < 0xa0 ||
      (code >= 0x202a && code <= 0x202e) ||
      (code >= 0x2066 && code <= 0x2069) ||
      code === 0x241f
    if (isForbidden) {
      const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
      throw new CatalogError(
        'INVALID_CHARACTER',
        `${field} contains ${name} at character ${index + 1}, which is not allowed in a URN`,
        { field }
      )
    }
    sawWide = true
  }
  if (sawWide && !text.isWellFormed())
    throw new CatalogError(
      'INVALID_CHARACTER',
      `${field} contains a lone surrogate, which cannot be stored`,
      {
        field
      }
    )
}

/** `text` begins with the prefix. */
const parseChecked = (text: string, place: Place): ParsedUrn => {
  const colon = text.indexOf(':', prefix.length)
  const entityType = colon < 0 ? '' : text.slice(prefix.length, colon)
  if (!isEntityType(entityType))
    throw refuse(
      'INVALID_URN',
      'an entity type (a lower case letter, then letters, digits or _) and a colon must follow urn:li:',
      place
    )
  const id = text.slice(colon + 1)
  if (id === '') throw refuse('INVALID_URN', `nothing follows urn:li:${entityType}:`, place)
  if (id.trim() !== id)
    throw refuse('INVALID_URN', 'whitespace is not allowed at the beginning or end', place)

  const { commas, closesAt } = scanParentheses(id, place)
  const isWrapped = closesAt === id.length - 1
  const shape = kindShapeOf(entityType)
  const parts = partsOf({ entityType, id, commas, isWrapped, shape }, place)
  const isTuple = isWrapped && (shape === undefined || shape.keyFields.length > 1)
  // The one place where a text becomes a Urn: all checks are done.
  return { urn: text as Urn, entityType, parts, isTuple }
}

const isEntityType = (text: string): boolean => {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    const isLower = code >= 0x61 && code <= 0x7a
    if (isLower) continue
    const isOther = (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39) || code === 0x5f
    if (!isOther || index === 0) return false
  }
  return text !== ''
}

/**
 * Checks that parentheses are balanced. Returns the commas directly inside the outermost pair, and the
 * closing parenthesis of the pair that begins the id (-1 if the id does not begin with one).
 */
const scanParentheses = (id: string, place: Place): { commas: number[]; closesAt: number } => {
  const commas: number[] = []
  let depth = 0
  let closesAt = -1
  for (let index = 0; index < id.length; index += 1) {
    const code = id.charCodeAt(index)
    if (code === 0x28) {
      depth += 1
      if (depth > limits.urnMaxNesting) {
        throw refuse('LIMIT_EXCEEDED', `parentheses nest deeper than ${limits.urnMaxNesting}`, place, {
          limit: 'urnMaxNesting',
          maximum: limits.urnMaxNesting
        })
      }
    } else if (code === 0x29) {
      depth -= 1
      if (depth < 0) throw refuse('INVALID_URN', 'a parenthesis is closed that was not opened', place)
      if (depth === 0 && closesAt < 0 && id.startsWith('(')) closesAt = index
    } else if (code === 0x2c && depth === 1) {
      commas.push(index)
    }
  }
  if (depth > 0) throw refuse('INVALID_URN', 'a parenthesis is opened that is not closed', place)
  return { commas, closesAt }
}

type UnsplitUrn = {
  entityType: string
  id: string
  commas: readonly number[]
  isWrapped: boolean
  shape: KindShape | undefined
}

const partsOf = (
  { entityType, id, commas, isWrapped, shape }: UnsplitUrn,
  place: Place
): readonly string[] => {
  if (shape?.keyFields.length === 1 || (!shape && !isWrapped)) return [id]
  if (!isWrapped) throw refuse('INVALID_URN', `${describe(entityType, shape)} must be in parentheses`, place)
  const separators = shape ? separatorsOf(commas, shape.keyFields.length) : commas
  const parts: string[] = []
  let start = 1
  for (const comma of [...separators, id.length - 1]) {
    parts.push(id.slice(start, comma))
    start = comma + 1
  }
  if (shape && parts.length !== shape.keyFields.length)
    throw refuse('INVALID_URN', `${describe(entityType, shape)} must be separated by commas`, place)
  if (parts.includes('')) throw refuse('INVALID_URN', 'a part is empty', place)
  if (shape) checkParts(entityType, parts, shape, place)
  return parts
}

/**
 * The commas that separate parts: the first, and with three parts also the last. The others belong to the
 * name.
 */
const separatorsOf = (commas: readonly number[], partCount: number): readonly number[] => {
  if (commas.length < partCount) return commas
  const first = commas.slice(0, 1)
  return partCount === 2 ? first : [...first, ...commas.slice(-1)]
}

const checkParts = (entityType: string, parts: readonly string[], shape: KindShape, place: Place): void => {
  const first = parts[0] ?? ''
  if (shape.firstIs) {
    checkLength(first, place.field)
    const found = isOrdinaryDataset(first) ? 'dataset' : typeOfFirst(first, place)
    if (found === undefined || (shape.firstIs !== '*' && found !== shape.firstIs))
      throw refuse(
        'INVALID_URN',
        `the first part of a ${entityType} must be a URN such as ${exampleUrn('', shape.firstIs)}`,
        place
      )
  }
  if (shape.lastIn && !shape.lastIn.includes(parts.at(-1) ?? '')) {
    throw refuse(
      'INVALID_URN',
      `the last part of a ${entityType} must be one of ${shape.lastIn.join(', ')}`,
      place,
      { allowed: shape.lastIn }
    )
  }
}

/** The entity type of a first part; undefined if it does not begin as a URN. Throws if it is a broken one. */
const typeOfFirst = (first: string, place: Place): string | undefined =>
  first.startsWith(prefix) ? parseChecked(first, place).entityType : undefined

const describe = (entityType: string, shape: KindShape | undefined): string =>
  shape ? `the parts of a ${entityType} (${shape.keyFields.join(', ')})` : `the parts of a ${entityType}`
