/** Reads statements that load files into a table, whose options are many and say nothing about lineage: by their words. */
import type { Dialect } from './dialects.ts'
import { Edits } from './edits.ts'
import type { Path, Statement } from './form.ts'

/** The name that begins at a token. Places are not kept: nothing is reported about it. */
function pathAt(edits: Edits, from: number): Path {
  const path = []
  for (let index = from; ; index += 2) {
    const { kind, text } = edits.tokens[index] ?? { kind: 'symbol', text: '' }
    const quoted = kind === 'quoted'
    path.push({ text: quoted ? text.slice(1, -1) : text, quoted, line: 0, column: 0 })
    if (edits.key(index + 1) !== '.') return path
  }
}

/** Where the name of the loaded table begins; undefined in other statements. */
function targetOf(edits: Edits, dialect: Dialect): number | undefined {
  if (dialect.name === 'tsql' && edits.follows(0, 'BULK', 'INSERT')) return 2
  if (edits.follows(0, 'LOAD', 'DATA')) {
    const into = edits.tokens.findIndex(
      ({ key }, index) => key === 'INTO' || (key === 'OVERWRITE' && edits.key(index + 1) !== 'INTO')
    )
    if (into === -1) return undefined
    return edits.key(into + 1) === 'TABLE' ? into + 2 : into + 1
  }
  const isCopy =
    ['snowflake', 'databricks', 'spark'].includes(dialect.name) && edits.follows(0, 'COPY', 'INTO')
  // a stage, or the address of files
  const { kind = 'symbol', text = '' } = edits.tokens[2] ?? {}
  return isCopy && kind !== 'string' && !/^[@'"]?@/.test(text) && /^[\w"`]/.test(text) ? 2 : undefined
}

/** The COPY that a text is; undefined where it is another statement. */
export function copyOf(sql: string, dialect: Dialect): Statement | undefined {
  if (!/^\s*(?:BULK|LOAD|COPY)\b/i.test(sql)) return undefined
  const edits = new Edits(sql, dialect)
  const target = targetOf(edits, dialect)
  return target === undefined ? undefined : { kind: 'COPY', target: pathAt(edits, target), sources: [] }
}

/** A query whose rows go to files. */
export const asUnload = (statement: Statement): Statement =>
  statement.kind === 'SELECT' ? { kind: 'COPY', query: statement.query, sources: [] } : statement
