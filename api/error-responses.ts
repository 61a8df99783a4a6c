/**
 * Turns any error into what a client may see: a code of shared/errors.ts, a public message, the request id.
 *
 * An error that is neither a CatalogError nor a fault of the request becomes INTERNAL, and its text only goes
 * to the log.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { toCatalogError } from '../shared/db/sql-errors.ts'
import { CatalogError, problemMediaType, problemOf, type ErrorCode } from '../shared/errors.ts'
import { noteError } from './trace-requests.ts'

/** The framework's own errors, by their code. Any other of class 4xx becomes BAD_REQUEST. */
const codesOfFramework: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_CONTENT_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_HANDLER_TIMEOUT: 'DEADLINE_EXCEEDED',
  FST_ERR_NOT_FOUND: 'NOT_FOUND',
  FST_CSRF_MISSING_SECRET: 'FORBIDDEN',
  FST_CSRF_INVALID_TOKEN: 'FORBIDDEN'
}

const messages: Partial<Record<ErrorCode, string>> = {
  UNSUPPORTED_MEDIA_TYPE: 'This route does not accept this content type',
  BODY_TOO_LARGE: 'The body is larger than this route allows',
  DEADLINE_EXCEEDED: 'The answer was not complete within the deadline',
  REQUEST_TIMEOUT: 'The body arrived too slowly',
  FORBIDDEN: 'A request with a session needs the header x-csrf-token with the token that GET /session gives'
}

/** Turns whatever was thrown while serving `request` into a CatalogError. */
export function publicError(error: unknown, request?: FastifyRequest): CatalogError {
  if (error instanceof CatalogError) return error
  const known = frameworkCode(error)
  // The framework has one deadline for the body and the answer. If the body is not complete, the client was
  // too slow.
  const code = known === 'DEADLINE_EXCEEDED' && request?.raw.complete === false ? 'REQUEST_TIMEOUT' : known
  if (code !== null)
    return new CatalogError(
      code,
      messages[code] ?? (error instanceof Error ? error.message : code),
      {},
      { cause: error }
    )
  const translated = toCatalogError(error)
  if (translated.code !== 'INTERNAL') return translated
  return new CatalogError(
    'INTERNAL',
    'An internal error; the request id finds it in the log',
    {},
    { cause: error }
  )
}

/** Status, headers and log line that every kind of error answer shares. */
export function prepareErrorReply(
  error: CatalogError,
  request: FastifyRequest,
  reply: FastifyReply
): FastifyReply {
  logError(error, request)
  reply.code(error.status)
  if (error.code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer realm="tributary"')
  const retryAfter =
    error.details.retryAfterSeconds ?? (error.status === 503 || error.status === 429 ? 1 : null)
  if (retryAfter !== null) reply.header('retry-after', String(retryAfter))
  return reply
}

/** The error handler of every route that has no error format of another API. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = publicError(error, request)
  void prepareErrorReply(problem, request, reply)
    .type(problemMediaType)
    .send(JSON.stringify(problemOf(problem, request.id)))
}

/**
 * Our own faults are logged at level error with their cause, an unavailable service at warn, faults of the
 * caller at debug. The span of the request gets the code.
 */
export function logError(error: CatalogError, request: FastifyRequest): void {
  noteError(request, error)
  const fields = { err: error, code: error.code }
  if (error.code === 'INTERNAL') request.log.error(fields, 'request failed')
  else if (error.status >= 500) request.log.warn(fields, 'request could not be served')
  else request.log.debug(fields, 'request refused')
}

function frameworkCode(error: unknown): ErrorCode | null {
  if (!(error instanceof Error)) return null
  const known = 'code' in error && typeof error.code === 'string' ? codesOfFramework[error.code] : undefined
  if (known) return known
  const status = 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' && status >= 400 && status < 500 ? 'BAD_REQUEST' : null
}
