/** Errors as DataHub's REST clients read them: `message` and `status` of a RestLi answer, with our code and details beside. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { prepareErrorReply, problemBody, publicError } from '../error-responses.ts'

/** The error handler of the routes that speak RestLi. Never a stack trace. */
export function sendRestError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = publicError(error, request)
  void prepareErrorReply(problem, request, reply)
    .header('x-restli-error-response', 'true')
    .type('application/json; charset=utf-8')
    .send(
      JSON.stringify({
        exceptionClass: 'com.linkedin.restli.server.RestLiServiceException',
        status: problem.status,
        ...problemBody(problem, request.id)
      })
    )
}
