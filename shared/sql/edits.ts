/** Replaces tokens of a text without moving the others, so that places in messages stay true wherever that is possible. */
import type { Dialect } from './dialects.ts'
import type { Token } from './tokens.ts'
import { tokenize } from './tokens.ts'

/** A text, its tokens, and the replacements that are asked for so far. */
export class Edits {
  readonly sql: string
  readonly tokens: readonly Token[]
  readonly #replacements: { start: number; end: number; text: string }[] = []

  constructor(sql: string, dialect: Dialect) {
    this.sql = sql
    this.tokens = tokenize(sql, dialect)
  }

  key(index: number): string {
    return this.tokens[index]?.key ?? ''
  }

  /** Whether these keys follow each other from an index on. */
  follows(index: number, ...keys: (string | RegExp)[]): boolean {
    return keys.every((key, at) => {
      const token = this.tokens[index + at]
      if (token === undefined) return false
      return typeof key === 'string' ? token.key === key : key.test(token.key)
    })
  }

  /** The index of the bracket that closes the one at an index, or the last token. */
  close(index: number): number {
    let depth = 0
    for (let at = index; at < this.tokens.length; at++) {
      if (this.key(at) === '(') depth++
      if (this.key(at) === ')') depth--
      if (depth === 0) return at
    }
    return this.tokens.length - 1
  }

  /** Puts a text in the place of tokens, padded to their length. */
  replace(from: number, to: number, text: string): void {
    const [first, last] = [this.tokens[from], this.tokens[to]]
    if (first === undefined || last === undefined) return
    const old = this.sql.slice(first.start, last.end)
    const rest = old.slice(text.length).replace(/[^\n]/g, ' ')
    const lines = old.slice(0, text.length).replace(/[^\n]/g, '')
    this.#replacements.push({ start: first.start, end: last.end, text: text + lines + rest })
  }

  remove(from: number, to: number): void {
    this.replace(from, to, '')
  }

  get isEmpty(): boolean {
    return this.#replacements.length === 0
  }

  /** The text with all replacements. Of two that overlap, the first counts. */
  apply(): string {
    let text = ''
    let at = 0
    for (const { start, end, text: replacement } of this.#replacements.toSorted(
      (a, b) => a.start - b.start
    )) {
      if (start < at) continue
      text += this.sql.slice(at, start) + replacement
      at = end
    }
    return text + this.sql.slice(at)
  }
}
