/** Runs one chunk for a queue job, from its claim to its end. */
import { setTimeout as sleep } from 'node:timers/promises'
import { commitBehind } from '../../db/commit-behind.ts'
import type { Db, Tx } from '../../db/database.ts'
import { sqlErrorKind } from '../../db/sql-errors.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { Connections } from '../../openlineage/connections.ts'
import { metrics } from '../../platform/metrics.ts'
import { inSpan, type TraceFields } from '../../platform/tracing.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { nudgeMore, type Nudge } from '../../store/chunk-nudges.ts'
import { dropChunks, releaseChunk, renewLease, type ClaimedChunk, type Release } from '../../store/chunks.ts'
import { deleteDeclarations } from '../../store/declarations.ts'
import { stopLoad } from '../../store/loads.ts'
import { noteCompared, type Compared } from '../../store/sweeps.ts'
import { nudgesWaiting } from './accept-load.ts'
import { applyChunk, ChunkAborted, rejectChunk, type ApplyOptions, type ApplyRecords } from './apply-chunk.ts'
import { applyWhole, failWhole, type NotApplied } from './apply-whole.ts'
import { claimChunk, leaseRenewalMs, leaseSeconds, type Claim } from './claim-chunk.ts'
import { allChunkGuards, type ChunkGuards } from './chunk-guards.ts'
import { compareSnapshot } from './compare-snapshot.ts'
import { deadlyLoad, deadlyRecord, remedyFor } from './fail-chunk.ts'
import { createIsolationGate, type IsolationGate } from './isolation-gate.ts'
import type { EntityIds } from '../write/entity-ids.ts'
import { removeUnstated } from './remove-unstated.ts'
import { ChunkOvertaken, LoadEnded, type Settled } from './settle-chunk.ts'
import { settleDeclarations } from './settle-declarations.ts'
import { splitChunk } from './split-chunk.ts'
import { comparePass, removalPass } from './sweep-passes.ts'
import { inChunkSpan } from './trace-chunk.ts'

export type RunOptions = {
  apply: ApplyRecords
  /** The ids that the process remembers, as in ApplyOptions. */
  ids?: EntityIds | undefined
  connections?: Connections
  guards?: ChunkGuards
  /** Aborting it rolls the work back and puts the chunk back. */
  signal?: AbortSignal | undefined
  /** The gate of the process: an isolated chunk runs alone in it. */
  gate?: IsolationGate
  leaseSeconds?: number
}

/**
 * What happened to the chunk. `error` is for the log. `retryInMs` says when a chunk that was put back is due
 * again.
 */
export type Run = {
  outcome:
    'nothing' | 'settled' | 'split' | 'rejected' | 'released' | 'aborted' | 'overtaken' | 'ended' | 'failed'
  chunk?: ClaimedChunk
  settled?: Settled
  error?: unknown
  /** Why the load failed, for its client. */
  reason?: string
  /** Links the log to the span; absent if tracing is off. */
  trace?: TraceFields
  retryInMs?: number
}

/**
 * Claims the chunk and applies it. A problem with the chunk is never thrown: the chunk is settled, split or
 * put back, or another worker has it. Throws only if the database cannot be reached to record the problem;
 * then the lease runs out.
 */
export async function runChunk(
  db: Db,
  queue: ChunkQueue,
  chunkId: number,
  options: RunOptions
): Promise<Run> {
  const guards = options.guards ?? allChunkGuards
  const startedAt = Date.now()
  const claim = await claimChunk(db, chunkId, guards, options.leaseSeconds ?? leaseSeconds)
  if (!claim) return { outcome: 'nothing' }
  const run = await inChunkSpan(claim.chunk, startedAt, () =>
    withLeaseRenewed(db, claim.chunk, options.leaseSeconds ?? leaseSeconds, () =>
      work(db, queue, claim, { ...options, guards })
    )
  )
  metrics.chunkAttempts.inc({ outcome: run.outcome })
  return { chunk: claim.chunk, ...run }
}

/** Renews the lease while the work runs, and while it waits for its turn. */
async function withLeaseRenewed<T>(
  db: Db,
  chunk: ClaimedChunk,
  seconds: number,
  work: () => Promise<T>
): Promise<T> {
  const timer = setInterval(
    () => {
      renewLease(db, chunk.id, chunk.fence, seconds).catch(() => {})
    },
    Math.min(leaseRenewalMs, (seconds * 1_000) / 3)
  )
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

async function work(
  db: Db,
  queue: ChunkQueue,
  { chunk, next }: Claim,
  options: RunOptions & ApplyOptions
): Promise<Run> {
  const { gate = createIsolationGate() } = options
  try {
    if (next === 'split') return await split(db, queue, chunk, options.guards, 'crashed')
    if (next === 'reject')
      return await finish(db, queue, chunk, 'rejected', await rejectChunk(db, chunk, deadlyRecord, options))
    if (next === 'fail') return notApplied(await failWhole(db, chunk, deadlyLoad, options))
    const apply = (): Promise<Settled | NotApplied> =>
      timed(async () => {
        if (chunk.isWhole) return applyWhole(db, chunk, options)
        if (chunk.pass === comparePass) return compareSnapshot(db, chunk, options)
        if (chunk.pass === removalPass) return removeUnstated(db, chunk, options)
        if (chunk.pass === 2 && options.guards.declarations) await settleDeclarations(db, chunk.loadId)
        return applyChunk(db, chunk, options)
      })
    const ended = await (chunk.isIsolated ? gate.alone(apply) : gate.together(apply))
    return 'failedWith' in ended ? notApplied(ended) : await finish(db, queue, chunk, 'settled', ended)
  } catch (error) {
    return await recover(db, queue, chunk, error, options)
  }
}

async function timed<T>(work: () => Promise<T>): Promise<T> {
  const end = metrics.chunkApply.startTimer()
  try {
    return await inSpan('apply chunk', {}, work)
  } finally {
    end()
  }
}

async function recover(
  db: Db,
  queue: ChunkQueue,
  chunk: ClaimedChunk,
  error: unknown,
  options: RunOptions & ApplyOptions
): Promise<Run> {
  if (error instanceof ChunkAborted) {
    await releaseChunk(db, chunk.id, chunk.fence, { delayMs: 0, lastError: null })
    return { outcome: 'aborted' }
  }
  if (error instanceof ChunkOvertaken) {
    metrics.chunksFenced.inc()
    return { outcome: 'overtaken' }
  }
  if (error instanceof LoadEnded) {
    // A failed load keeps its chunks for a retry.
    if ((await dropChunks(db, chunk.loadId)) === 0)
      await releaseChunk(db, chunk.id, chunk.fence, { delayMs: 0, lastError: null })
    return { outcome: 'ended' }
  }
  const remedy = remedyFor(error, chunk, options.guards)
  try {
    switch (remedy.do) {
      case 'split':
        return { ...(await split(db, queue, chunk, options.guards, 'failed')), error }
      case 'reject':
        return {
          ...(await finish(
            db,
            queue,
            chunk,
            'rejected',
            await rejectChunk(db, chunk, remedy.reason, options)
          )),
          error
        }
      case 'fail':
        return {
          ...(chunk.isWhole
            ? notApplied(await failWhole(db, chunk, remedy.message, options))
            : await failLoad(db, chunk, remedy)),
          error
        }
      case 'release': {
        await handBack(db, chunk, remedy, options.signal)
        return { outcome: 'released', error, retryInMs: remedy.delayMs }
      }
    }
  } catch (secondError) {
    // The chunk was neither applied nor released: its row still says who holds it, and for how long.
    if (secondError instanceof ChunkOvertaken) return { outcome: 'overtaken', error }
    if (secondError instanceof LoadEnded) return { outcome: 'ended', error }
    throw secondError
  }
}

const handBackEveryMs = 500
const handBackMaxMs = 60_000

/**
 * Puts the chunk back, and tries again while the database cannot store that (it is full or unreachable). If
 * its lease ran out instead, a crash would be counted, and enough crashes would make an innocent record look
 * guilty.
 */
async function handBack(
  db: Db,
  chunk: ClaimedChunk,
  release: Release,
  signal: AbortSignal | undefined
): Promise<void> {
  for (const giveUpAt = Date.now() + handBackMaxMs; ; await sleep(handBackEveryMs)) {
    try {
      await releaseChunk(db, chunk.id, chunk.fence, release)
      return
    } catch (error) {
      if (Date.now() > giveUpAt || signal?.aborted || sqlErrorKind(error) !== 'transient') throw error
    }
  }
}

async function split(
  db: Db,
  queue: ChunkQueue,
  chunk: ClaimedChunk,
  guards: ChunkGuards,
  why: 'crashed' | 'failed'
): Promise<Run> {
  await queue.nudge(await splitChunk(db, chunk, guards, why))
  return { outcome: 'split' }
}

/**
 * Does what must wait until the settlement is committed: the next chunks, the metrics, and the room for new
 * records. If the database fails now this is only delayed, because the sweeper and the housekeeping do the
 * same.
 */
async function finish(
  db: Db,
  queue: ChunkQueue,
  chunk: ClaimedChunk,
  outcome: 'settled' | 'rejected',
  settled: Settled
): Promise<Run> {
  for (const verdict of ['applied', 'unchanged', 'rejected'] as const)
    metrics.loadRecords.inc({ verdict }, settled.counts[verdict])
  metrics.eventPartsDropped.inc(settled.partsDropped)
  try {
    if (settled.isLoadDone) {
      metrics.loads.inc({ state: 'done' })
      if (chunk.pass > 1) await inTransaction(db, (tx) => deleteDeclarations(tx, chunk.loadId))
    } else {
      // Keeps the load's share of the queue full, without exceeding it.
      await queue.nudge(
        settled.nudges.length > 0
          ? settled.nudges
          : await inTransaction(db, (tx) => moreNudges(tx, chunk.loadId))
      )
    }
    return { outcome, settled }
  } catch (error) {
    return { outcome, settled, error }
  }
}

/** If a crash loses this job, the sweeper queues the chunk again. */
async function moreNudges(tx: Tx, loadId: string): Promise<Nudge[]> {
  await commitBehind(tx)
  return nudgeMore(tx, loadId, nudgesWaiting)
}

/** The run of an atomic load that was not applied. */
function notApplied({ failedWith }: NotApplied): Run {
  metrics.loads.inc({ state: 'failed' })
  return { outcome: 'failed', reason: failedWith }
}

async function failLoad(
  db: Db,
  chunk: ClaimedChunk,
  { message, compared }: { message: string; compared?: Compared }
): Promise<Run> {
  const isStopped = await inTransaction(db, async (tx) => {
    const isStopped = await stopLoad(tx, chunk.loadId, 'failed', message)
    if (isStopped && compared) await noteCompared(tx, chunk.loadId, compared)
    await releaseChunk(tx, chunk.id, chunk.fence, { delayMs: 0, lastError: message })
    return isStopped
  })
  if (isStopped) metrics.loads.inc({ state: 'failed' })
  return { outcome: 'failed' }
}
