/**
 * Lets a transaction commit without waiting for the disk. For work that is recorded only in the database:
 * after a crash it is simply done again.
 */
import type { Tx } from './database.ts'
import { query } from './query.ts'

/**
 * Lets the commit of this transaction return before it is on disk. Postgres writes its log in order, so the
 * next commit that waits for the disk, in any session, also makes this one durable.
 *
 * A crash before then loses the whole transaction. So nothing outside the database may rely on it: an upload
 * does, and must not use this. See decision 19.
 */
export async function commitBehind(tx: Tx): Promise<void> {
  await query(tx, 'set local synchronous_commit = off')
}
