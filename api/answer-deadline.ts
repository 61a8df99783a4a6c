/**
 * The deadline of every answer, from the head of its request to its end.
 *
 * The framework's own deadline (`handlerTimeout`) makes an AbortController for each request and aborts it at
 * the end, which took a seventh of the time of a small read. A route that sets its own deadline keeps it.
 */
import { errorCodes, type FastifyInstance, type FastifyReply } from 'fastify'

/**
 * If no answer has begun after `maxMs`, fails like the framework's own deadline; an answer that has begun is
 * cut off.
 */
export function addAnswerDeadline(app: FastifyInstance, maxMs: number): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!(request.routeOptions.handlerTimeout > 0)) {
      const timer = setTimeout(giveUp, maxMs, reply, maxMs)
      reply.raw.once('close', () => clearTimeout(timer))
    }
    done()
  })
}

function giveUp(reply: FastifyReply, maxMs: number): void {
  if (reply.sent) return
  if (reply.raw.headersSent) reply.raw.destroy()
  else
    void reply.send(
      new errorCodes.FST_ERR_HANDLER_TIMEOUT(String(maxMs), reply.request.routeOptions.url ?? '')
    )
}
