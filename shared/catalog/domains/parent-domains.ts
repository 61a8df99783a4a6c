/** Reads the ancestors of many domains at once. */
import type { Db, Tx } from '../../db/database.ts'
import { ancestorChains } from '../../store/domain-reads.ts'
import { findEntities } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'
import type { EntityReference } from '../lineage/read-entity.ts'

/** Nearest first, in the order of the URNs. A cycle is followed once. */
export async function readParentDomains(db: Db | Tx, urns: readonly Urn[]): Promise<EntityReference[][]> {
  const idOf = new Map((await findEntities(db, urns)).map((row) => [row.urn, row.id]))
  const chains = new Map<number, EntityReference[]>()
  for (const { startId, urn, exists } of await ancestorChains(db, [...idOf.values()])) {
    const chain = chains.get(startId) ?? []
    chains.set(startId, chain)
    chain.push({ urn, exists })
  }
  return urns.map((urn) => chains.get(idOf.get(urn) ?? 0) ?? [])
}
