/** Rewrites forms of INSERT, UPDATE, MERGE, DELETE and CREATE that the grammar does not read into others that say the same. */
import type { Dialect } from './dialects.ts'
import type { Edits } from './edits.ts'

/** The first index from one on, outside of brackets, whose key is one of these; the number of tokens where there is none. */
export function indexOf(edits: Edits, from: number, keys: RegExp): number {
  for (let index = from; index < edits.tokens.length; index++) {
    const key = edits.key(index)
    if (keys.test(key)) return index
    if (key === '(') index = edits.close(index)
    else if (key === ')') return edits.tokens.length
  }
  return edits.tokens.length
}

/** The text of some tokens. */
export function textOf(edits: Edits, from: number, to: number): string {
  const [first, last] = [edits.tokens[from], edits.tokens[to]]
  return first === undefined || last === undefined ? '' : edits.sql.slice(first.start, last.end)
}

/** `a += b` is `a = a + b`. */
function compoundAssignments(edits: Edits): void {
  edits.tokens.forEach(({ key, end }, index) => {
    if (!/^[-+*/%&|^]$/.test(key) || edits.key(index + 1) !== '=' || edits.tokens[index + 1]?.start !== end)
      return
    let from = index - 1
    while (edits.key(from - 1) === '.') from -= 2
    edits.replace(index, index + 1, `=${textOf(edits, from, index - 1)}${key}`)
  })
}

/**
 * OUTPUT of T-SQL gives rows to the client, or into a table: `OUTPUT inserted.a INTO t (b)`. The clause is left out;
 * gives the statement that writes the other table.
 */
export function takeOutput(edits: Edits): string | undefined {
  const at = indexOf(edits, 1, /^OUTPUT$/)
  if (!/^(?:INSERT|UPDATE|DELETE|MERGE|WITH)$/.test(edits.key(0)) || at === edits.tokens.length)
    return undefined
  // a column may have the name
  if (/^[=,]$/.test(edits.key(at + 1)) || /^(?:\.|,|SET|BY)$/.test(edits.key(at - 1))) return undefined
  const end = indexOf(edits, at + 1, /^(?:SELECT|VALUES|FROM|WHERE|DEFAULT|EXEC|EXECUTE|WITH|;)$/)
  edits.remove(at, end - 1)
  const into = indexOf(edits, at + 1, /^INTO$/)
  if (into >= end || edits.key(0) === 'WITH') return undefined
  const table = edits.key(1) === 'INTO' || edits.key(1) === 'FROM' ? 2 : 1
  let last = table
  while (edits.key(last + 1) === '.') last += 2
  const target = textOf(edits, table, last)
  const list = textOf(edits, at + 1, into - 1).replace(/\b(?:inserted|deleted)\s*\./gi, '')
  return `INSERT INTO ${textOf(edits, into + 1, end - 1)} SELECT ${list} FROM ${target}`
}

/** `DO NOTHING`, `REMOVE DUPLICATES` and `USING (column)`. */
function merge(edits: Edits): void {
  if (indexOf(edits, 0, /^MERGE$/) === edits.tokens.length) return
  edits.tokens.forEach((_, index) => {
    if (edits.follows(index, 'DO', 'NOTHING')) {
      const isNew = edits.follows(index - 3, 'NOT', 'MATCHED') || edits.follows(index - 1, 'NOT', 'MATCHED')
      edits.replace(index, index + 1, isNew ? 'INSERT VALUES(0)' : 'DELETE')
    }
    if (edits.follows(index, 'REMOVE', 'DUPLICATES'))
      edits.replace(index, index + 1, 'WHEN NOT MATCHED THEN INSERT VALUES(_)')
    if (edits.follows(index, 'USING', '(') && edits.follows(edits.close(index + 1) + 1, 'WHEN'))
      edits.replace(index, edits.close(index + 1), 'ON 1=1')
  })
}

/** `INSERT INTO t REPLACE WHERE …`, `BY NAME`, `ROW FORMAT …`: what stands between the target and the query. */
function insert(edits: Edits): void {
  const at = indexOf(edits, 0, /^INSERT$/)
  if (at === edits.tokens.length) return
  const query = indexOf(edits, at + 1, /^(?:SELECT|WITH|VALUES|FROM|TABLE|SEL)$/)
  const local = indexOf(edits, at + 1, /^LOCAL$/)
  if (edits.follows(local, 'LOCAL', 'DIRECTORY')) edits.remove(local, local)
  for (let index = at + 1; index < query; index++) {
    if (edits.follows(index, 'REPLACE', 'WHERE') || edits.follows(index, 'ROW', 'FORMAT'))
      edits.remove(index, indexOf(edits, index + 1, /^(?:SELECT|WITH|VALUES|SEL)$/) - 1)
    if (edits.follows(index, 'BY', 'NAME')) edits.remove(index, index + 1)
  }
}

/** Whether the columns of an INSERT go by their names. */
export function isByName(edits: Edits): boolean {
  const at = indexOf(edits, 0, /^INSERT$/)
  const name = indexOf(edits, at, /^BY$/)
  return edits.follows(name, 'BY', 'NAME') && name < indexOf(edits, at + 1, /^(?:SELECT|WITH|FROM)$/)
}

/** `UPDATE a, b SET …` of MySQL is a join. */
function updateOfList(edits: Edits): void {
  if (edits.key(0) !== 'UPDATE') return
  const set = indexOf(edits, 1, /^SET$/)
  for (let index = 1; index < set; index++) {
    if (edits.key(index) === '(') index = edits.close(index)
    else if (edits.key(index) === ',') edits.replace(index, index, ' CROSS JOIN ')
  }
}

/** `ALTER TABLE t UPDATE a = b WHERE …`, and DELETE, of ClickHouse. */
function mutation(edits: Edits): void {
  const at = indexOf(edits, 0, /^(?:UPDATE|DELETE)$/)
  if (!edits.follows(0, 'ALTER', 'TABLE') || at === edits.tokens.length) return
  const isUpdate = edits.key(at) === 'UPDATE'
  edits.replace(0, 1, isUpdate ? 'UPDATE' : 'DELETE FROM')
  edits.replace(at, at, isUpdate ? 'SET' : '')
}

/** `CREATE OR REFRESH STREAMING TABLE t AS SELECT … FROM STREAM(s)` of Databricks. */
function streaming(edits: Edits): void {
  if (edits.follows(1, 'OR', 'REFRESH')) edits.remove(1, 2)
  edits.tokens.forEach((_, index) => {
    if (edits.follows(index, /^(?:STREAMING|LIVE)$/, /^(?:TABLE|VIEW)$/)) edits.remove(index, index)
    if (edits.follows(index, 'STREAM', '(') && /^(?:FROM|JOIN|,)$/.test(edits.key(index - 1))) {
      edits.remove(index, index + 1)
      edits.remove(edits.close(index + 1), edits.close(index + 1))
    }
  })
}

/** Options of CREATE that say nothing about rows. */
function create(edits: Edits, dialect: Dialect): void {
  if (edits.key(0) !== 'CREATE') return
  if (dialect.name === 'databricks') streaming(edits)
  const as = indexOf(edits, 1, /^AS$/)
  for (let index = 1; index < as; index++) {
    const isOption = /^(?:NOFORCE|FORCE|EDITIONABLE|NONEDITIONABLE|PRIVATE)$/.test(edits.key(index))
    // a table may have such a name
    if (
      isOption &&
      /^(?:VIEW|TABLE|TEMPORARY|NOFORCE|FORCE|EDITIONABLE|NONEDITIONABLE)$/.test(edits.key(index + 1))
    )
      edits.remove(index, index)
    if (edits.follows(index, 'ON', 'COMMIT')) {
      const definition = indexOf(edits, index, /^(?:DEFINITION|ROWS)$/)
      edits.remove(index, Math.min(definition, as - 1))
    }
    if (
      dialect.name === 'tsql' &&
      edits.follows(index, 'WITH', /^(?:SCHEMABINDING|VIEW_METADATA|ENCRYPTION)$/)
    )
      edits.remove(index, as - 1)
  }
  const last = edits.tokens.length - 1
  const option = edits.tokens[last]?.key === ';' ? last - 1 : last
  if (edits.follows(option - 2, 'WITH', 'READ', 'ONLY')) edits.remove(option - 2, option)
}

/** `CREATE TABLE t (a, b) AS …`: the grammar wants types. */
export function withTypes(edits: Edits): void {
  if (edits.key(0) !== 'CREATE' || edits.follows(1, 'VIEW')) return
  const table = indexOf(edits, 1, /^TABLE$/)
  const open = indexOf(edits, table, /^\($/)
  const close = edits.close(open)
  if (table === edits.tokens.length || open === edits.tokens.length || edits.key(close + 1) !== 'AS') return
  for (let index = open + 1; index < close; index += 2) if (!/^(?:,|\))$/.test(edits.key(index + 1))) return
  for (let index = open + 1; index < close; index += 2)
    edits.replace(index, index, `${textOf(edits, index, index)} int`)
}

export function rewriteWrites(edits: Edits, dialect: Dialect): void {
  if (dialect.name === 'tsql') compoundAssignments(edits)
  if (dialect.name === 'mysql') updateOfList(edits)
  if (dialect.name === 'clickhouse') mutation(edits)
  // Teradata ends a DELETE of all rows with ALL
  const last = edits.tokens.length - 1
  if (dialect.name === 'teradata' && edits.key(0).startsWith('DEL') && edits.key(last) === 'ALL')
    edits.remove(last, last)
  merge(edits)
  insert(edits)
  create(edits, dialect)
}
