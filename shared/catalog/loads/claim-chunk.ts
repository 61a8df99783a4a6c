/** Claims a chunk for one worker. Only the row in Postgres decides who holds it. */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { claimChunk as claimRow, isolateChunk, type ClaimedChunk } from '../../store/chunks.ts'
import { startLoad } from '../../store/loads.ts'
import type { ChunkGuards } from './chunk-guards.ts'
import { processName } from './process-name.ts'
import { isSweep } from './sweep-passes.ts'

/**
 * How long a chunk is held without a renewal, and how often its holder renews it. Short, so that the chunk of
 * a killed worker is soon claimed again. While a chunk is applied its row is locked, so a late renewal does
 * not cause a second run.
 */
export const leaseSeconds = 10
export const leaseRenewalMs = 3_000

/** How many workers may die while they hold a chunk before it runs alone in its process. */
const crashesBeforeIsolation = 3
/** How many workers may be killed by one record that runs alone before it is rejected. */
const crashesAlone = 3

/** What to do with the chunk: apply it, or what its crashes require. */
export type Claim = { chunk: ClaimedChunk; next: 'apply' | 'split' | 'reject' | 'fail' }

/**
 * Claims the chunk with a new fence, in a transaction of its own, so that the attempt is recorded whatever
 * happens later. Null if it cannot be claimed.
 *
 * If the last holder died, a crash is counted. The third crash isolates the chunk, and each further one
 * halves it. A record that was alone three times is to be rejected. A chunk that must not be split fails its
 * load instead.
 */
export async function claimChunk(
  db: Db,
  chunkId: number,
  guards: ChunkGuards,
  seconds = leaseSeconds
): Promise<Claim | null> {
  return inTransaction(db, async (tx) => {
    const chunk = await claimRow(tx, chunkId, {
      leaseSeconds: seconds,
      anyPass: !guards.passOrder,
      anyHolder: !guards.lease,
      holder: processName
    })
    if (!chunk) return null
    await startLoad(tx, chunk.loadId)
    if (!guards.isolation) return { chunk, next: 'apply' }
    if (!chunk.isIsolated && chunk.crashes >= crashesBeforeIsolation) {
      await isolateChunk(tx, chunk.id)
      return { chunk: { ...chunk, isIsolated: true, crashes: 0 }, next: 'apply' }
    }
    return { chunk, next: afterCrashes(chunk) }
  })
}

function afterCrashes(chunk: ClaimedChunk): Claim['next'] {
  // A sweep has no record that could have caused the crash, so it is tried until it is done.
  if (!chunk.isIsolated || chunk.crashes === 0 || isSweep(chunk.pass)) return 'apply'
  if (chunk.isWhole) return chunk.crashes >= crashesAlone ? 'fail' : 'apply'
  if (chunk.recordCount > 1) return 'split'
  return chunk.crashes >= crashesAlone ? 'reject' : 'apply'
}
