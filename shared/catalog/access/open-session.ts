/**
 * Turns the id of a browser's session into its actor. The session has the rights of the token that it was
 * made from, and ends when the token does.
 *
 * Unlike tokens, sessions are not cached: a session that is ended on one process ends on all of them at once,
 * and a person sends few requests.
 */
import type { Db } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Actor } from '../../model/changes.ts'
import { hashSessionText, isSessionId } from '../../model/session-text.ts'
import { findSession, touchSession, type SessionLife } from '../../store/web-sessions.ts'
import { actorOf } from './authenticate.ts'
import { isOrphaned, type MakerRule } from './token-makers.ts'

export type WebSession = {
  /** The secret that the browser's cookie contains. */
  id: string
  actor: Actor
  /** When the session ends if there is no further request. */
  expiresAt: Date
  /** When it ends however much it is used, in seconds from now by the clock of the database. */
  maxSeconds: number
}

export const sessionLife: SessionLife = {
  idleSeconds: limits.sessionIdleMaxSeconds,
  maxSeconds: limits.sessionMaxSeconds
}

/**
 * Counts as a use of the session. Throws UNAUTHENTICATED (with the same text for every reason) and what the
 * database throws.
 */
export async function openSession(db: Db, id: string, makerRule: MakerRule): Promise<WebSession> {
  const sessionHash = hashSessionText(id)
  const found = isSessionId(id) ? await findSession(db, sessionHash, sessionLife) : null
  if (!found || isOrphaned(found.token, makerRule))
    throw new CatalogError('UNAUTHENTICATED', 'The session is over; sign in again')
  if (found.isStale) await touchSession(db, sessionHash)
  return { id, actor: actorOf(found.token), expiresAt: found.expiresAt, maxSeconds: found.maxSeconds }
}
