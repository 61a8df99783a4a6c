/**
 * What applies to every request, whatever its route: its id, the headers of its answer, its log line,
 * unreadable paths.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawRequestDefaultExpression
} from 'fastify'
import { CatalogError } from '../shared/errors.ts'
import { newTraceId, traceparent } from '../shared/model/trace-id.ts'
import type { ServerState } from './context.ts'
import { sendProblem } from './error-responses.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The id by which a client follows its write: the one in the answer's header `traceparent`. */
    traceId: string
  }
  interface FastifyContextConfig {
    /** Also answers while the process is stopping. */
    servesWhileStopping?: boolean
  }
}

const requestId = /^[\w.-]{1,64}$/

/** The caller's X-Request-Id if it is valid, otherwise a new id. */
export function requestIdOf(request: RawRequestDefaultExpression): string {
  const wanted = request.headers['x-request-id']
  return typeof wanted === 'string' && requestId.test(wanted) ? wanted : randomUUID()
}

/**
 * The path in the spelling of its route. `//aspects` comes from a client whose base URL ends with a slash;
 * `/api/gms/aspects` and `/api/v2/graphql` are paths of DataHub's frontend. Access depends on the route, so
 * no spelling bypasses it.
 */
export function plainUrl(request: Pick<IncomingMessage, 'url'>): string {
  return (request.url ?? '/')
    .replace(/^\/{2,}/, '/')
    .replace(/^\/api\/gms(?=[/?]|$)\/*/, '/')
    .replace(/^\/api\/v2\/graphql(?=[/?]|$)/, '/api/graphql')
}

/** Adds the headers and the log line, and refuses new requests with SHUTTING_DOWN while the process stops. */
export function addRequestBasics(
  app: FastifyInstance,
  state: ServerState,
  headers: Readonly<Record<string, string>>
): void {
  app.decorateRequest('traceId', '')
  app.addHook('onRequest', (request, reply, done) => {
    request.traceId = newTraceId()
    reply.headers(headers).headers({
      'x-request-id': request.id,
      traceparent: traceparent(request.traceId),
      'cache-control': 'no-store'
    })
    const isRefused = state.isStopping && request.routeOptions.config?.servesWhileStopping !== true
    // RFC 9112, section 3.2
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      done(new CatalogError('BAD_REQUEST', 'A request of HTTP/1.1 needs the header Host', { field: 'Host' }))
    else if (isRefused)
      done(
        new CatalogError('SHUTTING_DOWN', 'This process is stopping; send the request again', {
          retryAfterSeconds: 1
        })
      )
    else done()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // Otherwise a kept-alive connection would delay the stop until its client closes it, or be closed under a request.
    if (state.isStopping || state.isLeaving === true) reply.header('connection', 'close')
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request
    const fields = {
      method,
      path: pathOf(request.url),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      tokenId: request.actor?.tokenId ?? null
    }
    request.log.info(fields, 'request')
    done()
  })
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? ''

/**
 * Answers a request whose path the router cannot read. No hook runs for it, so it gets the headers here. The
 * framework's own message repeats the whole address, which may contain a secret, and the message is logged.
 */
export const answerUnreadablePath =
  (headers: Readonly<Record<string, string>>) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    void reply.headers(headers).headers({ 'x-request-id': request.id, 'cache-control': 'no-store' })
    const message =
      error.code === 'FST_ERR_MAX_PARAM_LENGTH'
        ? 'A part of the path is too long'
        : 'The path is not percent-encoded UTF-8'
    sendProblem(new CatalogError('BAD_REQUEST', message), request, reply)
  }
