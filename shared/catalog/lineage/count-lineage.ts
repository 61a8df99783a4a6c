/** Counts what a search across lineage would return, by degree, type, platform and domain, without listing it. */
import { limits } from '../../limits.ts'
import { graphqlTypeOf } from '../../model/entity-types.ts'
import type { WalkBounds } from '../../model/walk.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import { referencesOf } from './entity-references.ts'
import { degreeValues, type DegreeValue } from './filter-fields.ts'
import { findHits, walkBounds, type FoundHits } from './find-hits.ts'
import { countedHits, countFacets } from './lineage-facets.ts'
import type { LineageReader } from './lineage-reader.ts'
import { millisecondsSince, reportOf, type LineageReport } from './lineage-report.ts'
import type { EntityReference } from './read-entity.ts'
import { checkQuestion, unitsOfWalk, type ScrollInput } from './scroll-question.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'

/** The input as clients send it: that of a search, without pages. */
export type LineageCountsInput = Omit<ScrollInput, 'scrollId' | 'count' | 'pathsPerResult'>

export type LineageCounts = {
  total: number
  /** Counts by the three values of the filter, and by exact degree. */
  degrees: { degree: DegreeValue; count: number }[]
  exactDegrees: { degree: number; count: number }[]
  /** The most frequent first. Platform and domain are null for entities without one. */
  types: { type: string; count: number }[]
  platforms: { platform: { urn: Urn } | null; count: number }[]
  domains: { domain: EntityReference | null; count: number }[]
  report: LineageReport
}

/** Throws what scrollAcrossLineage throws for the same input. */
export async function countLineage(
  sources: LineageSources,
  input: LineageCountsInput,
  bounds: WalkBounds = walkBounds
): Promise<LineageCounts> {
  const startedAt = performance.now()
  const question = checkQuestion(input)
  return withLineage(
    sources,
    async (reader) => {
      const found = await findHits(reader, question, bounds)
      const {
        walk,
        filtered: { total, tally }
      } = found
      const [degrees, types, domainIds] = [
        new Map<DegreeValue, number>(degreeValues.map((value) => [value, 0])),
        new Map<string, number>(),
        new Map<number | null, number>()
      ]
      for (const { entityClass, degree, count } of tally.byClass) {
        if (degree !== null) add(degrees, degree, count)
        add(types, graphqlTypeOf(entityClass.entityType), count)
        add(domainIds, entityClass.domainId, count)
      }
      const domains = frequentFirst(domainIds, (id) => id ?? 0)
      const domainOf = await referencesOf(
        reader,
        domains.flatMap(({ value }) => value ?? [])
      )
      return {
        total,
        degrees: [...degrees].map(([degree, count]) => ({ degree, count })),
        exactDegrees: tally.byDegree.flatMap((count, degree) => (count > 0 ? [{ degree, count }] : [])),
        types: frequentFirst(types, (type) => type).map(({ value, count }) => ({ type: value, count })),
        platforms: frequentFirst(await platformsOf(reader, found), (urn) => urn ?? '').map(
          ({ value, count }) => ({ platform: value === null ? null : { urn: value }, count })
        ),
        domains: domains.map(({ value, count }) => ({
          domain: value === null ? null : domainOf(value),
          count
        })),
        report: {
          ...reportOf(walk, reader.engine, startedAt, question.window),
          ms: millisecondsSince(startedAt),
          ...(question.withoutEffect.length > 0 ? { withoutEffect: question.withoutEffect } : {})
        }
      }
    },
    { window: question.window, units: 2 + unitsOfWalk(question, { facets: false, paths: false }) }
  )
}

/** Counts by platform, as the facet does; null stands for entities without one. */
async function platformsOf(reader: LineageReader, found: FoundHits): Promise<Map<Urn | null, number>> {
  const [facet] = await countFacets(reader, countedHits(reader, found), ['platform'], Infinity)
  const counts = new Map<Urn | null, number>(
    facet?.aggregations.map(({ value, count }) => [toUrn(value), count])
  )
  const rest = found.filtered.total - [...counts.values()].reduce((sum, count) => sum + count, 0)
  return rest > 0 ? counts.set(null, rest) : counts
}

const add = <Value>(counts: Map<Value, number>, value: Value, count: number): void => {
  counts.set(value, (counts.get(value) ?? 0) + count)
}

/** At most pageMaxCount values. Equal counts are in the order of their texts or ids. */
const frequentFirst = <Value>(
  counts: ReadonlyMap<Value, number>,
  placeOf: (value: Value) => string | number
): { value: Value; count: number }[] =>
  [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (placeOf(a.value) < placeOf(b.value) ? -1 : 1))
    .slice(0, limits.pageMaxCount)
