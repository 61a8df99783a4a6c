/** Prints documents and queries for Postgres (tsvector, tsquery). Any text becomes a safely quoted lexeme. */
import { hash } from 'node:crypto'
import type { PartWord, PlacedWord, SearchTerm } from './search-words.ts'

/** Postgres stores positions up to this one, and at most 255 positions for each lexeme. */
const lastPlace = 16_383
const placesMaxCount = 255
const keyMaxChars = 200

/** Characters that Postgres cannot store are removed from documents. */
const quoted = (lexeme: string): string =>
  `'${lexeme.toWellFormed().replaceAll('\0', '\ufffd').replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

/**
 * Keys are stored among the words but begin with a sign, so no prefix of a word finds them. A long value is
 * replaced by its digest.
 */
const lexemeOf = (kind: string, value: string): string =>
  value.length <= keyMaxChars ? kind + value : `${kind}#${hash('sha256', value, 'base64url')}`

/** The lexeme of a whole name, ignoring case. */
export const nameKey = (foldedName: string): string => lexemeOf('=', foldedName)

/** The lexeme of a value of a filter. */
export const fieldKey = (field: string, value: string): string => lexemeOf(`:${field}:`, value)

export function printVector(words: readonly PlacedWord[], keys: Iterable<string>): string {
  const placesOf = new Map<string, Set<number>>()
  for (const { word, place } of words) {
    const places = placesOf.get(word)
    if (!places) placesOf.set(word, new Set([Math.min(place, lastPlace)]))
    else if (places.size < placesMaxCount) places.add(Math.min(place, lastPlace))
  }
  const lexemes = [...placesOf].map(([word, places]) => `${quoted(word)}:${[...places].join(',')}`)
  for (const key of keys) lexemes.push(quoted(key))
  return lexemes.join(' ')
}

/** A query that matches if all of the queries do; an empty list always matches. */
export const allOf = (queries: readonly string[]): string =>
  queries.length > 1 ? queries.map((each) => `(${each})`).join(' & ') : (queries[0] ?? '')
/** A query that matches if at least one of the queries does; the list must not be empty. */
export const anyOf = (queries: readonly string[]): string =>
  queries.length > 1 ? queries.map((each) => `(${each})`).join(' | ') : (queries[0] ?? '')

export const keyQuery = (key: string): string => quoted(key)

/** Matches documents with any value of a field. */
export const anyKeyQuery = (field: string): string => `${quoted(`:${field}:`)}:*`

const longNameQuery = `${quoted('=#')}:*`

/** Matches documents with a name that begins with the text, and those with a name too long for a key. */
export const nameBeginsQuery = (foldedText: string): string =>
  anyOf([`${quoted(`=${foldedText.slice(0, keyMaxChars)}`)}:*`, longNameQuery])

/** Matches documents with all of the words, and those with a name too long for a key, not all of whose words are stored. */
export const partWordsQuery = (words: readonly PartWord[]): string =>
  anyOf([
    allOf(words.map(({ word, isBeginning }) => quoted(word) + (isBeginning ? ':*' : ''))),
    longNameQuery
  ])

/** What entities carry, and people call by the end of its URN: the aspect with it, and how its URN begins. */
const labels = [
  ['globalTags', 'urn:li:tag:'],
  ['glossaryTerms', 'urn:li:glossaryTerm:'],
  ['ownership', 'urn:li:corpuser:'],
  ['ownership', 'urn:li:corpGroup:']
] as const

/** The keys of tags, terms and owners that a word names; keys keep the case of URNs, words do not. */
const labelKeys = (word: string): string[] => {
  const spellings = new Set([word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)])
  return labels.flatMap(([aspectName, begin]) =>
    [...spellings].map((spelling) => fieldKey(aspectName, begin + spelling))
  )
}

/** The most words of a search that also looks for labels: each word stands for twelve keys, which long searches would pay for. */
const labelledTermsMaxCount = 8

export const termsQuery = (terms: readonly SearchTerm[]): string =>
  allOf(
    terms.map((term) => {
      if (term.kind === 'phrase') return term.words.map(quoted).join(' <-> ')
      const star = term.kind === 'prefix' ? ':*' : ''
      const whole = quoted(term.whole) + star
      const labels =
        terms.length > labelledTermsMaxCount ? [] : labelKeys(term.whole).map((key) => quoted(key) + star)
      if (term.parts.length === 0) return anyOf([whole, ...labels])
      return anyOf([
        whole,
        ...labels,
        allOf(
          term.parts.map((part, index) =>
            index === term.parts.length - 1 ? quoted(part) + star : quoted(part)
          )
        )
      ])
    })
  )
