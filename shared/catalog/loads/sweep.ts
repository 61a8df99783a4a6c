/**
 * Queues chunks again that have no queue job, so that nothing is lost if the queue is wiped, frozen or full.
 * Every worker runs this; an advisory lock admits one at a time.
 */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { metrics } from '../../platform/metrics.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { nudgeDue } from '../../store/chunk-nudges.ts'
import { dropChunks } from '../../store/chunks.ts'
import {
  findEndedWithChunks,
  findSilentUploads,
  findUnaccepted,
  trySweeperLock
} from '../../store/housekeeping.ts'
import { limits } from '../../limits.ts'
import { abortUpload } from './abort-upload.ts'
import { acceptReceivedLoad, nudgesPerLoad } from './accept-load.ts'
import { allChunkGuards, type ChunkGuards } from './chunk-guards.ts'

export type SweepOptions = {
  guards?: ChunkGuards
  /** How long a chunk waits before it is queued again. */
  quietSeconds?: number
}

/** How much was found and fixed. */
export type Swept = { nudged: number; accepted: number; aborted: number; dropped: number }

/** How long after the end of a body the load is accepted here, if its API process has not done it. */
const unacceptedSeconds = 10
/** The queue is filled up to this many jobs. Further jobs would only duplicate these. */
const queueDepthMax = 200

/** May run at any time, and any number of times. Throws what the database throws. */
export async function sweep(db: Db, queue: ChunkQueue, options: SweepOptions = {}): Promise<Swept> {
  const { guards = allChunkGuards, quietSeconds = 10 } = options
  const swept: Swept = { nudged: 0, accepted: 0, aborted: 0, dropped: 0 }
  if (!guards.sweeper) return swept
  const room = queueDepthMax - ((await queue.depth()) ?? 0)
  const due = await inTransaction(db, async (tx) => {
    if (!(await trySweeperLock(tx))) return null
    return room > 0 ? nudgeDue(tx, room, quietSeconds, nudgesPerLoad) : []
  })
  if (due === null) return swept
  await queue.nudge(due)
  swept.nudged = due.length
  metrics.sweeperNudges.inc(due.length)

  for (const id of await findUnaccepted(db, unacceptedSeconds))
    if (await acceptReceivedLoad(db, queue, id)) swept.accepted += 1
  for (const id of await findSilentUploads(db, limits.uploadSilentMaxSeconds))
    if (await abortUpload(db, id, 'The upload stopped before its end')) swept.aborted += 1
  for (const id of await findEndedWithChunks(db)) swept.dropped += await dropChunks(db, id)
  return swept
}
