/**
 * Parses and prints JSON without losing digits: a whole number beyond 2^53, such as the snapshot id of an
 * Iceberg table, is printed as it was sent.
 *
 * JSON.parse and JSON.stringify do the work; meanwhile a text stands for each such number, because JSON.rawJSON
 * is missing in some of the versions of Node.js that we support.
 */
import { randomUUID } from 'node:crypto'
import { inexactNumbers } from './exact-numbers.ts'

/** Nobody else knows it, so no text that was sent begins with it. */
const mark = `${randomUUID()}:`
const marked = new RegExp(`"${mark}(-?\\d+)"`, 'g')

/** Stands for the number: neither a text nor a number, so nothing can calculate with what it is not. */
class ExactNumber {
  readonly #literal: string

  constructor(literal: string) {
    this.#literal = literal
  }

  toJSON(): string {
    return mark + this.#literal
  }
}

/** Throws SyntaxError if the text is not JSON. Only printExactly may print the result. */
export function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const parts: string[] = []
  let taken = 0
  for (const { literal, begin } of inexactNumbers(text)) {
    // Not even finite: no database could keep it, so the reader refuses it.
    if (!Number.isFinite(Number(literal))) continue
    parts.push(text.slice(taken, begin), `"${mark}${literal}"`)
    taken = begin + literal.length
  }
  if (parts.length === 0) return value
  const [root] = withNumbers([JSON.parse(parts.join('') + text.slice(taken))])
  return root
}

/** Replaces each text with a mark. Not recursive, because the JSON may be nested to any depth. */
function withNumbers(root: [unknown]): [unknown] {
  const open: object[] = [root]
  for (let parent = open.pop(); parent !== undefined; parent = open.pop())
    for (const key of Object.keys(parent)) {
      const value: unknown = Reflect.get(parent, key)
      if (typeof value === 'object' && value !== null) open.push(value)
      else if (typeof value === 'string' && value.startsWith(mark))
        Reflect.set(parent, key, new ExactNumber(value.slice(mark.length)))
    }
  return root
}

/** The text that JSON.stringify gives, with the numbers of parseExactly as they were sent. */
export function printExactly(value: unknown): string {
  const text = JSON.stringify(value)
  return text.includes(mark) ? text.replaceAll(marked, '$1') : text
}
