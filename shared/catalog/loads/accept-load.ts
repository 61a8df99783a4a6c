/** Makes a load whose body has ended an accepted one, and tells the workers. */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { metrics } from '../../platform/metrics.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { nudgeLoad } from '../../store/chunk-nudges.ts'
import { acceptLoad } from '../../store/loads.ts'

/** Chunks of one load that the queue is told of at first: a load that comes later waits for so many at most. It is told of more as workers take them. */
export const nudgesPerLoad = 8
/** So many wait in the queue at least while a load has more: a worker that is free need not wait for one to be told of. */
export const nudgesWaiting = 4

/**
 * Draws the load's seq and puts its first pass to work; a load without chunks is done at once. False when somebody else
 * has done it, or the load has ended. The end of the body must have been committed before.
 * A queue that cannot be reached is no error: the sweeper asks again.
 */
export async function acceptReceivedLoad(db: Db, queue: ChunkQueue, loadId: string): Promise<boolean> {
  const { accepted, nudges } = await inTransaction(db, async (tx) => {
    const accepted = await acceptLoad(tx, loadId)
    return {
      accepted,
      nudges: accepted?.state === 'accepted' ? await nudgeLoad(tx, loadId, nudgesPerLoad) : []
    }
  })
  if (accepted?.state === 'done') metrics.loads.inc({ state: 'done' })
  await queue.nudge(nudges)
  return accepted !== null
}
