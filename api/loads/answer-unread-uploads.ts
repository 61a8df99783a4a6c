/**
 * Delivers an answer to a client that is still sending: the rest of the body is discarded for a moment, then
 * the connection is cut.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Time for the client to see the answer and stop. If the connection were closed at once, the answer could be
 * lost.
 */
const lingerMs = 2_000

/** An `onSend` hook for a route that reads its body itself. */
export async function answerUnreadUpload({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (raw.readableEnded || raw.destroyed) return
  reply.removeHeader('connection')
  raw.on('error', () => {})
  raw.resume()
  const timer = setTimeout(() => {
    if (!raw.readableEnded) raw.destroy()
  }, lingerMs)
  timer.unref()
}
