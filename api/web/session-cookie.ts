/** The cookie that contains the id of a browser's session: how it is read from a request and set in an answer. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../../shared/limits.ts'

export const sessionCookie = 'tributary_session'

/**
 * The id that the cookie of a request contains; null where there is none, and where the request has a header
 * Authorization: such a request is judged by its token alone.
 */
export function sessionIdOf(request: FastifyRequest): string | null {
  const { authorization, cookie } = request.headers
  if (authorization !== undefined || cookie === undefined) return null
  return request.server.parseCookie(cookie)[sessionCookie] ?? null
}

/**
 * Without Path and Domain: the browser takes the folder of `…/session`, which is the whole UI below whatever prefix a
 * proxy gives it, and sends the cookie to this host only.
 */
export function setSessionCookie(reply: FastifyReply, id: string): void {
  reply.setCookie(sessionCookie, id, { ...attributesFor(reply), maxAge: limits.sessionMaxSeconds })
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.setCookie(sessionCookie, '', { ...attributesFor(reply), maxAge: 0, expires: new Date(0) })
}

const attributesFor = ({ request }: FastifyReply) =>
  ({ httpOnly: true, sameSite: 'strict', secure: isHttps(request) }) as const

/**
 * Whether the browser came over https, by what it says itself or by what a proxy in front says. Who lies here harms only
 * his own browser.
 */
function isHttps({ headers }: FastifyRequest): boolean {
  const forwarded = headers['x-forwarded-proto']
  return (
    headers.origin?.startsWith('https://') === true ||
    (typeof forwarded === 'string' && forwarded.split(',')[0]?.trim().toLowerCase() === 'https')
  )
}
