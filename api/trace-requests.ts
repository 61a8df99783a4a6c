/** A span for each request, in the trace of its client, and the active one while the request is served. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CatalogError } from '../shared/errors.ts'
import {
  failSpan,
  isTracing,
  startSpan,
  withSpan,
  type Attributes,
  type Span
} from '../shared/platform/tracing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Absent if tracing is off, or the request is not traced. */
    span?: Span | null
  }
}

/** Requests of monitoring, which would be most traces of a quiet catalog. */
const untraced = /^\/(?:health|metrics)\b/

/** Adds nothing while tracing is off. Must come before all other hooks. */
export function traceRequests(app: FastifyInstance): void {
  if (!isTracing()) return
  app.decorateRequest('span', null)
  // All later hooks, the handler and the log line run in the span: Fastify keeps the context while it reads a body.
  app.addHook('onRequest', (request, reply, done) => {
    const span = startRequest(request)
    if (span === null) {
      done()
      return
    }
    request.span = span
    // Also emitted if the client has left, when onResponse is not called.
    reply.raw.once('close', () => endRequest(span, reply.raw))
    withSpan(span, done)
  })
}

/** The route instead of the path, because a path contains URNs. */
function startRequest(request: FastifyRequest): Span | null {
  const { method } = request
  const route = request.is404 ? undefined : request.routeOptions.url
  if (route !== undefined && untraced.test(route)) return null
  const { traceparent, tracestate } = request.headers
  return startSpan(route === undefined ? method : `${method} ${route}`, {
    kind: 'server',
    attributes: {
      'http.request.method': method,
      'url.scheme': request.protocol,
      'network.protocol.version': request.raw.httpVersion,
      'tributary.request.id': request.id,
      ...(route === undefined ? {} : { 'http.route': route })
    },
    parent: { traceparent: oneOf(traceparent), tracestate: oneOf(tracestate) }
  })
}

const oneOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header

function endRequest(
  span: Span,
  { statusCode, writableFinished }: { statusCode: number; writableFinished: boolean }
): void {
  if (writableFinished) span.setAttribute('http.response.status_code', statusCode)
  else span.setAttribute('error.type', 'CLIENT_GONE')
  span.end()
}

/**
 * Our own faults make the span fail; for faults of the caller only the code is added, as in metrics and the
 * log.
 */
export function noteError({ span }: FastifyRequest, { code, status }: CatalogError): void {
  if (!span) return
  if (status >= 500) failSpan(span, code)
  else span.setAttribute('error.type', code)
}

/** Adds to the span what only the route knows, such as the operation of GraphQL. */
export function noteOnSpan({ span }: FastifyRequest, attributes: () => Attributes): void {
  if (span) span.setAttributes(attributes())
}
