/**
 * Errors in DataHub's OpenAPI form: `error` is the kind, `message` is what its clients show; our code and
 * details are added.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CatalogError, errorMembers, type ErrorCode } from '../../shared/errors.ts'
import { prepareErrorReply, publicError } from '../error-responses.ts'

const kinds: Partial<Record<ErrorCode, string>> = {
  UNAUTHENTICATED: 'Unauthorized',
  FORBIDDEN: 'Authorization Error',
  VALIDATION_FAILED: 'Validation Error',
  MISSING_REFERENCE: 'Validation Error',
  LIMIT_EXCEEDED: 'Validation Error',
  INVALID_CHARACTER: 'Validation Error',
  PRECONDITION_FAILED: 'Precondition Error',
  CONFLICT: 'Conflict',
  NOT_FOUND: 'Not Found'
}

/** The error handler of these routes. An error that is 422 in RestLi is 400 here. */
export function sendOpenApiError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = publicError(error, request)
  const { code, message } = problem
  const kind =
    code === 'INVALID_URN'
      ? `Invalid urn!: ${problem.details.urn ?? message}`
      : (kinds[code] ?? (problem.status >= 500 ? 'Internal server error occurred' : message))
  const answer = prepareErrorReply(problem, request, reply)
  if (problem.status === 422) answer.code(400)
  void answer
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ ...errorMembers(inWords(problem), request.id), error: kind }))
}

/** Changes the names in errors: a value is under `value` here, and under `aspect` in a proposal. */
function inWords(problem: CatalogError): CatalogError {
  const { field } = problem.details
  if (field === undefined || !field.includes('.aspect')) return problem
  return new CatalogError(
    problem.code,
    problem.message,
    { ...problem.details, field: field.replace(/\.aspect(?=[.[]|$)/, '.value') },
    { cause: problem }
  )
}
