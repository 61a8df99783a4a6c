/** The server that client commands talk to: its address and the token. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../shared/platform/config.ts'
import { Refusal, exitCodes, reasonOf } from '../failure.ts'

export type Server = { url: string; token: string }

/**
 * Options win over TRIBUTARY_URL and TRIBUTARY_TOKEN, and these win over the token file and the address of
 * this machine. The token is empty if none is needed and none is found. Throws Refusal.
 */
export function findServer(
  config: Config,
  given: { url: string | undefined; token: string | undefined },
  { needsToken = true } = {}
): Server {
  const url = given.url ?? config.clientUrl ?? `http://127.0.0.1:${config.port}`
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new Refusal(`--url takes a URL such as https://tributary.example.com, not ${url}.`)
  const token = given.token ?? config.clientToken ?? readTokenFile(config.dataDir)
  if (token === null && !needsToken) return { url, token: '' }
  if (token === null) {
    throw new Refusal(
      `A token is needed: give --token or TRIBUTARY_TOKEN (there is no file ${join(config.dataDir, 'token')} either).`
    )
  }
  return { url, token }
}

/** The token that `tributary up` wrote, or null. */
export function readTokenFile(dataDir: string): string | null {
  try {
    return readFileSync(join(dataDir, 'token'), 'utf8').trim() || null
  } catch {
    return null
  }
}

/** The URL of a path on the server, which may itself be below a path. */
export function urlOn(server: Pick<Server, 'url'>, path: string): URL {
  return new URL(path, server.url.endsWith('/') ? server.url : `${server.url}/`)
}

export function headersFor(server: Server): Record<string, string> {
  return { authorization: `Bearer ${server.token}`, 'user-agent': 'tributary-cli' }
}

/** An answer other than success. */
export class ServerRefused extends Refusal {
  readonly status: number
  /** Our error code; null for an answer from a proxy. */
  readonly code: string | null
  /** The value of Retry-After. */
  readonly retryAfterMs: number | null

  /** `who` names the server where a command talks to two. */
  constructor(status: number, body: string, retryAfter: string | null = null, who = 'The server') {
    const problem = problemOf(body)
    const message =
      problem === null
        ? `${who} answered with status ${status}.`
        : `${who} refused: ${problem.code}: ${problem.message}`
    // the server, or a proxy, says that it is unavailable for now: another attempt may succeed
    super(message, isPassingStatus(status) ? exitCodes.unreachable : exitCodes.refused)
    this.name = 'ServerRefused'
    this.status = status
    this.code = problem?.code ?? null
    this.retryAfterMs =
      retryAfter !== null && /^\d{1,5}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : null
  }
}

function problemOf(body: string): { code: string; message: string } | null {
  try {
    const problem: unknown = JSON.parse(body)
    if (typeof problem === 'object' && problem !== null && 'code' in problem) {
      // servers before RFC 9457, and Marquez, have only a message
      const message =
        'detail' in problem ? problem.detail : 'message' in problem ? problem.message : undefined
      if (typeof message !== 'string') return null
      const allowed =
        'allowed' in problem && Array.isArray(problem.allowed) ? problem.allowed.map(String) : []
      const namesAllowed = allowed.every((value) => message.includes(value))
      return {
        code: String(problem.code),
        message: namesAllowed ? message : `${message.replace(/\.$/, '')}. Allowed: ${allowed.join(', ')}`
      }
    }
  } catch {
    // the body is a page of a proxy
  }
  return null
}

export function unreachable(server: Server, error: unknown): Refusal {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  return new Refusal(
    `The server at ${new URL(server.url).origin} does not answer: ${reasonOf(cause)}`,
    exitCodes.unreachable,
    { cause: error }
  )
}

/** The code of a socket or resolver behind an error, such as ECONNRESET. */
function networkCode(error: unknown): string | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1) {
    if (cause instanceof AggregateError) return networkCode(cause.errors[0])
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  }
  return null
}

const passingCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'HPE_INVALID_EOF_STATE'
])

function isPassingStatus(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501)
}

/** Whether the same request may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ServerRefused)
    return isPassingStatus(error.status) || (error.status === 409 && error.retryAfterMs !== null)
  if (
    error instanceof Error &&
    (error.name === 'TimeoutError' || (error.cause instanceof Error && error.cause.name === 'TimeoutError'))
  )
    return true
  return (
    error instanceof Refusal &&
    error.exitCode === exitCodes.unreachable &&
    passingCodes.has(networkCode(error) ?? '')
  )
}

/** Reads JSON with GET. Throws ServerRefused, or Refusal if the server does not answer. */
export async function getJson(server: Server, path: string, signal?: AbortSignal): Promise<unknown> {
  return parseJson(server, await getText(server, path, signal))
}

/** Throws Refusal: a success answer without JSON comes from another program. */
export function parseJson(server: Server, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refusal(
      `Unexpected answer from ${new URL(server.url).origin}. Is this a Tributary server?`,
      exitCodes.unreachable,
      { cause: error }
    )
  }
}

const answerMaxMs = 60_000

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
  let response: Response
  let text: string
  const late = AbortSignal.timeout(answerMaxMs)
  try {
    response = await fetch(urlOn(server, path), {
      method,
      ...(body === undefined
        ? { headers: headersFor(server) }
        : {
            headers: { ...headersFor(server), 'content-type': 'application/json' },
            body: JSON.stringify(body)
          }),
      signal: signal === undefined ? late : AbortSignal.any([signal, late])
    })
    text = await response.text()
  } catch (error) {
    signal?.throwIfAborted()
    throw unreachable(server, error)
  }
  if (!response.ok) throw new ServerRefused(response.status, text, response.headers.get('retry-after'))
  return text
}
