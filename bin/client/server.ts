/** The server that client commands talk to: its address and its token, and what its answers and silences mean. */
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal, exitCodes, reasonOf } from '../failure.ts'

export type Server = {
  url: string
  /** Empty if none is needed and none was found. */
  token: string
  /**
   * The data folder whose record of this address says what the server must prove to know before it gets the token.
   * Null if the token was given for this address.
   */
  provenBy: string | null
}

/** The URL of a path on the server, which may itself be below a path. */
export function urlOn(server: Pick<Server, 'url'>, path: string): URL {
  return new URL(path, server.url.endsWith('/') ? server.url : `${server.url}/`)
}

export function headersFor({ token }: Server): Record<string, string> {
  return { ...(token === '' ? {} : { authorization: `Bearer ${token}` }), 'user-agent': 'tributary-cli' }
}

const originOf = ({ url }: Pick<Server, 'url'>): string => new URL(url).origin

/** An answer other than success. */
export class ServerRefused extends Refusal {
  readonly status: number
  /** Our error code; null for an answer from a proxy, or from another program. */
  readonly code: string | null
  /** The value of Retry-After. */
  readonly retryAfterMs: number | null

  /** `isNamed` where a command talks to two servers. */
  constructor(
    server: Server,
    { status, headers, body }: { status: number; headers: IncomingHttpHeaders; body: string },
    { isNamed = false } = {}
  ) {
    const problem = problemOf(body)
    const who = isNamed ? `The server at ${originOf(server)}` : 'The server'
    const message =
      problem === null
        ? `The server at ${originOf(server)} answered with status ${status}.${hintOf(server, status, headers)}`
        : `${who} refused: ${problem.code}: ${problem.message}`
    // the server, or a proxy, says that it is unavailable for now: another attempt may succeed
    super(message, isPassingStatus(status) ? exitCodes.unreachable : exitCodes.refused)
    this.name = 'ServerRefused'
    this.status = status
    this.code = problem?.code ?? null
    const retryAfter = headers['retry-after']
    this.retryAfterMs =
      retryAfter !== undefined && /^\d{1,5}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : null
  }
}

/** What to do about an answer that is not ours. */
function hintOf(server: Server, status: number, { location }: IncomingHttpHeaders): string {
  if (status >= 300 && status < 400 && location !== undefined && URL.canParse(location, server.url))
    return ` It refers to ${new URL(location, server.url).origin}: give that address with --url or TRIBUTARY_URL.`
  if (status === 501 || (status >= 400 && status < 500 && ![401, 403, 408, 413, 429].includes(status)))
    return ' Does another program listen there? Check --url and TRIBUTARY_URL.'
  return ''
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

/** A connection that was cut, or an answer that did not come. */
export function unreachable(server: Server, error: unknown): Refusal {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const isHttp = !(networkCode(error)?.startsWith('HPE_') ?? false)
  return new Refusal(
    isHttp
      ? `The server at ${originOf(server)} does not answer: ${reasonOf(cause)}`
      : `What answers at ${originOf(server)} does not speak HTTP: ${reasonOf(cause)}. Check --url and TRIBUTARY_URL.`,
    exitCodes.unreachable,
    { cause: error }
  )
}

/** There is no connection to the server. */
export class NotReached extends Refusal {
  /** Nothing had been reached there before, so it is not a restart that will soon be over. */
  readonly isFirst: boolean

  constructor(server: Server, error: unknown, { isFirst }: { isFirst: boolean }) {
    super(notReachedMessage(server, error), exitCodes.unreachable, { cause: error })
    this.name = 'NotReached'
    this.isFirst = isFirst
  }
}

function notReachedMessage(server: Server, error: unknown): string {
  const origin = originOf(server)
  const { hostname, protocol } = new URL(server.url)
  const code = networkCode(error) ?? ''
  const isHere = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `The name ${hostname} of ${origin} does not resolve (${code}). Check --url and TRIBUTARY_URL${code === 'EAI_AGAIN' ? ', and the network' : ''}.`
  if (protocol === 'https:' && certificateCodes.test(code))
    return `The certificate of ${origin} is not trusted: ${reasonOf(error)} (${code}). Name the file of its authority in NODE_EXTRA_CA_CERTS, or the right host in --url or TRIBUTARY_URL.`
  if (protocol === 'https:' && /^ERR_SSL_|^EPROTO$/.test(code))
    return `The server at ${origin} does not speak TLS (${code}). Does its address begin with http: instead of https:?`
  const reason = `The server at ${origin} does not answer: ${reasonOf(error)}.`
  return code === 'ECONNREFUSED' && isHere
    ? `${reason} Is it running? \`tributary up\`, or npm start in a checkout, starts one here; --url or TRIBUTARY_URL names another.`
    : `${reason} Is it running, and is its address right? Check --url and TRIBUTARY_URL.`
}

const certificateCodes = /CERT|SIGNATURE|^ERR_TLS_CERT/

/** Something answers at the address, but is not the server of the record, so that it does not get the token. */
export class NotOurs extends Refusal {
  constructor(server: Server) {
    super(
      `What listens at ${originOf(server)} is not the server that was started with the data folder ${server.provenBy ?? ''}, so the token in that folder was not sent to it. Start the server again (\`tributary up\`, or npm start in a checkout), or give --url and --token.`,
      exitCodes.unreachable
    )
    this.name = 'NotOurs'
  }
}

/** The code of a socket or resolver behind an error, such as ECONNRESET. */
function networkCode(error: unknown): string | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1) {
    if (cause instanceof AggregateError && cause.errors.length > 0) return networkCode(cause.errors[0])
    if ('code' in cause && typeof cause.code === 'string' && cause.code !== 'ABORT_ERR') return cause.code
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
  'HPE_INVALID_EOF_STATE'
])

function isPassingStatus(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501)
}

/** Whether the same request may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ServerRefused)
    return isPassingStatus(error.status) || (error.status === 409 && error.retryAfterMs !== null)
  // a server that is started again may not have its record yet, and a stranger at its address learns nothing
  if (error instanceof NotOurs) return true
  return (
    error instanceof Refusal &&
    error.exitCode === exitCodes.unreachable &&
    (isLate(error) || passingCodes.has(networkCode(error) ?? ''))
  )
}

function isLate(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1)
    if (cause.name === 'TimeoutError') return true
  return false
}

/** Throws Refusal: a success answer without JSON comes from another program. */
export function parseJson(server: Server, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refusal(
      `Unexpected answer from ${originOf(server)}. Is this a Tributary server?`,
      exitCodes.unreachable,
      { cause: error }
    )
  }
}
