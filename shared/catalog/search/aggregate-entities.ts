/**
 * Counts the results of a search by the values of fields. Each facet is counted without the filters on its own field, so
 * that the values beside a chosen one stay.
 */
import { findEntitiesOf, type FindOptions } from './find-entities.ts'
import { entityFilterFields } from '../lineage/filter-fields.ts'
import { checkFacets, countFacets, readsDocuments, type Facet } from '../lineage/lineage-facets.ts'
import type { FilterGroupInput } from '../lineage/lineage-filters.ts'
import { unitsOf } from './search-entities.ts'
import { checkEntityQuestion, type EntitySearchInput } from './search-question.ts'
import { withLineage, type LineageSources } from '../lineage/with-lineage.ts'

/** The input as clients send it. */
export type AggregationInput = Pick<EntitySearchInput, 'types' | 'query' | 'orFilters' | 'searchFlags'> & {
  facets?: readonly string[] | null
}

/**
 * The facets in the order in which they were asked for. Throws what checkEntityQuestion throws, BAD_REQUEST for a field
 * without facets, and DEADLINE_EXCEEDED.
 */
export async function aggregateEntities(
  sources: LineageSources,
  { facets: wanted, ...input }: AggregationInput,
  options: FindOptions = {}
): Promise<Facet[]> {
  const names = checkFacets(wanted, 'input.facets')
  checkEntityQuestion({ ...input, count: 0 })
  const alike = new Map<string, string[]>()
  for (const name of names) {
    const groups = JSON.stringify(withoutField(input.orFilters, name))
    alike.set(groups, [...(alike.get(groups) ?? []), name])
  }
  const questions = [...alike.values()].map((fields) => ({
    fields,
    question: checkEntityQuestion({
      ...input,
      count: 0,
      orFilters: withoutField(input.orFilters, fields[0] ?? '')
    })
  }))
  return withLineage(
    sources,
    async (reader) => {
      const found = new Map<string, Facet>()
      for (const { question, fields } of questions) {
        const { counted } = await findEntitiesOf(reader, question, { ranked: false, wantedCount: 0 }, options)
        for (const facet of await countFacets(
          reader,
          counted,
          fields,
          question.facetValuesMaxCount,
          options.exactMaxCount
        ))
          found.set(facet.field, facet)
      }
      return names.flatMap((name) => found.get(name) ?? [])
    },
    {
      units: questions.reduce(
        (sum, { question, fields }) =>
          sum + unitsOf(question, { facets: true, readsDocuments: fields.some(readsDocuments) }),
        0
      )
    }
  )
}

/** A group of filters on nothing but the field keeps everything. */
const withoutField = (
  groups: readonly FilterGroupInput[] | null | undefined,
  name: string
): FilterGroupInput[] | null =>
  groups?.map(({ and }) => ({
    and: (and ?? []).filter(({ field }) => entityFilterFields.get(field) !== entityFilterFields.get(name))
  })) ?? null
