/** The one way SQL is sent: text with `?` bindings, typed rows back. */
import type { Db, Tx } from './database.ts'

/** A binding: arrays go to Postgres as arrays, so cast them in the text (`?::int[]`). Objects must be made text first. */
export type Binding =
  | string
  | number
  | boolean
  | null
  | Date
  | Buffer
  | readonly (string | number | boolean | null | Date | Buffer)[]

/** Runs one statement and gives its rows. The row type is the caller's word for the columns its text selects. */
export async function query<Row>(
  db: Db | Tx,
  sql: string,
  bindings: readonly Binding[] = []
): Promise<Row[]> {
  const result: { rows: Row[] } = await db.raw(sql, bindings as never)
  return result.rows
}
