/** Users of the identity provider: rows of the table access_token that no token text matches. */
import { randomBytes } from 'node:crypto'
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import {
  domainBindings,
  selectToken,
  toTokenRecord,
  type DomainIds,
  type Holder,
  type TokenRecord,
  type TokenRow
} from './tokens.ts'

/** How a person authenticates: with a browser session, or with a JSON Web Token of the provider. */
export type PersonKey = Holder & { usedBy: 'browser' | 'bearer' }

/** The current facts about a person, from the provider and the roles. */
export type PersonFacts = Pick<TokenRecord, 'name' | 'scopes' | 'domainUrns' | 'actorUrn' | 'expiresAt'>

/**
 * Everything that the provider issued for the person until `refusedBefore` is refused, for browsers and
 * bearer tokens alike. `isSeenToday`: less than a day ago somebody noted that the person was seen.
 */
export type PersonRecord = TokenRecord & { refusedBefore: Date | null; isSeenToday: boolean }

/** The row of a person; null before the first sign-in or request. */
export async function findPerson(db: Db | Tx, key: PersonKey): Promise<PersonRecord | null> {
  const [row] = await query<TokenRow & { refusedBefore: Date | null; isSeenToday: boolean }>(
    db,
    `
    select person.*, refused.before as "refusedBefore", coalesce(seen.at > now() - interval '1 day', false) as "isSeenToday"
    from (${selectToken} where token.issuer = ? and token.subject = ? and token.used_by = ?) person
    cross join (
      select max(greatest(refused_before, revoked_at)) as before
      from access_token
      where issuer = ? and subject = ?
    ) refused
    join lateral (select seen_at as at from access_token where id = person.id) seen on true`,
    [key.issuer, key.subject, key.usedBy, key.issuer, key.subject]
  )
  if (!row) return null
  const { refusedBefore, isSeenToday, ...token } = row
  return { ...toTokenRecord(token), refusedBefore, isSeenToday }
}

/**
 * Creates a row for the person if there is none, without rights and with `id`. Then locks every row of the
 * person until the transaction ends, as a revocation does.
 */
export async function lockPerson(
  tx: Tx,
  key: PersonKey,
  id: string,
  { name, actorUrn }: Pick<PersonFacts, 'name' | 'actorUrn'>
): Promise<void> {
  await query(
    tx,
    `
    insert into access_token (id, name, token_hash, hint, scopes, actor, issuer, subject, used_by)
    values (?::uuid, ?, ?::bytea, '', '{}', ?, ?, ?, ?)
    on conflict (issuer, subject, used_by) where issuer is not null do nothing`,
    // A random hash, for which no text exists, so nobody can present a token for it.
    [id, name, randomBytes(32), actorUrn, key.issuer, key.subject, key.usedBy]
  )
  await query(tx, 'select from access_token where issuer = ? and subject = ? order by used_by for update', [
    key.issuer,
    key.subject
  ])
}

/**
 * Writes the current facts about a person, and that the person was seen, which ends a revocation but does not change `refusedBefore`.
 * `domainIds` are the ids of the domains in the facts.
 */
export async function updatePerson(
  tx: Tx,
  id: string,
  facts: PersonFacts,
  domainIds: DomainIds
): Promise<void> {
  await query(
    tx,
    `
    update access_token
    set
      name = ?,
      scopes = ?::text[],
      domain_id = ?::int,
      domain_ids = ?::int[],
      domain_ids_expire_at = ?::timestamptz,
      actor = ?,
      expires_at = ?::timestamptz,
      refused_before = greatest(refused_before, revoked_at),
      revoked_at = null,
      seen_at = now()
    where id = ?::uuid`,
    [
      facts.name,
      facts.scopes,
      ...domainBindings(domainIds, facts.expiresAt),
      facts.actorUrn,
      facts.expiresAt,
      id
    ]
  )
}

/**
 * Removes all rights from a row. With `refusedBefore`, everything that the provider issued to the person until
 * then is refused.
 */
export async function stripPerson(tx: Tx, id: string, refusedBefore: Date | null): Promise<void> {
  await query(
    tx,
    `
    update access_token
    set scopes = '{}', domain_id = null, domain_ids = null, refused_before = greatest(refused_before, ?::timestamptz)
    where id = ?::uuid`,
    [refusedBefore, id]
  )
}
