/**
 * Turns a bearer token, ours or a JSON Web Token of the identity provider, into its actor, and checks what
 * the actor may do.
 *
 * A result is cached for at most a second, so a revoked token is refused everywhere within a second.
 * Concurrent requests share a query. Only valid tokens are cached, so invalid ones cannot fill the memory and
 * a new token works at once.
 */
import { CatalogError } from '../../errors.ts'
import type { Db } from '../../db/database.ts'
import type { Actor, Scope } from '../../model/changes.ts'
import { hashToken, isJsonWebToken, isTokenText } from '../../model/token-text.ts'
import { findValidToken, type TokenRecord } from '../../store/tokens.ts'
import type { AdmitBearer } from './admit-bearer.ts'
import { isOrphaned, strictMakerRule, type MakerRule } from './token-makers.ts'
import { unauthenticated } from './unauthenticated.ts'

const verdictMaxAgeMs = 1_000
const verdictsMaxCount = 1_000

/**
 * `token` is the text, or null if the request had none. `connection` is what it arrived on. It usually sends
 * the same token again, and checking and hashing that took a twentieth of the time of a small read. Throws
 * UNAUTHENTICATED (with the same text for every reason) and what the database throws.
 */
export type Authenticate = (token: string | null, connection: object) => Promise<Actor>

export function createAuthenticate(
  db: Db,
  {
    admitBearer = null,
    makerRule = strictMakerRule,
    nowMs = Date.now
  }: { admitBearer?: AdmitBearer | null; makerRule?: MakerRule; nowMs?: () => number } = {}
): Authenticate {
  const verdicts = new Map<string, Verdict>()
  const lastOn = new WeakMap<object, HashedToken>()

  async function findActor(
    { token, tokenHash }: HashedToken,
    endsAt: (expiresAtMs: number) => void
  ): Promise<Actor> {
    const bearer = admitBearer !== null && isJsonWebToken(token) ? await admitBearer(token) : null
    const record = bearer ?? (await findValidToken(db, tokenHash))
    if (!record || isOrphaned(record, makerRule)) throw unauthenticated()
    if (record.expiresAt) endsAt(record.expiresAt.getTime())
    return actorOf(record)
  }

  return async (token, connection) => {
    const last = lastOn.get(connection)
    const hashed = last !== undefined && last.token === token ? last : hashedToken(token, admitBearer)
    lastOn.set(connection, hashed)
    const { key } = hashed
    const known = verdicts.get(key)
    if (known && known.until > nowMs()) return known.actor

    // The age counts from the time before the query, so that a revocation during the query is not delayed
    // further.
    const verdict: Verdict = {
      until: nowMs() + verdictMaxAgeMs,
      actor: findActor(hashed, (expiresAtMs) => {
        verdict.until = Math.min(verdict.until, expiresAtMs)
      })
    }
    if (verdicts.size >= verdictsMaxCount) verdicts.clear()
    verdicts.set(key, verdict)
    verdict.actor.catch(() => {
      if (verdicts.get(key) === verdict) verdicts.delete(key)
    })
    return verdict.actor
  }
}

type HashedToken = { token: string; tokenHash: Buffer; key: string }

function hashedToken(token: string | null, admitBearer: AdmitBearer | null): HashedToken {
  const canBeOne = token !== null && (isTokenText(token) || (admitBearer !== null && isJsonWebToken(token)))
  if (!canBeOne) throw unauthenticated()
  const tokenHash = hashToken(token)
  return { token, tokenHash, key: tokenHash.toString('base64') }
}

type Verdict = { actor: Promise<Actor>; until: number }

/** Whether a list of scopes covers one: admin covers everything, write covers read. */
const coversScope = (scopes: readonly Scope[], wanted: Scope): boolean =>
  scopes.includes('admin') || scopes.includes(wanted) || (wanted === 'read' && scopes.includes('write'))

/** Throws FORBIDDEN if the actor's token lacks the scope. */
export function requireScope(actor: Actor, wanted: Scope): void {
  if (!coversScope(actor.scopes, wanted))
    throw new CatalogError('FORBIDDEN', `This needs a token with the scope ${wanted}`, { allowed: [wanted] })
}

/**
 * Throws FORBIDDEN unless the actor may administer the whole catalog: scope admin, and no limit to domains.
 */
export function requireWholeCatalogAdmin(actor: Actor): void {
  requireScope(actor, 'admin')
  if (actor.domainUrns !== null)
    throw new CatalogError('FORBIDDEN', 'A token that is limited to domains cannot manage tokens')
}

/** The actor of a token, and what the token allows. */
export const actorOf = (record: Pick<TokenRecord, 'actorUrn' | 'id' | 'scopes' | 'domainUrns'>): Actor => ({
  urn: record.actorUrn,
  tokenId: record.id,
  scopes: record.scopes,
  domainUrns: record.domainUrns
})
