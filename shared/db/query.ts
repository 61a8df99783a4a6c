/** The only way to send SQL: text with `?` bindings in, typed rows out. */
import type { Db, Tx } from './database.ts'

/**
 * A binding. Arrays are sent as arrays, so cast them in the text (`?::int[]`). Print objects as text first.
 */
export type Binding =
  | string
  | number
  | boolean
  | null
  | Date
  | Buffer
  | readonly (string | number | boolean | null | Date | Buffer)[]

/**
 * Runs one statement and returns its rows. The caller declares the row type, which is not checked against the
 * columns.
 */
export async function query<Row>(
  db: Db | Tx,
  sql: string,
  bindings: readonly Binding[] = []
): Promise<Row[]> {
  const result: { rows: Row[] } = await db.raw(sql, bindings as never)
  return result.rows
}
