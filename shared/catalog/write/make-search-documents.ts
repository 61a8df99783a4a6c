/**
 * Makes the missing search documents of entities that were created before search existed, one slice of ids
 * after the other.
 */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { lockEntities } from '../../store/entities.ts'
import { advanceBacklog, nextOfBacklog } from '../../store/search-backlog.ts'
import { rebuildSearchDocuments } from './keep-search-documents.ts'

const idsPerSlice = 1_000
const slicesPerRun = 100

/**
 * Returns the number of ids that were processed; 0 if none are left or another process is working on them.
 * Each slice is a small transaction that locks the entities as a writer does, so that the document matches
 * what is stored. Throws what the database throws.
 */
export async function makeSearchDocuments(db: Db): Promise<number> {
  let total = 0
  for (let run = 0; run < slicesPerRun; run += 1) {
    const count = await inTransaction(db, async (tx) => {
      const slice = await nextOfBacklog(tx, idsPerSlice)
      if (slice === null) return 0
      const rows = await lockEntities(tx, slice.ids)
      await rebuildSearchDocuments(
        tx,
        rows.filter(({ isPresent, deletedSeq }) => isPresent || deletedSeq === null)
      )
      await advanceBacklog(tx, slice.lastId)
      return slice.ids.length
    })
    total += count
    if (count === 0) break
  }
  return total
}
