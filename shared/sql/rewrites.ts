/** Rewrites what the grammar does not read into what it does, where that changes nothing about lineage. */
import type { Dialect } from './dialects.ts'
import { Edits } from './edits.ts'
import { withoutComments } from './tokens.ts'
import { rewriteQueries } from './rewrite-queries.ts'
import { isByName, rewriteWrites, takeOutput, withTypes } from './rewrite-writes.ts'
import { simplerTexts } from './rewrites-of-refused.ts'
import { rewriteTables } from './rewrites-of-tables.ts'
import { rewriteValues } from './rewrites-of-values.ts'

/** Templates and parameters of drivers that are still in the text become constants or names. */
export function withoutTemplates(sql: string, dialect: Dialect): string {
  const pad = (text: string, old: string): string =>
    text.padEnd(old.length).slice(0, Math.max(old.length, text.length)) + old.replace(/[^\n]/g, '')
  let text = sql
  if (/\{[{%#]/.test(text)) {
    text = text
      .replace(/\{#[\s\S]*?#\}|\{%[\s\S]*?%\}/g, (old) => old.replace(/[^\n]/g, ' '))
      .replace(/\{\{[\s\S]*?\}\}/g, (old, at: number, all: string) => {
        const names = [...old.matchAll(/'([^']*)'|"([^"]*)"/g)].map((match) => match[1] ?? match[2] ?? '')
        if (/^\{\{-?\s*(?:ref|source)\s*\(/.test(old)) return pad(names.join('.'), old)
        const [before, after] = [all.slice(0, at), all.slice(at + old.length)]
        // what makes no SQL: {{ config(…) }} before a statement
        if (/(?:^|;)\s*$/.test(before)) return pad('', old)
        const name = /^\{\{-?\s*(?:\w+\.)*(\w+)/.exec(old)?.[1] ?? 'template'
        const isName =
          /(?:[\w.]|\b(?:from|join|into|update|table|using|view)\s*)$/i.test(before) || /^[\w.]/.test(after)
        return pad(isName ? `__${name}__` : 'NULL', old)
      })
  }
  // variables of psql
  if (['postgres', 'redshift'].includes(dialect.name))
    text = text.replace(/(?<![\w:)\]]):(?=['"][\w ]+['"])/g, ' ')
  if (/%\(\w+\)s|%s/.test(text))
    text = text.replace(/%\(\w+\)s|%s/g, (old) => pad('NULL', old).slice(0, Math.max(old.length, 4)))
  if (/\$\{/.test(text))
    text = text.replace(/\$\{([^}]*)\}/g, (old, name: string) => pad(name.replace(/\W/g, '_'), old))
  if (!['clickhouse', 'duckdb'].includes(dialect.name))
    text = text.replace(/(?<![\w$])\{(\w+)\}/g, (old, name: string) => pad(name, old))
  return text
}

/** The clauses of CREATE TABLE between its name and its query, and what follows the query, say nothing about lineage. */
function withoutTableOptions(edits: Edits): void {
  const create = edits.tokens.findIndex(({ key }) => key === 'CREATE' || key === 'REPLACE')
  const what = edits.tokens.findIndex(
    ({ key }, index) => index > create && index < create + 8 && (key === 'TABLE' || key === 'VIEW')
  )
  if (create !== 0 || what === -1) return
  let depth = 0
  for (let index = what + 1; index < edits.tokens.length; index++) {
    const key = edits.key(index)
    if (key === '(') depth++
    if (key === ')') depth--
    const isQuery =
      depth === 0 &&
      key === 'AS' &&
      edits.follows(index + 1, /^(?:SELECT|WITH|\(|SEL|LOCKING|VALUES|FROM|TABLE)$/)
    if (!isQuery) continue
    let from = what + 1
    if (edits.follows(from, 'IF', 'NOT', 'EXISTS')) from += 3
    from++
    while (edits.key(from) === '.' || edits.key(from) === ':') from += 2
    // a list of columns stays, without what is between its names
    if (edits.key(from) === '(') from = edits.close(from) + 1
    if (from < index) edits.remove(from, index - 1)
    const query = index + 1
    if (
      edits.key(query) === '(' &&
      edits.close(query) < edits.tokens.length - 1 &&
      !/^(?:UNION|EXCEPT|INTERSECT|MINUS)$/.test(edits.key(edits.close(query) + 1))
    )
      edits.remove(edits.close(query) + 1, edits.tokens.length - 1)
    return
  }
}

/** `WITH [NO] DATA` and what Teradata writes after it. */
function withoutData(edits: Edits): void {
  edits.tokens.forEach((_, index) => {
    if (
      edits.follows(index, 'WITH', 'DATA') ||
      edits.follows(index, 'WITH', 'NO', 'DATA') ||
      edits.follows(index, 'WITH', 'NO', 'SCHEMA')
    )
      edits.remove(index, edits.tokens.length - 1)
  })
}

const teradataWords: Record<string, string> = { SEL: 'SELECT', DEL: 'DELETE', INS: 'INSERT', UPD: 'UPDATE' }

function teradata(edits: Edits): void {
  edits.tokens.forEach(({ key, kind }, index) => {
    const word = kind === 'word' ? teradataWords[key] : undefined
    const isFirst =
      index === 0 ||
      edits.key(index - 1) === '(' ||
      /^(?:AS|ALL|UNION|MINUS|EXCEPT|INTERSECT|ACCESS)$/.test(edits.key(index - 1)) ||
      key === 'SEL'
    if (word !== undefined && isFirst) edits.replace(index, index, word)
    if (edits.follows(index, '(', /^(?:TITLE|FORMAT|CASESPECIFIC|NOT|UPPERCASE)$/))
      edits.remove(index, edits.close(index))
    if (edits.follows(index, '(', 'NAMED')) {
      edits.replace(index, index + 1, 'AS')
      edits.remove(edits.close(index), edits.close(index))
    }
    if (edits.follows(index, /^(?:MULTISET|SET)$/) && edits.key(index - 1) === 'CREATE')
      edits.remove(index, index)
    if (key === 'VOLATILE' || edits.follows(index, 'GLOBAL', 'TEMPORARY'))
      edits.replace(index, edits.key(index) === 'GLOBAL' ? index + 1 : index, 'TEMPORARY')
    if (edits.follows(index, 'LOCKING')) {
      const access = edits.tokens.findIndex(
        (each, at) => at > index && /^(?:ACCESS|READ|WRITE)$/.test(each.key)
      )
      if (access !== -1) edits.remove(index, access)
    }
    if (edits.follows(index, 'REPLACE', 'VIEW')) edits.replace(index, index, 'CREATE')
    if (key === 'SAMPLE' && index > 2) edits.remove(index, index + 1)
    if (
      edits.follows(index, ',', 'NO', /^(?:FALLBACK|BEFORE|AFTER|LOG)$/) &&
      edits.tokens.findIndex((each) => each.key === 'SELECT') > index
    )
      edits.remove(index, index + 2)
  })
}

function tsql(edits: Edits): void {
  edits.tokens.forEach((_, index) => {
    if (edits.follows(index, 'OPTION', '(')) edits.remove(index, edits.close(index + 1))
    if (
      edits.follows(index, 'WITH', '(') &&
      /^(?:TABLOCKX?|NOLOCK|ROWLOCK|UPDLOCK|HOLDLOCK|READPAST|READUNCOMMITTED|NOEXPAND|INDEX|FORCESEEK|XLOCK|PAGLOCK|SNAPSHOT|SERIALIZABLE|READCOMMITTED|KEEPIDENTITY)$/.test(
        edits.key(index + 2)
      )
    )
      edits.remove(index, edits.close(index + 1))
    if (edits.follows(index, 'FOR', /^(?:XML|JSON)$/, /^(?:PATH|AUTO|RAW|EXPLICIT)$/)) {
      let last = index + 2
      while (!['', ')', ';'].includes(edits.key(last + 1)))
        last = edits.key(last + 1) === '(' ? edits.close(last + 1) : last + 1
      edits.remove(index, last)
    }
    if (edits.follows(index, 'CREATE', 'OR', 'ALTER')) edits.replace(index + 2, index + 2, 'REPLACE')
    if (index === 0 && edits.follows(index, 'ALTER', 'VIEW')) edits.replace(index, index, 'CREATE')
    if (edits.follows(index, /^(?:INSERT|DELETE|UPDATE)$/, 'TOP', '('))
      edits.remove(index + 1, edits.close(index + 2))
  })
}

function hive(edits: Edits): void {
  edits.tokens.forEach((_, index) => {
    if (edits.follows(index, 'UPDATE', 'SET', '*')) edits.replace(index, index + 2, 'UPDATE SET _=0')
    if (edits.follows(index, 'INSERT', '*')) edits.replace(index, index + 1, 'INSERT VALUES(_)')
    if (edits.follows(index, 'PARTITION', '(') && index < 8) {
      const close = edits.close(index + 1)
      if (edits.follows(close + 1, 'IF', 'NOT', 'EXISTS')) edits.remove(close + 1, close + 3)
    }
  })
}

function others(edits: Edits, dialect: Dialect): void {
  edits.tokens.forEach(({ key }, index) => {
    if (dialect.name === 'duckdb' && edits.follows(index, 'ASOF')) edits.remove(index, index)
    if (
      dialect.name === 'clickhouse' &&
      ((edits.follows(index, 'FINAL') && !/^(?:FROM|JOIN|WITH|AS|[,(.])$/.test(edits.key(index - 1))) ||
        edits.follows(index, 'GLOBAL', /^(?:JOIN|LEFT|INNER|ANY|ALL|IN|NOT)$/))
    )
      edits.remove(index, index)
    if (dialect.name === 'oracle' && key.startsWith('@') && index > 0) edits.remove(index, index)
    if (dialect.name === 'bigquery' && index === 0 && edits.follows(0, 'EXPORT', 'DATA')) {
      const as = edits.tokens.findIndex((each) => each.key === 'AS')
      if (as !== -1) edits.remove(0, as)
    }
    if (dialect.name === 'snowflake' && edits.follows(index, ',', 'VALUES', '('))
      edits.replace(index, index, ' CROSS JOIN')
    if (
      edits.follows(index, 'IDENTIFIER', '(') &&
      edits.tokens[index + 2]?.kind === 'string' &&
      edits.key(index + 3) === ')'
    )
      edits.replace(index, index + 3, edits.key(index + 2).slice(1, -1))
  })
}

/** `FROM s INSERT INTO a SELECT x INSERT INTO b SELECT y`: one INSERT for each. Or one query, `FROM s SELECT x`. */
function hiveInserts(sql: string, dialect: Dialect): string[] | undefined {
  if (!/^\s*FROM\b/i.test(sql) || !['hive', 'spark', 'databricks'].includes(dialect.name)) return undefined
  const edits = new Edits(sql, dialect)
  const starts: number[] = []
  let select: number | undefined
  let depth = 0
  edits.tokens.forEach(({ key, start }) => {
    if (key === '(') depth++
    if (key === ')') depth--
    if (depth === 0 && key === 'INSERT') starts.push(start)
    if (depth === 0 && key === 'SELECT' && starts.length === 0) select ??= start
  })
  if (starts.length === 0 && select !== undefined) starts.push(select)
  const [first] = starts
  if (first === undefined) return undefined
  const from = sql.slice(0, first)
  return starts.map((start, index) => {
    const part = sql.slice(start, starts[index + 1])
    const tokens = new Edits(part, dialect).tokens
    const end =
      tokens.find(({ key }) =>
        /^(?:WHERE|GROUP|HAVING|ORDER|DISTRIBUTE|SORT|CLUSTER|LIMIT|LATERAL)$/.test(key)
      )?.start ?? part.length
    return `${part.slice(0, end)} ${from} ${part.slice(end)}`
  })
}

/** The texts to parse for one statement, most often the one that was given. */
export function prepare(sql: string, dialect: Dialect): string[] {
  const text = withoutComments(withoutTemplates(sql, dialect), dialect)
  const edits = new Edits(text, dialect)
  if (dialect.name === 'teradata') teradata(edits)
  if (dialect.name === 'tsql') tsql(edits)
  if (['hive', 'spark', 'databricks'].includes(dialect.name)) hive(edits)
  others(edits, dialect)
  rewriteQueries(edits, dialect)
  rewriteWrites(edits, dialect)
  rewriteTables(edits, dialect)
  rewriteValues(edits, dialect)
  const output = dialect.name === 'tsql' ? takeOutput(edits) : undefined
  const done = edits.apply()
  return [...(hiveInserts(done, dialect) ?? [done]), ...(output === undefined ? [] : [output])]
}

/** Whether the columns of an INSERT go by their names, in the text that was given. */
export const goesByName = (sql: string, dialect: Dialect): boolean =>
  /\bBY\s+NAME\b/i.test(sql) && isByName(new Edits(sql, dialect))

/** Other texts for the same statement, to try when the grammar refuses it. */
export function alternatives(sql: string, dialect: Dialect): string[] {
  const data = new Edits(sql, dialect)
  withoutData(data)
  const text = data.apply()
  const options = new Edits(text, dialect)
  withoutTableOptions(options)
  const shorter = options.apply()
  const types = new Edits(sql, dialect)
  withTypes(types)
  return [
    ...(data.isEmpty ? [] : [text]),
    ...(options.isEmpty ? [] : [shorter]),
    ...(types.isEmpty ? [] : [types.apply()]),
    ...simplerTexts(shorter, dialect)
  ]
}
