/**
 * The deadline of every answer, from the head of its request to its end.
 *
 * The framework's own (`handlerTimeout`) makes an AbortController for each request and aborts it in the end, which was a
 * seventh of what a small read cost. A route that sets one keeps it, and is left alone here.
 */
import { errorCodes, type FastifyInstance, type FastifyReply } from 'fastify'

/** An answer that has not begun after `maxMs` is the error of the framework's own deadline; one that has is cut off. */
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
