/** Shows entities that are known by their ids. */
import type { Db, Tx } from '../../db/database.ts'
import { readEntityFacts } from '../../store/entity-reads.ts'
import type { LineageReader } from './lineage-reader.ts'
import type { EntityReference } from './read-entity.ts'

/** Of the reader's snapshot. What is not known is null. */
export async function referencesOf(
  reader: LineageReader,
  ids: readonly number[] | Int32Array
): Promise<(id: number) => EntityReference | null> {
  const urnOf = await reader.urns(ids)
  const classOf = await reader.classes(ids)
  return (id) => {
    const urn = urnOf(id)
    return urn === null ? null : { urn, exists: classOf(id)?.exists ?? false }
  }
}

/** As they are now, in the order of the ids; null if an id has no entity. */
export async function readReferences(
  db: Db | Tx,
  ids: readonly number[]
): Promise<(EntityReference | null)[]> {
  const facts = await readEntityFacts(db, ids, { urns: true, domains: false })
  return ids.map((id) => {
    const found = facts.get(id)
    return found ? { urn: found.urn, exists: found.exists } : null
  })
}
