/** Turns ids of entities into references that can be shown. */
import type { Db, Tx } from '../../db/database.ts'
import { readEntityFacts } from '../../store/entity-reads.ts'
import type { LineageReader } from './lineage-reader.ts'
import type { EntityReference } from './read-entity.ts'

/** From the reader's snapshot; null for unknown ids. */
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

/** As of now, in the order of the ids; null for an id without an entity. */
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
