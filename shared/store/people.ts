/** Users of the identity provider: rows of the table access_token that no token text matches. */
import { randomBytes } from 'node:crypto'
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { urnKey } from '../urn/urn-key.ts'
import { selectToken, toTokenRecord, type TokenRecord, type TokenRow } from './tokens.ts'

/** How a person comes: with the session of a browser, or with a JSON Web Token of the provider's. */
export type PersonKey = { issuer: string; subject: string; usedBy: 'browser' | 'bearer' }

/** What the provider and the roles say of a person now. */
export type PersonFacts = Pick<TokenRecord, 'name' | 'scopes' | 'domainUrn' | 'actorUrn' | 'expiresAt'>

/** The row of a person; null before the first sign-in or request. */
export async function findPerson(db: Db | Tx, key: PersonKey): Promise<TokenRecord | null> {
  const [row] = await query<TokenRow>(
    db,
    `${selectToken} where token.issuer = ? and token.subject = ? and token.used_by = ?`,
    [key.issuer, key.subject, key.usedBy]
  )
  return row ? toTokenRecord(row) : null
}

/** Makes sure that the person has a row, without rights where it is new, and locks it until the transaction ends. `id` is that of a new row. */
export async function lockPerson(tx: Tx, key: PersonKey, id: string, facts: PersonFacts): Promise<void> {
  await query(
    tx,
    `
    insert into access_token (id, name, token_hash, hint, scopes, actor, issuer, subject, used_by)
    values (?::uuid, ?, ?::bytea, '', '{}', ?, ?, ?, ?)
    on conflict (issuer, subject, used_by) where issuer is not null do nothing`,
    // The hash of no text: nobody can present a token that has it.
    [id, facts.name, randomBytes(32), facts.actorUrn, key.issuer, key.subject, key.usedBy]
  )
  await query(tx, 'select from access_token where issuer = ? and subject = ? and used_by = ? for update', [
    key.issuer,
    key.subject,
    key.usedBy
  ])
}

/** Writes what is now known of a person, which ends a revocation. The domain must exist. */
export async function updatePerson(tx: Tx, id: string, facts: PersonFacts): Promise<void> {
  await query(
    tx,
    `
    update access_token
    set
      name = ?,
      scopes = ?::text[],
      domain_id = (select id from entity where urn_key = ?::uuid),
      actor = ?,
      expires_at = ?::timestamptz,
      revoked_at = null
    where id = ?::uuid`,
    [
      facts.name,
      facts.scopes,
      facts.domainUrn === null ? null : urnKey(facts.domainUrn),
      facts.actorUrn,
      facts.expiresAt,
      id
    ]
  )
}
