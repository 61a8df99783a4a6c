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
import { openHeartbeat } from '../shared/catalog/loads/heartbeat.ts'
import { reportWorkers } from '../shared/catalog/loads/read-workers.ts'
import { reportBacklog } from '../shared/catalog/loads/report-backlog.ts'
import { sweep } from '../shared/catalog/loads/sweep.ts'
import { connectDatabase } from '../shared/db/connect.ts'
import type { Config } from '../shared/platform/config.ts'
import { limits } from '../shared/limits.ts'
import { createService, type Service } from '../shared/platform/lifecycle.ts'
import type { Log } from '../shared/platform/log.ts'
import { openTogether } from '../shared/platform/open-together.ts'
import { openQueue } from '../shared/queue/chunk-queue.ts'
import { createChunkLook } from './chunk-look.ts'
import { startHealthServer } from './health-server.ts'
import { startLoop } from './loop.ts'
import { startWatchedWorker } from './watched-worker.ts'

/** A worker can wait longer for locks than a person can. */
const lockTimeoutMs = 10_000
const sweepEveryMs = 2_000
const pruneEveryMs = 30_000
/** This loop has work only after an upgrade. */
const documentsEveryMs = 5_000

/**
 * A worker as a service. Stopping it rolls back the chunks in progress and puts their jobs back at once.
 * Waits for a Redis that does not answer. The start throws if DATABASE_URL is absent or Postgres does not
 * answer.
 */
export function startWorker(config: Config, log: Log): Service {
  let close: (() => Promise<void>) | undefined
  return createService('worker', {
    start: async () => {
      ;({ close } = await openTogether((opened) => open(config, log.child({ service: 'worker' }), opened)))
    },
    stop: async () => {
      await close?.()
    }
  })
}

/** Connections of a worker: two are free if each chunk in progress uses one, so that leases are renewed. */
export const workerPoolMax = (config: Config): number =>
  Math.max(config.databasePoolWorker, config.workerConcurrency + 2)

/** Opens what a worker needs, in this order; it is closed in the reverse order. */
async function open(
  config: Config,
  log: Log,
  opened: (close: () => Promise<unknown> | void) => void
): Promise<void> {
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
  opened(() => db.destroy())
  const problem = schemaProblem(await checkReadiness(db))
  if (problem !== null) log.error(problem)
  const queue = await openQueue(config, log)
  opened(() => queue.close())
  if (config.workerPort !== null) {
    const health = await startHealthServer({ config, port: config.workerPort, db, queue, log })
    opened(() => health.close())
  }
  const heartbeat = openHeartbeat(db)
  opened(() => heartbeat.end())
  const worker = await startWatchedWorker({
    config,
    concurrency: config.workerConcurrency,
    look: createChunkLook({
      db,
      queue,
      log,
      apply: applyRecords,
      ids: rememberEntityIds(),
      connections: readConnections(config.openLineageConnections),
      gate: createIsolationGate()
    }),
    log,
    depth: () => queue.depth()
  })
  opened(() => worker.close())
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
  opened(() => Promise.all(loops.map((loop) => loop.stop())))
  for (const end of [reportBacklog(db), reportWorkers(db)]) opened(end)
  log.info(
    {
      workerId: heartbeat.id,
      concurrency: config.workerConcurrency,
      queue: config.redisUrl === null ? 'postgres' : 'redis'
    },
    'worker started'
  )
}
