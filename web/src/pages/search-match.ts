/** Why a result matched: the text besides its name that has the words of the question. */
import { lastPartOf } from '../api/entity.ts'
import type { MatchedField } from '../api/queries.ts'
import { plainText } from '../parts/plain-text.ts'

/** `parts` in their order; `isMark` if the part is one of the words. */
export type Match = { field: string; parts: { text: string; isMark: boolean }[] }

/** Values of one field, such as columns, that are shown. */
const valuesMaxCount = 3
const [charsBefore, charsMax] = [40, 140]
/** A name is shown anyway, and a URN repeats it. */
const shownAnyway = new Set(['name', 'urn'])

/** Null if the name has all words, or nothing else that has them is known. */
export function matchOf(words: string, name: string, fields: readonly MatchedField[]): Match | null {
  const missing = wordsOf(words).filter((word) => !name.toLowerCase().includes(word))
  if (missing.length === 0) return null
  const found = fields
    .filter((field) => !shownAnyway.has(field.name))
    .map(({ name: field, value }) => ({
      name: field,
      text: value.startsWith('urn:li:') ? lastPartOf(value) : plainText(value)
    }))
    .filter(({ text }) => missing.some((word) => text.toLowerCase().includes(word)))
  const [first] = found
  if (!first) return null
  const text = found
    .filter((field) => field.name === first.name)
    .slice(0, valuesMaxCount)
    .map((field) => field.text)
    .join(', ')
  return { field: first.name, parts: marked(around(text, missing), missing) }
}

const wordsOf = (text: string): string[] =>
  [...new Set(text.toLowerCase().split(/[^\p{L}\p{N}]+/u))].filter((word) => word !== '')

/** The part of a text around the first of the words. */
function around(text: string, words: readonly string[]): string {
  const at = Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0))
  const begin = at > charsMax - charsBefore ? at - charsBefore : 0
  return `${begin > 0 ? '…' : ''}${text.slice(begin, begin + charsMax)}${text.length > begin + charsMax ? '…' : ''}`
}

/** Words are letters and digits, so no sign of a pattern is in them. */
const marked = (text: string, words: readonly string[]): Match['parts'] =>
  text
    .split(new RegExp(`(${words.join('|')})`, 'i'))
    .map((part, index) => ({ text: part, isMark: index % 2 === 1 }))
    .filter((part) => part.text !== '')
