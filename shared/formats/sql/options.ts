/** The options of a load of SQL files, and what reading them needs. */
import type { JsonObject } from '../../model/changes.ts'

export type SqlOptions = {
  dialect: string
  platform?: string
  platformInstance?: string
  env?: string
  database?: string
  schema?: string
}

/** One statement with the records of its lineage, or with the reason why it has none. */
export type SqlStatementRecords = {
  /** Where it begins in its file, from 1. */
  line: number
  /** Such as `INSERT shop.public.daily`. */
  name: string
  records: JsonObject[]
  /** Why it could not be read. */
  fault: string | null
  /** What of it could not be resolved, as sentences. */
  warnings: string[]
}

export type SqlReading = SqlOptions & {
  /** Reads one file. Throws LIMIT_EXCEEDED, OVERLOADED, BAD_REQUEST for an unknown dialect. */
  read: (sql: string) => Promise<SqlStatementRecords[]>
}

/** Two submissions with different texts are not the same. */
export const sqlOptionsText = (options: SqlOptions): string =>
  JSON.stringify([
    options.dialect,
    options.platform,
    options.platformInstance,
    options.env,
    options.database,
    options.schema
  ])

/** A line of its own between two files of one body. Each file is a script of its own. */
export const nextFileLine = '-- tributary: next file'
