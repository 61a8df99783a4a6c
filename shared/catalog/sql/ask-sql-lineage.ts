/** Answers which tables and columns SQL reads and writes, with the columns that the catalog knows. Stores nothing. */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { checkLine } from '../../model/text-checks.ts'
import { dialectNames, findDialect } from '../../sql/dialects.ts'
import type { Problem } from '../../sql/problems.ts'
import type { Schemas } from '../../sql/session.ts'
import type { ColumnLineage } from '../../sql/answer.ts'
import type { StatementLineage } from '../../sql/statement-lineage.ts'
import type { EntitySources } from '../lineage/known-entities.ts'
import { readSql } from './sql-thread.ts'
import { findTables, readSchemas, type NamedTable } from './table-urns.ts'

/** The question as clients send it. */
export type SqlQuestion = {
  sql: string
  dialect?: string | null
  database?: string | null
  schema?: string | null
  /** Columns of tables, in order. They win over those of the catalog. */
  schemas?: Schemas | null
  platform?: string | null
  platformInstance?: string | null
  env?: string | null
  /** Also the columns that only decide which rows there are. */
  indirect?: boolean | null
}

export type StatementAnswer = {
  kind: string
  line: number
  inputs: NamedTable[]
  outputs: NamedTable[]
  columns: (Omit<ColumnLineage, 'output'> & { output: string | null })[]
  indirect?: StatementLineage['indirect']
  problems: readonly Problem[]
}

const textFields = ['database', 'schema', 'platform', 'platformInstance', 'env'] as const

/**
 * The lineage of each statement, in order. A table is an asset of `platform`, by default that of the dialect; `exists` says
 * whether the catalog has it.
 *
 * Throws BAD_REQUEST for an unknown dialect and for a question without SQL, INVALID_URN, LIMIT_EXCEEDED (sqlMaxBytes,
 * sqlTablesMaxCount), OVERLOADED. SQL that cannot be read is not an error: the statement says so in its problems.
 */
export const askSqlLineage = async (
  sources: EntitySources,
  caller: string,
  question: SqlQuestion
): Promise<StatementAnswer[]> => (await readSqlLineage(sources, caller, question)).statements

/** `columnIn` spells a column as its table does in the catalog. */
export type ReadLineage = {
  statements: StatementAnswer[]
  columnIn: (table: string, column: string) => string
}

/** As askSqlLineage, and how the catalog spells the columns. */
export async function readSqlLineage(
  sources: EntitySources,
  caller: string,
  question: SqlQuestion
): Promise<ReadLineage> {
  const { sql } = question
  if (sql.trim() === '')
    throw new CatalogError('BAD_REQUEST', 'sql must contain a statement', { field: 'sql' })
  const dialect = findDialect(question.dialect ?? 'generic')
  if (dialect === undefined)
    throw new CatalogError('BAD_REQUEST', `Unknown dialect ${String(question.dialect).slice(0, 100)}`, {
      field: 'dialect',
      allowed: [...dialectNames]
    })
  const given: Partial<Record<(typeof textFields)[number], string>> = {}
  for (const field of textFields) {
    const value = question[field]
    if (value !== undefined && value !== null)
      given[field] = checkLine(value, { field, limit: 'urnMaxBytes' })
  }
  const place = { ...given, dialect: dialect.name }
  const task = {
    sql,
    dialect: dialect.name,
    ...(given.database === undefined ? {} : { database: given.database }),
    ...(given.schema === undefined ? {} : { schema: given.schema })
  }
  const sent = question.schemas ?? {}
  const first = await readSql(caller, { ...task, schemas: sent })
  const names = tableNames(first)
  if (names.length > limits.sqlTablesMaxCount)
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `The SQL names ${names.length} tables; at most ${limits.sqlTablesMaxCount} are read at a time`,
      { field: 'sql', limit: 'sqlTablesMaxCount', maximum: limits.sqlTablesMaxCount, actual: names.length }
    )
  const tables = await findTables(sources, names, place)
  const stored = await readSchemas(sources, tables.values())
  const isMore = Object.keys(stored).length > 0
  const statements = isMore ? await readSql(caller, { ...task, schemas: { ...stored, ...sent } }) : first
  const named = (list: readonly string[]): NamedTable[] =>
    list.map((name) => tables.get(name) ?? { name, urn: null, exists: false })
  const answers = statements.map(({ kind, line, problems, inputs, outputs, columns, indirect }) => ({
    kind,
    line,
    problems,
    inputs: named(inputs),
    outputs: named(outputs),
    columns: columns.map(({ output = null, ...column }) => ({ output, ...column })),
    ...(question.indirect === true ? { indirect } : {})
  }))
  return { statements: answers, columnIn: spellingOf(tables, stored) }
}

/** As the stored schema has it; in lower case where the asset's name is in lower case although the dialect's is not. */
function spellingOf(tables: ReadonlyMap<string, NamedTable>, stored: Schemas): ReadLineage['columnIn'] {
  const names = new Map(
    Object.entries(stored).map(([table, columns]) => [
      table,
      new Map(Object.keys(columns).map((column) => [column.toLowerCase(), column]))
    ])
  )
  return (table, column) => {
    const known = names.get(table)?.get(column.toLowerCase())
    if (known !== undefined) return known
    const isLowered = table !== table.toLowerCase() && tables.get(table)?.urn?.includes(table.toLowerCase())
    return isLowered === true ? column.toLowerCase() : column
  }
}

const tableNames = (statements: readonly StatementLineage[]): string[] => [
  ...new Set(statements.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]))
]
