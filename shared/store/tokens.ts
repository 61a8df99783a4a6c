/** The table access_token: who may do what. It contains hashes, never the tokens themselves. */
import type { Db, Tx } from '../db/database.ts'
import { advisoryLocks } from '../db/advisory-locks.ts'
import { query } from '../db/query.ts'
import type { Scope } from '../model/changes.ts'
import { toUrn, type Urn } from '../urn/urn.ts'

/** The parts of a token that may be shown. `hint` is the end of its text. */
export type TokenRecord = {
  id: string
  name: string
  hint: string
  scopes: Scope[]
  /** The domains that the token is limited to; null for no limit. */
  domainUrns: readonly Urn[] | null
  actorUrn: Urn
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
  /** Who made the token; null for one that was made at a shell, or before makers were noted. */
  makerUrn: Urn | null
  /** What is known now about the maker; null unless that is a user of the identity provider. */
  makerState: MakerState | null
}

/** Whether the provider last gave the user a role, and how many whole days ago that was. */
export type MakerState = { hasRole: boolean; absentDays: number }

/** A user of the identity provider. */
export type Holder = { issuer: string; subject: string }

/** The domains that a token is limited to, as they are stored; null for no limit. */
export type DomainIds = readonly number[] | null

export type NewToken = Pick<TokenRecord, 'id' | 'name' | 'hint' | 'scopes' | 'actorUrn' | 'expiresAt'> & {
  tokenHash: Buffer
  domainIds: DomainIds
  /** The token with which the new one is made; null for an operator at a shell. */
  madeWith: string | null
}

/** A token with the columns of selectToken. */
export type TokenRow = Omit<TokenRecord, 'scopes' | 'domainUrns' | 'actorUrn' | 'makerUrn'> & {
  scopes: string[]
  domainUrns: string[] | null
  actorUrn: string
  makerUrn: string | null
}

/**
 * A process of the version before writes only domain_id, the first of the domains. If it signs a person in, whose
 * rights may have changed, domain_id or expires_at changes and domain_ids is out of date. Then only domain_id counts.
 */
const domainIds = `case
          when token.domain_ids[1] = token.domain_id and token.domain_ids_expire_at is not distinct from token.expires_at
          then token.domain_ids
          else array[token.domain_id]
        end`

/**
 * Selects a token, as `token`, with the URNs of its domains. A limited token stays limited even if none of
 * its domains is left.
 */
export const selectToken = `
  select
    token.id,
    token.name,
    token.hint,
    token.scopes,
    case when token.domain_id is not null then array(
      select domain.urn
      from unnest(
        ${domainIds}
      ) with ordinality as owned (id, place)
      join entity domain on domain.id = owned.id
      order by owned.place
    ) end as "domainUrns",
    token.actor as "actorUrn",
    token.created_at as "createdAt",
    token.expires_at as "expiresAt",
    token.revoked_at as "revokedAt",
    token.maker as "makerUrn",
    case when token.maker_issuer is not null then (
      select jsonb_build_object(
        'hasRole', coalesce(bool_or(person.scopes <> '{}' and person.revoked_at is null), false),
        'absentDays', coalesce(floor(extract(epoch from now() - max(coalesce(person.seen_at, least(person.expires_at, now())))) / 86400), 0)
      )
      from access_token person
      where person.issuer = token.maker_issuer and person.subject = token.maker_subject
    ) end as "makerState"
  from access_token token`

/** The token with this hash, if it is neither revoked nor expired by the database's clock. */
export async function findValidToken(db: Db | Tx, tokenHash: Buffer): Promise<TokenRecord | null> {
  const rows = await query<TokenRow>(
    db,
    `
    ${selectToken}
    where token.token_hash = ?
      and token.revoked_at is null
      and (token.expires_at is null or token.expires_at > now())`,
    [tokenHash]
  )
  return first(rows)
}

/** The token with this id, if it is neither revoked nor expired by the database's clock. */
export async function findValidTokenById(db: Db | Tx, id: string): Promise<TokenRecord | null> {
  const rows = await query<TokenRow>(
    db,
    `
    ${selectToken}
    where token.id = ?::uuid
      and token.revoked_at is null
      and (token.expires_at is null or token.expires_at > now())`,
    [id]
  )
  return first(rows)
}

/** The token with this id, also if it is revoked or expired; null if it does not exist. */
export const findToken = async (db: Db | Tx, id: string): Promise<TokenRecord | null> =>
  first(await query<TokenRow>(db, `${selectToken} where token.id = ?::uuid`, [id]))

/** Writes a token. What a user of the identity provider makes with another token counts as made by that user. */
export async function insertToken(tx: Tx, token: NewToken): Promise<TokenRecord> {
  await query(
    tx,
    `
    insert into access_token (
      id, name, token_hash, hint, scopes, actor, expires_at, domain_id, domain_ids, domain_ids_expire_at, maker, maker_issuer, maker_subject
    )
    select
      given.*,
      maker.actor,
      coalesce(maker.issuer, maker.maker_issuer),
      coalesce(maker.subject, maker.maker_subject)
    from (values (?::uuid, ?, ?::bytea, ?, ?::text[], ?, ?::timestamptz, ?::int, ?::int[], ?::timestamptz)) given
    left join access_token maker on maker.id = ?::uuid`,
    [
      token.id,
      token.name,
      token.tokenHash,
      token.hint,
      token.scopes,
      token.actorUrn,
      token.expiresAt,
      ...domainBindings(token.domainIds, token.expiresAt),
      token.madeWith
    ]
  )
  const written = await findToken(tx, token.id)
  if (!written) throw new Error('the token was not written')
  return written
}

/** The values of domain_id, domain_ids and domain_ids_expire_at. Throws an Error for a limit to no domain. */
export function domainBindings(
  domainIds: DomainIds,
  expiresAt: Date | null
): [number | null, readonly number[] | null, Date | null] {
  return [firstDomain(domainIds), domainIds, domainIds && expiresAt]
}

/**
 * The domain for a process of the version before: the first; null for no limit. Throws an Error for a limit
 * to no domain, because that version would take it for no limit.
 */
export function firstDomain<Domain>(domains: readonly Domain[] | null): Domain | null {
  if (domains === null) return null
  const [first] = domains
  if (first === undefined) throw new Error('a token cannot be limited to no domain')
  return first
}

/**
 * A page of all tokens, newest first, revoked and expired ones included; only those of the given actors and
 * owners, if any. The owner of a token is its maker, without one its actor.
 */
export async function listTokenRows(
  db: Db,
  page: {
    start: number
    count: number
    actorUrns: readonly string[] | null
    ownerUrns: readonly string[] | null
  }
): Promise<{ total: number; tokens: TokenRecord[] }> {
  const wanted = [page.actorUrns, page.actorUrns, page.ownerUrns, page.ownerUrns]
  const isWanted = `(?::text[] is null or token.actor = any(?::text[]))
      and (?::text[] is null or coalesce(token.maker, token.actor) = any(?::text[]))`
  const rows = await query<TokenRow>(
    db,
    `
    ${selectToken}
    where ${isWanted}
    order by token.created_at desc, token.id
    limit ?::int
    offset ?::int`,
    [...wanted, page.count, page.start]
  )
  const [counted] = await query<{ total: number }>(
    db,
    `
    select count(*)::int as total
    from access_token token
    where ${isWanted}`,
    wanted
  )
  return { total: counted?.total ?? 0, tokens: rows.map(toTokenRecord) }
}

/**
 * Revokes a token. If it is a row of a user of the identity provider, revokes all rows of that user. Only the
 * first revocation changes the token, but each revocation refuses what the provider has issued until then.
 * Returns the token; null if it does not exist.
 */
export async function revokeTokenRow(tx: Tx, id: string): Promise<TokenRecord | null> {
  const same = `
    select token.id
    from access_token named
    join access_token token
      on token.id = named.id or (token.issuer = named.issuer and token.subject = named.subject)
    where named.id = ?::uuid`
  // Locked in a separate statement, so that the next statement sees a row that a concurrent sign-in adds.
  await query(tx, `select from access_token where id in (${same}) order by used_by for update`, [id])
  await query(
    tx,
    `
    update access_token
    set
      revoked_at = coalesce(revoked_at, clock_timestamp()),
      refused_before = case when issuer is not null then clock_timestamp() end
    where id in (${same})`,
    [id]
  )
  return findToken(tx, id)
}

/**
 * The tokens that a user of the identity provider made and that are neither revoked nor expired. They are locked
 * until the transaction ends.
 */
export async function lockTokensOfMaker(tx: Tx, { issuer, subject }: Holder): Promise<TokenRecord[]> {
  const rows = await query<TokenRow>(
    tx,
    `
    ${selectToken}
    where token.maker_issuer = ?
      and token.maker_subject = ?
      and token.revoked_at is null
      and (token.expires_at is null or token.expires_at > now())
    order by token.id
    for update of token`,
    [issuer, subject]
  )
  return rows.map(toTokenRecord)
}

/**
 * Whether no token was ever created, not counting users of the identity provider. Other callers wait until
 * the transaction ends, so that processes that start together create only one token.
 */
export async function hasNoToken(tx: Tx): Promise<boolean> {
  await query(tx, 'select pg_advisory_xact_lock(?::int, ?::int)', advisoryLocks.firstToken)
  const [row] = await query<{ isEmpty: boolean }>(
    tx,
    'select not exists (select from access_token where issuer is null) as "isEmpty"'
  )
  return row?.isEmpty === true
}

const first = (rows: readonly TokenRow[]): TokenRecord | null => (rows[0] ? toTokenRecord(rows[0]) : null)

const isScope = (text: string): text is Scope => text === 'read' || text === 'write' || text === 'admin'

/** Converts a row to a TokenRecord. */
export const toTokenRecord = (row: TokenRow): TokenRecord => ({
  ...row,
  scopes: row.scopes.filter(isScope),
  domainUrns: row.domainUrns === null ? null : row.domainUrns.map((urn) => toUrn(urn)),
  actorUrn: toUrn(row.actorUrn),
  makerUrn: row.makerUrn === null ? null : toUrn(row.makerUrn)
})
