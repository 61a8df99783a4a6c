/** Signing in and out of the web UI: /session. */
import fastifyCookie from '@fastify/cookie'
import fastifyCsrf from '@fastify/csrf-protection'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { WebSession } from '../../shared/catalog/access/open-session.ts'
import type { MakerRule } from '../../shared/catalog/access/token-makers.ts'
import { signIn, type SignInProof } from '../../shared/catalog/access/sign-in.ts'
import { signOut, signOutEverywhere } from '../../shared/catalog/access/sign-out.ts'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import { isObject } from '../../shared/model/json-values.ts'
import { metrics } from '../../shared/platform/metrics.ts'
import type { ApiContext } from '../context.ts'
import { publicError } from '../error-responses.ts'
import { readQuery } from '../query-parameters.ts'
import { requireSameOrigin } from './same-origin.ts'
import { clearSessionCookie, sessionCookie, sessionIdOf, setSessionCookie } from './session-cookie.ts'

/** Adds cookies, and the tokens against forged requests. Add it before any hook that reads a cookie. */
export async function addCookies(app: FastifyInstance): Promise<void> {
  // No hook: the cookie is only read for requests without a header Authorization, so clients with a token pay
  // nothing for it.
  await app.register(fastifyCookie, { hook: false })
  // The secret is the session id, so its tokens end with it, and no second cookie is needed.
  await app.register(fastifyCsrf, {
    cookieKey: sessionCookie,
    getToken: ({ headers }) => textOf(headers['x-csrf-token']),
    logLevel: 'debug'
  })
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined

/**
 * Every session request except GET and HEAD needs a token of that session in x-csrf-token. Add it after the
 * authentication.
 */
export function addForgeryProtection(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.session === null || request.method === 'GET' || request.method === 'HEAD') done()
    else {
      request.cookies = { [sessionCookie]: request.session.id }
      app.csrfProtection(request, reply, done)
    }
  })
}

const path = '/session'

export function sessionRoutes(
  app: FastifyInstance,
  { db }: Pick<ApiContext, 'db'>,
  makerRule: MakerRule
): void {
  let underWay = 0

  app.post(
    path,
    {
      bodyLimit: limits.signInBodyMaxBytes,
      config: { access: 'open', isSignIn: true },
      // Before the body is read: a request from a page of another site is refused for its origin, even if its
      // body is malformed too.
      onRequest: async (request) => {
        requireSameOrigin(request)
      }
    },
    async (request, reply) => {
      readQuery(request.query, [])
      const proof = readProof(request.body)
      const maximum = limits.signInsAtOnceMaxCount
      if (underWay >= maximum)
        throw new CatalogError(
          'RATE_LIMITED',
          `This process checks ${maximum} sign-ins at a time; send it again`,
          { limit: 'signInsAtOnceMaxCount', maximum, retryAfterSeconds: 1 }
        )
      underWay += 1
      try {
        const session = await signIn(db, proof, {
          replaces: sessionIdOf(request),
          requestId: request.id,
          makerRule
        })
        setSessionCookie(reply, session)
        return viewOf(session, reply)
      } catch (error) {
        metrics.authFailures.inc({ code: publicError(error).code })
        throw error
      } finally {
        underWay -= 1
      }
    }
  )

  app.get(path, { config: { access: 'read' } }, async (request, reply) => {
    readQuery(request.query, [])
    return viewOf(sessionOf(request), reply)
  })

  app.delete(path, { config: { access: 'read' } }, async (request, reply) => {
    readQuery(request.query, [])
    await signOut(db, { session: sessionOf(request), requestId: request.id })
    clearSessionCookie(reply)
    return reply.code(204).send()
  })

  app.delete(`${path}/all`, { config: { access: 'read' } }, async (request, reply) => {
    readQuery(request.query, [])
    const sessions = await signOutEverywhere(db, { session: sessionOf(request), requestId: request.id })
    clearSessionCookie(reply)
    return { sessions }
  })
}

/** The session without its id, which only the cookie contains. */
function viewOf({ id, actor, expiresAt }: WebSession, reply: FastifyReply) {
  reply.request.cookies = { [sessionCookie]: id }
  return {
    actor: actor.urn,
    scopes: actor.scopes,
    domainUrns: actor.domainUrns,
    domainUrn: actor.domainUrns?.[0] ?? null,
    csrfToken: reply.generateCsrf(),
    expiresAt: expiresAt.getTime()
  }
}

function sessionOf({ session }: FastifyRequest): WebSession {
  if (session === null)
    throw new CatalogError('NOT_FOUND', 'A request with a token has no session; only browsers have sessions')
  return session
}

/** Throws BAD_REQUEST unless the body has exactly one of `token` and `code`, as a text. */
function readProof(body: unknown): SignInProof {
  const allowed = ['token', 'code'] as const
  if (isObject(body)) {
    const [[field, value] = ['', null], ...others] = Object.entries(body)
    if (others.length === 0 && typeof value === 'string') {
      if (field === 'token') return { token: value.trim() }
      if (field === 'code') return { code: value }
    }
  }
  throw new CatalogError('BAD_REQUEST', 'The body must be a JSON object with token or code, as a string', {
    allowed
  })
}
