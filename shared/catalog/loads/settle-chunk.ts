/** Ends a chunk, once: whoever still holds its fence counts it off, and who counts off the last one ends the load. */
import { commitBehind } from '../../db/commit-behind.ts'
import type { Tx } from '../../db/database.ts'
import { limits } from '../../limits.ts'
import { nudgeLoad, type Nudge } from '../../store/chunk-nudges.ts'
import { endChunk, type ClaimedChunk, type LockedChunk } from '../../store/chunks.ts'
import { advancePass, countSettled, finishLoad, type Counts } from '../../store/load-progress.ts'
import { insertRejects, restoreRejects, type Reject } from '../../store/rejects.ts'
import { nudgesPerLoad } from './accept-load.ts'
import type { ChunkGuards } from './chunk-guards.ts'

/** Another worker holds the chunk, or has ended it: whatever this one did is to be rolled back. */
export class ChunkOvertaken extends Error {
  constructor() {
    super('the chunk is held by another worker')
    this.name = 'ChunkOvertaken'
  }
}

/** The load was cancelled, or failed: nothing more of it is applied. */
export class LoadEnded extends Error {
  constructor() {
    super('the load has ended')
    this.name = 'LoadEnded'
  }
}

/** What follows from a settled chunk, once its transaction has been committed. */
export type Settled = { counts: Counts; isLoadDone: boolean; nudges: Nudge[] }

/** Throws ChunkOvertaken or LoadEnded where the chunk is not this worker's to settle. To be asked before anything is applied. */
export function assertHeld(
  chunk: LockedChunk | null,
  claimed: ClaimedChunk,
  guards: ChunkGuards
): asserts chunk is LockedChunk {
  if (!chunk) throw new ChunkOvertaken()
  if (guards.fence && (chunk.fence !== claimed.fence || chunk.state !== 'applying'))
    throw new ChunkOvertaken()
  if (chunk.loadState !== 'accepted' && chunk.loadState !== 'applying') throw new LoadEnded()
}

/**
 * The last thing the transaction of a chunk does. Throws ChunkOvertaken, LoadEnded, or an Error when the counts do not
 * add up to the records of the chunk; all of them must roll back.
 */
export async function settleChunk(
  tx: Tx,
  claimed: ClaimedChunk,
  chunk: LockedChunk,
  verdicts: { counts: Counts; rejects: readonly Reject[] },
  guards: ChunkGuards
): Promise<Settled> {
  const { counts, rejects } = verdicts
  const settledCount = counts.applied + counts.unchanged + counts.rejected
  if (guards.countCheck && settledCount !== chunk.recordCount)
    throw new Error(`${settledCount} verdicts on ${chunk.recordCount} records`)
  await insertRejects(
    tx,
    chunk.loadId,
    rejects.slice(0, Math.max(0, limits.rejectsKeptMaxCount - chunk.rejected))
  )
  if (!(await endChunk(tx, claimed.id, guards.fence ? claimed.fence : null, 'settled')) && guards.fence)
    throw new ChunkOvertaken()

  const progress = await countSettled(tx, chunk.loadId, counts)
  if (!progress) throw new LoadEnded()
  if (progress.remaining <= 0) {
    await finishLoad(tx, chunk.loadId)
    // What was tried again has been judged anew: nothing is to be restored.
    await restoreRejects(tx, chunk.loadId, [])
    return { counts, isLoadDone: true, nudges: [] }
  }
  // That the load is done is told by the commit of its last chunk, which takes all before it to disk.
  await commitBehind(tx)
  const isNextPass = (await advancePass(tx, chunk.loadId)) !== null
  return {
    counts,
    isLoadDone: false,
    nudges: isNextPass ? await nudgeLoad(tx, chunk.loadId, nudgesPerLoad) : []
  }
}
