/** Creates an access token. Only the answer contains its secret; only the hash is stored. */
import { randomUUID } from 'node:crypto'
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Actor, Scope } from '../../model/changes.ts'
import { checkLine } from '../../model/text-checks.ts'
import { hashToken, hintOf, newTokenText } from '../../model/token-text.ts'
import { appendAudit } from '../../store/audit.ts'
import { findEntities } from '../../store/entities.ts'
import { transactionTime } from '../../store/order-of-changes.ts'
import { insertToken, type TokenRecord } from '../../store/tokens.ts'
import { urnOfType } from '../../urn/kinds.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import { isReference, urnOfReference } from '../search/reference-urns.ts'

export type CreateTokenInput = {
  name: string
  /** At least one; `write` implies `read`, `admin` implies both. */
  scopes: readonly Scope[]
  expiresAt?: Date | null
  /** How long it lasts from now, by the clock of the database; instead of `expiresAt`. */
  lifetimeMs?: number | null
  /** A corpuser; derived from the name if absent. */
  actorUrn?: string | null
  /** Limits the token to these domains, their descendants, and the assets in them; at least one. */
  domainUrns?: readonly string[] | null
  /** A shorter form of `domainUrns` for one domain. */
  domainUrn?: string | null
}

/** The parts of a token that may be shown. */
export type TokenView = TokenRecord

/** The actor that creates the token; null for an operator at a shell. */
export type TokenCaller = { actor: Actor; requestId: string | null } | null

/**
 * Domains may be short references. Throws BAD_REQUEST, LIMIT_EXCEEDED, INVALID_CHARACTER, INVALID_URN.
 */
export async function createToken(
  db: Db,
  input: CreateTokenInput,
  caller: TokenCaller = null
): Promise<{ token: string; record: TokenRecord }> {
  const domains = await domainsNamed(db, input)
  const checked = {
    ...input,
    domains,
    name: checkLine(input.name, { field: 'name', limit: 'tokenNameMaxChars' })
  }
  return inTransaction(db, (tx) => writeToken(tx, newTokenText(), checked, caller))
}

/** A domain, and the field of the input that names it. */
type NamedDomain = { urn: Urn; field: string }

/** The domains of the input as URNs, each once; null for no limit. Throws as createToken does. */
async function domainsNamed(
  db: Db,
  { domainUrn, domainUrns }: Pick<CreateTokenInput, 'domainUrn' | 'domainUrns'>
): Promise<NamedDomain[] | null> {
  const isOne = domainUrn !== undefined && domainUrn !== null
  if (!domainUrns) return isOne ? [await domainNamed(db, domainUrn, 'domainUrn')] : null
  if (isOne)
    throw new CatalogError('BAD_REQUEST', 'Send domainUrns or domainUrn, not both', { field: 'domainUrn' })
  if (domainUrns.length === 0)
    throw new CatalogError(
      'BAD_REQUEST',
      'domainUrns must name at least one domain; leave it out for a token without a limit',
      { field: 'domainUrns' }
    )
  const maximum = limits.tokenDomainsMaxCount
  if (domainUrns.length > maximum)
    throw new CatalogError('LIMIT_EXCEEDED', `A token is limited to at most ${maximum} domains`, {
      limit: 'tokenDomainsMaxCount',
      maximum,
      actual: domainUrns.length,
      field: 'domainUrns'
    })
  const named = new Map<Urn, NamedDomain>()
  for (const [index, text] of domainUrns.entries()) {
    const domain = await domainNamed(db, text, `domainUrns[${index}]`)
    if (!named.has(domain.urn)) named.set(domain.urn, domain)
  }
  return [...named.values()]
}

async function domainNamed(db: Db, text: string, field: string): Promise<NamedDomain> {
  const urn = isReference(text)
    ? await urnOfReference({ db, memory: null }, text, { field, entityType: 'domain' })
    : text
  return { urn: urnOfType(urn, 'domain', field), field }
}

/** The ids of the domains. Throws BAD_REQUEST for one that does not exist. */
async function idsOf(tx: Tx, domains: readonly NamedDomain[]): Promise<number[]> {
  const rows = await findEntities(
    tx,
    domains.map(({ urn }) => urn)
  )
  const found = new Map(rows.map((row) => [row.urn, row]))
  return domains.map(({ urn, field }) => {
    const row = found.get(urn)
    if (!row?.isPresent)
      throw new CatalogError('BAD_REQUEST', `The domain ${urn} does not exist`, { field, urn })
    return row.id
  })
}

/** What writeToken needs: the input of createToken, with its domains found. */
export type CheckedToken = Omit<CreateTokenInput, 'domainUrn' | 'domainUrns'> & {
  /** Null for no limit. */
  domains: readonly NamedDomain[] | null
}

/** Writes a token with a given text in the caller's transaction. Throws BAD_REQUEST, INVALID_URN. */
export async function writeToken(
  tx: Tx,
  text: string,
  input: CheckedToken,
  caller: TokenCaller
): Promise<{ token: string; record: TokenRecord }> {
  if (input.scopes.length === 0)
    throw new CatalogError('BAD_REQUEST', 'A token needs at least one scope', {
      field: 'scopes',
      allowed: ['read', 'write', 'admin']
    })
  const now = (await transactionTime(tx)).getTime()
  const { lifetimeMs = null } = input
  const expiresAt = lifetimeMs === null ? (input.expiresAt ?? null) : new Date(now + lifetimeMs)
  if (expiresAt && !(expiresAt.getTime() > now))
    throw new CatalogError('BAD_REQUEST', 'The token would already be expired', { field: 'expires' })
  const record = await insertToken(tx, {
    id: randomUUID(),
    name: input.name,
    tokenHash: hashToken(text),
    hint: hintOf(text),
    scopes: [...new Set(input.scopes)],
    domainIds: input.domains && (await idsOf(tx, input.domains)),
    actorUrn: input.actorUrn ? urnOfType(input.actorUrn, 'corpuser', 'actorUrn') : actorNamed(input.name),
    expiresAt,
    madeWith: caller?.actor.tokenId ?? null
  })
  await appendAudit(tx, {
    actor: caller?.actor.urn ?? record.actorUrn,
    tokenId: caller?.actor.tokenId ?? null,
    operation: 'createAccessToken',
    seq: null,
    loadId: null,
    chunkId: null,
    requestId: caller?.requestId ?? null,
    details: {
      tokenId: record.id,
      name: record.name,
      scopes: [...record.scopes],
      actor: record.actorUrn,
      domains: record.domainUrns && [...record.domainUrns]
    }
  })
  return { token: text, record }
}

/** `Airflow, prod #2` becomes `urn:li:corpuser:Airflow-prod-2`. */
export function actorNamed(name: string): Urn {
  const slug = name.replace(/[^\p{L}\p{N}._@]+/gu, '-').replace(/^-|-$/g, '')
  return toUrn(`urn:li:corpuser:${slug === '' ? 'token' : slug}`)
}
