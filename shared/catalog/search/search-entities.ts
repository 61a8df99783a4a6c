/**
 * Searches for entities by words and filters: the best first, paged by offset.
 *
 * The next search finds every acknowledged write: documents are written in the transaction of the write, and
 * filters in memory use the same fresh graph as lineage.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { checkCount } from '../../model/count-checks.ts'
import { folded } from '../../model/search-words.ts'
import { readLastChanges } from '../../store/entity-reads.ts'
import { findNearNames } from '../../store/search-documents.ts'
import { asked, findEntitiesOf, type FindOptions, type FoundEntities } from './find-entities.ts'
import { filterValueCount } from '../lineage/lineage-filters.ts'
import { countFacets, type Facet } from '../lineage/lineage-facets.ts'
import type { LineageReader } from '../lineage/lineage-reader.ts'
import { pageStart } from '../entities/page-count.ts'
import type { EntityReference } from '../lineage/read-entity.ts'
import { matchedFieldsOf } from './matched-fields.ts'
import { namesOf, textAspectNames, type MatchedField } from '../entities/entity-texts.ts'
import { searchUnits } from '../lineage/read-work.ts'
import { checkEntityQuestion, type EntityQuestion, type EntitySearchInput } from './search-question.ts'
import { withLineage, type LineageSources } from '../lineage/with-lineage.ts'

/** The input as clients send it. */
export type RankedSearchInput = EntitySearchInput & { start?: number | null; sortInput?: SortInput | null }
export type SortInput = {
  sortCriterion?: SortCriterion | null
  sortCriteria?: readonly SortCriterion[] | null
}
type SortCriterion = { field: string; sortOrder: string }

/** Parts that the caller shows; the others are not read. */
export type EntityWishes = { facets: boolean; matchedFields: boolean; suggestions?: boolean }

type FoundEntity = { entity: Required<EntityReference>; matchedFields: MatchedField[] }

export type EntityPage = {
  total: number
  /**
   * Whether the total and the counts of facets are estimates, because more than searchExactMaxCount documents
   * match.
   */
  isEstimate: boolean
  results: FoundEntity[]
  facets: Facet[] | null
}

/**
 * Throws what checkEntityQuestion throws, BAD_REQUEST for a negative start or an unknown order,
 * LIMIT_EXCEEDED (searchStartMaxCount; searchExactMaxCount if more are to be sorted), DEADLINE_EXCEEDED.
 */
export async function searchEntities(
  sources: LineageSources,
  input: RankedSearchInput,
  wishes: EntityWishes,
  options: FindOptions = {}
): Promise<EntityPage & { start: number; suggestions: SearchSuggestion[] | null }> {
  const start = pageStart(input.start, 'input.start')
  const question = checkEntityQuestion(input)
  checkCount(start, 'searchStartMaxCount', { field: 'input.start', what: `input.start is ${start}` })
  const criteria = sortCriteriaOf(input.sortInput)
  const units = unitsOf(question, { isSorted: criteria.length > 0, facets: wishes.facets })
  return withLineage(
    sources,
    async (reader) => {
      const wantedCount = Math.max(start + question.count, criteria.length > 0 ? sortedMaxCount + 1 : 0)
      const found = await findEntitiesOf(reader, question, { ranked: true, wantedCount }, options)
      const ids = criteria.length > 0 ? await inOrder(reader, found, criteria) : found.ids
      return {
        start,
        ...(await shownPage(reader, question, found, ids.subarray(start, start + question.count), wishes)),
        suggestions:
          wishes.suggestions && input.searchFlags?.getSuggestions === true
            ? await suggestionsFor(reader, question, found)
            : null
      }
    },
    { units }
  )
}

/** What the search costs. */
export const unitsOf = (
  question: EntityQuestion,
  {
    isSorted = false,
    facets,
    readsDocuments = false
  }: {
    isSorted?: boolean
    facets: boolean
    /** Whether the documents of the results are read. */
    readsDocuments?: boolean
  }
): number =>
  searchUnits({
    wordCount: question.terms?.length ?? 0,
    filterValueCount: filterValueCount(question.allFilters),
    isSorted,
    facets: facets && question.wantsFacets,
    readsAll: readsDocuments || readsAll(question)
  })

/** Whether no index tells which entities fit the filters on their own facts. */
const readsAll = ({ words, urn, filters }: EntityQuestion): boolean =>
  words === null && urn === null && filters.some((group) => group.some(({ field }) => 'ownValuesOf' in field))

/** Digits of a time in milliseconds, so that times are in the order of their texts. */
const millisDigits = 15
const sortedMaxCount = limits.searchExactMaxCount
/** Entities whose documents are in memory at once. */
const documentsSliceCount = 500
const sortFields = ['name', 'urn', 'lastModifiedAt']

/** Throws BAD_REQUEST for a field that results cannot be sorted by. */
function sortCriteriaOf(sort: SortInput | null | undefined): readonly SortCriterion[] {
  const criteria = sort?.sortCriteria?.length
    ? sort.sortCriteria
    : sort?.sortCriterion
      ? [sort.sortCriterion]
      : []
  const unknown = criteria.find(({ field }) => !sortFields.includes(field))
  if (unknown)
    throw new CatalogError('BAD_REQUEST', `input.sortInput: results cannot be sorted by ${unknown.field}`, {
      field: 'input.sortInput',
      allowed: sortFields
    })
  return criteria
}

/** Sorts the results. Throws LIMIT_EXCEEDED if there are too many. */
async function inOrder(
  reader: LineageReader,
  { ids, total }: FoundEntities,
  criteria: readonly SortCriterion[]
): Promise<Int32Array> {
  checkCount(total, 'searchExactMaxCount', {
    field: 'input.sortInput',
    what: `input.sortInput is for ${total} results`
  })
  const keyed: { id: number; keys: string[] }[] = []
  for (let begin = 0; begin < ids.length; begin += documentsSliceCount) {
    const slice = ids.subarray(begin, begin + documentsSliceCount)
    const urnOf = await reader.urns(slice)
    const documentsOf = criteria.some(({ field }) => field === 'name')
      ? await reader.documents(slice, textAspectNames)
      : null
    const changedOf = criteria.some(({ field }) => field === 'lastModifiedAt')
      ? await asked(reader, (tx, within) => within(() => readLastChanges(tx, slice)))
      : null
    const sortKeyOf = (id: number, { field }: SortCriterion): string => {
      const urn = urnOf(id)
      if (field === 'lastModifiedAt') return String(changedOf?.get(id) ?? 0).padStart(millisDigits, '0')
      return urn === null
        ? ''
        : field === 'name'
          ? folded(namesOf(urn, documentsOf?.get(id) ?? new Map())[0] ?? urn)
          : urn
    }
    for (const id of slice) keyed.push({ id, keys: criteria.map((criterion) => sortKeyOf(id, criterion)) })
    await reader.pause()
  }
  const signs = criteria.map(({ sortOrder }) => (sortOrder === 'DESCENDING' ? -1 : 1))
  return Int32Array.from(
    keyed.sort((a, b) => {
      const at = signs.findIndex((_, index) => a.keys[index] !== b.keys[index])
      return at < 0
        ? a.id - b.id
        : (a.keys[at] ?? '') < (b.keys[at] ?? '')
          ? -(signs[at] ?? 1)
          : (signs[at] ?? 1)
    }),
    ({ id }) => id
  )
}

export type SearchSuggestion = { text: string; score: number; frequency: number }

const suggestionsMaxCount = 5

/** Names similar to the text of a search without results. */
async function suggestionsFor(
  reader: LineageReader,
  { foldedText }: EntityQuestion,
  { total }: FoundEntities
): Promise<SearchSuggestion[]> {
  if (total > 0 || foldedText === null || foldedText === '') return []
  const near = await asked(reader, (tx, within) =>
    within(() => findNearNames(tx, foldedText, suggestionsMaxCount * 4))
  )
  const byName = new Map<string, SearchSuggestion>()
  for (const { name, score } of near)
    byName.set(name, {
      text: name,
      score: byName.get(name)?.score ?? score,
      frequency: (byName.get(name)?.frequency ?? 0) + 1
    })
  return [...byName.values()].slice(0, suggestionsMaxCount)
}

export async function shownPage(
  reader: LineageReader,
  question: EntityQuestion,
  found: Omit<FoundEntities, 'ids'>,
  ids: Int32Array,
  wishes: EntityWishes
): Promise<EntityPage> {
  return {
    total: found.total,
    isEstimate: found.isEstimate,
    results: await shownEntities(reader, question, ids, wishes),
    facets:
      wishes.facets && question.wantsFacets
        ? await countFacets(reader, found.counted, undefined, question.facetValuesMaxCount)
        : null
  }
}

/** Entities that were deleted after their ids were found are left out. */
async function shownEntities(
  reader: LineageReader,
  question: EntityQuestion,
  ids: Int32Array,
  wishes: EntityWishes
): Promise<FoundEntity[]> {
  const classOf = await reader.classes(ids)
  const urnOf = await reader.urns(ids)
  const found = [...ids].flatMap((id) => {
    const urn = urnOf(id)
    return urn === null ? [] : [{ id, entity: { urn, exists: classOf(id)?.exists ?? false } }]
  })
  const matched =
    wishes.matchedFields && question.terms
      ? await matchedFieldsOf(
          reader,
          question.terms,
          found.map(({ id, entity }) => ({ id, urn: entity.urn }))
        )
      : new Map<number, MatchedField[]>()
  return found.map(({ id, entity }) => ({ entity, matchedFields: matched.get(id) ?? [] }))
}
