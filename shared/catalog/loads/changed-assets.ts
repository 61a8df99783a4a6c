/** The assets that a load has changed, from its journal. */
import type { Db } from '../../db/database.ts'
import { unpackJournal, type JournalEntry } from '../../statements/load-journal.ts'
import { findJournal, listJournal } from '../../store/load-journal.ts'

/** A load of many changes of few assets is not read further. Each row is what a chunk changed. */
const rowsMaxCount = 50

/**
 * The ids of the first `maxCount` entities that the load changed, in the order in which it did: of an edge the one
 * whose lineage it is part of. `isComplete` is false if there may be others. Empty for a dry run and for a load
 * whose journal is not kept.
 */
export async function changedAssets(
  db: Db,
  loadId: string,
  maxCount: number
): Promise<{ ids: number[]; isComplete: boolean }> {
  const ids = new Set<number>()
  const outline = await listJournal(db, loadId)
  for (const { id } of outline.slice(0, rowsMaxCount)) {
    const row = await findJournal(db, loadId, id)
    for (const entry of row ? unpackJournal(row.payload) : []) {
      ids.add(changedBy(entry))
      if (ids.size > maxCount) return { ids: [...ids].slice(0, maxCount), isComplete: false }
    }
  }
  return { ids: [...ids], isComplete: outline.length <= rowsMaxCount }
}

const changedBy = (entry: JournalEntry): number => ('key' in entry ? entry.key.ownerId : entry.entityId)
