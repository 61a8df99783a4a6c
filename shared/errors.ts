/**
 * The table of error codes, and the error class that uses them.
 *
 * This is the lowest layer: it imports nothing. Clients see the code, the public message and the details; the
 * cause goes to the log. docs/errors.md lists every code, and a test compares the two.
 */

/**
 * What a code means on each interface. `title` is the short summary of RFC 9457, `type` the GraphQL error class
 * that DataHub clients know.
 */
type ErrorCodeFacts = { title: string; status: number; type: string; retryable: boolean; meaning: string }

export const errorCodes = {
  UNAUTHENTICATED: {
    title: 'No valid credentials',
    status: 401,
    type: 'UNAUTHORIZED',
    retryable: false,
    meaning:
      'No token, or one that is unknown, expired or revoked; or a session of the web UI that has ended.'
  },
  FORBIDDEN: {
    title: 'Not allowed for this caller',
    status: 403,
    type: 'UNAUTHORIZED',
    retryable: false,
    meaning:
      'The token lacks the scope, or is limited to another domain; or a request with a session comes from another site or lacks `x-csrf-token`.'
  },
  BAD_REQUEST: {
    title: 'The request is not valid',
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'A value is missing, malformed, or not allowed here.'
  },
  INVALID_URN: {
    title: 'Not a valid URN',
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'Not a valid URN, or a URN of the wrong entity type.'
  },
  INVALID_CHARACTER: {
    title: 'A character is not allowed',
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning:
      'A text contains a character that cannot be stored (U+0000, a lone surrogate) or is not allowed there (a control character).'
  },
  LIMIT_EXCEEDED: {
    title: 'A limit is exceeded',
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'A limit is exceeded; `limit` names it, `maximum` is its value.'
  },
  UNSUPPORTED: {
    title: 'Not supported',
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'This version does not support the mode, format or operation.'
  },
  MISSING_REFERENCE: {
    title: 'A referenced entity does not exist',
    status: 422,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'An entity that the change refers to does not exist; `urn` names it.'
  },
  VALIDATION_FAILED: {
    title: 'An aspect does not match its schema',
    status: 422,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'An aspect does not match its schema; `field` names the place.'
  },
  NOT_FOUND: {
    title: 'Not found',
    status: 404,
    type: 'NOT_FOUND',
    retryable: false,
    meaning: 'The requested thing does not exist.'
  },
  CONFLICT: {
    title: 'The current state does not allow this',
    status: 409,
    type: 'CONFLICT',
    retryable: false,
    meaning:
      'The current state does not allow it: a sibling domain has the name, a domain would become its own ancestor or has child domains, a load has ended, or a load with the same Idempotency-Key is still being received (then with Retry-After).'
  },
  IDEMPOTENCY_MISMATCH: {
    title: 'The Idempotency-Key belongs to another request',
    status: 422,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The Idempotency-Key belongs to a load with another body or other parameters.'
  },
  SNAPSHOT_REMOVES_TOO_MUCH: {
    title: 'The snapshot would remove too much',
    status: 409,
    type: 'CONFLICT',
    retryable: false,
    meaning:
      'A snapshot would remove a larger share of what its source states than `SNAPSHOT_MAX_REMOVED_SHARE` allows; `force=true` overrides this.'
  },
  PRECONDITION_FAILED: {
    title: 'The aspect has changed',
    status: 412,
    type: 'CONFLICT',
    retryable: false,
    meaning: 'The aspect has changed since the version that the request names; read it again.'
  },
  METHOD_NOT_ALLOWED: {
    title: 'The path does not support this method',
    status: 405,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The path does not support this method.'
  },
  UNSUPPORTED_MEDIA_TYPE: {
    title: 'The content type or encoding is not accepted',
    status: 415,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The route does not accept this content type or content encoding.'
  },
  BODY_TOO_LARGE: {
    title: 'The body is too large',
    status: 413,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The uncompressed body exceeds the limit of the route.'
  },
  REQUEST_TIMEOUT: {
    title: 'The request arrived too slowly',
    status: 408,
    type: 'BAD_REQUEST',
    retryable: true,
    meaning: 'The body arrived too slowly.'
  },
  GRAPHQL_PARSE_FAILED: {
    title: 'The GraphQL document does not parse',
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The GraphQL document does not parse.'
  },
  GRAPHQL_VALIDATION_FAILED: {
    title: 'The GraphQL document does not match the schema',
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The GraphQL document or its variables do not match the schema.'
  },
  QUERY_TOO_DEEP: {
    title: 'The GraphQL document is too deep',
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The GraphQL document is nested deeper than allowed.'
  },
  QUERY_TOO_COMPLEX: {
    title: 'The GraphQL document is too expensive',
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning:
      'The GraphQL document has too many tokens, aliases or mutations, or would exceed the size of an answer or the cost of a request; `limit` names the limit. Such an answer has no data.'
  },
  RATE_LIMITED: {
    title: 'Too many requests',
    status: 429,
    type: 'RATE_LIMITED',
    retryable: true,
    meaning:
      'Too many requests of one kind at once (exports, event streams, sign-ins, heavy reads of one token), or in a minute (`RATE_LIMIT_PER_MINUTE`); wait as long as Retry-After says, or `retryAfterSeconds` in a GraphQL error.'
  },
  DEADLINE_EXCEEDED: {
    title: 'The deadline has passed',
    status: 504,
    type: 'DEADLINE_EXCEEDED',
    retryable: true,
    meaning: 'The answer was not complete within the deadline; there is no partial answer.'
  },
  UNAVAILABLE: {
    title: 'Unavailable for now',
    status: 503,
    type: 'UNAVAILABLE',
    retryable: true,
    meaning:
      'The database cannot be reached or has no room, or an earlier load of the same dbt project is still running; nothing was changed.'
  },
  OVERLOADED: {
    title: 'Too much is waiting',
    status: 503,
    type: 'UNAVAILABLE',
    retryable: true,
    meaning:
      'Too much bulk work, too many heavy reads or writes are waiting, all connections to the database are in use, another transaction holds what the call writes, or one token sends too many OpenLineage events in a minute; nothing was stored. Send it again later.'
  },
  SHUTTING_DOWN: {
    title: 'The process is stopping',
    status: 503,
    type: 'UNAVAILABLE',
    retryable: true,
    meaning: 'This process is stopping; send the request again.'
  },
  INTERNAL: {
    title: 'An internal error',
    status: 500,
    type: 'SERVER_ERROR',
    retryable: false,
    meaning: 'An internal error; its request id is in the log.'
  }
} as const satisfies Record<string, ErrorCodeFacts>

export type ErrorCode = keyof typeof errorCodes

/** What a client may see besides the code and message. Values come from the caller or from limits.ts. */
export type ErrorDetails = {
  /** Path of the offending input, for example `input.edgesToAdd[37].upstreamUrn`. */
  field?: string
  /** The URN that is missing or wrong. */
  urn?: string
  /** The name of the limit in limits.ts or the configuration, its value, and the value that was sent. */
  limit?: string
  maximum?: number
  actual?: number
  /** The line of the load, counted from 1. */
  line?: number
  /** Allowed values, if there are few. */
  allowed?: readonly string[]
  /** URNs that the caller may have meant. */
  candidates?: readonly string[]
  /** The number of missing entities, or of entities that the caller may have meant, if there are several. */
  total?: number
  retryAfterSeconds?: number
}

/** The only error that crosses layers. `message` is public; put private details into `cause`. */
export class CatalogError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CatalogError'
    this.code = code
    this.details = details
  }

  get status(): number {
    return errorCodes[this.code].status
  }

  get retryable(): boolean {
    return errorCodes[this.code].retryable
  }
}

/** The code, message and details as every interface over HTTP shows them. No detail replaces another member. */
export const errorMembers = (
  { code, message, details }: CatalogError,
  requestId: string
): Record<string, unknown> => ({ ...details, code, message, requestId })

export const problemMediaType = 'application/problem+json; charset=utf-8'

/**
 * The body of an error as RFC 9457 has it, with our own members beside it. `type` is the path that explains the
 * code; a path, because one server has many addresses. `message` is `detail` again, for clients that know only
 * that.
 */
export function problemOf(
  error: CatalogError,
  requestId: string,
  status: number = error.status
): Record<string, unknown> {
  const { title } = errorCodes[error.code]
  const standard = { type: `/problems/${error.code}`, title, status, detail: error.message }
  return { ...standard, ...errorMembers(error, requestId), ...standard }
}
