/**
 * The worker process: takes chunks from the queue and applies them, and runs the loops that ensure that no
 * chunk is forgotten.
 */
import { checkReadiness, schemaProblem } from '../shared/catalog/access/check-readiness.ts'
import { keepEpoch } from '../shared/catalog/write/keep-epoch.ts'
import { makeSearchDocuments } from '../shared/catalog/write/make-search-documents.ts'
import { readConnections } from '../shared/catalog/openlineage/read-connections.ts'
import { prune } from '../shared/catalog/loads/prune.ts'
import { rememberEntityIds } from '../shared/catalog/write/entity-ids.ts'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import { createIsolationGate } from '../shared/catalog/loads/isolation-gate.ts'
import { openHeartbeat, type Heartbeat } from '../shared/catalog/loads/heartbeat.ts'
import { reportWorkers } from '../shared/catalog/loads/read-workers.ts'
import { reportBacklog } from '../shared/catalog/loads/report-backlog.ts'
import { sweep } from '../shared/catalog/loads/sweep.ts'
import { connectDatabase } from '../shared/db/connect.ts'
import type { Db } from '../shared/db/database.ts'
import type { Config } from '../shared/platform/config.ts'
import { limits } from '../shared/limits.ts'
import { createService, type Service } from '../shared/platform/lifecycle.ts'
import type { Log } from '../shared/platform/log.ts'
import { openQueue, type ChunkQueue } from '../shared/queue/chunk-queue.ts'
import { createChunkLook } from './chunk-look.ts'
import { startHealthServer } from './health-server.ts'
import { startLoop, type Loop } from './loop.ts'
import { startWatchedWorker, type WatchedWorker } from './watched-worker.ts'

/** A worker can wait longer for locks than a person can. */
const lockTimeoutMs = 10_000
const sweepEveryMs = 2_000
const pruneEveryMs = 30_000
/** This loop has work only after an upgrade. */
const documentsEveryMs = 5_000

/** What a running worker must release, in this order. */
type Parts = {
  worker: WatchedWorker
  loops: Loop[]
  health: { close(): Promise<void> } | null
  heartbeat: Heartbeat
  endReports: (() => void)[]
  queue: ChunkQueue
  db: Db
}

/**
 * A worker as a service. Stopping it rolls back the chunks in progress and puts their jobs back at once.
 * Waits for a Redis that does not answer. The start throws if DATABASE_URL is absent or Postgres does not
 * answer.
 */
export function startWorker(config: Config, log: Log): Service {
  let parts: Parts | undefined
  return createService('worker', {
    start: async () => {
      parts = await startParts(config, log.child({ service: 'worker' }))
    },
    stop: async () => {
      if (parts) await stopParts(parts)
    }
  })
}

/** Connections of a worker: two are free if each chunk in progress uses one, so that leases are renewed. */
export const workerPoolMax = (config: Config): number =>
  Math.max(config.databasePoolWorker, config.workerConcurrency + 2)

async function startParts(config: Config, log: Log): Promise<Parts> {
  const { databaseUrl: url } = config
  if (url === null) throw new Error('A worker needs DATABASE_URL')
  const db = connectDatabase({
    url,
    poolMax: workerPoolMax(config),
    applicationName: 'tributary-worker',
    statementTimeoutMs: config.statementTimeoutWorkerMs,
    lockTimeoutMs,
    log
  })
  const problem = schemaProblem(await checkReadiness(db))
  if (problem !== null) log.error(problem)
  const queue = await openQueue(config, log)
  const look = createChunkLook({
    db,
    queue,
    log,
    apply: applyRecords,
    ids: rememberEntityIds(),
    connections: readConnections(config.openLineageConnections),
    gate: createIsolationGate()
  })
  const worker = await startWatchedWorker({
    config,
    concurrency: config.workerConcurrency,
    look,
    log,
    depth: () => queue.depth()
  })
  const heartbeat = openHeartbeat(db)
  // If this fails, the loop tries again.
  await heartbeat.beat().catch(() => {})
  const loops = [
    startLoop('heartbeat', limits.workerHeartbeatSeconds * 1_000, log, () => heartbeat.beat()),
    startLoop('sweep', sweepEveryMs, log, async () => {
      await sweep(db, queue)
    }),
    startLoop('epoch', sweepEveryMs, log, async () => {
      await keepEpoch(db)
    }),
    startLoop('prune', pruneEveryMs, log, async () => {
      await prune(db)
    }),
    startLoop('search documents', documentsEveryMs, log, async () => {
      await makeSearchDocuments(db)
    })
  ]
  const health =
    config.workerPort === null
      ? null
      : await startHealthServer({ config, port: config.workerPort, db, queue, log })
  log.info(
    {
      workerId: heartbeat.id,
      concurrency: config.workerConcurrency,
      queue: config.redisUrl === null ? 'postgres' : 'redis'
    },
    'worker started'
  )
  const endReports = [reportBacklog(db), reportWorkers(db)]
  return { worker, loops, health, heartbeat, endReports, queue, db }
}

async function stopParts({ worker, loops, health, heartbeat, endReports, queue, db }: Parts): Promise<void> {
  for (const end of endReports) end()
  await Promise.all(loops.map((loop) => loop.stop()))
  await worker.close()
  await heartbeat.end()
  await health?.close()
  await queue.close()
  await db.destroy()
}
