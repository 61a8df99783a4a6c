/** Gets an answer to a client that is still sending: what is left of its body is thrown away for a moment, then cut off. */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Time for the client to see the answer and stop. A connection that is closed at once would lose it the answer. */
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
