/**
 * The body of an export: produced as fast as the client takes it, within a time limit.
 *
 * While rows are read, a snapshot is open, and in SQL a transaction. So a client that stops reading for a
 * while, or takes too long in all, is cut off. The connection then ends without the last chunk, so no client
 * mistakes the part for the whole.
 */
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import { createPlaces, type Places } from '../places.ts'

/** How long an export may take in all, and how long it waits for a client that reads nothing. */
export type ExportPace = { maxMs: number; stallMaxMs: number }

export const exportPace: ExportPace = { maxMs: limits.exportMaxMs, stallMaxMs: limits.exportStallMaxMs }

/** A body with this text. When it is closed, for whatever reason, the generator has ended. */
export function paced(text: AsyncGenerator<string>, { maxMs, stallMaxMs }: ExportPace): Readable {
  let stall: NodeJS.Timeout | undefined
  const cutOff = (limit: 'exportMaxMs' | 'exportStallMaxMs', maximum: number): void => {
    body.destroy(
      new CatalogError('DEADLINE_EXCEEDED', 'The export was cut off: its client took too long', {
        limit,
        maximum
      })
    )
  }
  async function* watched(): AsyncGenerator<string> {
    for await (const part of text) {
      stall = setTimeout(cutOff, stallMaxMs, 'exportStallMaxMs', stallMaxMs)
      // An empty part would end the body.
      if (part !== '') yield part
      clearTimeout(stall)
    }
  }
  const body = Readable.from(watched(), { objectMode: false })
  const total = setTimeout(cutOff, maxMs, 'exportMaxMs', maxMs)
  body.once('close', () => {
    clearTimeout(total)
    clearTimeout(stall)
  })
  return body
}

/** The places of `what` in one process: `exports`. */
export const exportPlaces = (what: string): Places =>
  createPlaces('exportsAtOnceMaxCount', 'exportsPerTokenMaxCount', {
    code: 'RATE_LIMITED',
    says: (maximum) => `answers ${maximum} ${what} at a time; send it again`,
    retryAfterSeconds: 1
  })

/**
 * Answers a request for an export in one of the places. `work` holds the snapshot while it sends the body.
 * `send` resolves when the client has taken the body or closed the connection. After the first byte nothing
 * can be thrown; the connection is cut instead.
 */
export async function answerExport(
  request: FastifyRequest,
  reply: FastifyReply,
  places: Places,
  work: (send: (body: Readable) => Promise<void>) => Promise<void>
): Promise<FastifyReply> {
  const leave = places.take(request.actor)
  let hasBegun = false
  try {
    await work(async (body) => {
      hasBegun = true
      // The place is free before the client sees the end, because it may send the next export at once.
      body.once('end', leave)
      void reply.send(body)
      await finished(body).catch(() => {})
    })
  } catch (error) {
    if (!hasBegun) throw error
    // Not an error for the client: the rows have been sent, or the connection was cut. Only the snapshot could
    // not be closed.
    request.log.warn({ err: error }, 'the snapshot of an export could not be closed')
  } finally {
    leave()
  }
  return reply
}
