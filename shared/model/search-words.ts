/**
 * Splits texts into searchable words, in the same way for stored texts and for queries.
 *
 * A word is a run of letters and digits, in lower case. `fct_orders` is two words. `OrderItems` is three: it
 * is found as a whole and by its two parts. Chinese and Japanese have no spaces between words, so they are
 * split into characters.
 */
import { limits } from '../limits.ts'

/**
 * A word and its position, counted from 1. A compound spans the positions from its first part to its last.
 */
export type PlacedWord = { word: string; place: number }

/**
 * The places to split a run: between a lower-case letter or digit and a capital, before the last of several
 * capitals, and around characters that are words.
 */
const seams =
  /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}])|(?=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}])/u
const runs = /[\p{L}\p{M}\p{N}]+/gu
/** Most runs need no further splitting. */
const isPlain = /^[a-z0-9]+$/

/** A run of letters and digits. A compound has `parts`. */
type Run = { whole: string; parts: readonly string[] }

function runsOf(text: string): Run[] {
  return [...text.normalize('NFKC').matchAll(runs)].map(([run]) => {
    if (isPlain.test(run)) return { whole: cut(run), parts: [] }
    const parts = run
      .split(seams)
      .filter((part) => part !== '')
      .map((part) => cut(part.toLowerCase()))
    return { whole: cut(run.toLowerCase()), parts: parts.length > 1 ? parts : [] }
  })
}

/** The beginning of a word; longer words are found by it. */
const cut = (word: string): string =>
  word.length <= limits.searchWordMaxChars ? word : word.slice(0, limits.searchWordMaxChars).toWellFormed()

/** The text in lower case, and without characters that Postgres cannot store. */
export const folded = (text: string): string =>
  text.toWellFormed().replaceAll('\0', '\ufffd').normalize('NFKC').toLowerCase()

/** The words of a text in order. The first has the position `after` + 1. */
export function placedWords(text: string, after = 0): PlacedWord[] {
  const found: PlacedWord[] = []
  let place = after
  for (const { whole, parts } of runsOf(text)) {
    place += 1
    found.push({ word: whole, place })
    if (parts.length === 0) continue
    parts.forEach((word, index) => found.push({ word, place: place + index }))
    place += parts.length - 1
    found.push({ word: whole, place })
  }
  return found
}

/** With `isBeginning`, the word may be longer. */
export type PartWord = { word: string; isBeginning: boolean }

/**
 * The words of every text that contains `part`, or ends with it: those that follow a sign in it, because the
 * first may be the end of a longer word. `part` consists of ASCII characters. In a text, a sign after its last
 * letter may have become one with it, and so that letter is left out.
 */
export function wordsOfPart(part: string, isEnd: boolean): PartWord[] {
  const [, ...followed] = part.toLowerCase().split(/[^a-z0-9]/)
  return followed.flatMap((run, index) => {
    const isBeginning = index === followed.length - 1 && !isEnd
    const word = cut(isBeginning ? run.slice(0, -1) : run)
    return word.length < (isBeginning ? beginningMinChars : 1) ? [] : [{ word, isBeginning }]
  })
}

/** Shorter ones match most documents. */
const beginningMinChars = 2

/**
 * What to look for; all terms must match. A term is a word, a phrase of consecutive words, or a compound,
 * which matches as a whole or by all its parts. With a prefix, the last word may be the beginning of a longer
 * word.
 */
export type SearchTerm =
  | { kind: 'word' | 'prefix'; whole: string; parts: readonly string[] }
  | { kind: 'phrase'; words: readonly string[] }

const tokens = /"([^"]*)"?|(\S+)/g

/**
 * The terms of a query: words, "quoted phrases", and prefixes with a star (`ord*`). Null for a query that
 * matches everything (empty or `*`). A query without any word, such as `--`, has no terms and finds nothing.
 * Ignores `/q ` at the beginning, with which DataHub's clients select its query syntax, and AND between
 * words.
 */
export function searchTerms(query: string): SearchTerm[] | null {
  const text = query
    .trim()
    .replace(/^\/q(\s+|$)/, '')
    .trim()
  if (text === '' || text === '*') return null
  return [...text.matchAll(tokens)].flatMap(([, quoted, bare = '']): SearchTerm[] => {
    if (quoted !== undefined) {
      const words = runsOf(quoted).flatMap(({ whole, parts }) => (parts.length > 0 ? parts : [whole]))
      return words.length > 0 ? [{ kind: 'phrase', words }] : []
    }
    if (bare === 'AND') return []
    const found = runsOf(bare)
    return found.map((run, index) => ({
      kind: bare.endsWith('*') && index === found.length - 1 ? 'prefix' : 'word',
      ...run
    }))
  })
}
