/** Streams a body to `POST /loads`, once. */
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../failure.ts'
import type { Packing } from './find-inputs.ts'
import { readLoad, type LoadView } from './load-view.ts'
import { headersFor, parseJson, ServerRefused, unreachable, urlOn, type Server } from './server.ts'

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
export async function sendLoad(
  server: Server,
  { query, idempotencyKey, signal, onConnect }: LoadRequest,
  body: LoadBody
): Promise<SentLoad> {
  signal?.throwIfAborted()
  const url = urlOn(server, `loads?${new URLSearchParams(query).toString()}`)
  const stopped = new AbortController()
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    // a new connection, because a kept one may be closing at this moment
    agent: false,
    headers: {
      ...headersFor(server),
      ...(body.contentType === null ? {} : { 'content-type': body.contentType }),
      ...(body.packing === null ? {} : { 'content-encoding': body.packing }),
      ...(body.bytes === undefined ? {} : { 'content-length': String(body.bytes) }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey })
    }
  })
  request.setTimeout(idleMaxMs, () => {
    request.destroy(
      Object.assign(new Error(`nothing moved for ${idleMaxMs / 1_000} s`), { code: 'ETIMEDOUT' })
    )
  })
  request.once('socket', (socket) => {
    socket.once('connect', () => onConnect?.())
  })
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
    const status = response.statusCode ?? 0
    if (status < 200 || status > 299)
      throw new ServerRefused(status, text, response.headers['retry-after'] ?? null)
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

/** The body cannot be read, so another attempt would not help. */
export class BodyFailure extends Refusal {}

function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
    request.once('close', () => {
      reject(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }))
    })
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += String(part)
  return text
}
