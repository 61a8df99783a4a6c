/** /metrics for Prometheus: with METRICS_TOKEN where one is set, else for the same machine only. And what is counted of requests. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CatalogError } from '../../shared/errors.ts'
import { metrics, renderMetrics } from '../../shared/platform/metrics.ts'
import { bearerToken } from '../auth.ts'
import type { ApiContext } from '../context.ts'

export function metricsRoutes(app: FastifyInstance, { config }: ApiContext): void {
  app.get('/metrics', { config: { access: 'open', servesWhileStopping: true } }, async (request, reply) => {
    requireScraper(request, config.metricsToken)
    const { contentType, text } = await renderMetrics()
    return reply.type(contentType).send(text)
  })
}

/** Counts every answer. The label is the route, never the path: a path holds URNs. */
export function countRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.is404 ? 'none' : request.routeOptions.url ?? 'none'
    const { method } = request
    metrics.httpRequests.inc({ method, route, status: String(reply.statusCode) })
    metrics.httpDuration.observe({ method, route }, reply.elapsedTime / 1_000)
  })
}

/** Throws UNAUTHENTICATED where a token is set and not sent, and FORBIDDEN where none is set and the caller is elsewhere. */
function requireScraper(request: FastifyRequest, metricsToken: string | null): void {
  if (metricsToken !== null) {
    const sent = bearerToken(request) ?? ''
    if (!timingSafeEqual(digest(sent), digest(metricsToken))) throw new CatalogError('UNAUTHENTICATED', 'Send the metrics token: Authorization: Bearer <METRICS_TOKEN>')
    return
  }
  // A proxy on this machine forwards for others.
  const isForwarded = request.headers['x-forwarded-for'] !== undefined || request.headers.forwarded !== undefined
  if (isForwarded || !isLoopback(request.socket.remoteAddress ?? '')) throw new CatalogError('FORBIDDEN', 'Set METRICS_TOKEN to read metrics from another machine')
}

const isLoopback = (address: string): boolean => address === '::1' || /^(?:::ffff:)?127\./.test(address)
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
