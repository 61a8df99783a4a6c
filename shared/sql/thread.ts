/** The thread that reads SQL: opens the reader once, and answers one task after another. */
import { ParserBroken } from './parser.ts'
import type { ReadOptions } from './read-sql.ts'
import { openSqlReader } from './read-sql.ts'
import type { StatementLineage } from './statement-lineage.ts'

export interface SqlTask extends ReadOptions {
  sql: string
}

const reader = openSqlReader()

export default async function read({ sql, ...options }: SqlTask): Promise<StatementLineage[]> {
  const { read: readScript } = await reader
  try {
    return readScript(sql, options)
  } catch (error) {
    // the pool gives the task an error, and the next one a new thread
    if (error instanceof ParserBroken) process.exit(1)
    throw error
  }
}
