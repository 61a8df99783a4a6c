/**
 * Opens the connections of client commands: one for each request, and the token only goes over a connection that is
 * entitled to it.
 *
 * Where a server must prove itself first, it does so on the same connection: between a proof on one and the token on
 * another, somebody else could take the port of a server that ends.
 */
import { once } from 'node:events'
import {
  Agent,
  request as httpRequest,
  type ClientRequest,
  type ClientRequestArgs,
  type IncomingMessage
} from 'node:http'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { isProof, newSecret, proofPath } from '../../shared/platform/instance-proof.ts'
import { isSameOrigin, readServerRecords } from '../../shared/platform/server-records.ts'
import { Refusal } from '../failure.ts'
import { pause } from './interruption.ts'
import { isObject } from './load-view.ts'
import { headersFor, NotOurs, NotReached, unreachable, urlOn, type Server } from './server.ts'

export type RequestOptions = {
  method: 'GET' | 'POST' | 'PUT'
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal
}

const connectMaxMs = 30_000
/** A busy server of ours answers within a second or two. */
const proofMaxMs = 10_000
const proofMaxBytes = 4_096
const busyMaxCount = 5
const busyWaitMs = 500

/**
 * A connected request, without its body, which the caller sends. It closes its connection. Throws NotReached if there
 * is no connection, Refusal if the server does not prove what it must, and the signal's reason.
 */
export async function openRequest(
  server: Server,
  path: string,
  { method, headers = {}, signal }: RequestOptions
): Promise<ClientRequest> {
  const agent = await openConnection(server, signal)
  const url = urlOn(server, path)
  const request = httpRequest({
    agent,
    method,
    path: `${url.pathname}${url.search}`,
    headers: { ...headersFor(server), host: url.host, connection: 'close', ...headers },
    ...(signal === undefined ? {} : { signal })
  })
  request.once('close', () => {
    agent.destroy()
  })
  return request
}

/** Sends a whole request. Throws as openRequest, and Refusal if the connection is cut. */
export async function exchange(
  server: Server,
  path: string,
  { body, ...options }: RequestOptions & { body?: string }
): Promise<IncomingMessage> {
  const { signal } = options
  try {
    const request = await openRequest(server, path, options)
    const answered = answerTo(request)
    request.end(body)
    return await answered
  } catch (error) {
    signal?.throwIfAborted()
    throw error instanceof Refusal ? error : unreachable(server, error)
  }
}

/** Rejects if the connection ends without an answer. */
export function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
    request.once('close', () => {
      reject(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }))
    })
  })
}

/** Throws unless the server is there, and proves itself if it must. */
export async function checkConnection(server: Server, signal?: AbortSignal): Promise<void> {
  const agent = await openConnection(server, signal)
  agent.destroy()
}

/** Servers that were reached before: a restart interrupts those, while others may not be running at all. */
const reached = new WeakSet<Server>()

async function openConnection(server: Server, signal?: AbortSignal): Promise<Agent> {
  for (let busyCount = 0; ; busyCount += 1) {
    const socket = await connected(server, signal)
    const agent = new HeldConnection(socket)
    try {
      if (server.provenBy === null) {
        reached.add(server)
        return agent
      }
      const outcome = await proofOn(agent, socket, server, signal)
      if (outcome === 'proved') {
        reached.add(server)
        return agent
      }
      if (outcome === 'wrong' || busyCount >= busyMaxCount) throw new NotOurs(server)
    } catch (error) {
      agent.destroy()
      signal?.throwIfAborted()
      throw error instanceof Refusal ? error : unreachable(server, error)
    }
    agent.destroy()
    await pause(busyWaitMs, signal)
  }
}

/** An agent with one connection, already open, which it never replaces. */
class HeldConnection extends Agent {
  readonly #socket: Socket
  #isGiven = false

  constructor(socket: Socket) {
    super({ keepAlive: true, maxSockets: 1 })
    this.#socket = socket
  }

  override createConnection(
    _options: ClientRequestArgs,
    callback?: (error: Error, socket: Socket) => void
  ): Socket | undefined {
    if (!this.#isGiven) {
      this.#isGiven = true
      return this.#socket
    }
    // the server has closed it after the proof; an error that is thrown here would end the process
    callback?.(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }), this.#socket)
    return undefined
  }

  override destroy(): void {
    this.#socket.destroy()
    super.destroy()
  }
}

/** Throws NotReached, and the signal's reason. */
async function connected(server: Server, signal?: AbortSignal): Promise<Socket> {
  signal?.throwIfAborted()
  const { protocol, hostname, port } = new URL(server.url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isTls = protocol === 'https:'
  const place = { host, port: Number(port || (isTls ? 443 : 80)) }
  const socket = isTls
    ? connectTls({ ...place, ...(isIP(host) === 0 ? { servername: host } : {}), ALPNProtocols: ['http/1.1'] })
    : connectTcp(place)
  // an error between two requests would otherwise end the process
  socket.on('error', () => {})
  const late = AbortSignal.timeout(connectMaxMs)
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect', {
      signal: signal === undefined ? late : AbortSignal.any([signal, late])
    })
    return socket
  } catch (error) {
    socket.destroy()
    signal?.throwIfAborted()
    throw new NotReached(server, error, { isFirst: !reached.has(server) })
  }
}

/** `busy` if the server asks to try again in a moment. Throws what the connection throws. */
async function proofOn(
  agent: Agent,
  socket: Socket,
  server: Server,
  signal?: AbortSignal
): Promise<'proved' | 'wrong' | 'busy'> {
  const nonce = newSecret()
  const late = AbortSignal.timeout(proofMaxMs)
  const request = httpRequest({
    agent,
    path: `/${proofPath}?nonce=${nonce}`,
    headers: { host: new URL(server.url).host, 'user-agent': 'tributary-cli' },
    signal: signal === undefined ? late : AbortSignal.any([signal, late])
  })
  const answered = answerTo(request)
  request.end()
  const response = await answered
  const text = await boundedText(response)
  if (response.statusCode === 429 || response.statusCode === 503) return 'busy'
  const at = { address: socket.remoteAddress, port: socket.remotePort }
  // read each time, because a server that was started again has another key
  const isProved = readServerRecords(server.provenBy ?? '').some(
    ({ url, key }) => isSameOrigin(url, server.url) && isProof(proofIn(text), key, nonce, at)
  )
  return isProved ? 'proved' : 'wrong'
}

/** Stops reading where no proof could be. */
async function boundedText(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of response.setEncoding('latin1')) {
    text += String(part)
    if (text.length > proofMaxBytes) return ''
  }
  return text
}

function proofIn(text: string): unknown {
  try {
    const answer: unknown = JSON.parse(text)
    return isObject(answer) ? answer.proof : null
  } catch {
    return null
  }
}
