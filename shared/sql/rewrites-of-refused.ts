/** Simpler texts of a statement that the grammar has refused: what says nothing about lineage is taken off, step by step. */
import type { Dialect } from './dialects.ts'
import { Edits } from './edits.ts'
import { rewriteRefusedValues } from './rewrites-of-values.ts'

const beginsQuery = /^(?:SELECT|WITH|SEL|VALUES|FROM)$/

/** Where the parts of `CREATE TABLE name (columns) … AS query` are; undefined for other statements. */
function partsOfCreate(edits: Edits): { columns?: number; end: number; query: number } | undefined {
  const what = edits.tokens.findIndex(({ key }, index) => index > 0 && index < 8 && key === 'TABLE')
  if (!/^(?:CREATE|REPLACE)$/.test(edits.key(0)) || what === -1) return undefined
  let end = edits.follows(what + 1, 'IF', 'NOT', 'EXISTS') ? what + 4 : what + 1
  while (edits.key(end + 1) === '.') end += 2
  const columns = edits.key(end + 1) === '(' && !beginsQuery.test(edits.key(end + 2)) ? end + 1 : undefined
  if (columns !== undefined) end = edits.close(columns)
  let depth = 0
  const query = edits.tokens.findIndex(({ key }, index) => {
    if (index <= end) return false
    const isQuery = depth === 0 && beginsQuery.test(key) && !(key === 'WITH' && edits.key(index + 2) !== 'AS')
    if (key === '(') depth++
    if (key === ')') depth--
    return isQuery
  })
  return { ...(columns === undefined ? {} : { columns }), end, query }
}

/** `CREATE TABLE t (a …) USING csv CLUSTERED BY …` without a query: only its columns count. */
function withoutOptions(edits: Edits): void {
  const parts = partsOfCreate(edits)
  if (parts === undefined || parts.query !== -1 || parts.end >= edits.tokens.length - 1) return
  // a copy of another table is not an option
  const hasQuery = edits.tokens.some(
    ({ key }, index) =>
      index > parts.end && (edits.follows(index, 'AS', '(') || /^(?:CLONE|COPY|LIKE)$/.test(key))
  )
  if (hasQuery) return
  edits.remove(parts.end + 1, edits.tokens.length - 1)
}

/** `CREATE TABLE t SELECT …`. */
function withAs(edits: Edits): void {
  const query = partsOfCreate(edits)?.query ?? -1
  const before = edits.key(query - 1)
  if (query > 0 && before !== 'AS' && before !== '(') edits.replace(query, query, `AS ${edits.key(query)}`)
}

/** Names of the columns with a type that every grammar knows. */
function plainColumns(edits: Edits): void {
  const columns = partsOfCreate(edits)?.columns
  if (columns === undefined) return
  const close = edits.close(columns)
  let depth = 0
  let begin = columns + 1
  for (let index = columns; index <= close; index++) {
    const key = edits.key(index)
    const isEnd = depth === 1 && (key === ',' || index === close)
    if (key === '(' || key === '<' || key === '[') depth++
    if (key === ')' || key === '>' || key === ']') depth--
    if (!isEnd) continue
    const name = edits.tokens[begin]
    if (name !== undefined && begin < index) edits.replace(begin, index - 1, `${name.text} INT`)
    begin = index + 1
  }
}

/** `SELECT a INTO :x, :y FROM`: variables. */
function withoutVariables(edits: Edits): void {
  if (edits.key(0) !== 'SELECT') return
  let depth = 0
  const at = (word: string, from: number): number =>
    edits.tokens.findIndex(({ key }, index) => {
      if (key === '(') depth++
      if (key === ')') depth--
      return index > from && depth === 0 && key === word
    })
  const into = at('INTO', 0)
  const from = into === -1 ? -1 : at('FROM', into)
  if (from !== -1) edits.remove(into, from - 1)
}

/** `INSERT INTO t (WITH … SELECT …)`: the query without its brackets. */
function bareQuery(edits: Edits): void {
  const open = edits.tokens.findIndex((_, index) => edits.follows(index, '(', 'WITH'))
  if (edits.key(0) !== 'INSERT' || open === -1 || edits.close(open) !== edits.tokens.length - 1) return
  edits.remove(open, open)
  edits.remove(edits.tokens.length - 1, edits.tokens.length - 1)
}

/** `COPY INTO t FROM 'path' …`, and a format by its name. */
function plainCopy(edits: Edits, dialect: Dialect): void {
  if (!edits.follows(0, 'COPY', 'INTO')) return
  edits.tokens.forEach((_, index) => {
    if (edits.follows(index, 'FILE_FORMAT', '=') && edits.key(index + 2) !== '(') {
      let last = index + 2
      while (edits.key(last + 1) === '.') last += 2
      edits.remove(index, last)
    }
  })
  const from = edits.tokens.findIndex(({ key }) => key === 'FROM')
  if (dialect.name !== 'tsql' || edits.tokens[from + 1]?.kind !== 'string') return
  edits.remove(1, 1)
  if (from + 1 < edits.tokens.length - 1) edits.remove(from + 2, edits.tokens.length - 1)
}

/** Texts to try in turn, each simpler than the one before. */
export function simplerTexts(sql: string, dialect: Dialect): string[] {
  const steps = [
    (edits: Edits) => {
      withAs(edits)
      bareQuery(edits)
      plainCopy(edits, dialect)
      rewriteRefusedValues(edits)
    },
    withoutOptions,
    withoutVariables,
    plainColumns
  ]
  const texts: string[] = []
  let text = sql
  for (const step of steps) {
    const edits = new Edits(text, dialect)
    step(edits)
    if (edits.isEmpty) continue
    text = edits.apply()
    texts.push(text)
  }
  return texts
}
