/** Gives a user of the identity provider the rights of the user's roles. */
import { randomUUID } from 'node:crypto'
import type { Tx } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { rightsFor, type Rights, type Roles } from '../../model/roles.ts'
import { appendAudit } from '../../store/audit.ts'
import { findEntities } from '../../store/entities.ts'
import { findPerson, lockPerson, updatePerson, type PersonFacts, type PersonKey } from '../../store/people.ts'
import type { TokenRecord } from '../../store/tokens.ts'
import { deleteSessionsOfToken } from '../../store/web-sessions.ts'
import { actorNamed } from './create-token.ts'
import { unauthenticated } from './unauthenticated.ts'

/** What the provider says of a person. `subject` is the one thing that never changes and nobody else has. */
export type Identity = {
  issuer: string
  subject: string
  /** What people call the person: names the actor, and gives no rights. */
  name: string
  groups: readonly string[]
  /** When the provider said so. */
  issuedAtMs: number
}

/**
 * Returns the row of access_token that stands for the user, with the rights of now; writes it only if something changed.
 *
 * Revoking the row refuses everything that the provider issued until then. A later sign-in or token ends the revocation,
 * because the provider decides who may sign in. Throws FORBIDDEN for a user without a role, UNAUTHENTICATED if revoked.
 */
export async function admitPerson(
  tx: Tx,
  identity: Identity,
  roles: Roles,
  { usedBy, expiresAt }: { usedBy: PersonKey['usedBy']; expiresAt: Date }
): Promise<TokenRecord> {
  const rights = rightsFor(roles, identity)
  if (!rights) throw new CatalogError('FORBIDDEN', 'You have no role in this catalog. Ask its administrator.')
  const key = { issuer: identity.issuer, subject: identity.subject, usedBy }
  const known = await findPerson(tx, key)
  const facts = await factsOf(tx, identity, rights, { usedBy, expiresAt, known })
  if (known && isSame(known, facts)) return known
  await lockPerson(tx, key, randomUUID(), facts)
  const before = await findPerson(tx, key)
  if (!before || (before.revokedAt && identity.issuedAtMs <= before.revokedAt.getTime()))
    throw unauthenticated()
  await updatePerson(tx, before.id, facts)
  if (before.revokedAt) await deleteSessionsOfToken(tx, before.id)
  const person = { ...before, ...facts, revokedAt: null }
  if (!known || !hasSameRights(before, facts)) await recordRights(tx, person, usedBy)
  return person
}

async function factsOf(
  tx: Tx,
  { name, subject }: Identity,
  rights: Rights,
  { usedBy, expiresAt, known }: { usedBy: PersonKey['usedBy']; expiresAt: Date; known: TokenRecord | null }
): Promise<PersonFacts> {
  const { domainUrn } = rights
  const [domain] = domainUrn === null ? [] : await findEntities(tx, [domainUrn])
  // An owner of a domain that does not exist may only read.
  const given: Rights =
    domainUrn === null || domain?.isPresent ? rights : { scopes: ['read'], domainUrn: null }
  // The latest expiry counts, so that two tokens of one user do not overwrite each other's.
  const last =
    usedBy === 'bearer' && known?.expiresAt && known.expiresAt > expiresAt ? known.expiresAt : expiresAt
  return {
    name: `${name === '' ? subject : name} (${usedBy === 'browser' ? 'signed in' : 'JSON Web Token'})`,
    scopes: [...given.scopes],
    domainUrn: given.domainUrn,
    actorUrn: actorNamed(name === '' ? subject : name),
    expiresAt: last
  }
}

const hasSameRights = (known: TokenRecord, facts: PersonFacts): boolean =>
  known.domainUrn === facts.domainUrn && known.scopes.join() === facts.scopes.join()

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
    details: { usedBy, scopes: [...person.scopes], domain: person.domainUrn }
  })
