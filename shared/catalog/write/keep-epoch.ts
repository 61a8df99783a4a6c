/**
 * Ensures that this run of the database server has an epoch. Without one, workers cannot remember entities
 * from chunk to chunk.
 */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { ensureEpoch, isWithoutEpoch, readEpoch } from '../../store/graph-changes.ts'

/**
 * Each crash loses the epoch. An API process that keeps a graph creates a new epoch; without such a process,
 * only this function does.
 */
export async function keepEpoch(db: Db): Promise<void> {
  if (isWithoutEpoch(await inTransaction(db, readEpoch, { readOnly: true }))) await ensureEpoch(db)
}
