/** Keeps the planner from scanning whole tables for statements that find a few thousand rows by index. */
import type { Tx } from './database.ts'
import { query } from './query.ts'

/**
 * For the rest of the transaction. While a load fills a table, the planner's statistics may still say that
 * the table is empty.
 */
export async function preferIndexes(tx: Tx): Promise<void> {
  await query(tx, 'set local enable_seqscan = off')
}
