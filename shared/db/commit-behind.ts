/** Commits that return before they are on disk: for work that nothing but the database remembers, so that a crash leaves it to be done again. */
import type { Tx } from './database.ts'
import { query } from './query.ts'

/**
 * Lets this transaction's commit return at once. The log is written in order, so the next commit that waits for the disk waits for
 * this one as well, whoever makes it. A crash before that leaves nothing of this transaction, and must leave nobody who continues as if it were
 * there: not for an upload, which does. Decision 19 has more.
 */
export async function commitBehind(tx: Tx): Promise<void> {
  await query(tx, 'set local synchronous_commit = off')
}
