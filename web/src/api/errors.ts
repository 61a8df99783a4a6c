/** The error of a failed request, in one shape for GraphQL and REST. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** A code of docs/errors.md; OFFLINE if there was no answer. */
  readonly code: string
  readonly status: number
  readonly details: { readonly [name: string]: unknown }

  constructor(
    code: string,
    message: string,
    { status = 0, details = {} }: { status?: number; details?: { [name: string]: unknown } } = {}
  ) {
    super(message)
    this.code = code
    this.status = status
    this.details = details
  }
}

const isObject = (value: unknown): value is { [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The error of a REST answer: its body is a problem of RFC 9457 with a code, or anything from a proxy. */
export function errorOfProblem(status: number, body: unknown): ApiError {
  const problem = isObject(body) ? body : {}
  const message = [problem.detail, problem.message, problem.title].find((text) => typeof text === 'string')
  return new ApiError(
    typeof problem.code === 'string' ? problem.code : `HTTP_${status}`,
    message ?? `The server answered ${status}.`,
    { status, details: problem }
  )
}

/** The first error of a GraphQL answer. */
export function errorOfGraphql(errors: readonly unknown[], status: number): ApiError {
  const [first] = errors
  if (!isObject(first)) return new ApiError('INTERNAL', 'The answer cannot be read.', { status })
  const extensions = isObject(first.extensions) ? first.extensions : {}
  return new ApiError(
    // `code` is a number there, as in DataHub
    typeof extensions.reason === 'string' ? extensions.reason : 'INTERNAL',
    typeof first.message === 'string' ? first.message : 'The request failed.',
    { status, details: extensions }
  )
}
