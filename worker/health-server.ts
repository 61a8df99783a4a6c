/** Health and metrics of a worker process, on its own port, for platforms and scrapers. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { checkReadiness } from '../shared/catalog/access/check-readiness.ts'
import type { Db } from '../shared/db/database.ts'
import { CatalogError, problemMediaType, problemOf } from '../shared/errors.ts'
import type { Config } from '../shared/platform/config.ts'
import type { Log } from '../shared/platform/log.ts'
import { requireScraper } from '../shared/platform/metrics-access.ts'
import { renderMetrics } from '../shared/platform/metrics.ts'
import type { ChunkQueue } from '../shared/queue/chunk-queue.ts'

export type HealthServerOptions = {
  config: Pick<Config, 'host' | 'metricsToken'>
  port: number
  db: Db
  queue: ChunkQueue
  log: Log
}

export type HealthServer = { port: number; close(): Promise<void> }

type Answer = { status: number; contentType: string; text: string }

/** Listens on the configured host. Rejects if the port is in use. */
export async function startHealthServer({
  config,
  port,
  db,
  queue,
  log
}: HealthServerOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    answer(request, config.metricsToken, db, queue)
      .catch((err: unknown): Answer => {
        if (err instanceof CatalogError) return problem(err)
        log.warn({ err }, 'a health request failed')
        return problem(new CatalogError('INTERNAL', 'An internal error'))
      })
      .then(({ status, contentType, text }) => {
        response.writeHead(status, {
          'content-type': contentType,
          'cache-control': 'no-store',
          connection: 'close',
          ...(status === 405 ? { allow: 'GET, HEAD' } : {})
        })
        response.end(request.method === 'HEAD' ? undefined : text)
      })
      .catch(() => {})
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, config.host, resolve)
  })
  const address = server.address()
  const actualPort = typeof address === 'object' && address !== null ? address.port : port
  log.info({ port: actualPort }, 'the worker serves health and metrics')
  return {
    port: actualPort,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

async function answer(
  request: IncomingMessage,
  metricsToken: string | null,
  db: Db,
  queue: ChunkQueue
): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new CatalogError('METHOD_NOT_ALLOWED', 'Only GET and HEAD', { allowed: ['GET', 'HEAD'] })
  switch (request.url?.split('?', 1)[0]) {
    case '/health/live':
      return json(200, { status: 'live' })
    case '/health':
    case '/health/ready':
      return ready(db, queue)
    case '/metrics': {
      requireScraper(request, metricsToken)
      const { contentType, text } = await renderMetrics()
      return { status: 200, contentType, text }
    }
    default:
      throw new CatalogError('NOT_FOUND', 'No such route')
  }
}

/** A worker without its queue has nothing to do, but it is healthy itself: restarting it would not help. */
async function ready(db: Db, queue: ChunkQueue): Promise<Answer> {
  const [{ database, schema }, depth] = await Promise.all([checkReadiness(db), queue.depth()])
  const isReady = database === 'up' && schema === 'current'
  const status = !isReady ? 'unavailable' : depth === null ? 'degraded' : 'ready'
  return json(isReady ? 200 : 503, { status, database, schema, queue: depth === null ? 'down' : 'up' })
}

const json = (status: number, body: unknown): Answer => ({
  status,
  contentType: 'application/json; charset=utf-8',
  text: JSON.stringify(body)
})

const problem = (error: CatalogError): Answer => ({
  status: error.status,
  contentType: problemMediaType,
  text: JSON.stringify(problemOf(error, randomUUID()))
})
