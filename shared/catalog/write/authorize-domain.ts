/**
 * Confines a token that is limited to domains: to those domains, the domains below them, and the assets in
 * them.
 *
 * Everything that a change touches must be in one of the domains, but the parts may be in different ones. So
 * the token may move assets and domains from one of its domains to another.
 */
import type { Tx } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import type { Actor, Change, ChangeRecord } from '../../model/changes.ts'
import { assetOrSelf } from '../../model/change-facts.ts'
import { isOutside } from '../../model/limited-to.ts'
import { findAssociations, subtreesOf } from '../../store/domains.ts'
import { findEntities, findEntitiesById, type EntityRow } from '../../store/entities.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import { rowsOfOwner, type OwnerStatements } from '../../statements/merge.ts'
import { subjectOf } from './plan-records.ts'
import type { DomainLimit, UnitOfWork } from './unit-of-work.ts'

/** The domains that the actor's token is limited to; null if it is not limited. */
export async function limitOf(
  tx: Tx,
  { domainUrns }: Pick<Actor, 'domainUrns'>
): Promise<DomainLimit | null> {
  if (domainUrns === null) return null
  const roots = await findEntities(tx, domainUrns)
  return {
    domainUrns,
    domainIds: new Set(
      await subtreesOf(
        tx,
        roots.map((row) => row.id)
      )
    ),
    downstreams: new Map()
  }
}

/**
 * Finds the downstreams of the edges that a limited token may change. The check is made when an edge is
 * changed (checkDownstreamWithinLimit), because only then is it known which edges of a list change.
 */
export async function authorizeDownstreams(
  tx: Tx,
  { limit, byId }: Pick<UnitOfWork, 'limit' | 'byId'>,
  owners: Iterable<OwnerStatements>
): Promise<void> {
  if (!limit) return
  const stated = [...owners].flatMap((owner) => rowsOfOwner(owner).map((row) => row.downstreamId))
  const rows = [
    ...byId.values(),
    ...(await findEntitiesById(
      tx,
      [...new Set(stated)].filter((id) => !byId.has(id))
    ))
  ]
  const assetOf = (row: EntityRow): number => row.parentId ?? row.id
  const domainOf = new Map(
    (await findAssociations(tx, [...new Set(rows.map(assetOf))])).map((row) => [row.entityId, row.domainId])
  )
  for (const row of rows) {
    const domainId = domainOf.get(assetOf(row)) ?? null
    limit.downstreams.set(row.id, {
      urn: row.urn,
      isWithin: domainId !== null && limit.domainIds.has(domainId)
    })
  }
}

/**
 * The records with changes outside the limit, each with its FORBIDDEN error; empty for a token that is not
 * limited. Edges are checked in authorizeDownstreams. The domain into which an asset or domain is put is
 * checked by checkWithinLimit when that happens, because it may not be known before.
 */
export async function authorizeRecords(
  tx: Tx,
  work: Pick<UnitOfWork, 'limit' | 'entities'>,
  records: readonly ChangeRecord[]
): Promise<Map<ChangeRecord, CatalogError>> {
  const refused = new Map<ChangeRecord, CatalogError>()
  const { limit } = work
  if (!limit) return refused
  const subjects = (record: ChangeRecord): Urn[] =>
    record.changes.filter((change) => !isCreation(work, change)).map(subjectOf)
  const assets = records.flatMap((record) =>
    subjects(record).flatMap((urn) => work.entities.get(assetOrSelf(urn))?.id ?? [])
  )
  const domainOf = new Map((await findAssociations(tx, assets)).map((row) => [row.entityId, row.domainId]))
  const isWithin = (urn: Urn): boolean => {
    const id = work.entities.get(assetOrSelf(urn))?.id
    if (id === undefined) return false
    if (entityTypeOf(urn) === 'domain') return limit.domainIds.has(id)
    const domainId = domainOf.get(id)
    return domainId !== null && domainId !== undefined && limit.domainIds.has(domainId)
  }
  for (const record of records) {
    const outside = subjects(record).find((urn) => !isWithin(urn))
    if (outside !== undefined)
      refused.set(
        record,
        new CatalogError('FORBIDDEN', isOutside(limit.domainUrns, outside), { urn: outside })
      )
  }
  return refused
}

/** Whether a change creates its own domain: the place of the new domain then decides. */
function isCreation({ entities }: Pick<UnitOfWork, 'entities'>, change: Change): boolean {
  if (change.kind === 'createDomain') return entities.get(change.domainUrn)?.isPresent !== true
  return (
    change.kind === 'upsertAspect' &&
    change.aspectName === 'domainProperties' &&
    entities.get(change.entityUrn)?.isPresent !== true
  )
}
