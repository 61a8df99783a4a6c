/**
 * Formats an error of a GraphQL execution as DataHub's clients read it: `extensions: {code: <int>, type,
 * classification, reason: <our code>, requestId, …details}`.
 */
import { GraphQLError, Kind, type GraphQLFormattedError } from 'graphql'
import { CatalogError, errorCodes } from '../../shared/errors.ts'
import { publicError } from '../error-responses.ts'

/** The number that DataHub sends with each type. */
const codeOfType: Readonly<Record<string, number>> = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  RATE_LIMITED: 429,
  SERVER_ERROR: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504
}

/** The error of a field or of the request as a CatalogError. */
export function catalogErrorOf(error: unknown): CatalogError {
  if (!(error instanceof GraphQLError)) return publicError(error)
  const { originalError } = error
  // The executor's own errors have no cause, or one of their kind.
  const isExecutorsOwn =
    originalError === undefined ||
    originalError === null ||
    (originalError instanceof GraphQLError && !originalError.originalError)
  if (!isExecutorsOwn) return publicError(originalError)
  return isOfRequest(error)
    ? new CatalogError('GRAPHQL_VALIDATION_FAILED', error.message)
    : publicError(new Error(error.message, { cause: error }))
}

/**
 * Whether the document or its variables are at fault: such an error has no place in the answer, or is about an
 * argument. Otherwise a field has a value that its type cannot show.
 */
const isOfRequest = ({ path, nodes }: GraphQLError): boolean =>
  path === undefined || (nodes ?? []).some(({ kind }) => kind !== Kind.FIELD)

/** The entry of `errors`; `located` has its position in the document and in the answer. */
export function formatError(
  error: CatalogError,
  requestId: string,
  located?: GraphQLError
): GraphQLFormattedError {
  const { type } = errorCodes[error.code]
  const { message, locations, path } = { ...located?.toJSON(), message: error.message }
  return {
    message,
    ...(locations ? { locations } : {}),
    ...(path ? { path } : {}),
    extensions: {
      code: codeOfType[type] ?? 500,
      type,
      classification: classificationOf(error),
      reason: error.code,
      requestId,
      ...error.details
    }
  }
}

function classificationOf(error: CatalogError): string {
  if (error.code === 'GRAPHQL_PARSE_FAILED') return 'InvalidSyntax'
  return error.code === 'GRAPHQL_VALIDATION_FAILED' ? 'ValidationError' : 'DataFetchingException'
}
