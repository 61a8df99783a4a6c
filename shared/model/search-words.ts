/**
 * Cuts texts into the words they are found by, the same for what is stored and for what is looked for.
 *
 * A word is a run of letters and digits, in lower case. `fct_orders` is two words; `OrderItems` is three, for it is found
 * whole and by its parts. Chinese and Japanese, which put no space between words, are cut into characters.
 */
import { limits } from '../limits.ts'

/** A word and where it stands, counted from 1. The whole of a compound stands where its first and its last part do. */
export type PlacedWord = { word: string; place: number }

/** Between a small letter or digit and a capital, before the last capital of several, and around characters that are words. */
const seams =
  /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}])|(?=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}])/u
const runs = /[\p{L}\p{M}\p{N}]+/gu
/** Most runs need no further splitting. */
const isPlain = /^[a-z0-9]+$/

/** A run, and its parts where it is a compound. */
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

/** What is longer is found by its beginning. */
const cut = (word: string): string =>
  word.length <= limits.searchWordMaxChars ? word : word.slice(0, limits.searchWordMaxChars).toWellFormed()

/** Ignoring case, and without what Postgres cannot hold. */
export const folded = (text: string): string =>
  text.toWellFormed().replaceAll('\0', '\ufffd').normalize('NFKC').toLowerCase()

/** The words in their order, the first of them at `after` + 1. */
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

/**
 * What to look for: all terms must be found. A term is a word, a phrase of words that follow each other, or a compound,
 * which is found whole or by all its parts. The word (of a compound the whole, or its last part) of a prefix may continue.
 */
export type SearchTerm =
  | { kind: 'word' | 'prefix'; whole: string; parts: readonly string[] }
  | { kind: 'phrase'; words: readonly string[] }

const tokens = /"([^"]*)"?|(\S+)/g

/**
 * The terms of a query: words, "quoted phrases", and beginnings with a star (`ord*`). Null if everything is meant (empty
 * or `*`); a query without any word, such as `--`, has no terms and finds nothing. `/q ` before a query, with which
 * DataHub's clients ask for its syntax, and an AND between words are passed over.
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
