/**
 * The grammar: gives the tree of one statement.
 *
 * The one file that knows the library, sqlparser-rs in WebAssembly. It must run outside of the event loop of the API:
 * parsing is synchronous, and deep nesting needs a deeper stack than a server has.
 */
import { ParserError, Parser, dialectFromString, init } from '@guanmingchiu/sqlparser-ts'
import type { Dialect } from './dialects.ts'

/** Nesting that still fits on the stack of a worker thread. Real statements stay below 30. */
const nestingMaxDepth = 400

export class SqlSyntaxError extends Error {
  readonly line: number
  readonly column: number
  constructor(message: string, line: number, column: number) {
    super(message)
    this.line = line
    this.column = column
  }
}

/** Loads the grammar. Idempotent. */
export const loadParser = (): Promise<unknown> => Promise.resolve(init())

/** The grammar has trapped, and can no longer be trusted: its thread must end. */
export class ParserBroken extends Error {}

/** The trees of a text of one statement. Throws SqlSyntaxError with the place in the text, and ParserBroken. */
export function parse(sql: string, dialect: Dialect): readonly unknown[] {
  try {
    // only one grammar knows `INSERT ALL WHEN …`, which Oracle has as well
    const isSeveral = dialect.name === 'oracle' && /^\s*INSERT\s+(?:ALL|FIRST)\b/i.test(sql)
    const grammar = dialectFromString(isSeveral ? 'snowflake' : dialect.grammar)
    return new Parser(grammar).withRecursionLimit(nestingMaxDepth).parse(sql)
  } catch (error) {
    if (!(error instanceof ParserError)) throw error
    if (/recursion limit/.test(error.message))
      throw new SqlSyntaxError('The statement is nested too deeply', 1, 1)
    // the library gives traps of WebAssembly and overflows of the stack as errors of its own
    if (/out of bounds|unreachable|call stack|null function/i.test(error.message))
      throw new ParserBroken(error.message)
    const at = /^(?:sql parser error: )?(.*?)(?: at Line: (\d+), Column: (\d+))?$/s.exec(error.message)
    throw new SqlSyntaxError(at?.[1] ?? 'Not read', Number(at?.[2] ?? 1), Number(at?.[3] ?? 1))
  }
}
