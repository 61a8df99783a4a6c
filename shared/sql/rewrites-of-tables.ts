/** Rewrites what stands around the name of a table, where the grammar does not know it, into the table itself. */
import type { Dialect } from './dialects.ts'
import type { Edits } from './edits.ts'

/** The index of the last token of the name that begins at an index: `a.b."c"`. */
function endOfName(edits: Edits, from: number): number {
  let last = from
  while (edits.key(last + 1) === '.') last += 2
  return last
}

const textOf = (edits: Edits, from: number, to: number): string =>
  edits.sql.slice(edits.tokens[from]?.start ?? 0, edits.tokens[to]?.end ?? 0)

/** `SEMANTIC_VIEW(v METRICS … DIMENSIONS …)`: a view, whose columns the query names. */
function semanticView(edits: Edits, index: number): void {
  if (!edits.follows(index, 'SEMANTIC_VIEW', '(')) return
  const last = endOfName(edits, index + 2)
  if (edits.follows(last + 1, /^(?:METRICS|DIMENSIONS|FACTS|WHERE)$/))
    edits.replace(index, edits.close(index + 1), textOf(edits, index + 2, last))
}

/** `FROM IDENTIFIER(expression)`: a table that is known when it runs. */
function namedByExpression(edits: Edits, index: number): void {
  const isOfFrom = /^(?:FROM|JOIN|,)$/.test(edits.key(index - 1))
  if (!isOfFrom || !edits.follows(index, 'IDENTIFIER', '(')) return
  const close = edits.close(index + 1)
  if (close > index + 3) edits.replace(index, close, 'TABLE(f())')
}

const lockHint =
  /^(?:NOLOCK|READUNCOMMITTED|READCOMMITTED|READPAST|ROWLOCK|TABLOCKX?|UPDLOCK|HOLDLOCK|XLOCK|PAGLOCK|SNAPSHOT|SERIALIZABLE)$/

/** `FROM t (NOLOCK)`, as T-SQL had it before WITH. */
function oldHint(edits: Edits, index: number): void {
  const before = edits.tokens[index - 1]
  if (before?.kind !== 'word' && before?.kind !== 'quoted') return
  if (edits.key(index) === '(' && lockHint.test(edits.key(index + 1))) edits.remove(index, edits.close(index))
}

/** `ML.PREDICT(MODEL m, TABLE t)`: reads the model, and the rows of the table. */
function tableArgument(edits: Edits, index: number): void {
  if (!/^[(,]$/.test(edits.key(index)) || !/^(?:TABLE|MODEL)$/.test(edits.key(index + 1))) return
  const last = endOfName(edits, index + 2)
  if (edits.tokens[index + 2]?.kind !== 'symbol' && /^[),]$/.test(edits.key(last + 1)))
    edits.replace(index + 1, last, `(SELECT * FROM ${textOf(edits, index + 2, last)})`)
}

/** `FROM UNPIVOT o.properties AS value AT key`, as Redshift opens an object. */
function openedObject(edits: Edits, index: number): void {
  if (!/^(?:FROM|,)$/.test(edits.key(index - 1)) || edits.key(index) !== 'UNPIVOT') return
  edits.remove(index, index)
  const value = edits.key(index + 1) === '(' ? edits.close(index + 1) : endOfName(edits, index + 1)
  const alias = edits.key(value + 1) === 'AS' ? value + 2 : value + 1
  if (edits.key(alias + 1) === 'AT')
    edits.replace(alias + 1, alias + 2, `(${edits.key(alias)}, ${edits.key(alias + 2)})`)
}

/** `CREATE STREAM s ON TABLE t`: the rows of the table as they change. */
function stream(edits: Edits): void {
  const at = edits.tokens.findIndex(({ key }, index) => index < 5 && key === 'STREAM')
  const on = edits.tokens.findIndex(({ key }, index) => index > at && key === 'ON')
  if (edits.key(0) !== 'CREATE' || at === -1 || !edits.follows(on + 1, /^(?:TABLE|VIEW)$/)) return
  edits.replace(at, at, 'VIEW')
  edits.replace(on, on + 1, 'AS SELECT * FROM')
  const last = endOfName(edits, on + 2)
  if (last < edits.tokens.length - 1) edits.remove(last + 1, edits.tokens.length - 1)
}

/** `CREATE TABLE t (LIKE s)`, which most grammars take for a column. */
function bareLike(edits: Edits): void {
  const open = edits.tokens.findIndex((_, index) => edits.follows(index, '(', 'LIKE'))
  if (!edits.follows(0, 'CREATE') || open === -1 || open > 12) return
  const close = edits.close(open)
  edits.remove(open, open)
  edits.remove(close, close)
}

/** `ALTER TABLE a EXCHANGE PARTITION (…) WITH TABLE b`. */
function exchange(edits: Edits): void {
  if (!edits.follows(0, 'ALTER', 'TABLE')) return
  const at = edits.tokens.findIndex((_, index) => edits.follows(index, 'EXCHANGE', 'PARTITION', '('))
  const close = at === -1 ? -1 : edits.close(at + 2)
  if (close !== -1 && edits.follows(close + 1, 'WITH', 'TABLE')) edits.replace(at, close + 2, 'SWAP WITH')
}

/** `CREATE MATERIALIZED VIEW v TO t (a Int32, …) AS`: the columns are those of the query. */
function columnsOfTarget(edits: Edits, index: number): void {
  if (index > 12 || edits.key(index) !== 'TO' || edits.key(0) !== 'CREATE') return
  const last = endOfName(edits, index + 1)
  if (edits.key(last + 1) === '(') edits.remove(last + 1, edits.close(last + 1))
}

/** Databricks' streaming tables and views that are refreshed are tables and views, a stream of a table is the table. */
function streaming(edits: Edits, index: number): void {
  if (index < 5 && edits.key(0) === 'CREATE') {
    if (edits.follows(index, 'OR', 'REFRESH')) edits.replace(index + 1, index + 1, 'REPLACE')
    if (
      /^(?:STREAMING|LIVE|SHALLOW|DEEP)$/.test(edits.key(index)) &&
      /^(?:TABLE|VIEW|LIVE|CLONE)$/.test(edits.key(index + 1))
    )
      edits.remove(index, index)
  }
  if (/^(?:SHALLOW|DEEP)$/.test(edits.key(index)) && edits.key(index + 1) === 'CLONE')
    edits.remove(index, index)
  if (!/^(?:FROM|JOIN)$/.test(edits.key(index - 1)) || edits.key(index) !== 'STREAM') return
  if (edits.key(index + 1) === '(') {
    edits.remove(index, index + 1)
    edits.remove(edits.close(index + 1), edits.close(index + 1))
  } else if (edits.tokens[index + 1]?.kind === 'word') edits.remove(index, index)
}

/** Vertica's `SELECT swap_partitions_between_tables('a', …, 'b')`. */
function swapPartitions(edits: Edits): void {
  if (!edits.follows(0, 'SELECT', 'SWAP_PARTITIONS_BETWEEN_TABLES', '(')) return
  const names = edits.tokens.filter(({ kind }) => kind === 'string').map(({ text }) => text.slice(1, -1))
  const [from, to] = [names[0], names.at(-1)]
  if (names.length > 1) edits.replace(0, edits.tokens.length - 1, `ALTER TABLE ${to} SWAP WITH ${from}`)
}

export function rewriteTables(edits: Edits, dialect: Dialect): void {
  const { name } = dialect
  swapPartitions(edits)
  if (name === 'snowflake') stream(edits)
  if (name !== 'postgres' && name !== 'redshift') bareLike(edits)
  if (['hive', 'spark', 'databricks'].includes(name)) exchange(edits)
  edits.tokens.forEach((_, index) => {
    if (name === 'snowflake') semanticView(edits, index)
    if (name === 'snowflake' || name === 'databricks') namedByExpression(edits, index)
    if (name === 'tsql') oldHint(edits, index)
    if (name === 'bigquery') tableArgument(edits, index)
    if (name === 'databricks') streaming(edits, index)
    if (name === 'redshift') openedObject(edits, index)
    if (name === 'clickhouse') columnsOfTarget(edits, index)
  })
}
