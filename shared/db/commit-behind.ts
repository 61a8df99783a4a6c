/** Commits that return before they are on disk: for work of which nobody is told before a later commit, which takes both there. */
import type { Tx } from './database.ts'
import { query } from './query.ts'

/**
 * Lets this transaction's commit return at once. The log is written in order, so the next commit that waits for the disk waits for
 * this one as well, whoever makes it; a crash before it leaves all of this transaction or nothing, as if it had not been committed yet.
 */
export async function commitBehind(tx: Tx): Promise<void> {
  await query(tx, 'set local synchronous_commit = off')
}
