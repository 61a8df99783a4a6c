/** Counts of results by degree, platform, type and environment. */
import { graphqlTypeOf } from '../model/entity-types.ts'
import { originOf, platformOf } from '../urn/kinds.ts'
import { degreeValueOf, degreeValues, type Candidate } from './filter-fields.ts'

export type Facet = { field: string, displayName: string, aggregations: { value: string, count: number }[] }

/** Adds results one by one; degree is the first facet and shows all its values, as DataHub's clients expect. */
export function facetCounter(valuesMaxCount: number) {
  const degrees = new Map<string, number>(degreeValues.map((value) => [value, 0]))
  const [platforms, types, origins] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()]
  const count = (counts: Map<string, number>, value: string | null) => { if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1) }
  const frequentFirst = (counts: Map<string, number>) => [...counts]
    .map(([value, number]) => ({ value, count: number }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, valuesMaxCount)
  return {
    add: ({ urn, entityType, degree }: Candidate): void => {
      count(degrees, degreeValueOf(degree))
      count(platforms, platformOf(urn))
      count(types, graphqlTypeOf(entityType))
      count(origins, originOf(urn))
    },
    facets: (): Facet[] => [
      { field: 'degree', displayName: 'Degree of Dependencies', aggregations: [...degrees].map(([value, number]) => ({ value, count: number })) },
      { field: 'platform', displayName: 'Platform', aggregations: frequentFirst(platforms) },
      { field: '_entityType', displayName: 'Type', aggregations: frequentFirst(types) },
      { field: 'origin', displayName: 'Environment', aggregations: frequentFirst(origins) }
    ]
  }
}
