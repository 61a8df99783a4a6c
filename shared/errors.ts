/**
 * The one table of error codes, and the one error class that carries them.
 *
 * The ground floor: imports nothing. What a client sees is the code, the public message and the details;
 * the cause is for the log. docs/errors.md lists every code, and a test holds the two together.
 */

/** What a code means on each wire. `type` is the GraphQL error class that DataHub clients know. */
type ErrorCodeFacts = { status: number; type: string; retryable: boolean; meaning: string }

export const errorCodes = {
  UNAUTHENTICATED: {
    status: 401,
    type: 'UNAUTHORIZED',
    retryable: false,
    meaning: 'No token, or one that is unknown, expired or revoked.'
  },
  FORBIDDEN: {
    status: 403,
    type: 'UNAUTHORIZED',
    retryable: false,
    meaning: 'The token lacks the scope, or is limited to another domain.'
  },
  BAD_REQUEST: {
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'A value is missing, of the wrong shape, or not allowed here.'
  },
  INVALID_URN: {
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'Not a valid URN, or a URN of the wrong entity type.'
  },
  INVALID_CHARACTER: {
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning:
      'A text holds a character that cannot be stored (U+0000, a lone surrogate) or must not stand there (a control).'
  },
  LIMIT_EXCEEDED: {
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'A stated limit is passed; `limit` says which, `maximum` says how much is allowed.'
  },
  UNSUPPORTED: {
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'A mode, format or operation that this version does not have.'
  },
  MISSING_REFERENCE: {
    status: 422,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'An entity that the change refers to does not exist; `urn` names it.'
  },
  VALIDATION_FAILED: {
    status: 422,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'An aspect does not have the shape its name demands; `field` names the place.'
  },
  NOT_FOUND: {
    status: 404,
    type: 'NOT_FOUND',
    retryable: false,
    meaning: 'The thing asked for does not exist.'
  },
  CONFLICT: {
    status: 409,
    type: 'CONFLICT',
    retryable: false,
    meaning:
      'What is there does not allow it: a sibling domain has the name, a domain would become its own ancestor or has domains under it, a load has ended, or is still being received under the same Idempotency-Key (then with Retry-After).'
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The Idempotency-Key belongs to a load with another body or other parameters.'
  },
  SNAPSHOT_REMOVES_TOO_MUCH: {
    status: 409,
    type: 'CONFLICT',
    retryable: false,
    meaning:
      'A snapshot would remove a larger share of what its source states than is allowed (`SNAPSHOT_MAX_REMOVED_SHARE`); `force=true` lets it.'
  },
  PRECONDITION_FAILED: {
    status: 412,
    type: 'CONFLICT',
    retryable: false,
    meaning: 'The aspect is not at the version the request was made for; read it again.'
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The path is known, the method is not.'
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The content type or content encoding is not one the route reads.'
  },
  BODY_TOO_LARGE: {
    status: 413,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The body, once unpacked, is over the limit of the route.'
  },
  REQUEST_TIMEOUT: {
    status: 408,
    type: 'BAD_REQUEST',
    retryable: true,
    meaning: 'The body came too slowly.'
  },
  GRAPHQL_PARSE_FAILED: {
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The GraphQL document does not parse.'
  },
  GRAPHQL_VALIDATION_FAILED: {
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The GraphQL document or its variables do not fit the schema.'
  },
  QUERY_TOO_DEEP: {
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning: 'The GraphQL document is nested deeper than allowed.'
  },
  QUERY_TOO_COMPLEX: {
    status: 400,
    type: 'BAD_REQUEST',
    retryable: false,
    meaning:
      'The GraphQL document has too many tokens, aliases or mutations, or asks for more than one answer may hold or one request may cost; `limit` says which. There is no data then.'
  },
  RATE_LIMITED: {
    status: 429,
    type: 'RATE_LIMITED',
    retryable: true,
    meaning:
      'Too many requests of a kind at once (exports, streams of events, heavy reads of one token); wait as long as Retry-After says, or `retryAfterSeconds` in a GraphQL error.'
  },
  DEADLINE_EXCEEDED: {
    status: 504,
    type: 'DEADLINE_EXCEEDED',
    retryable: true,
    meaning: 'The answer was not complete within the deadline; nothing partial is shown as whole.'
  },
  UNAVAILABLE: {
    status: 503,
    type: 'UNAVAILABLE',
    retryable: true,
    meaning: 'The database cannot be reached or has no room; nothing was changed.'
  },
  OVERLOADED: {
    status: 503,
    type: 'UNAVAILABLE',
    retryable: true,
    meaning: 'Too much bulk work waits, or too many heavy reads; nothing was stored, send it again later.'
  },
  SHUTTING_DOWN: {
    status: 503,
    type: 'UNAVAILABLE',
    retryable: true,
    meaning: 'This process is stopping; send the request again.'
  },
  INTERNAL: {
    status: 500,
    type: 'SERVER_ERROR',
    retryable: false,
    meaning: 'A fault of ours; the request id finds it in the log.'
  }
} as const satisfies Record<string, ErrorCodeFacts>

export type ErrorCode = keyof typeof errorCodes

/** What a client may see beside code and message. Values are the caller's own, or numbers from limits.ts. */
export type ErrorDetails = {
  /** Path of the offending input, for example `input.edgesToAdd[37].upstreamUrn`. */
  field?: string
  /** The URN that is absent or wrong. */
  urn?: string
  /** Name of the limit in limits.ts, its value, and what was sent. */
  limit?: string
  maximum?: number
  actual?: number
  /** Line of the load (1 is the first). */
  line?: number
  /** Allowed values, where the set is small. */
  allowed?: readonly string[]
  /** URNs that may be meant. */
  candidates?: readonly string[]
  /** How many more faults of this kind the request has beyond the one named. */
  total?: number
  retryAfterSeconds?: number
}

/** The only error that crosses layers. `message` is public; put what is not into `cause`. */
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
