/** The HTTP server below the routes: its times, and the answers to what is not a valid request. */
import { randomUUID } from 'node:crypto'
import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { CatalogError, problemMediaType, problemOf, type ErrorCode } from '../shared/errors.ts'
import { Answer, endConnection, keepLastAnswers, Question, type LingerBounds } from './last-answers.ts'
import { uploadPace } from './loads/read-body.ts'

/**
 * A connection is closed after this time without data. Uploads that wait for the database may pause for a
 * while.
 */
const silenceMaxMs = 120_000
/** How long a connection waits for its next request: longer than balancers do, so that they close first. */
const keptMaxMs = 72_000
/**
 * From the opening of a connection, or the first byte of a later request, to the end of the headers. A client
 * that streams a body opens the connection at once and sends the headers with the first byte of the body, so
 * this must be at least as long as an upload may pause.
 */
const headersMaxMs = uploadPace.idleMaxMs + 5_000
/** How often connections are checked for these times. */
const connectionsCheckMs = 5_000

/** `requestMaxMs` is the time of the slowest upload. */
export function createHttpServer(
  listener: RequestListener,
  { requestMaxMs, linger }: { requestMaxMs: number; linger?: LingerBounds }
): Server {
  const server = createServer(
    {
      IncomingMessage: Question,
      ServerResponse: Answer,
      headersTimeout: headersMaxMs,
      requestTimeout: requestMaxMs,
      keepAliveTimeout: keptMaxMs,
      connectionsCheckingInterval: connectionsCheckMs,
      // Node's own answer has no body; addRequestBasics refuses it.
      requireHostHeader: false
    },
    listener
  )
  server.setTimeout(silenceMaxMs)
  keepLastAnswers(server, linger)
  server.on('clientError', answerBrokenRequest)
  server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => {})
    endConnection(socket, printed(brokenRequest))
  })
  return server
}

function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET') socket.destroy()
  else endConnection(socket, printed(brokenRequests[error.code ?? ''] ?? brokenRequest))
}

type BrokenRequest = { status: number; code: ErrorCode; message: string }

const brokenRequest: BrokenRequest = { status: 400, code: 'BAD_REQUEST', message: 'Malformed HTTP request' }

const brokenRequests: Readonly<Record<string, BrokenRequest>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'BAD_REQUEST',
    message: 'The headers are larger than 16 KB'
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'REQUEST_TIMEOUT',
    message: 'The request arrived too slowly'
  }
}

function printed({ status, code, message }: BrokenRequest): string {
  const body = JSON.stringify(problemOf(new CatalogError(code, message), randomUUID(), status))
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Cache-Control: no-store',
    `Content-Type: ${problemMediaType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body
  ].join('\r\n')
}
