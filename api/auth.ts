/**
 * Authentication: turns the header Authorization, or without it the session cookie, into `request.actor`,
 * before the body is read, for every path, known or unknown.
 *
 * What a route requires is part of the route (`config.access`), not of the path, so no spelling of a path
 * bypasses it. Only the token, or the token of the session, decides the actor; other headers are ignored.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { requireScope, type Authenticate } from '../shared/catalog/access/authenticate.ts'
import type { WebSession } from '../shared/catalog/access/open-session.ts'
import { CatalogError } from '../shared/errors.ts'
import type { Actor, Scope } from '../shared/model/changes.ts'
import { metrics } from '../shared/platform/metrics.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { publicError } from './error-responses.ts'
import type { RateLimits } from './rate-limits.ts'
import { requireSameOrigin } from './web/same-origin.ts'
import { sessionIdOf } from './web/session-cookie.ts'

/** The access that a route requires. By default `read` for GET and HEAD, `write` for everything else. */
export type Access = 'open' | Scope

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller. On an open route: nobody, without scopes. */
    actor: Actor
    /** The browser session of the request; null for a request with a token, and on an open route. */
    session: WebSession | null
  }
  interface FastifyContextConfig {
    access?: Access
    /** An open route that checks a credential, so that each request counts as an attempt to authenticate. */
    isSignIn?: boolean
  }
}

const nobody: Actor = { urn: toUrn('urn:li:corpuser:nobody'), tokenId: null, scopes: [], domainUrns: null }

/**
 * Answers 401 and 403 from the request's head. If the database cannot check the caller, answers 503. Counts
 * requests and failed attempts for the rate limits, if there are any.
 */
export function addAuthentication(
  app: FastifyInstance,
  authenticate: Authenticate,
  openSession: (id: string) => Promise<WebSession>,
  rateLimits: RateLimits | null
): void {
  app.decorateRequest('actor')
  app.decorateRequest('session', null)
  app.addHook('onRequest', async (request, reply) => {
    request.actor = nobody
    const access = accessOf(request)
    if (access === 'open') {
      if (request.routeOptions.config.isSignIn === true) await rateLimits?.countAttempt(request, reply)
      return
    }
    try {
      const sessionId = sessionIdOf(request)
      if (sessionId === null) {
        request.actor = await authenticate(bearerToken(request), request.raw.socket)
      } else {
        requireSameOrigin(request)
        request.session = await openSession(sessionId)
        request.actor = request.session.actor
      }
    } catch (error) {
      const { code } = publicError(error)
      metrics.authFailures.inc({ code })
      if (code === 'UNAUTHENTICATED') await rateLimits?.countAttempt(request, reply)
      throw error
    }
    await rateLimits?.countRequest(request, reply)
    try {
      requireScope(request.actor, access)
    } catch (error) {
      metrics.authFailures.inc({ code: publicError(error).code })
      throw error
    }
  })
}

/** The bearer token of a request, or null. Throws UNAUTHENTICATED if there are two. */
function bearerToken(request: FastifyRequest): string | null {
  const { rawHeaders } = request.raw
  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'authorization') seen += 1
  }
  // Node keeps the first of two headers, and a proxy may use the second, so two are refused.
  if (seen > 1) throw new CatalogError('UNAUTHENTICATED', 'Send one header Authorization')
  const found = /^bearer +([^\s]+)\s*$/i.exec(request.headers.authorization ?? '')
  return found?.[1] ?? null
}

function accessOf(request: FastifyRequest): Access {
  if (request.is404) return 'read'
  return (
    request.routeOptions.config.access ??
    (['GET', 'HEAD', 'OPTIONS'].includes(request.method) ? 'read' : 'write')
  )
}
