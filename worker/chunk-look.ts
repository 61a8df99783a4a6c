/** Handles a job of the queue: runs the chunk and logs the result. */
import type { Log } from '../shared/platform/log.ts'
import type { Db } from '../shared/db/database.ts'
import type { EntityIds } from '../shared/catalog/write/entity-ids.ts'
import type { ApplyRecords } from '../shared/catalog/loads/apply-chunk.ts'
import type { IsolationGate } from '../shared/catalog/loads/isolation-gate.ts'
import { nudgeAgain } from '../shared/catalog/loads/nudge-again.ts'
import { runChunk, type Run } from '../shared/catalog/loads/run-chunk.ts'
import type { Connections } from '../shared/openlineage/connections.ts'
import type { ChunkQueue } from '../shared/queue/chunk-queue.ts'
import type { LookAtChunk } from '../shared/queue/chunk-worker.ts'

export type ChunkLookContext = {
  db: Db
  queue: ChunkQueue
  log: Log
  apply: ApplyRecords
  ids?: EntityIds | undefined
  connections?: Connections
  gate: IsolationGate
}

/**
 * If a chunk is due again sooner than this, a timer here enqueues it. The sweeper enqueues all other chunks.
 */
const ownTimerMaxMs = 5_000

/** Never throws: a chunk that is not settled here is found by the sweeper. */
export function createChunkLook({ db, queue, log, ...options }: ChunkLookContext): LookAtChunk {
  return async (chunkId, signal) => {
    const startedAt = performance.now()
    try {
      const run = await runChunk(db, queue, chunkId, { ...options, signal })
      report(log, chunkId, run, performance.now() - startedAt)
      if (run.retryInMs !== undefined && run.retryInMs < ownTimerMaxMs) {
        setTimeout(() => {
          nudgeAgain(db, queue, chunkId).catch(() => {})
        }, run.retryInMs + 20).unref()
      }
      return run.outcome === 'aborted' ? 'back' : 'done'
    } catch (err) {
      log.warn({ err, chunkId }, 'a chunk could not be looked at')
      return 'done'
    }
  }
}

function report(log: Log, chunkId: number, run: Run, durationMs: number): void {
  if (run.outcome === 'nothing') return
  const { chunk, settled, error, outcome, reason, trace } = run
  const fields = {
    chunkId,
    outcome,
    loadId: chunk?.loadId,
    pass: chunk?.pass,
    records: chunk?.recordCount,
    fence: chunk?.fence,
    attempts: chunk?.attempts,
    crashes: chunk?.crashes,
    durationMs: Math.round(durationMs),
    ...settled?.counts,
    ...trace,
    ...(reason === undefined ? {} : { reason }),
    ...(error === undefined ? {} : { err: error })
  }
  if (error === undefined || (error instanceof Error && error.name === 'WaitForOlderLoad'))
    log.info(fields, 'looked at a chunk')
  else log.warn(fields, 'a chunk was not applied at this attempt')
  if (settled?.isLoadDone) log.info({ loadId: chunk?.loadId, ...trace }, 'a load is done')
}
