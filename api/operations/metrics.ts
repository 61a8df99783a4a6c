/** /metrics for Prometheus, and the counters of requests. */
import type { FastifyInstance } from 'fastify'
import { requireScraper } from '../../shared/platform/metrics-access.ts'
import { metrics, renderMetrics } from '../../shared/platform/metrics.ts'
import type { ApiContext } from '../context.ts'

export function metricsRoutes(app: FastifyInstance, { config }: ApiContext): void {
  app.get('/metrics', { config: { access: 'open', servesWhileStopping: true } }, async (request, reply) => {
    requireScraper(request.raw, config.metricsToken)
    const { contentType, text } = await renderMetrics()
    return reply.type(contentType).send(text)
  })
}

/** Counts every answer. The label is the route, never the path, because a path contains URNs. */
export function countRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.is404 ? 'none' : (request.routeOptions.url ?? 'none')
    const { method } = request
    metrics.httpRequests.inc({ method, route, status: String(reply.statusCode) })
    metrics.httpDuration.observe({ method, route }, reply.elapsedTime / 1_000)
    done()
  })
}
