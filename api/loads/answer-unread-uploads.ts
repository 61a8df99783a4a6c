/** Gets an answer to a client that is still sending: what is left of its body is thrown away for a moment, then cut off. */
import type { FastifyInstance } from 'fastify'

/** Time for the client to see the answer and stop. A connection that is closed at once would lose it the answer. */
const lingerMs = 2_000

export function answerUnreadUploads(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply) => {
    const { raw } = request
    if (raw.complete || raw.destroyed) return
    reply.removeHeader('connection')
    raw.on('error', () => {})
    raw.resume()
    const timer = setTimeout(() => { if (!raw.complete) raw.socket.destroy() }, lingerMs)
    timer.unref()
  })
}
