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
import { isOrphaned, type MakerRule } from './token-makers.ts'
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
  { replaces, requestId, makerRule }: { replaces: string | null; requestId: string; makerRule: MakerRule }
): Promise<WebSession> {
  return inTransaction(db, async (tx) => {
    const token = await ('token' in proof
      ? tokenOfText(tx, proof.token, makerRule)
      : tokenOfCode(tx, proof.code, makerRule))
    if (replaces !== null) await deleteSession(tx, hashSessionText(replaces))
    const by = 'token' in proof ? 'token' : 'code'
    return beginSession(tx, token, { by, requestId, maxSeconds: null })
  })
}

/**
 * Begins a session for a user of the identity provider, which ends after `maxSeconds` at the latest, and ends
 * the session with the hash `replaces` that the browser had. Throws FORBIDDEN for a user without a role, after
 * telling the rule which tokens of the user have lost their maker, and UNAUTHENTICATED.
 */
export async function signInPerson(
  db: Db,
  identity: Identity,
  roles: Roles,
  {
    maxSeconds,
    replaces,
    requestId,
    makerRule
  }: { maxSeconds: number; replaces: Buffer | null; requestId: string; makerRule: MakerRule }
): Promise<WebSession> {
  const { session, orphans } = await inTransaction(db, async (tx) => {
    const { person, orphans } = await admitPerson(
      tx,
      identity,
      roles,
      { usedBy: 'browser', maxSeconds },
      makerRule
    )
    if (person && replaces !== null) await deleteSession(tx, replaces)
    const session =
      person && (await beginSession(tx, person, { by: 'identityProvider', requestId, maxSeconds }))
    return { session, orphans }
  })
  for (const token of orphans) makerRule.onMakerGone(token, makerRule.absentMaxDays === 0)
  if (!session) throw noRole()
  return session
}

async function beginSession(
  tx: Tx,
  token: TokenRecord,
  {
    by,
    requestId,
    maxSeconds
  }: { by: 'token' | 'code' | 'identityProvider'; requestId: string; maxSeconds: number | null }
): Promise<WebSession> {
  const id = newSessionId()
  const sessionHash = hashSessionText(id)
  await insertSession(tx, {
    sessionHash,
    tokenId: token.id,
    keepCount: limits.sessionsPerTokenMaxCount,
    maxSeconds
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
  return {
    id,
    actor: actorOf(session.token),
    expiresAt: session.expiresAt,
    maxSeconds: session.maxSeconds
  }
}

async function tokenOfText(tx: Tx, text: string, makerRule: MakerRule): Promise<TokenRecord> {
  const token = isTokenText(text) ? await findValidToken(tx, hashToken(text)) : null
  if (!token || isOrphaned(token, makerRule))
    throw new CatalogError('UNAUTHENTICATED', 'The token is unknown, expired or revoked', { field: 'token' })
  return token
}

async function tokenOfCode(tx: Tx, code: string, makerRule: MakerRule): Promise<TokenRecord> {
  const tokenId = isSignInCode(code) ? await takeSignInCode(tx, hashSessionText(code)) : null
  const token = tokenId === null ? null : await findValidTokenById(tx, tokenId)
  if (!token || isOrphaned(token, makerRule))
    throw new CatalogError(
      'UNAUTHENTICATED',
      `The sign-in link was used before, or is older than ${limits.signInCodeMaxSeconds / 60} minutes; \`tributary sign-in\` prints a new one`,
      { field: 'code' }
    )
  return token
}
