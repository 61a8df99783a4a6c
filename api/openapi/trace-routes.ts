/**
 * POST /openapi/v1/trace/write/{traceId}: the result of a write, by the id in `traceparent` of its answer.
 */
import type { FastifyInstance } from 'fastify'
import { parseTraced, readTrace } from '../../shared/catalog/loads/read-trace.ts'
import type { ApiContext } from '../context.ts'
import { readFlag, type Parameters } from './parameters.ts'

export function traceRoutes(app: FastifyInstance, { db }: ApiContext): void {
  app.post<{ Params: { traceId: string }; Querystring: Parameters }>(
    '/openapi/v1/trace/write/:traceId',
    { config: { access: 'read' } },
    async (request) => {
      const wanted = parseTraced(request.body)
      return readTrace(db, request.actor, request.params.traceId, wanted, {
        onlyIncludeErrors: readFlag(request.query, 'onlyIncludeErrors', true),
        detailed: readFlag(request.query, 'detailed', false)
      })
    }
  )
}
