/** Makes the search documents of entities that were there before documents were kept: a slice of ids after the other. */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { lockEntities } from '../../store/entities.ts'
import { advanceBacklog, nextOfBacklog } from '../../store/search-backlog.ts'
import { remakeDocuments } from './keep-search-documents.ts'

const sliceCount = 1_000
const slicesPerRun = 100

/**
 * Gives how many ids were looked at; 0 where nothing is left to do, or another process is at it. Small transactions: an
 * entity is locked as a writer locks it, so that what is read of it is what its document says. Throws what the database throws.
 */
export async function makeSearchDocuments(db: Db): Promise<number> {
  let total = 0
  for (let run = 0; run < slicesPerRun; run += 1) {
    const count = await inTransaction(db, async (tx) => {
      const slice = await nextOfBacklog(tx, sliceCount)
      if (slice === null) return 0
      const rows = await lockEntities(tx, slice.ids)
      await remakeDocuments(
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
