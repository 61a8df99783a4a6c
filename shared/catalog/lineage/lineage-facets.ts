/**
 * Facets: counts of results by degree, and by the values of fields that results can be filtered by. A count is what the
 * filter by that value would leave.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { graphqlTypeOf } from '../../model/entity-types.ts'
import {
  degreeValues,
  entityFilterFields,
  type Candidate,
  type DegreeValue,
  type FilterField
} from './filter-fields.ts'
import { factsOf, type Tally } from './filter-hits.ts'
import type { FoundHits } from './find-hits.ts'
import type { EntityClass, LineageReader } from './lineage-reader.ts'

export type Facet = {
  field: string
  displayName: string
  aggregations: { value: string; count: number }[]
  /** Whether the counts are estimates. */
  isEstimate: boolean
}

/** The results that are counted. */
export type Counted = Pick<Tally, 'byClass'> & {
  /** Those of some classes; each stands for `share` results. */
  members: (keeps: (entityClass: EntityClass) => boolean) => Promise<{ ids: Int32Array; share: number }>
}

type FacetField = {
  displayName: string
  /** Absent if no fact that results share tells the value. */
  commonValueOf?: (facts: EntityClass) => string | number | null
}

/** By the names of the fields in filters. */
const facetFields: ReadonlyMap<string, FacetField> = new Map<string, FacetField>([
  ['platform', { displayName: 'Platform', commonValueOf: ({ platformUrn }) => platformUrn }],
  ['_entityType', { displayName: 'Type', commonValueOf: ({ entityType }) => graphqlTypeOf(entityType) }],
  ['origin', { displayName: 'Environment', commonValueOf: ({ origin }) => origin }],
  ['domains', { displayName: 'Domain', commonValueOf: ({ domainId }) => domainId }],
  ['owners', { displayName: 'Owner' }],
  ['tags', { displayName: 'Tag' }],
  ['glossaryTerms', { displayName: 'Term' }],
  ['typeNames', { displayName: 'Subtype' }],
  ['container', { displayName: 'Container' }],
  ['platformInstance', { displayName: 'Platform instance' }]
])

/** The facets that every search counts: they need no documents of most results. */
const commonFacets = ['platform', '_entityType', 'origin', 'domains']

/**
 * The names of the facets that a client asks for; all of them if it names none. Throws BAD_REQUEST for an unknown one.
 */
export function checkFacets(names: readonly string[] | null | undefined, place: string): string[] {
  const allowed = [...facetFields.keys()]
  const unknown = names?.findIndex((name) => !facetFields.has(name)) ?? -1
  if (unknown >= 0)
    throw new CatalogError('BAD_REQUEST', `${place}[${unknown}] is not a field that has facets`, {
      field: `${place}[${unknown}]`,
      allowed
    })
  return names && names.length > 0 ? [...new Set(names)] : allowed
}

/** Whether the values of a facet are only in the documents of each result. */
export const readsDocuments = (name: string): boolean => facetFields.get(name)?.commonValueOf === undefined

/**
 * Degree is the first facet and shows all its values, as DataHub's clients expect. The others show their most
 * frequent values.
 */
export async function facetsOf(
  reader: LineageReader,
  counted: Counted,
  valuesMaxCount: number
): Promise<Facet[]> {
  const degrees = new Map<DegreeValue, number>(degreeValues.map((value) => [value, 0]))
  for (const { degree, count } of counted.byClass) if (degree !== null) add(degrees, degree, count)
  return [
    {
      field: 'degree',
      displayName: 'Degree of Dependencies',
      aggregations: [...degrees].map(([value, count]) => ({ value, count })),
      isEstimate: false
    },
    ...(await countFacets(reader, counted, commonFacets, valuesMaxCount))
  ]
}

/** What is counted for one facet. */
type Count = FacetField & {
  name: string
  field: FilterField
  counts: Map<string | number, number>
  isEstimate: boolean
}

/** The facets of any results, the most frequent values first. */
export async function countFacets(
  reader: FactsReader,
  counted: Counted,
  names: readonly string[] = commonFacets,
  valuesMaxCount: number = limits.pageMaxCount,
  /** Overrides limits.ts in tests. */
  exactMaxCount: number = limits.searchExactMaxCount
): Promise<Facet[]> {
  const all = names.flatMap((name): Count[] => {
    const [facet, field] = [facetFields.get(name), entityFilterFields.get(name)]
    return facet && field ? [{ ...facet, name, field, counts: new Map(), isEstimate: false }] : []
  })
  for (const { entityClass, count } of counted.byClass)
    for (const { commonValueOf, counts } of all) {
      const value = commonValueOf?.(entityClass) ?? null
      if (value !== null) add(counts, value, count)
    }
  await countOwnValues(reader, counted, all, exactMaxCount)
  const facets: Facet[] = []
  for (const { name, displayName, counts, isEstimate } of all) {
    const first = frequentFirst(name === 'domains' ? await urnsOf(reader, counts) : counts, valuesMaxCount)
    facets.push({ field: name, displayName, aggregations: first, isEstimate })
  }
  return facets
}

type FactsReader = Pick<LineageReader, 'urns' | 'classes' | 'documents' | 'pause'>

const documentsPerSlice = 500

/**
 * Counts the values in the documents of results. Of more than searchExactMaxCount results every nth is read, and the
 * counts are estimates.
 */
async function countOwnValues(
  reader: FactsReader,
  counted: Counted,
  all: readonly Count[],
  exactMaxCount: number
): Promise<void> {
  const open = all.filter((count) => counted.byClass.some(({ entityClass }) => isOpen(count, entityClass)))
  if (open.length === 0) return
  const { ids, share } = await counted.members((entityClass) =>
    open.some((count) => isOpen(count, entityClass))
  )
  const step = Math.max(1, ids.length / exactMaxCount)
  const read = Int32Array.from(
    { length: Math.floor(ids.length / step) },
    (_, index) => ids[Math.floor(index * step)] ?? 0
  )
  const aspectNames = [...new Set(open.flatMap(({ field }) => aspectNamesOf(field)))]
  const found = new Map(open.map((count) => [count, new Map<string, number>()]))
  for (let begin = 0; begin < read.length; begin += documentsPerSlice) {
    const slice = read.subarray(begin, begin + documentsPerSlice)
    const [classOf, urnOf] = [await reader.classes(slice), await reader.urns(slice)]
    const documentsOf = await reader.documents(slice, aspectNames)
    for (const id of slice) {
      const [entityClass, urn] = [classOf(id), urnOf(id)]
      if (entityClass === null || urn === null) continue
      const candidate: Candidate = {
        common: factsOf(entityClass, 0),
        urn,
        documents: documentsOf.get(id) ?? new Map(),
        hasEdges: null
      }
      for (const [count, values] of found)
        if (isOpen(count, entityClass))
          for (const value of ownValuesOf(count, candidate)) add(values, value, 1)
    }
    await reader.pause()
  }
  const weight = share * step
  for (const [count, values] of found) {
    count.isEstimate = weight > 1
    for (const [value, times] of values) add(count.counts, value, Math.round(times * weight))
  }
}

/** Whether the documents of entities of a class tell the value. */
function isOpen({ commonValueOf, field }: Count, entityClass: EntityClass): boolean {
  if (commonValueOf === undefined) return true
  return (
    'commonValuesOf' in field &&
    (field.own?.entityTypes.has(entityClass.entityType) ?? false) &&
    commonValueOf(entityClass) === null
  )
}

const aspectNamesOf = (field: FilterField): readonly string[] =>
  'aspectNames' in field ? field.aspectNames : (field.own?.aspectNames ?? [])

/** Each value once, a platform by its URN, which is the first of its names. */
function ownValuesOf({ name, field }: Count, candidate: Candidate): Set<string> {
  const values =
    'ownValuesOf' in field ? field.ownValuesOf(candidate) : (field.own?.valuesOf(candidate.documents) ?? [])
  return new Set(name === 'platform' ? values.slice(0, 1) : values)
}

/** Counts by the URNs of entities instead of their ids. */
async function urnsOf(
  reader: Pick<LineageReader, 'urns'>,
  counts: ReadonlyMap<string | number, number>
): Promise<Map<string, number>> {
  const urnOf = await reader.urns([...counts.keys()].map(Number))
  const byUrn = new Map<string, number>()
  for (const [id, count] of counts) {
    const urn = urnOf(Number(id))
    if (urn !== null) add(byUrn, urn, count)
  }
  return byUrn
}

function add<Key>(counts: Map<Key, number>, key: Key, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count)
}

const frequentFirst = (
  counts: ReadonlyMap<string | number, number>,
  valuesMaxCount: number
): Facet['aggregations'] =>
  [...counts]
    .map(([value, count]) => ({ value: String(value), count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, valuesMaxCount)

/** The kept results of a walk. */
export const countedHits = (
  reader: Pick<LineageReader, 'classGroups' | 'pause'>,
  { hits, filtered: { kept, tally } }: Pick<FoundHits, 'hits' | 'filtered'>
): Counted => ({
  byClass: tally.byClass,
  members: async (keeps) => ({
    ids: await idsOfClasses(reader, kept ? kept.map((index) => hits.ids[index] ?? 0) : hits.ids, keeps),
    share: 1
  })
})

/** Hits whose classes are looked up between two turns of the event loop. */
const hitsPerSlice = 16_384

/** Those of some entities that are of some classes. */
export async function idsOfClasses(
  reader: Pick<LineageReader, 'classGroups' | 'pause'>,
  ids: Int32Array,
  keeps: (entityClass: EntityClass) => boolean
): Promise<Int32Array> {
  const kept = new Int32Array(ids.length)
  let count = 0
  for (let begin = 0; begin < ids.length; begin += hitsPerSlice) {
    const { numbers, groups } = await reader.classGroups(ids.subarray(begin, begin + hitsPerSlice))
    const isKept = new Set(
      groups.flatMap(({ number, entityClass }) => (entityClass && keeps(entityClass) ? [number] : []))
    )
    for (const [at, number] of numbers.entries())
      if (isKept.has(number)) {
        kept[count] = ids[begin + at] ?? 0
        count += 1
      }
    await reader.pause()
  }
  return kept.subarray(0, count)
}
