/** Keeps statements that find a few thousand rows by index from being planned as walks of whole tables. */
import type { Tx } from './database.ts'
import { query } from './query.ts'

/** For the rest of the transaction. What the planner has been told of a table that a load fills may be from when it was empty. */
export async function preferIndexes(tx: Tx): Promise<void> {
  await query(tx, 'set local enable_seqscan = off')
}
