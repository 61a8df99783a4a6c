/** Streams a body to `POST /loads`. */
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readLoad, type LoadView } from './load-view.ts'
import { headersFor, parseJson, ServerRefused, unreachable, urlOn, type Server } from './server.ts'

export type LoadBody = {
  /** Where the bytes come from, and what they pass through. */
  stages: readonly [Readable, ...Duplex[]]
  /** Such as `application/x-ndjson`. */
  contentType: string
  isGzip: boolean
  /** Where known. */
  bytes?: number
}

/**
 * Sends the body with the query of the request, and gives the load that the server made of it.
 *
 * Memory is bounded: the body flows as fast as the server takes it. A server that answers before the end of the body has
 * refused it; the rest is then not sent. Throws ServerRefused, or Refusal where nobody answers.
 */
export async function sendLoad(server: Server, query: Readonly<Record<string, string>>, body: LoadBody): Promise<LoadView> {
  const url = urlOn(server, `loads?${new URLSearchParams(query).toString()}`)
  const stopped = new AbortController()
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    headers: {
      ...headersFor(server),
      'content-type': body.contentType,
      ...(body.isGzip ? { 'content-encoding': 'gzip' } : {}),
      ...(body.bytes === undefined ? {} : { 'content-length': String(body.bytes) })
    }
  })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.once('error', reject)
  })
  const sent = pipeline([...body.stages, request], { signal: stopped.signal }).then(() => null, (error: unknown) => error)
  answered.then(() => sent, () => {}).catch(() => {})

  let response: IncomingMessage
  try {
    response = await answered
  } catch (error) {
    // a file that cannot be read ends the request too, and is the better reason
    const reason = await sent
    throw isFileError(reason) ? reason : unreachable(server, error)
  }
  const text = await textOf(response).catch((error: unknown) => { throw unreachable(server, error) })
  stopped.abort()
  await sent
  const status = response.statusCode ?? 0
  if (status < 200 || status > 299) throw new ServerRefused(status, text)
  return readLoad(parseJson(server, text))
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += String(part)
  return text
}

function isFileError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && (error.syscall === 'open' || error.syscall === 'read')
}
