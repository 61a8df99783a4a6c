/** The cookie with the id of a browser's session: reads it from requests and sets it in answers. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { WebSession } from '../../shared/catalog/access/open-session.ts'

export const sessionCookie = 'tributary_session'

/**
 * The session id in the cookie of a request; null if there is no cookie, or a header Authorization, because
 * then only the token counts.
 */
export function sessionIdOf(request: FastifyRequest): string | null {
  const { authorization, cookie } = request.headers
  if (authorization !== undefined || cookie === undefined) return null
  return request.server.parseCookie(cookie)[sessionCookie] ?? null
}

/**
 * Without Path and Domain: the browser then uses the folder of `…/session`, which is the whole UI under any
 * prefix of a proxy, and sends the cookie to this host only, until the session must end. `isHttps` is true if it is known that browsers
 * use https, even if the request does not show it.
 */
export function setSessionCookie(
  reply: FastifyReply,
  { id, maxSeconds }: Pick<WebSession, 'id' | 'maxSeconds'>,
  { isHttps: isKnown = false } = {}
): void {
  const attributes = attributesFor(reply)
  reply.setCookie(sessionCookie, id, {
    ...attributes,
    secure: isKnown || attributes.secure,
    maxAge: maxSeconds
  })
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.setCookie(sessionCookie, '', { ...attributesFor(reply), maxAge: 0, expires: new Date(0) })
}

const attributesFor = ({ request }: FastifyReply) =>
  ({ httpOnly: true, sameSite: 'strict', secure: isHttps(request) }) as const

/**
 * Whether the browser uses https, according to itself or to a proxy in front. A false claim only harms the
 * browser that makes it.
 */
function isHttps({ headers }: FastifyRequest): boolean {
  const forwarded = headers['x-forwarded-proto']
  return (
    headers.origin?.startsWith('https://') === true ||
    (typeof forwarded === 'string' && forwarded.split(',')[0]?.trim().toLowerCase() === 'https')
  )
}
