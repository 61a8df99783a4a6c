/** Streams a body to `POST /loads`, once. */
import type { ClientRequest } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../failure.ts'
import { requireSuccess, textOf } from './ask.ts'
import { answerTo, openRequest } from './connection.ts'
import type { Packing } from './find-inputs.ts'
import { readLoad, type LoadView } from './load-view.ts'
import { parseJson, unreachable, type Server } from './server.ts'

export type LoadBody = {
  /** The source of the bytes, and the streams they pass through. */
  stages: readonly [Readable, ...Duplex[]]
  /** Such as `application/x-ndjson`; null if only the server can tell. */
  contentType: string | null
  packing: Packing | null
  /** The size, if it is known. */
  bytes?: number
}

export type LoadRequest = {
  query: Readonly<Record<string, string>>
  /** Lets the server recognize the same load again. */
  idempotencyKey?: string
  /** Aborts the upload. */
  signal?: AbortSignal
  /** Called once connected: from then on the server may have received the body. */
  onConnect?: () => void
}

/** `isReplay`: the server already had the load, from an earlier attempt whose answer was lost. */
export type SentLoad = { load: LoadView; isReplay: boolean }

/** A connection without traffic for this long counts as dead: its other end may have lost power. */
const idleMaxMs = 120_000

/**
 * Returns the load that the server made from the body.
 *
 * Memory is bounded: the body flows as fast as the server takes it. A server that answers before the end of
 * the body has refused it; the rest is then not sent. Throws ServerRefused, Refusal if nothing answers, and
 * the signal's reason.
 */
export async function sendLoad(server: Server, wanted: LoadRequest, body: LoadBody): Promise<SentLoad> {
  const { signal, onConnect } = wanted
  const request = await connectedRequest(server, wanted, body)
  onConnect?.()
  const stopped = new AbortController()
  const answered = answerTo(request)
  const sent = pipeline([...body.stages, request], { signal: stopped.signal }).then(
    () => null,
    (error: unknown) => error
  )
  const breakOff = (): void => {
    request.destroy()
  }
  signal?.addEventListener('abort', breakOff, { once: true })
  try {
    const response = await answered
    const text = await textOf(response)
    stopped.abort()
    await sent
    requireSuccess(server, response, text)
    return {
      load: readLoad(parseJson(server, text)),
      isReplay: response.headers['idempotency-replayed'] === 'true'
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    stopped.abort()
    // sent before the body is read, because standard input may stay silent forever
    signal?.throwIfAborted()
    // an error of the body (such as an unreadable file) also ends the request, and is the better reason
    const reason = await sent
    signal?.throwIfAborted()
    throw reason instanceof BodyFailure ? reason : unreachable(server, error)
  } finally {
    signal?.removeEventListener('abort', breakOff)
    request.destroy()
  }
}

/** Nothing is read from the body before there is a connection, so that what counts as sent can arrive. */
async function connectedRequest(
  server: Server,
  { query, idempotencyKey, signal }: LoadRequest,
  { stages, contentType, packing, bytes }: LoadBody
): Promise<ClientRequest> {
  let request: ClientRequest
  try {
    request = await openRequest(server, `loads?${new URLSearchParams(query).toString()}`, {
      method: 'POST',
      headers: {
        ...(contentType === null ? {} : { 'content-type': contentType }),
        ...(packing === null ? {} : { 'content-encoding': packing }),
        ...(bytes === undefined ? {} : { 'content-length': String(bytes) }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey })
      },
      ...(signal === undefined ? {} : { signal })
    })
  } catch (error) {
    for (const stage of stages) stage.destroy()
    throw error
  }
  request.setTimeout(idleMaxMs, () => {
    request.destroy(
      Object.assign(new Error(`nothing moved for ${idleMaxMs / 1_000} s`), { code: 'ETIMEDOUT' })
    )
  })
  return request
}

/** The body cannot be read, so another attempt would not help. */
export class BodyFailure extends Refusal {}
