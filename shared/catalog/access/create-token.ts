/** Creates an access token. Only the answer contains its secret; only the hash is stored. */
import { randomUUID } from 'node:crypto'
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { CatalogError } from '../../errors.ts'
import type { Actor, Scope } from '../../model/changes.ts'
import { checkLine } from '../../model/text-checks.ts'
import { hashToken, hintOf, newTokenText } from '../../model/token-text.ts'
import { appendAudit } from '../../store/audit.ts'
import { insertToken, type TokenRecord } from '../../store/tokens.ts'
import { urnOfType } from '../../urn/kinds.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import { withUrns } from '../search/reference-urns.ts'

export type CreateTokenInput = {
  name: string
  /** At least one; `write` implies `read`, `admin` implies both. */
  scopes: readonly Scope[]
  expiresAt?: Date | null
  /** A corpuser; if absent, it is derived from the name. */
  actorUrn?: string | null
  /** Limits the token to this domain, its descendants and the assets in them. */
  domainUrn?: string | null
}

/** The parts of a token that may be shown. */
export type TokenView = TokenRecord

/** The actor that creates the token; null for an operator at a shell. */
export type TokenCaller = { actor: Actor; requestId: string | null } | null

/**
 * `domainUrn` may be a short reference. Throws BAD_REQUEST, LIMIT_EXCEEDED, INVALID_CHARACTER, INVALID_URN.
 */
export async function createToken(
  db: Db,
  input: CreateTokenInput,
  caller: TokenCaller = null
): Promise<{ token: string; record: TokenRecord }> {
  const named = await withUrns(
    { db, memory: null },
    { domainUrn: input.domainUrn ?? null },
    { domainUrn: { entityType: 'domain' } }
  )
  const checked = {
    ...input,
    ...named,
    name: checkLine(input.name, { field: 'name', limit: 'tokenNameMaxChars' })
  }
  return inTransaction(db, (tx) => writeToken(tx, newTokenText(), checked, caller))
}

/** Writes a token with a given text in the caller's transaction. Throws BAD_REQUEST, INVALID_URN. */
export async function writeToken(
  tx: Tx,
  text: string,
  input: CreateTokenInput,
  caller: TokenCaller
): Promise<{ token: string; record: TokenRecord }> {
  if (input.scopes.length === 0)
    throw new CatalogError('BAD_REQUEST', 'A token needs at least one scope', {
      field: 'scopes',
      allowed: ['read', 'write', 'admin']
    })
  if (input.expiresAt && !(input.expiresAt.getTime() > Date.now()))
    throw new CatalogError('BAD_REQUEST', 'The token would already be expired', { field: 'expires' })
  const domainUrn = input.domainUrn ? urnOfType(input.domainUrn, 'domain', 'domainUrn') : null
  const record = await insertToken(tx, {
    id: randomUUID(),
    name: input.name,
    tokenHash: hashToken(text),
    hint: hintOf(text),
    scopes: [...new Set(input.scopes)],
    domainUrn,
    actorUrn: input.actorUrn ? urnOfType(input.actorUrn, 'corpuser', 'actorUrn') : actorNamed(input.name),
    expiresAt: input.expiresAt ?? null
  })
  if (!record)
    throw new CatalogError('BAD_REQUEST', `The domain ${domainUrn} does not exist`, {
      field: 'domainUrn',
      urn: domainUrn ?? ''
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
      domain: record.domainUrn
    }
  })
  return { token: text, record }
}

/** `Airflow, prod #2` becomes `urn:li:corpuser:Airflow-prod-2`. */
export function actorNamed(name: string): Urn {
  const slug = name.replace(/[^\p{L}\p{N}._@]+/gu, '-').replace(/^-|-$/g, '')
  return toUrn(`urn:li:corpuser:${slug === '' ? 'token' : slug}`)
}
