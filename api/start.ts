/** Starts and stops an API process: database, queue, server. */
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { bootstrapToken } from '../shared/catalog/access/bootstrap-token.ts'
import { checkReadiness, schemaProblem } from '../shared/catalog/access/check-readiness.ts'
import { heldResultsBounds, holdResults } from '../shared/catalog/lineage/held-results.ts'
import { createLineageMemory, type LineageMemory } from '../shared/catalog/lineage/lineage-memory.ts'
import { reportWorkers } from '../shared/catalog/loads/read-workers.ts'
import { reportBacklog } from '../shared/catalog/loads/report-backlog.ts'
import { readConnections } from '../shared/catalog/openlineage/read-connections.ts'
import { connectDatabase } from '../shared/db/connect.ts'
import type { Db } from '../shared/db/database.ts'
import type { Config } from '../shared/platform/config.ts'
import { createService, type Service } from '../shared/platform/lifecycle.ts'
import type { Log } from '../shared/platform/log.ts'
import { openQueue, type ChunkQueue } from '../shared/queue/chunk-queue.ts'
import type { ServerState } from './context.ts'
import { openProvider } from './oidc/provider.ts'
import { poolSizes } from './read-turns.ts'
import { buildServer } from './server.ts'

/** How long a request waits for a row that another transaction writes. */
const lockTimeoutMs = 5_000

/** How long an upload waits for its turn to store a chunk; its client is slowed down meanwhile. */
const uploadTurnMaxMs = 30_000

/**
 * For a server that proves to the command line of its machine which one it is: what it knows, and what to do as soon
 * as it listens, before it answers anything.
 */
export type InstanceOptions = { key: string; onListening: (address: AddressInfo) => void }

/** `url` is the address it listens at, or null until then. */
export type ApiService = Service & { readonly url: () => string | null }

/**
 * `start` connects, creates the first token if TRIBUTARY_BOOTSTRAP_TOKEN has one, and listens; it throws if
 * the database does not answer. `stop` is not ready any more for SHUTDOWN_DELAY_SECONDS, then refuses new requests,
 * answers those under way within half of SHUTDOWN_SECONDS, and cuts off the rest.
 */
export function startApi(config: Config, log: Log, instance?: InstanceOptions): ApiService {
  const state: ServerState = { isStopping: false }
  let parts: {
    db?: Db
    uploadDb?: Db
    graphDb?: Db
    memory?: LineageMemory
    queue?: ChunkQueue
    app?: FastifyInstance
    endReports?: (() => void)[]
  } = {}
  let url: string | null = null

  /**
   * The graph has its own connections, so its barriers never wait behind other statements. Two, because the
   * first may be dead without having been reported.
   */
  function openMemory(db: Db): LineageMemory | null {
    if (config.lineageMemoryMb === 0 || config.databaseUrl === null) return null
    const graphDb = connectDatabase({
      url: config.databaseUrl,
      poolMax: 2,
      applicationName: 'tributary-lineage',
      statementTimeoutMs: config.statementTimeoutApiMs,
      lockTimeoutMs,
      log,
      usesIndexes: true
    })
    const memory = createLineageMemory({ db, graphDb, maxBytes: config.lineageMemoryMb * 1024 * 1024, log })
    parts.graphDb = graphDb
    parts.memory = memory
    memory.start()
    return memory
  }

  const service = createService('api', {
    async start() {
      if (config.databaseUrl === null) throw new Error('DATABASE_URL is not set')
      const pool = {
        url: config.databaseUrl,
        statementTimeoutMs: config.statementTimeoutApiMs,
        lockTimeoutMs,
        log
      }
      const { forCalls, forUploads } = poolSizes(config)
      const db = connectDatabase({
        ...pool,
        poolMax: forCalls,
        applicationName: 'tributary-api'
      })
      const uploadDb = connectDatabase({
        ...pool,
        poolMax: forUploads,
        applicationName: 'tributary-uploads',
        acquireTimeoutMs: uploadTurnMaxMs
      })
      Object.assign(parts, { db, uploadDb })
      const connections = readConnections(config.openLineageConnections)
      const provider = openProvider(config, log)
      await prepareDatabase(db, config, log)
      parts.endReports = [reportBacklog(db), reportWorkers(db)]
      const queue = await openQueue(config, log)
      parts.queue = queue
      const memory = openMemory(db)
      const app = await buildServer(
        {
          db,
          uploadDb,
          lineage: { db, memory, held: holdResults(heldResultsBounds) },
          knownIds: () => memory?.knownIds() ?? null,
          queue,
          config,
          connections,
          provider,
          log,
          ...(instance === undefined ? {} : { instanceKey: instance.key })
        },
        state
      )
      parts.app = app
      app.server.once('listening', () => {
        const address = app.server.address()
        if (typeof address === 'object' && address !== null) instance?.onListening(address)
      })
      url = await app.listen({ host: config.host, port: config.port })
      log.info({ url }, 'the API listens')
    },
    async stop() {
      if (parts.app && config.shutdownDelaySeconds > 0) {
        state.isLeaving = true
        log.info({ seconds: config.shutdownDelaySeconds }, 'not ready any more; requests are still answered')
        await sleep(config.shutdownDelaySeconds * 1_000)
      }
      state.isStopping = true
      const { app, queue, db, uploadDb, graphDb, memory, endReports = [] } = parts
      parts = {}
      try {
        if (app) await drain(app, config.shutdownSeconds * 500, log)
      } finally {
        for (const end of endReports) end()
        await memory?.stop()
        await graphDb?.destroy()
        await queue?.close()
        await uploadDb?.destroy()
        await db?.destroy()
      }
    }
  })
  return { ...service, url: () => url }
}

/** Throws if the database does not answer. With an outdated schema the process starts, but is not ready. */
async function prepareDatabase(db: Db, config: Config, log: Log): Promise<void> {
  const readiness = await checkReadiness(db)
  if (readiness.database === 'down') throw new Error('The database does not answer; see DATABASE_URL')
  const problem = schemaProblem(readiness)
  if (problem !== null) {
    log.error(problem)
    return
  }
  if (config.bootstrapToken === null) return
  const { created } = await bootstrapToken(db, config.bootstrapToken)
  if (created) log.info('the token of TRIBUTARY_BOOTSTRAP_TOKEN was created')
}

async function drain(app: FastifyInstance, drainMs: number, log: Log): Promise<void> {
  const deadline = setTimeout(() => {
    log.warn({ drainMs }, 'open requests are aborted')
    app.server.closeAllConnections()
  }, drainMs)
  await app.close().finally(() => clearTimeout(deadline))
}
