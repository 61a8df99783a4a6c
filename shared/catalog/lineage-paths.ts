/** The ways from the start of a walk to its results: one shortest way each, as lists of entities. */
import type { Tx } from '../db/database.ts'
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import { readEntityFacts } from '../store/entity-reads.ts'
import { pathTo, type SqlWalk } from '../store/lineage-walk.ts'
import type { EntityReference } from './read-entity.ts'

/**
 * For each result, a way to each of its places in the walk; start and end are both on it.
 * Throws LIMIT_EXCEEDED (pathEntitiesMaxCount): ways of deep graphs are long, and all of a page are in one answer.
 */
export async function readPaths(tx: Tx, start: EntityReference, walk: SqlWalk, placesOfResults: readonly (readonly number[])[]): Promise<EntityReference[][][]> {
  const maximum = limits.pathEntitiesMaxCount
  const total = placesOfResults.reduce((sum, places) => sum + places.reduce((own, place) => own + (walk.degrees[place] ?? 0) + 1, 0), 0)
  if (total > maximum) {
    throw new CatalogError('LIMIT_EXCEEDED', `the paths of this page have ${total} entities; at most ${maximum} are allowed: ask for fewer results, or leave paths out`,
      { field: 'input.count', limit: 'pathEntitiesMaxCount', maximum, actual: total })
  }
  const ways = placesOfResults.map((places) => places.map((place) => pathTo(walk, place)))
  const ids = new Set(ways.flatMap((own) => own.flatMap((way) => way.slice(1).map((place) => walk.ids[place] ?? 0))))
  const facts = await readEntityFacts(tx, [...ids], { urns: true, domains: false })
  const referenceTo = (place: number): EntityReference[] => {
    if (place < 0) return [start]
    const found = facts.get(walk.ids[place] ?? 0)
    return found ? [{ urn: found.urn, exists: found.exists }] : []
  }
  return ways.map((own) => own.map((way) => way.flatMap(referenceTo)))
}
