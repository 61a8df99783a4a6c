/** Makes a load whose body has ended an accepted one, and tells the workers. */
import type { Db } from '../db/database.ts'
import { inTransaction } from '../db/transaction.ts'
import { metrics } from '../platform/metrics.ts'
import type { ChunkQueue } from '../queue/chunk-queue.ts'
import { nudgeLoad } from '../store/chunk-nudges.ts'
import { acceptLoad } from '../store/loads.ts'

/** Chunks of one load that are in the queue at a time: enough for many workers, few enough that other loads get their turn. */
export const nudgesPerLoad = 64

/**
 * Draws the load's seq and puts its first pass to work; a load without chunks is done at once. False when somebody else
 * has done it, or the load has ended. The end of the body must have been committed before.
 * A queue that cannot be reached is no error: the sweeper asks again.
 */
export async function acceptReceivedLoad(db: Db, queue: ChunkQueue, loadId: string): Promise<boolean> {
  const { accepted, nudges } = await inTransaction(db, async (tx) => {
    const accepted = await acceptLoad(tx, loadId)
    return { accepted, nudges: accepted?.state === 'accepted' ? await nudgeLoad(tx, loadId, nudgesPerLoad) : [] }
  })
  if (accepted?.state === 'done') metrics.loads.inc({ state: 'done' })
  await queue.nudge(nudges)
  return accepted !== null
}
