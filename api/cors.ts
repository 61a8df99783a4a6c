/** Lets pages of other origins read answers, by CORS_ORIGINS (Fetch Standard, "CORS protocol"). */
import fastifyCors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/** How long a browser may remember that a page may ask. */
const preflightMaxAgeSeconds = 600

/**
 * Answers preflights from these origins, and marks answers to them as readable. Without any origin nothing is
 * added, and browsers refuse. Pages of other origins send a token: their cookies never count, because a
 * session is for this site alone. Add it before the authentication, because a preflight has no token.
 */
export async function addCors(app: FastifyInstance, origins: readonly string[] | null): Promise<void> {
  if (origins === null) return
  const options = {
    credentials: false,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // What a script may read besides the body: the id to report, what to follow, and when to try again.
    exposedHeaders: [
      'allow',
      'content-disposition',
      'location',
      'retry-after',
      'traceparent',
      'x-request-id'
    ],
    maxAge: preflightMaxAgeSeconds,
    hideOptionsRoute: true
  }
  await app.register(fastifyCors, {
    // Decided for each request, because the plugin would answer every OPTIONS: it lists methods even for an
    // unknown origin.
    delegator: ({ headers }, done) => {
      const { origin = '' } = headers
      done(null, {
        ...options,
        origin: origins.includes(origin) && origin,
        preflight: 'access-control-request-method' in headers
      })
    }
  })
}
