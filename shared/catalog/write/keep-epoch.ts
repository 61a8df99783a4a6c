/** Sees to it that this run of the server has an epoch, without which workers remember nothing of entities from chunk to chunk. */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { ensureEpoch, isWithoutEpoch, readEpoch } from '../../store/graph-changes.ts'

/** It is gone after each crash; where no API process holds a graph, nobody else would make another. */
export async function keepEpoch(db: Db): Promise<void> {
  if (isWithoutEpoch(await inTransaction(db, readEpoch, { readOnly: true }))) await ensureEpoch(db)
}
