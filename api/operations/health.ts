/**
 * /health/live: the process answers. /health/ready (and /health): it can be used. /health/detailed, which
 * DataHub's clients read: the same, and which workers are alive.
 *
 * Without the queue, loads are still accepted and the sweeper enqueues their chunks, so the process counts as
 * ready, but degraded.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { checkReadiness } from '../../shared/catalog/access/check-readiness.ts'
import { readWorkers } from '../../shared/catalog/loads/read-workers.ts'
import type { ApiContext, ServerState } from '../context.ts'

export function healthRoutes(app: FastifyInstance, { db, queue }: ApiContext, state: ServerState): void {
  const open = { config: { access: 'open', servesWhileStopping: true } } as const

  app.get('/health/live', open, async () => ({ status: 'live' }))

  async function answerReady(reply: FastifyReply) {
    const [{ database, schema }, depth] = await Promise.all([
      checkReadiness(db),
      queue.depth({ checksWrites: true })
    ])
    const queueState = depth === null ? 'down' : 'up'
    const isStopping = state.isStopping || state.isLeaving === true
    const isReady = !isStopping && database === 'up' && schema === 'current'
    reply.code(isReady ? 200 : 503)
    const status = !isReady ? 'unavailable' : queueState === 'up' ? 'ready' : 'degraded'
    return { status, database, schema, queue: queueState, isStopping }
  }

  app.get('/health/ready', open, (_request, reply) => answerReady(reply))
  app.get('/health/detailed', open, async (_request, reply) => {
    const [answer, workers] = await Promise.all([answerReady(reply), readWorkers(db)])
    return { ...answer, workers }
  })
  app.get('/health', open, (_request, reply) => answerReady(reply))
}
