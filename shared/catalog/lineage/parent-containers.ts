/** Reads the containers that entities are in, for many at once. */
import type { Db, Tx } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { JsonObject } from '../../model/changes.ts'
import { findEntities } from '../../store/entities.ts'
import { readDocuments } from '../../store/entity-reads.ts'
import { entityTypeOf, toUrn, type Urn } from '../../urn/urn.ts'
import type { EntityReference } from './read-entity.ts'

/**
 * Nearest first, at most containerMaxDepth, in the order of the URNs. A cycle ends before its first container
 * is repeated.
 */
export async function readParentContainers(db: Db | Tx, urns: readonly Urn[]): Promise<EntityReference[][]> {
  const parentOf = new Map<Urn, Urn | null>()
  let unread = [...new Set(urns)]
  for (let level = 0; level < limits.containerMaxDepth && unread.length > 0; level += 1) {
    const rows = await findEntities(db, unread)
    const documents = await readDocuments(
      db,
      rows.map(({ id }) => id),
      ['container']
    )
    for (const urn of unread) parentOf.set(urn, null)
    for (const { id, urn } of rows) parentOf.set(urn, containerOf(documents.get(id)?.get('container')))
    unread = [...new Set(unread.flatMap((urn) => parentOf.get(urn) ?? []))].filter(
      (urn) => !parentOf.has(urn)
    )
  }
  return urns.map((urn) => chainFrom(urn, parentOf))
}

function chainFrom(urn: Urn, parentOf: ReadonlyMap<Urn, Urn | null>): EntityReference[] {
  const chain = new Set<Urn>()
  for (
    let parent = parentOf.get(urn);
    parent && parent !== urn && !chain.has(parent) && chain.size < limits.containerMaxDepth;
    parent = parentOf.get(parent)
  )
    chain.add(parent)
  return [...chain].map((each) => ({ urn: each }))
}

/**
 * The container that the aspect names; null if it names none. The aspect is stored as it was sent, so the
 * value may be anything.
 */
function containerOf(aspect: JsonObject | undefined): Urn | null {
  try {
    const urn = toUrn(aspect?.container)
    return entityTypeOf(urn) === 'container' ? urn : null
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}
