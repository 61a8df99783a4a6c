/** Takes a chunk for one worker. Nothing but the row in Postgres decides who holds it. */
import { hostname } from 'node:os'
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { claimChunk as claimRow, isolateChunk, type ClaimedChunk } from '../../store/chunks.ts'
import { startLoad } from '../../store/loads.ts'
import type { ChunkGuards } from './chunk-guards.ts'
import { isSweep } from './sweep-passes.ts'

/**
 * How long a chunk is held without a sign of life, and how often its holder gives one. Short, so that a killed worker's
 * chunk is soon taken up again; while a chunk is applied its row is locked, so a late sign of life costs no second run.
 */
export const leaseSeconds = 10
export const leaseRenewalMs = 3_000

/** Which process holds a chunk, for the operator who asks. */
const holder = `${hostname()}:${process.pid}`

/** Workers that may die with a chunk in their hands before it is worked on alone. */
const crashesBeforeIsolation = 3
/** Workers that may die of one record that is worked on alone, before it is called guilty. */
const crashesAlone = 3

/** What is to be done with the chunk: apply it, or what its crashes demand. */
export type Claim = { chunk: ClaimedChunk; next: 'apply' | 'split' | 'reject' | 'fail' }

/**
 * The chunk with a new fence, in a transaction of its own: what happens later, the attempt is on record. Null when
 * there is nothing to take. A chunk whose holder died counts the crash; the third isolates it, then each halves it, and
 * a record that was alone three times is to be rejected;
 * a chunk that must not be split fails its load instead.
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
      holder
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
  // A sweep has no record to blame: it is tried until it is done.
  if (!chunk.isIsolated || chunk.crashes === 0 || isSweep(chunk.pass)) return 'apply'
  if (chunk.isWhole) return chunk.crashes >= crashesAlone ? 'fail' : 'apply'
  if (chunk.recordCount > 1) return 'split'
  return chunk.crashes >= crashesAlone ? 'reject' : 'apply'
}
