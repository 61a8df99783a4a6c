/**
 * Asks again for what no queue job points at: the reason why the queue may be wiped, frozen or full and nothing is lost.
 * Every worker runs it; an advisory lock lets one at a time do so.
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
  /** A chunk that waits is asked for again after this long. */
  quietSeconds?: number
  /** A body that has ended is accepted by us when its API process has not done it for this long. */
  unacceptedSeconds?: number
  /** An upload that nobody has written to for this long is aborted. */
  silentUploadSeconds?: number
}

/** What was found and set right. */
export type Swept = { nudged: number; accepted: number; aborted: number; dropped: number }

/** Jobs that the queue is filled up to; more would only be looked at twice. */
const queueDepthMax = 200

/** Safe to run at any time and any number of times. Throws what the database throws. */
export async function sweep(db: Db, queue: ChunkQueue, options: SweepOptions = {}): Promise<Swept> {
  const {
    guards = allChunkGuards,
    quietSeconds = 10,
    unacceptedSeconds = 10,
    silentUploadSeconds = limits.uploadSilentMaxSeconds
  } = options
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
  for (const id of await findSilentUploads(db, silentUploadSeconds))
    if (await abortUpload(db, id, 'Nothing more came of the upload')) swept.aborted += 1
  for (const id of await findEndedWithChunks(db)) swept.dropped += await dropChunks(db, id)
  return swept
}
