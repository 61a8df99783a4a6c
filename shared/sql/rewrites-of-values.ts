/** Rewrites expressions that the grammar does not know into others that read the same columns. */
import type { Dialect } from './dialects.ts'
import type { Edits } from './edits.ts'

const comparisons: Record<string, string> = { EQ: '=', NE: '<>', LT: '<', LE: '<=', GT: '>', GE: '>=' }

/** Words that a value cannot come before, and so no comparison after. */
const notValues =
  /^(?:SELECT|SEL|DISTINCT|ALL|AND|OR|NOT|WHERE|ON|BY|WHEN|THEN|ELSE|HAVING|QUALIFY|AS|IN|FROM|CASE|[,(.=])$/

/** Teradata's `a EQ b`. */
function comparison(edits: Edits, index: number): void {
  const sign = edits.tokens[index]?.kind === 'word' ? comparisons[edits.key(index)] : undefined
  if (sign === undefined || index === 0 || notValues.test(edits.key(index - 1))) return
  if (edits.follows(index + 1, /^(?:FROM|AS|AND|OR|[,.)=]|)$/)) return
  edits.replace(index, index, sign)
}

/** `x IS JSON OBJECT`: a condition on x. */
function isJson(edits: Edits, index: number): void {
  const json = edits.follows(index, 'IS', 'NOT', 'JSON')
    ? index + 2
    : edits.follows(index, 'IS', 'JSON')
      ? index + 1
      : -1
  if (json === -1) return
  let last = json
  if (edits.follows(last + 1, /^(?:VALUE|OBJECT|ARRAY|SCALAR)$/)) last++
  if (edits.follows(last + 1, /^(?:WITH|WITHOUT)$/, 'UNIQUE')) last += edits.key(last + 3) === 'KEYS' ? 3 : 2
  edits.replace(json, last, json === index + 1 ? 'NOT NULL' : 'NULL')
}

/** `count(* WHERE condition)`: an aggregate with its filter inside. */
function innerFilter(edits: Edits, index: number): void {
  if (edits.key(index) !== '(' || edits.tokens[index - 1]?.kind !== 'word') return
  let depth = 0
  for (let at = index; at < edits.tokens.length; at++) {
    const key = edits.key(at)
    if (key === '(') depth++
    if (key === ')' && --depth === 0) return
    if (depth !== 1) continue
    if (/^(?:SELECT|FROM|WITH)$/.test(key)) return
    if (key === 'WHERE') return edits.replace(at, at, ') FILTER (WHERE')
  }
}

/** `x::integer[]`, a type that not every grammar has. */
function arrayType(edits: Edits, index: number): void {
  if (edits.follows(index, '[', ']') && /^(?:[\w]+|[)\]])$/.test(edits.key(index - 1)))
    edits.remove(index, index + 1)
}

/** Expressions that are written with words of their own. */
export function rewriteValues(edits: Edits, dialect: Dialect): void {
  edits.tokens.forEach(({ key, kind, text }, index) => {
    if (dialect.name === 'teradata') comparison(edits, index)
    if (edits.key(index - 1) === 'AS' && kind === 'variable' && text.startsWith(':'))
      edits.replace(index, index, text.slice(1))
    if (key === 'IS') isJson(edits, index)
    if (edits.follows(index, 'VARIADIC', 'ARRAY')) edits.remove(index, index)
  })
}

/** What some grammar reads, tried only where this one has refused. */
export function rewriteRefusedValues(edits: Edits): void {
  edits.tokens.forEach((_, index) => {
    innerFilter(edits, index)
    arrayType(edits, index)
    if (edits.follows(index, 'CROSS', 'JOIN')) edits.remove(index, index)
  })
}
