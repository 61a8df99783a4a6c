/** Asks the server, and reads a whole answer. */
import type { IncomingMessage } from 'node:http'
import { printExactly } from '../../shared/model/exact-json.ts'
import { exchange } from './connection.ts'
import { parseJson, ServerRefused, unreachable, type Server } from './server.ts'
import { Refusal } from '../failure.ts'

const answerMaxMs = 60_000

/** Reads JSON with GET. Throws ServerRefused, or Refusal if the server does not answer. */
export async function getJson(server: Server, path: string, signal?: AbortSignal): Promise<unknown> {
  return parseJson(server, await getText(server, path, signal))
}

export function getText(server: Server, path: string, signal?: AbortSignal): Promise<string> {
  return ask(server, 'GET', path, signal)
}

/** As getJson, with POST and the body, if any, as JSON. */
export async function postJson(
  server: Server,
  path: string,
  signal?: AbortSignal,
  body?: object
): Promise<unknown> {
  return parseJson(server, await ask(server, 'POST', path, signal, body))
}

/** As getJson, with PUT and the body as JSON. */
export async function putJson(server: Server, path: string, body: object): Promise<unknown> {
  return parseJson(server, await ask(server, 'PUT', path, undefined, body))
}

async function ask(
  server: Server,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  signal?: AbortSignal,
  body?: object
): Promise<string> {
  const late = AbortSignal.timeout(answerMaxMs)
  let response: IncomingMessage
  let text: string
  try {
    response = await exchange(server, path, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: printExactly(body) }),
      signal: signal === undefined ? late : AbortSignal.any([signal, late])
    })
    text = await textOf(response)
  } catch (error) {
    signal?.throwIfAborted()
    throw error instanceof Refusal ? error : unreachable(server, error)
  }
  requireSuccess(server, response, text)
  return text
}

/** Rejects if the connection is cut. */
export async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += String(part)
  return text
}

/** Throws ServerRefused. */
export function requireSuccess(
  server: Server,
  { statusCode: status = 0, headers }: IncomingMessage,
  body: string,
  options?: { isNamed: boolean }
): void {
  if (status < 200 || status > 299) throw new ServerRefused(server, { status, headers, body }, options)
}
