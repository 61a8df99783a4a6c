/** Rewrites parts of queries that the grammar does not read into others that read the same columns. */
import type { Dialect } from './dialects.ts'
import type { Edits } from './edits.ts'
import { indexOf, textOf } from './rewrite-writes.ts'

const joinWords = /^(?:LEFT|RIGHT|INNER|FULL|JOIN|OUTER)$/

/** How rows are matched, or how a join is done, does not change which columns it gives. */
function joins(edits: Edits, dialect: Dialect): void {
  edits.tokens.forEach((_, index) => {
    if (dialect.name === 'clickhouse') {
      if (edits.follows(index, /^(?:ANY|ASOF|ALL)$/, joinWords)) edits.remove(index, index)
      if (edits.follows(index, joinWords, /^(?:ANY|ASOF|ALL)$/, 'JOIN')) edits.remove(index + 1, index + 1)
    }
    if (dialect.name === 'duckdb' && edits.follows(index, 'POSITIONAL', 'JOIN'))
      edits.replace(index, index + 1, 'CROSS JOIN')
    if (dialect.name === 'tsql' && edits.follows(index, joinWords, /^(?:LOOP|HASH|MERGE|REMOTE)$/, 'JOIN'))
      edits.remove(index + 1, index + 1)
  })
}

function operators(edits: Edits, dialect: Dialect): void {
  edits.tokens.forEach(({ key, kind }, index) => {
    if (dialect.name === 'sqlite' && kind === 'word' && /^(?:GLOB|MATCH|REGEXP)$/.test(key) && index > 1)
      edits.replace(index, index, 'LIKE')
    // t.1 is the first value of a tuple
    if (dialect.name === 'clickhouse' && key === '.' && edits.tokens[index + 1]?.kind === 'number')
      edits.remove(index, index + 1)
    if (dialect.name === 'duckdb' && edits.follows(index, 'USING', 'SAMPLE')) {
      let last = index + 1
      while (!['', ')', ';'].includes(edits.key(last + 1)))
        last = edits.key(last + 1) === '(' ? edits.close(last + 1) : last + 1
      edits.remove(index, last)
    }
    // KEEP (DENSE_RANK LAST ORDER BY x): the rows of x decide
    if (dialect.name === 'oracle' && edits.follows(index, 'KEEP', '(')) {
      const order = indexOf(edits, index + 2, /^ORDER$/)
      if (order < edits.close(index + 1)) edits.replace(index, order - 1, 'OVER (')
    }
  })
}

/** `lambda x: f(x)`, and `[f(x) for x in list if g(x)]`. */
function comprehensions(edits: Edits): void {
  edits.tokens.forEach((_, index) => {
    if (edits.follows(index, 'LAMBDA', /./, ':')) {
      edits.replace(index, index, '')
      edits.replace(index + 2, index + 2, '->')
    }
    if (edits.key(index) !== '[') return
    const end = indexOf(edits, index + 1, /^\]$/)
    const loop = indexOf(edits, index + 1, /^FOR$/)
    if (loop >= end || edits.key(loop + 2) !== 'IN') return
    const condition = Math.min(indexOf(edits, loop, /^IF$/), end)
    const parts = [textOf(edits, index + 1, loop - 1)]
    if (condition < end) parts.push(textOf(edits, condition + 1, end - 1))
    edits.replace(
      index,
      end,
      `list_transform(${textOf(edits, loop + 3, condition - 1)}, ${edits.key(loop + 1)} -> (${parts.join(', ')}))`
    )
  })
}

/**
 * ClickHouse names expressions in front of a query, `WITH f(x) AS a SELECT a`, and within expressions,
 * `(x AS a) / 2`: puts the expression where its name is used.
 */
function namedExpressions(edits: Edits): void {
  const named = new Map<string, string>()
  let from = 0
  if (edits.key(0) === 'WITH' && edits.key(2) !== 'AS' && edits.key(1) !== 'RECURSIVE') {
    const select = indexOf(edits, 1, /^SELECT$/)
    for (let start = 1; start < select;) {
      const end = Math.min(indexOf(edits, start, /^,$/), select)
      if (edits.key(end - 2) !== 'AS') return
      named.set(edits.key(end - 1), `(${textOf(edits, start, end - 3)})`)
      start = end + 1
    }
    edits.remove(0, select - 1)
    from = select
  }
  const isCall = (open: number): boolean =>
    edits.tokens[open - 1]?.kind === 'word' && edits.key(open - 1) !== 'SELECT'
  edits.tokens.forEach((_, index) => {
    const open = index < from || edits.key(index) !== '(' || isCall(index) ? -1 : index
    const close = open === -1 ? -1 : edits.close(open)
    if (open === -1 || edits.key(close - 2) !== 'AS' || /^(?:SELECT|WITH)$/.test(edits.key(open + 1))) return
    named.set(edits.key(close - 1), `(${textOf(edits, open + 1, close - 3)})`)
    edits.remove(close - 2, close - 1)
  })
  if (named.size === 0) return
  const end = indexOf(edits, from, /^FROM$/)
  edits.tokens.forEach(({ kind, text }, index) => {
    const value = kind === 'word' && index > from ? named.get(edits.key(index)) : undefined
    const before = edits.key(index - 1)
    if (value === undefined || before === 'AS' || before === '.' || edits.key(index + 1) === '(') return
    const isColumn =
      index < end && /^(?:SELECT|,)$/.test(before) && /^(?:,|FROM|)$/.test(edits.key(index + 1))
    edits.replace(index, index, isColumn ? `${value} AS ${text}` : value)
  })
}

export function rewriteQueries(edits: Edits, dialect: Dialect): void {
  joins(edits, dialect)
  operators(edits, dialect)
  if (dialect.name === 'duckdb') comprehensions(edits)
  if (dialect.name === 'clickhouse') namedExpressions(edits)
}
