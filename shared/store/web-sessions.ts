/** The table web_session: which browser is signed in, by the hash of its session's id, and for which token. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { selectToken, toTokenRecord, type TokenRecord, type TokenRow } from './tokens.ts'

/** The longest duration of a session in seconds: without a request, and overall. */
export type SessionLife = { idleSeconds: number; maxSeconds: number }

export type SessionRow = {
  token: TokenRecord
  /** When the session ends if there is no further request. */
  expiresAt: Date
  /** How many seconds it can last from now, however much it is used. */
  maxSeconds: number
  /** Whether the stored time of the last use must be updated. */
  isStale: boolean
}

/**
 * The time of the last use is only updated if it is older than this, so that a busy page does not write with
 * every request.
 */
const useNotedEverySeconds = 60

/** The session with this hash. Null if it has expired, or if its token is revoked or expired. */
export async function findSession(
  db: Db | Tx,
  sessionHash: Buffer,
  { idleSeconds, maxSeconds }: SessionLife
): Promise<SessionRow | null> {
  const [row] = await query<TokenRow & { endsAt: Date; lastsSeconds: number; isStale: boolean }>(
    db,
    `
    select
      token_row.*,
      least(
        session.used_at + ?::int * interval '1 second',
        session.created_at + ?::int * interval '1 second',
        session.expires_at,
        token_row."expiresAt"
      ) as "endsAt",
      extract(epoch from least(
        session.created_at + ?::int * interval '1 second',
        session.expires_at,
        token_row."expiresAt"
      ) - now())::float8 as "lastsSeconds",
      session.used_at < now() - ?::int * interval '1 second' as "isStale"
    from web_session session
    join lateral (${selectToken} where token.id = session.token_id) token_row on true
    where session.session_hash = ?
      and session.used_at > now() - ?::int * interval '1 second'
      and session.created_at > now() - ?::int * interval '1 second'
      and (session.expires_at is null or session.expires_at > now())
      and token_row."revokedAt" is null
      and (token_row."expiresAt" is null or token_row."expiresAt" > now())`,
    [idleSeconds, maxSeconds, maxSeconds, useNotedEverySeconds, sessionHash, idleSeconds, maxSeconds]
  )
  if (!row) return null
  const { endsAt, lastsSeconds, isStale, ...token } = row
  return {
    token: toTokenRecord(token),
    expiresAt: endsAt,
    maxSeconds: Math.max(Math.round(lastsSeconds), 0),
    isStale
  }
}

/**
 * Writes a session. If the token then has more than `keepCount` sessions, ends the least recently used ones.
 * It ends after `maxSeconds` at the latest; null if only its token limits it.
 */
export async function insertSession(
  tx: Tx,
  {
    sessionHash,
    tokenId,
    keepCount,
    maxSeconds
  }: { sessionHash: Buffer; tokenId: string; keepCount: number; maxSeconds: number | null }
): Promise<void> {
  await query(
    tx,
    `
    delete from web_session
    where session_hash in (
      select session_hash
      from web_session
      where token_id = ?::uuid
      order by used_at desc, session_hash
      offset ?::int
    )`,
    [tokenId, keepCount - 1]
  )
  await query(
    tx,
    "insert into web_session (session_hash, token_id, expires_at) values (?::bytea, ?::uuid, now() + ?::int * interval '1 second')",
    [sessionHash, tokenId, maxSeconds]
  )
}

/** Sets the time of the session's last use to now. */
export async function touchSession(db: Db, sessionHash: Buffer): Promise<void> {
  await query(db, 'update web_session set used_at = now() where session_hash = ?', [sessionHash])
}

/** Ends a session, if it exists. */
export async function deleteSession(tx: Tx, sessionHash: Buffer): Promise<void> {
  await query(tx, 'delete from web_session where session_hash = ?', [sessionHash])
}

/** Ends every session of the token. */
export async function deleteSessionsOfToken(tx: Tx, tokenId: string): Promise<void> {
  await query(tx, 'delete from web_session where token_id = ?::uuid', [tokenId])
}

/**
 * Ends every session of the holder of this token, and returns how many. Users of the identity provider are
 * identified by issuer and subject, because two of them may have the same actor: people choose their names.
 * Other holders are identified by their actor.
 */
export async function deleteSessionsOfHolder(tx: Tx, tokenId: string): Promise<number> {
  const rows = await query(
    tx,
    `
    delete from web_session
    using access_token own
    join access_token token
      on (token.issuer = own.issuer and token.subject = own.subject)
      or (token.issuer is null and own.issuer is null and token.actor = own.actor)
    where own.id = ?::uuid and web_session.token_id = token.id
    returning web_session.session_hash`,
    [tokenId]
  )
  return rows.length
}

/** Deletes up to `limit` sessions that ended because they were not used. */
export async function deleteOldSessions(tx: Tx, idleSeconds: number, limit: number): Promise<number> {
  const rows = await query(
    tx,
    `
    with old as (
      select session_hash
      from web_session
      where used_at < now() - ?::int * interval '1 second'
      order by used_at
      limit ?::int
      for update skip locked
    )
    delete from web_session
    using old
    where web_session.session_hash = old.session_hash
    returning web_session.session_hash`,
    [idleSeconds, limit]
  )
  return rows.length
}
