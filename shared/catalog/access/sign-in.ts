/**
 * Signs a browser in: begins a session for a token, given by its text or by the code of a sign-in link, or
 * for a user of the identity provider.
 */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { hashSessionText, isSignInCode, newSessionId } from '../../model/session-text.ts'
import type { Roles } from '../../model/roles.ts'
import { hashToken, isTokenText } from '../../model/token-text.ts'
import { appendAudit } from '../../store/audit.ts'
import { takeSignInCode } from '../../store/sign-in-codes.ts'
import { findValidToken, findValidTokenById, type TokenRecord } from '../../store/tokens.ts'
import { deleteSession, findSession, insertSession } from '../../store/web-sessions.ts'
import { admitPerson, noRole, type Identity } from './admit-person.ts'
import { actorOf } from './authenticate.ts'
import { sessionLife, type WebSession } from './open-session.ts'
import { unauthenticated } from './unauthenticated.ts'

/** The proof of identity: a token or a code, never both. */
export type SignInProof = { token: string } | { code: string }

/**
 * Begins a session with a new id, and ends the session `replaces` that the browser had. A code is valid for
 * one sign-in. Throws UNAUTHENTICATED.
 */
export function signIn(
  db: Db,
  proof: SignInProof,
  { replaces, requestId }: { replaces: string | null; requestId: string }
): Promise<WebSession> {
  return inTransaction(db, async (tx) => {
    const token = await ('token' in proof ? tokenOfText(tx, proof.token) : tokenOfCode(tx, proof.code))
    if (replaces !== null) await deleteSession(tx, hashSessionText(replaces))
    const by = 'token' in proof ? 'token' : 'code'
    return beginSession(tx, token, { by, requestId, expiresAt: null })
  })
}

/**
 * Begins a session for a user of the identity provider. It ends at `expiresAt` at the latest. Throws
 * FORBIDDEN for a user without a role, UNAUTHENTICATED.
 */
export async function signInPerson(
  db: Db,
  identity: Identity,
  roles: Roles,
  { expiresAt, requestId }: { expiresAt: Date; requestId: string }
): Promise<WebSession> {
  const session = await inTransaction(db, async (tx) => {
    const person = await admitPerson(tx, identity, roles, { usedBy: 'browser', expiresAt })
    return person && beginSession(tx, person, { by: 'identityProvider', requestId, expiresAt })
  })
  if (!session) throw noRole()
  return session
}

async function beginSession(
  tx: Tx,
  token: TokenRecord,
  {
    by,
    requestId,
    expiresAt
  }: { by: 'token' | 'code' | 'identityProvider'; requestId: string; expiresAt: Date | null }
): Promise<WebSession> {
  const id = newSessionId()
  const sessionHash = hashSessionText(id)
  await insertSession(tx, {
    sessionHash,
    tokenId: token.id,
    keepCount: limits.sessionsPerTokenMaxCount,
    expiresAt
  })
  await appendAudit(tx, {
    actor: token.actorUrn,
    tokenId: token.id,
    operation: 'signIn',
    seq: null,
    loadId: null,
    chunkId: null,
    requestId,
    details: { by }
  })
  const session = await findSession(tx, sessionHash, sessionLife)
  if (!session) throw unauthenticated()
  return { id, actor: actorOf(session.token), expiresAt: session.expiresAt }
}

async function tokenOfText(tx: Tx, text: string): Promise<TokenRecord> {
  const token = isTokenText(text) ? await findValidToken(tx, hashToken(text)) : null
  if (!token)
    throw new CatalogError('UNAUTHENTICATED', 'The token is unknown, expired or revoked', { field: 'token' })
  return token
}

async function tokenOfCode(tx: Tx, code: string): Promise<TokenRecord> {
  const tokenId = isSignInCode(code) ? await takeSignInCode(tx, hashSessionText(code)) : null
  const token = tokenId === null ? null : await findValidTokenById(tx, tokenId)
  if (!token)
    throw new CatalogError(
      'UNAUTHENTICATED',
      `The sign-in link was used before, or is older than ${limits.signInCodeMaxSeconds / 60} minutes; \`tributary sign-in\` prints a new one`,
      { field: 'code' }
    )
  return token
}
