/**
 * Closes connections so that the last answer arrives and no later request suffers (RFC 9112, section 9.6).
 *
 * An answer that comes before the whole body announces the close, so that no client or proxy uses the
 * connection again. If it were then closed at once, what the client still sends would be answered with a reset,
 * which can destroy the answer on its way. So only the sending side is closed; what arrives is read and
 * discarded until the client closes too, or for a bounded time.
 */
import {
  IncomingMessage,
  ServerResponse,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server
} from 'node:http'
import type { Socket } from 'node:net'

/** What a closing connection may cost: in all, and without a byte from the client. */
export type LingerBounds = { maxMs: number; silenceMaxMs: number; maxBytes: number }

/** The times of nginx. */
export const lingerBounds: LingerBounds = {
  maxMs: 30_000,
  silenceMaxMs: 5_000,
  maxBytes: 256 * 1024 * 1024
}

/** For the option `http` of the server. */
export class Question extends IncomingMessage {
  /** Called once, before the first byte of the body is read. */
  beforeBody: (() => void) | null = null

  override _read(size: number): void {
    const { beforeBody } = this
    this.beforeBody = null
    beforeBody?.()
    super._read(size)
  }
}

/** For the option `http` of the server. */
export class Answer extends ServerResponse {
  override writeHead(
    status: number,
    reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[]
  ): this {
    if (hasBody(this.req) && !this.req.complete) this.shouldKeepAlive = false
    return typeof reason === 'string'
      ? super.writeHead(status, reason, headers)
      : super.writeHead(status, reason)
  }

  /**
   * Without chunks, as in HTTP/1.0, the end of the connection is the end of the body. So a body that is cut off
   * ends with a reset.
   */
  override destroy(error?: Error): this {
    if (this.headersSent && !this.writableEnded && !this.chunkedEncoding) this.socket?.resetAndDestroy()
    return super.destroy(error)
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined ||
  (headers['content-length'] !== undefined && headers['content-length'] !== '0')

/** The answers that a connection still has to give, and whether it ends after them. */
type Connection = { answers: Set<ServerResponse>; bounds: LingerBounds; isEnding: boolean }

const connections = new WeakMap<Socket, Connection>()

/** `server` must have been made with Question and Answer. */
export function keepLastAnswers(server: Server, bounds: LingerBounds = lingerBounds): void {
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { answers: new Set(), bounds, isEnding: false })
    // The server calls it after the last answer.
    socket.destroySoon = () => linger(socket, bounds)
  })
  server.prependListener('request', (request: IncomingMessage, answer: ServerResponse) => {
    const { socket } = request
    const answers = connections.get(socket)?.answers
    answers?.add(answer)
    answer.once('finish', () => {
      answers?.delete(answer)
      if (request.readableEnded) return
      // The rest of a body that was only read in part, so that the connection is free for the next request.
      if (request.complete) request.resume()
      // Whoever still reads it learns that it ends here.
      else socket.once('close', () => request.destroy())
    })
  })
  // The client sends the body of a refused request only if the server asks for it.
  server.on('checkContinue', (request: Question, answer: Answer) => {
    request.beforeBody = () => {
      if (!answer.headersSent) answer.writeContinue()
    }
    server.emit('request', request, answer)
  })
  // Other expectations may be ignored; the server's own answer would have no body.
  server.on('checkExpectation', (request: Question, answer: Answer) => {
    server.emit('request', request, answer)
  })
}

/**
 * Sends the raw answer to a request that cannot be read, and closes the connection. If whole requests came
 * before it, they are answered, and then the connection is only closed.
 */
export function endConnection(socket: Socket, answer: string): void {
  const connection = connections.get(socket)
  if (connection === undefined || !socket.writable) {
    socket.destroy()
    return
  }
  const { answers, bounds, isEnding } = connection
  // Whatever comes after the broken request is broken as well, part by part.
  if (isEnding) return
  connection.isEnding = true
  const [first] = answers
  const lastWhole = [...answers].findLast(({ req }) => req.complete)
  if (lastWhole !== undefined) {
    lastWhole.shouldKeepAlive = false
    lastWhole.once('finish', () => linger(socket, bounds))
  } else if (first?.headersSent !== true) {
    socket.write(answer)
    linger(socket, bounds)
  }
}

/** Closes the sending side, and discards what arrives until the client closes the other one. */
function linger(socket: Socket, { maxMs, silenceMaxMs, maxBytes }: LingerBounds): void {
  if (socket.destroyed || socket.writableEnded) return
  if (socket.readableEnded) {
    socket.end(() => socket.destroy())
    return
  }
  const end = (): void => {
    socket.destroy()
  }
  const total = setTimeout(end, maxMs)
  let bytes = 0
  socket
    // No further request of this connection is served. The parser reads the socket until somebody else listens.
    .removeAllListeners('data')
    .on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes > maxBytes) end()
    })
    .once('end', end)
    .once('close', () => clearTimeout(total))
    .setTimeout(silenceMaxMs, end)
    .end()
  // The parser may have paused the socket in the middle of a read, which an empty part ends.
  socket.push('')
  socket.resume()
}
