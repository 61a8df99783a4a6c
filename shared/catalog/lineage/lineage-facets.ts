/** Facets: counts of results by degree, platform, type, environment and domain. */
import { graphqlTypeOf } from '../../model/entity-types.ts'
import { degreeValues, type DegreeValue } from './filter-fields.ts'
import type { LineageReader } from './lineage-reader.ts'
import type { Tally } from './filter-hits.ts'

export type Facet = { field: string; displayName: string; aggregations: { value: string; count: number }[] }

/**
 * Degree is the first facet and shows all its values, as DataHub's clients expect. The others show their most
 * frequent values.
 */
export async function facetsOf(
  reader: LineageReader,
  tally: Tally,
  valuesMaxCount: number
): Promise<Facet[]> {
  const degrees = new Map<DegreeValue, number>(degreeValues.map((value) => [value, 0]))
  for (const { degree, count } of tally.byClass) add(degrees, degree, count)
  return [
    {
      field: 'degree',
      displayName: 'Degree of Dependencies',
      aggregations: [...degrees].map(([value, count]) => ({ value, count }))
    },
    ...(await commonFacetsOf(reader, tally, valuesMaxCount))
  ]
}

/** The facets of any results, the most frequent values first. */
export async function commonFacetsOf(
  reader: Pick<LineageReader, 'urns'>,
  { byClass }: Pick<Tally, 'byClass'>,
  valuesMaxCount: number
): Promise<Facet[]> {
  const [platforms, types, origins, domainIds] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<number, number>()
  ]
  for (const { entityClass, count } of byClass) {
    add(platforms, entityClass.platformUrn, count)
    add(types, graphqlTypeOf(entityClass.entityType), count)
    add(origins, entityClass.origin, count)
    add(domainIds, entityClass.domainId, count)
  }
  const urnOf = await reader.urns([...domainIds.keys()])
  const domains = new Map<string, number>()
  for (const [id, count] of domainIds) add(domains, urnOf(id), count)
  return [
    { field: 'platform', displayName: 'Platform', aggregations: frequentFirst(platforms, valuesMaxCount) },
    { field: '_entityType', displayName: 'Type', aggregations: frequentFirst(types, valuesMaxCount) },
    { field: 'origin', displayName: 'Environment', aggregations: frequentFirst(origins, valuesMaxCount) },
    { field: 'domains', displayName: 'Domain', aggregations: frequentFirst(domains, valuesMaxCount) }
  ]
}

function add<Key>(counts: Map<Key, number>, key: Key | null, count: number): void {
  if (key !== null) counts.set(key, (counts.get(key) ?? 0) + count)
}

const frequentFirst = (counts: ReadonlyMap<string, number>, valuesMaxCount: number): Facet['aggregations'] =>
  [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, valuesMaxCount)
