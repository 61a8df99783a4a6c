/** Accepts a load whose body has ended, and tells the workers. */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { metrics } from '../../platform/metrics.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { nudgeLoad } from '../../store/chunk-nudges.ts'
import { acceptLoad } from '../../store/loads.ts'
import { sourceId } from '../../store/statements.ts'

/**
 * How many chunks of one load are queued at first: the chunks of a later load wait for at most that many.
 * More are queued as workers take them.
 */
export const nudgesPerLoad = 8
/** While a load has more chunks, at least this many are queued, so that no worker is idle. */
export const nudgesWaiting = 4

/**
 * Draws the seq of the load and starts its first pass. A load without chunks is done at once. Returns false
 * if another process has done it, or the load has ended.
 *
 * The end of the body must already be committed. An unreachable queue is not an error: the sweeper queues the
 * chunks later.
 */
export async function acceptReceivedLoad(db: Db, queue: ChunkQueue, loadId: string): Promise<boolean> {
  const { accepted, nudges } = await inTransaction(db, async (tx) => {
    const accepted = await acceptLoad(tx, loadId)
    // The chunk that writes first would create a new source, and all others would wait until it commits: four workers
    // with a tenth of a core each loaded no more than two.
    if (accepted && accepted.chunks > 1) await sourceId(tx, accepted.source)
    return {
      accepted,
      nudges: accepted?.state === 'accepted' ? await nudgeLoad(tx, loadId, nudgesPerLoad) : []
    }
  })
  if (accepted?.state === 'done') metrics.loads.inc({ state: 'done' })
  await queue.nudge(nudges)
  return accepted !== null
}
