/** Splits SQL into tokens, so that texts can be split and rewritten without being misled by strings, comments and quoted names. */
import type { Dialect } from './dialects.ts'

export type TokenKind = 'word' | 'quoted' | 'string' | 'number' | 'symbol' | 'variable'

export interface Token {
  kind: TokenKind
  /** As written. */
  text: string
  /** For words: in upper case, to compare keywords. Otherwise as written. */
  key: string
  /** Offsets in the text. */
  start: number
  end: number
}

/** Sticky: each matches where a token begins, in one step. */
const word = /[\p{L}_][\p{L}\p{N}_$#]*/uy
const marked = /(?:[@#:$]|@@|##)[@#]*[\p{L}_][\p{L}\p{N}_$#]*/uy
const number = /[0-9][0-9A-Za-z_.]*/y
const blanks = /[\s\uFEFF]+/y

function matchAt(pattern: RegExp, sql: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(sql) ? pattern.lastIndex : undefined
}

/** The end of a quoted text that starts at `start`. A doubled quote continues it, a backslash only where the dialect says so. */
function endOfQuoted(sql: string, start: number, close: string, hasBackslash: boolean): number {
  for (let at = start + 1; at < sql.length; at++) {
    const char = sql[at]
    if (hasBackslash && char === '\\') at++
    else if (char === close) {
      if (sql[at + 1] === close) at++
      else return at + 1
    }
  }
  return sql.length
}

/** Dialects in which a comment may contain comments. */
const withNestedComments = new Set(['postgres', 'redshift', 'duckdb', 'tsql'])

function endOfComment(sql: string, start: number, dialect: Dialect): number {
  const signs = /\/\*|\*\//g
  signs.lastIndex = start + 2
  let depth = 1
  for (let sign = signs.exec(sql); sign !== null; sign = signs.exec(sql)) {
    if (sign[0] === '*/') depth--
    else if (withNestedComments.has(dialect.name)) depth++
    if (depth === 0) return sign.index + 2
  }
  return sql.length
}

function endOfLine(sql: string, start: number): number {
  const end = sql.indexOf('\n', start)
  return end === -1 ? sql.length : end
}

/** The end of the comment that starts here, or undefined. Optimizer hints are comments too. */
function commentEnd(sql: string, at: number, dialect: Dialect): number | undefined {
  const two = sql.slice(at, at + 2)
  if (two === '--') return endOfLine(sql, at)
  if (two === '/*') return endOfComment(sql, at, dialect)
  if (two === '//' && dialect.name === 'snowflake') return endOfLine(sql, at)
  if (sql[at] === '#' && ['mysql', 'bigquery', 'clickhouse'].includes(dialect.name)) return endOfLine(sql, at)
  return undefined
}

const withBackslash = new Set(['mysql', 'bigquery', 'spark', 'databricks', 'hive', 'clickhouse', 'snowflake'])
const withDoubleQuotedStrings = new Set(['bigquery', 'spark', 'databricks', 'hive', 'mysql'])

/** The end of a dollar-quoted text, `$$ … $$` or `$tag$ … $tag$`, or undefined. */
function dollarEnd(sql: string, at: number): number | undefined {
  const tag = /^\$[A-Za-z_0-9]*\$/.exec(sql.slice(at, at + 64))?.[0]
  if (tag === undefined || /^\$\d/.test(tag)) return undefined
  const end = sql.indexOf(tag, at + tag.length)
  return end === -1 ? sql.length : end + tag.length
}

/** The token at an offset where neither a blank nor a comment starts. */
function readToken(sql: string, at: number, dialect: Dialect): Token {
  const token = (kind: TokenKind, end: number): Token => {
    const text = sql.slice(at, end)
    return { kind, text, key: kind === 'word' ? text.toUpperCase() : text, start: at, end }
  }
  const char = sql[at] ?? ''
  const hasBackslash = withBackslash.has(dialect.name)
  if (char === "'") {
    if (dialect.name === 'bigquery' && sql.startsWith("'''", at)) {
      const end = sql.indexOf("'''", at + 3)
      return token('string', end === -1 ? sql.length : end + 3)
    }
    return token('string', endOfQuoted(sql, at, "'", hasBackslash))
  }
  if (char === '"') {
    if (dialect.name === 'bigquery' && sql.startsWith('"""', at)) {
      const end = sql.indexOf('"""', at + 3)
      return token('string', end === -1 ? sql.length : end + 3)
    }
    return token(
      withDoubleQuotedStrings.has(dialect.name) ? 'string' : 'quoted',
      endOfQuoted(sql, at, '"', hasBackslash)
    )
  }
  if (char === '`') return token('quoted', endOfQuoted(sql, at, '`', false))
  if (char === '[' && dialect.name === 'tsql') return token('quoted', endOfQuoted(sql, at, ']', false))
  if (char === '$') {
    const end = dollarEnd(sql, at)
    if (end !== undefined) return token('string', end)
  }
  const wordEnd = matchAt(word, sql, at)
  if (wordEnd !== undefined) return token('word', wordEnd)
  const numberEnd = matchAt(number, sql, at)
  if (numberEnd !== undefined) return token('number', numberEnd)
  const markedEnd = '@#:$'.includes(char) ? matchAt(marked, sql, at) : undefined
  if (markedEnd !== undefined) return token(char === '#' ? 'word' : 'variable', markedEnd)
  return token('symbol', at + 1)
}

/** All tokens of a text, in order, without blanks and comments. Never fails: what is not closed ends with the text. */
export function tokenize(sql: string, dialect: Dialect): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < sql.length) {
    const blank = matchAt(blanks, sql, at)
    if (blank !== undefined) {
      at = blank
      continue
    }
    const end = commentEnd(sql, at, dialect)
    if (end !== undefined) {
      at = end
      continue
    }
    const token = readToken(sql, at, dialect)
    tokens.push(token)
    at = token.end
  }
  return tokens
}

/** The text with its comments blank, so that nothing after them moves. */
export function withoutComments(sql: string, dialect: Dialect): string {
  if (!/--|\/\*|\/\/|#/.test(sql)) return sql
  const parts: string[] = []
  let at = 0
  for (const { start, end } of tokenize(sql, dialect)) {
    parts.push(sql.slice(at, start).replace(/[^\n]/g, ' '), sql.slice(start, end))
    at = end
  }
  return parts.join('') + sql.slice(at).replace(/[^\n]/g, ' ')
}

/** Gives line and column, from 1, of offsets of a text. */
export function createPositions(sql: string): (offset: number) => { line: number; column: number } {
  const starts = [0]
  for (let at = sql.indexOf('\n'); at !== -1; at = sql.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}
