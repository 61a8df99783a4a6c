/**
 * Ends a chunk exactly once: only the holder of its fence counts it down, and the last countdown ends the
 * load.
 */
import { commitBehind } from '../../db/commit-behind.ts'
import type { Tx } from '../../db/database.ts'
import { limits } from '../../limits.ts'
import type { LoadWarnings } from '../../model/changes.ts'
import { nudgeLoad, type Nudge } from '../../store/chunk-nudges.ts'
import { endChunk, type ClaimedChunk, type LockedChunk } from '../../store/chunks.ts'
import { advancePass, countSettled, finishLoad, type Counts } from '../../store/load-progress.ts'
import { addWarnings } from '../../store/loads.ts'
import { insertRejects, restoreRejects, type Reject } from '../../store/rejects.ts'
import { nudgesPerLoad } from './accept-load.ts'
import type { ChunkGuards } from './chunk-guards.ts'

/** Another worker holds the chunk, or has ended it: this worker must roll back its work. */
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

/**
 * What the caller must do after the transaction of a settled chunk is committed. `partsDropped`: parts of events that
 * were left out, for the metric.
 */
export type Settled = { counts: Counts; partsDropped: number; isLoadDone: boolean; nudges: Nudge[] }

/**
 * Throws ChunkOvertaken or LoadEnded if this worker may not settle the chunk. Call it before anything is
 * applied.
 */
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
 * The last step of the transaction of a chunk. Throws ChunkOvertaken, LoadEnded, or an Error if the counts do
 * not add up to the records of the chunk. The caller must roll back in each case.
 */
export async function settleChunk(
  tx: Tx,
  claimed: ClaimedChunk,
  chunk: LockedChunk,
  verdicts: { counts: Counts; rejects: readonly Reject[]; warnings?: LoadWarnings },
  guards: ChunkGuards
): Promise<Settled> {
  const { counts, rejects, warnings = { count: 0, messages: [] } } = verdicts
  // A dry run leaves nothing out, and only events have such parts.
  const partsDropped = chunk.isDryRun || chunk.format !== 'openlineage' ? 0 : warnings.count
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

  if (warnings.count > 0) await addWarnings(tx, chunk.loadId, warnings)
  const progress = await countSettled(tx, chunk.loadId, counts)
  if (!progress) throw new LoadEnded()
  if (progress.remaining <= 0) {
    await finishLoad(tx, chunk.loadId)
    // Retried records have new verdicts, so no old one is restored.
    await restoreRejects(tx, chunk.loadId, [])
    return { counts, partsDropped, isLoadDone: true, nudges: [] }
  }
  // The commit of the last chunk reports the load as done, and makes all earlier commits durable.
  await commitBehind(tx)
  const isNextPass = (await advancePass(tx, chunk.loadId)) !== null
  return {
    counts,
    partsDropped,
    isLoadDone: false,
    nudges: isNextPass ? await nudgeLoad(tx, chunk.loadId, nudgesPerLoad) : []
  }
}
