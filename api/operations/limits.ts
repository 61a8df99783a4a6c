/** /api/limits: every limit that a caller can exceed. */
import type { FastifyInstance } from 'fastify'
import { limits } from '../../shared/limits.ts'

export function limitsRoutes(app: FastifyInstance): void {
  app.get('/api/limits', { config: { access: 'read' } }, async () => limits)
}
