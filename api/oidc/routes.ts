/** Sign-in with the identity provider: the redirect to it, its callback, and the list of ways to sign in. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { MakerRule } from '../../shared/catalog/access/token-makers.ts'
import { signInPerson } from '../../shared/catalog/access/sign-in.ts'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import { isObject } from '../../shared/model/json-values.ts'
import { hashSessionText } from '../../shared/model/session-text.ts'
import { metrics } from '../../shared/platform/metrics.ts'
import type { ApiContext } from '../context.ts'
import { publicError } from '../error-responses.ts'
import { readQuery } from '../query-parameters.ts'
import { sessionIdOf, setSessionCookie } from '../web/session-cookie.ts'
import type { Attempt, Provider } from './provider.ts'

/**
 * The browser keeps it while the person signs in at the provider. Lax, because the browser must send it when
 * a link leads back.
 */
const attemptCookie = 'tributary_sign_in'
const attemptMaxSeconds = 600

/**
 * `replaces` is the hash of the session that the browser had when it left. The session's own cookie is strict, so
 * the browser does not send it when the provider leads it back.
 */
type BrowserAttempt = Attempt & { replaces: string | null }

type Browsers = NonNullable<Provider['browsers']>

/**
 * The callback is in the same folder as /session, because the session's cookie is valid for the folder of the
 * address that sets it. Both routes answer with a redirect, because a browser opens them, not a script.
 */
export function signInRoutes(
  app: FastifyInstance,
  { db, log }: Pick<ApiContext, 'db' | 'log'>,
  provider: Provider | null,
  makerRule: MakerRule
): void {
  const browsers = provider?.browsers ?? null
  app.get('/session/methods', { config: { access: 'open' } }, async (request) => {
    readQuery(request.query, [])
    return { token: true, identityProvider: browsers !== null }
  })
  let underWay = 0

  app.get('/sign-in', { config: { access: 'open' } }, async (request, reply) => {
    const { next } = readQuery(request.query, ['next'])
    if (!browsers) throw noProvider()
    const { url, attempt } = await browsers.begin(safePage(next ?? ''))
    const replaced = sessionIdOf(request)
    const replaces = replaced === null ? null : hashSessionText(replaced).toString('hex')
    keepAttempt(reply, { ...attempt, replaces }, browsers)
    return reply.redirect(url)
  })

  app.get('/sign-in-callback', { config: { access: 'open', isSignIn: true } }, async (request, reply) => {
    if (!provider || !browsers) throw noProvider()
    const attempt = attemptOf(request)
    // Refused before the attempt is dropped, so that a person who comes too early may try again with it.
    if (underWay >= limits.signInsAtOnceMaxCount) return refuse(reply, 'busy', attempt)
    dropAttempt(reply, browsers)
    underWay += 1
    try {
      if (!attempt) return refuse(reply, 'expired', null)
      const [, query = ''] = request.url.split('?')
      const identity = await browsers.finish(query, attempt)
      const session = await signInPerson(db, identity, provider.roles, {
        maxSeconds: browsers.sessionHours * 3_600,
        replaces: attempt.replaces === null ? null : Buffer.from(attempt.replaces, 'hex'),
        requestId: request.id,
        makerRule
      })
      setSessionCookie(reply, session, browsers)
      return reply.redirect(`ui/${attempt.next}`)
    } catch (error) {
      const { code } = publicError(error)
      metrics.authFailures.inc({ code })
      if (!(error instanceof CatalogError)) log.error({ err: error }, 'a sign-in failed')
      if (code === 'FORBIDDEN') return refuse(reply, 'no-role', attempt)
      return refuse(reply, code === 'UNAUTHENTICATED' ? 'failed' : 'unavailable', attempt)
    } finally {
      underWay -= 1
    }
  })
}

const noProvider = (): CatalogError =>
  new CatalogError('NOT_FOUND', 'Sign-in with an identity provider is not configured; see OIDC_ISSUER')

/** Why a sign-in failed; the sign-in page has a text for each. */
type Problem = 'busy' | 'expired' | 'failed' | 'no-role' | 'unavailable'

function refuse(reply: FastifyReply, problem: Problem, attempt: Pick<Attempt, 'next'> | null): FastifyReply {
  const query = new URLSearchParams({ problem, ...(attempt?.next ? { next: `./${attempt.next}` } : {}) })
  return reply.redirect(`ui/sign-in?${query.toString()}`)
}

/**
 * A page of the UI with its query, relative to ui/, in printable ASCII as a header needs it; the home page
 * for any other text.
 */
const safePage = (text: string): string => {
  const page = text.replace(/^\.\//, '')
  return /^[a-z-]*(\.html)?(\?[!-"$-[\]-~]*)?$/.test(page) && page.length <= 1_500 ? page : ''
}

function keepAttempt(reply: FastifyReply, attempt: BrowserAttempt, { isHttps }: Browsers): void {
  const text = Buffer.from(JSON.stringify(attempt)).toString('base64url')
  reply.setCookie(attemptCookie, text, { ...attributes, secure: isHttps, maxAge: attemptMaxSeconds })
}

function dropAttempt(reply: FastifyReply, { isHttps }: Browsers): void {
  reply.setCookie(attemptCookie, '', { ...attributes, secure: isHttps, maxAge: 0, expires: new Date(0) })
}

const attributes = { httpOnly: true, sameSite: 'lax' } as const

/**
 * The attempt that this browser began; null without one. Its page is checked again, because a cookie can be
 * planted.
 */
function attemptOf(request: FastifyRequest): BrowserAttempt | null {
  const text = request.server.parseCookie(request.headers.cookie ?? '')[attemptCookie]
  if (text === undefined) return null
  try {
    const sent: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (!isObject(sent)) return null
    const { state, nonce, verifier, next, replaces } = sent
    if (!isText(state) || !isText(nonce) || !isText(verifier) || !isText(next)) return null
    return { state, nonce, verifier, next: safePage(next), replaces: isHash(replaces) ? replaces : null }
  } catch {
    return null
  }
}

/** A SHA-256 in hexadecimal. */
const isHash = (value: unknown): value is string => isText(value) && /^[0-9a-f]{64}$/.test(value)

const isText = (value: unknown): value is string => typeof value === 'string'
