/**
 * Errors for DataHub's REST clients: `message` and `status` of a RestLi answer, with our code and details
 * added.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorMembers } from '../../shared/errors.ts'
import { prepareErrorReply, publicError } from '../error-responses.ts'

/** The error handler of the routes in RestLi's form. Never shows a stack trace. */
export function sendRestError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = publicError(error, request)
  void prepareErrorReply(problem, request, reply)
    .header('x-restli-error-response', 'true')
    .type('application/json; charset=utf-8')
    .send(
      JSON.stringify({
        ...errorMembers(problem, request.id),
        exceptionClass: 'com.linkedin.restli.server.RestLiServiceException',
        status: problem.status
      })
    )
}
