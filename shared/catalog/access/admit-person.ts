/** Gives a user of the identity provider the rights of the user's roles. */
import { randomUUID } from 'node:crypto'
import type { Tx } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { rightsFor, type Rights, type Roles } from '../../model/roles.ts'
import { appendAudit } from '../../store/audit.ts'
import { findEntities } from '../../store/entities.ts'
import { transactionTime } from '../../store/order-of-changes.ts'
import {
  findPerson,
  lockPerson,
  stripPerson,
  updatePerson,
  type PersonFacts,
  type PersonKey,
  type PersonRecord
} from '../../store/people.ts'
import type { DomainIds, TokenRecord } from '../../store/tokens.ts'
import { deleteSessionsOfHolder, deleteSessionsOfToken } from '../../store/web-sessions.ts'
import { actorNamed } from './create-token.ts'
import { endTokensOfMaker, strictMakerRule, type MakerRule } from './token-makers.ts'
import { unauthenticated } from './unauthenticated.ts'
import type { Urn } from '../../urn/urn.ts'

/** What the provider says about a person. Only `subject` is unique and never changes. */
export type Identity = {
  issuer: string
  subject: string
  /** The person's display name. It names the actor, and gives no rights. */
  name: string
  groups: readonly string[]
  /** When the provider made this statement. */
  issuedAtMs: number
}

/** The largest allowed difference between the clocks of the provider and this service. */
export const clockToleranceMs = 60_000

/** A sign-in with a browser lasts for some seconds from now; a JSON Web Token says itself when it ends. */
type Visit = { usedBy: 'browser'; maxSeconds: number } | { usedBy: 'bearer'; expiresAt: Date }

/**
 * The row of access_token that stands for the user, with the current rights; null for a user without a role.
 * `orphans` are the tokens that the user made and whose maker is gone with this sign-in.
 */
export type Admission = { person: TokenRecord | null; orphans: readonly TokenRecord[] }

/**
 * Admits a user with the current rights. Writes the row only if something changed, or once a day. For a user
 * without a role, removes the rights that the user had: commit, and then throw noRole().
 *
 * Revoking the row refuses everything that the provider issued until then. A later sign-in or token ends the
 * revocation, because the provider decides who may sign in. Throws UNAUTHENTICATED if revoked, or if issued
 * in the future, because such a token would outlive a revocation.
 */
export async function admitPerson(
  tx: Tx,
  identity: Identity,
  roles: Roles,
  visit: Visit,
  makerRule: MakerRule = strictMakerRule
): Promise<Admission> {
  // The clock of the database, by which a revocation is dated.
  const now = (await transactionTime(tx)).getTime()
  if (identity.issuedAtMs > now + clockToleranceMs) throw unauthenticated()
  const stay: Stay = {
    usedBy: visit.usedBy,
    expiresAt: visit.usedBy === 'bearer' ? visit.expiresAt : new Date(now + visit.maxSeconds * 1_000)
  }
  const key = { issuer: identity.issuer, subject: identity.subject, usedBy: visit.usedBy }
  const known = await findPerson(tx, key)
  if (known && isRefused(known, identity)) throw unauthenticated()
  const rights = await rightsOf(tx, identity, roles)
  if (!rights) return { person: null, orphans: await takeRights(tx, identity, key, makerRule) }
  if (known?.isSeenToday === true && isSame(known, factsOf(identity, rights, stay, known)))
    return { person: known, orphans: [] }
  await lockPerson(tx, key, randomUUID(), factsOf(identity, rights, stay, null))
  const before = await findPerson(tx, key)
  if (!before || isRefused(before, identity)) throw unauthenticated()
  const facts = factsOf(identity, rights, stay, before)
  if (before.isSeenToday && isSame(before, facts)) return { person: before, orphans: [] }
  await updatePerson(tx, before.id, facts, rights.domainIds)
  if (before.revokedAt) await deleteSessionsOfToken(tx, before.id)
  const person = { ...before, ...facts, revokedAt: null }
  if (!hasSameRights(before, facts)) await recordRights(tx, person, visit.usedBy)
  return { person, orphans: [] }
}

/** The error for a user without a role. */
export const noRole = (): CatalogError =>
  new CatalogError('FORBIDDEN', 'You have no role in this catalog. Ask its administrator.')

const isRefused = ({ refusedBefore }: PersonRecord, { issuedAtMs }: Identity): boolean =>
  refusedBefore !== null && issuedAtMs <= refusedBefore.getTime()

/**
 * A sign-in without a role ends everything that the person has: browser sessions, JSON Web Tokens issued
 * earlier, and the tokens that the person made, which it returns. A JSON Web Token without a role ends nothing else: it may be made for a client that gets no groups
 * from the provider.
 */
async function takeRights(
  tx: Tx,
  { issuedAtMs }: Identity,
  key: PersonKey,
  rule: MakerRule
): Promise<readonly TokenRecord[]> {
  let actorUrn: Urn | null = null
  const isSignIn = key.usedBy === 'browser'
  const kinds = isSignIn ? (['bearer', 'browser'] as const) : (['bearer'] as const)
  for (const usedBy of kinds) {
    const row = await findPerson(tx, { ...key, usedBy })
    if (!row || (!isSignIn && row.scopes.length === 0)) continue
    actorUrn = row.actorUrn
    // The provider's times are in whole seconds, so a token of this second may be newer.
    await stripPerson(tx, row.id, isSignIn ? new Date(issuedAtMs - 1) : null)
    await (isSignIn ? deleteSessionsOfHolder : deleteSessionsOfToken)(tx, row.id)
    if (row.scopes.length > 0) await recordRights(tx, { ...row, scopes: [], domainUrns: null }, usedBy)
  }
  return isSignIn && actorUrn !== null ? endTokensOfMaker(tx, key, { actorUrn, rule }) : []
}

/** How a person is here, and until when by the clock of the database. */
type Stay = { usedBy: PersonKey['usedBy']; expiresAt: Date }

/**
 * Null for a user without a role. Domains that do not exist do not count: an owner of no other domain may only
 * read.
 */
async function rightsOf(
  tx: Tx,
  identity: Identity,
  roles: Roles
): Promise<(Rights & { domainIds: DomainIds }) | null> {
  const rights = rightsFor(roles, identity)
  if (!rights) return null
  if (rights.domainUrns === null) return { ...rights, domainIds: null }
  const found = new Map((await findEntities(tx, rights.domainUrns)).map((row) => [row.urn, row]))
  const owned = rights.domainUrns.flatMap((urn) => {
    const row = found.get(urn)
    return row?.isPresent ? [row] : []
  })
  if (owned.length === 0) return { scopes: ['read'], domainUrns: null, domainIds: null }
  return { ...rights, domainUrns: owned.map(({ urn }) => urn), domainIds: owned.map(({ id }) => id) }
}

function factsOf(
  { name, subject }: Identity,
  { scopes, domainUrns }: Rights,
  { usedBy, expiresAt }: Stay,
  known: TokenRecord | null
): PersonFacts {
  const shown = name === '' ? subject : name
  return {
    name: `${shown} (${usedBy === 'browser' ? 'signed in' : 'JSON Web Token'})`,
    scopes: [...scopes],
    domainUrns,
    actorUrn: actorNamed(shown),
    // The latest expiry counts, so that two sessions or tokens of one user do not shorten each other. Each
    // also ends at its own time.
    expiresAt: known?.expiresAt && known.expiresAt > expiresAt ? known.expiresAt : expiresAt
  }
}

const hasSameRights = (known: TokenRecord, facts: PersonFacts): boolean =>
  JSON.stringify([known.domainUrns, known.scopes]) === JSON.stringify([facts.domainUrns, facts.scopes])

const isSame = (known: TokenRecord, facts: PersonFacts): boolean =>
  known.revokedAt === null &&
  hasSameRights(known, facts) &&
  known.name === facts.name &&
  known.actorUrn === facts.actorUrn &&
  known.expiresAt?.getTime() === facts.expiresAt?.getTime()

const recordRights = (tx: Tx, person: TokenRecord, usedBy: PersonKey['usedBy']): Promise<void> =>
  appendAudit(tx, {
    actor: person.actorUrn,
    tokenId: person.id,
    operation: 'admitPerson',
    seq: null,
    loadId: null,
    chunkId: null,
    requestId: null,
    details: { usedBy, scopes: [...person.scopes], domains: person.domainUrns && [...person.domainUrns] }
  })
