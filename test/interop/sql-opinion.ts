/**
 * sqlglot's second opinion on the answers of `test/sql/cases`: where it disagrees, `test/sql/sqlglot-disagrees.txt`
 * says why the case is right.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packagePath } from '../../shared/platform/paths.ts'
import { readAllCases, type Dialect, type ExpectedStatement, type SqlCase } from '../sql/read-cases.ts'

/** What sqlglot answers for a statement: `columns` are pairs of table and column for each name. */
export type Opinion =
  { tables: string[]; columns: { [name: string]: [table: string, column: string][] } } | { error: string }

type Outcome = { passed: number; failed: number; skipped: number }

const listed = 'test/sql/sqlglot-disagrees.txt'
const answerMaxBytes = 50_000_000

/**
 * Asks sqlglot for each case and dialect, and prints each disagreement that is not listed, and each listed one that
 * is none. `bin` is that of a Python environment with sqlglot.
 */
export function compareWithSqlglot(bin: string): Outcome {
  const questions = readAllCases().flatMap((each) => each.dialects.map((dialect) => ({ each, dialect })))
  const opinions = ask(bin, questions)
  const reasons = readDisagreements(readFileSync(packagePath(listed), 'utf8'))
  const found = new Set<string>()
  const outcome: Outcome = { passed: 0, failed: 0, skipped: 0 }
  questions.forEach(({ each, dialect }, index) => {
    const differences = differencesOf(each.statements, opinions[index] ?? [])
    const names = [`${each.kind}: ${each.title}`, `${each.kind}: *`]
    if (differences.length > 0) for (const name of names) found.add(name)
    if (differences.length === 0 || names.some((name) => reasons.has(name))) outcome.passed += 1
    else {
      outcome.failed += 1
      console.log(`not ok: ${each.place} in ${dialect}: ${each.title}\n  ${differences.join('\n  ')}`)
    }
  })
  for (const name of reasons.keys())
    if (!found.has(name)) {
      outcome.failed += 1
      console.log(`not ok: ${listed} has ${name}, and sqlglot agrees with it`)
    }
  return outcome
}

/**
 * The reason for each case: a reason is a line with `#`, and the cases that it is for are the lines below it, `KIND: *`
 * for all of a kind.
 */
function readDisagreements(text: string): Map<string, string> {
  const reasons = new Map<string, string>()
  let reason = ''
  for (const line of text.split('\n').filter((each) => each !== '')) {
    if (line.startsWith('# ')) reason = line.slice(2)
    else reasons.set(line, reason)
  }
  return reasons
}

const ask = (bin: string, questions: readonly { each: SqlCase; dialect: Dialect }[]): Opinion[][] =>
  askSqlglot(
    bin,
    questions.map(({ each: { sql, database, schema, schemas }, dialect }) => ({
      sql,
      dialect,
      ...(database === undefined ? {} : { database }),
      ...(schema === undefined ? {} : { schema }),
      schemas
    }))
  )

export type Question = {
  sql: string
  dialect: string
  database?: string
  schema?: string
  schemas: { readonly [table: string]: { readonly [column: string]: string } }
}

/** For each question, an opinion on each of its statements. */
export function askSqlglot(bin: string, questions: readonly Question[]): Opinion[][] {
  const { status, stdout, stderr } = spawnSync(
    join(bin, 'python'),
    [packagePath('test/interop/clients/sql_lineage.py')],
    {
      input: JSON.stringify(questions),
      encoding: 'utf8',
      maxBuffer: answerMaxBytes
    }
  )
  if (status !== 0) throw new Error(`sqlglot ended with ${status}: ${stderr}`)
  return JSON.parse(stdout) as Opinion[][]
}

/** What differs, one line each. Names are compared without case, and columns without upstreams are left out. */
function differencesOf(expected: readonly ExpectedStatement[], opinions: readonly Opinion[]): string[] {
  const differences: string[] = []
  const wanted = expected.filter(({ kind }) => kind !== 'OTHER')
  if (wanted.length !== opinions.length)
    differences.push(`sqlglot reads ${opinions.length} statements, the case has ${wanted.length}`)
  for (const [index, opinion] of opinions.entries()) {
    const statement = wanted[index]
    if ('error' in opinion) differences.push(opinion.error)
    else if (statement !== undefined) differences.push(...differencesOfStatement(statement, opinion))
  }
  return differences
}

const listOf = (names: readonly string[]): string =>
  [...new Set(names.map((name) => name.toLowerCase()))].sort().join(', ')

function differencesOfStatement(
  { inputs, outputs, columns }: ExpectedStatement,
  opinion: Exclude<Opinion, { error: string }>
): string[] {
  const differences: string[] = []
  const compare = (what: string, ours: string, theirs: string): void => {
    if (ours !== theirs)
      differences.push(`${what}: sqlglot has ${theirs || 'none'}, the case ${ours || 'none'}`)
  }
  compare('tables', listOf([...inputs, ...outputs]), listOf(opinion.tables))
  const ours = new Map(
    columns.map(({ column, upstreams }) => [
      column.toLowerCase(),
      listOf(upstreams.map(({ table, column }) => `${table}.${column}`))
    ])
  )
  const theirs = new Map(
    Object.entries(opinion.columns).map(([name, upstreams]) => [
      name.toLowerCase(),
      listOf(upstreams.map((path) => path.join('.')))
    ])
  )
  for (const name of new Set([...ours.keys(), ...theirs.keys()]))
    compare(name, ours.get(name) ?? '', theirs.get(name) ?? '')
  return differences
}
