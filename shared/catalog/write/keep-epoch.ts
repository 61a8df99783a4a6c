/**
 * Ensures that this run of the database server has an epoch. Without one, workers remember no entities from
 * chunk to chunk.
 */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { ensureEpoch, isWithoutEpoch, readEpoch } from '../../store/graph-changes.ts'

/**
 * The epoch is lost in each crash. Without an API process that keeps a graph, nothing else would create a new
 * one.
 */
export async function keepEpoch(db: Db): Promise<void> {
  if (isWithoutEpoch(await inTransaction(db, readEpoch, { readOnly: true }))) await ensureEpoch(db)
}
