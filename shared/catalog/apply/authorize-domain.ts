/** Holds a token that is limited to a domain to that domain, what is below it, and the assets in them. */
import type { Tx } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import type { Change, ChangeRecord } from '../../model/changes.ts'
import { standsOn } from '../../model/change-facts.ts'
import { findAssociations, subtreeOf } from '../../store/domains.ts'
import { findEntities } from '../../store/entities.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import { subjectOf } from './plan-records.ts'
import type { WorkingSet } from './working-set.ts'

/** The refusals by record, FORBIDDEN; empty for a token that is not limited. */
export async function authorizeRecords(tx: Tx, set: Pick<WorkingSet, 'actor' | 'entities'>, records: readonly ChangeRecord[]): Promise<Map<ChangeRecord, CatalogError>> {
  const refused = new Map<ChangeRecord, CatalogError>()
  const { domainUrn } = set.actor
  if (domainUrn === null) return refused
  const [root] = await findEntities(tx, [domainUrn])
  const subtree = new Set(root ? (await subtreeOf(tx, root.id)).map((row) => row.id) : [])
  const assets = records.flatMap((record) => record.changes.flatMap((change) => set.entities.get(standsOn(subjectOf(change)))?.id ?? []))
  const domainOf = new Map((await findAssociations(tx, assets)).map((row) => [row.entityId, row.domainId]))
  const isWithin = (urn: Urn): boolean => {
    const id = set.entities.get(standsOn(urn))?.id
    if (id === undefined) return false
    if (entityTypeOf(urn) === 'domain') return subtree.has(id)
    const domainId = domainOf.get(id)
    return domainId !== null && domainId !== undefined && subtree.has(domainId)
  }
  for (const record of records) {
    const outside = record.changes.flatMap(governedBy).find((urn) => !isWithin(urn))
    if (outside !== undefined) refused.set(record, new CatalogError('FORBIDDEN', `The token is limited to ${domainUrn}; ${outside} is not in it.`, { urn: outside }))
  }
  return refused
}

/** What must lie within the token's domain: the thing changed and every domain it is put into. A new domain goes by its parent. */
function governedBy(change: Change): Urn[] {
  if (change.kind === 'createDomain') return [change.parentDomain ?? change.domainUrn]
  if (change.kind === 'moveDomain') return [change.domainUrn, change.parentDomain ?? change.domainUrn]
  if (change.kind === 'setDomain') return [change.entityUrn, change.domainUrn]
  if (change.kind === 'upsertAspect' && change.aspectName === 'domains' && Array.isArray(change.value.domains)) {
    return [change.entityUrn, ...change.value.domains.filter((urn): urn is Urn => typeof urn === 'string')]
  }
  return [subjectOf(change)]
}
