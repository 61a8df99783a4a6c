/**
 * Searches for entities by words and filters: the best first, a page by number.
 *
 * A write that was acknowledged is found by the next search: documents are written in the transaction of the write, and
 * what is judged in memory is as fresh as every read of lineage.
 */
import { limits } from '../limits.ts'
import { checkCount } from '../model/count-checks.ts'
import { folded } from '../model/search-words.ts'
import { findNearNames } from '../store/search-documents.ts'
import { asked, findEntitiesOf, type FindOptions, type FoundEntities } from './find-entities.ts'
import { commonFacetsOf, type Facet } from './lineage-facets.ts'
import type { LineageReader } from './lineage-reader.ts'
import { pageStart } from './page-count.ts'
import type { EntityReference } from './read-entity.ts'
import { matchedFieldsOf } from './matched-fields.ts'
import { namesOf, textAspectNames, type MatchedField } from './entity-texts.ts'
import { checkEntityQuestion, type EntityQuestion, type EntitySearchInput } from './search-question.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'

/** As clients send it. */
export type RankedSearchInput = EntitySearchInput & { start?: number | null, sortInput?: SortInput | null }
type SortInput = { sortCriterion?: SortCriterion | null, sortCriteria?: readonly SortCriterion[] | null }
type SortCriterion = { field: string, sortOrder: string }

/** What the caller will show; what is not wished for is not read. */
export type EntityWishes = { facets: boolean, matchedFields: boolean, suggestions?: boolean }

export type FoundEntity = { entity: Required<EntityReference>, matchedFields: MatchedField[] }

export type EntityPage = {
  total: number
  /** Whether the total and the counts of facets are estimates: more documents match than searchExactMaxCount. */
  isEstimate: boolean
  results: FoundEntity[]
  facets: Facet[] | null
}

/** Throws what checkEntityQuestion throws, BAD_REQUEST for a negative start, LIMIT_EXCEEDED (searchStartMaxCount), DEADLINE_EXCEEDED. */
export async function searchEntities(sources: LineageSources, input: RankedSearchInput, wishes: EntityWishes, options: FindOptions = {}): Promise<EntityPage & { start: number, suggestions: SearchSuggestion[] | null }> {
  const start = pageStart(input.start, 'input.start')
  const question = checkEntityQuestion(input)
  checkCount(start, 'searchStartMaxCount', { field: 'input.start', what: `input.start is ${start}` })
  return withLineage(sources, async (reader) => {
    const found = await findEntitiesOf(reader, question, { ...options, ranked: true, wantedCount: Math.max(start + question.count, input.sortInput ? sortedMaxCount : 0) })
    const ids = await inOrder(reader, found, input.sortInput)
    return {
      start,
      ...await shownPage(reader, question, found, ids.subarray(start, start + question.count), wishes),
      suggestions: wishes.suggestions && input.searchFlags?.getSuggestions === true ? await suggestionsFor(reader, question, found) : null
    }
  })
}

/** More than these are left in the order they were found in. */
const sortedMaxCount = limits.searchExactMaxCount

async function inOrder(reader: LineageReader, { ids, total, isEstimate }: FoundEntities, sort: SortInput | null | undefined): Promise<Int32Array> {
  const criterion = sort?.sortCriteria?.[0] ?? sort?.sortCriterion
  if (!criterion || isEstimate || ids.length < total || ids.length > sortedMaxCount || (criterion.field !== 'urn' && criterion.field !== 'name')) return ids
  const urnOf = await reader.urns(ids)
  const documentsOf = criterion.field === 'name' ? await reader.documents(ids, textAspectNames) : null
  const keyed = [...ids].map((id) => {
    const urn = urnOf(id)
    return { id, key: urn === null ? '' : documentsOf ? folded(namesOf(urn, documentsOf.get(id) ?? new Map())[0] ?? urn) : urn }
  })
  const sign = criterion.sortOrder === 'DESCENDING' ? -1 : 1
  return Int32Array.from(keyed.sort((a, b) => a.key === b.key ? a.id - b.id : a.key < b.key ? -sign : sign), ({ id }) => id)
}

export type SearchSuggestion = { text: string, score: number, frequency: number }

const suggestionsMaxCount = 5

/** Names that are nearly what nothing was found for. */
async function suggestionsFor(reader: LineageReader, { foldedText }: EntityQuestion, { total }: FoundEntities): Promise<SearchSuggestion[]> {
  if (total > 0 || foldedText === null || foldedText === '') return []
  const near = await asked(reader, (tx, within) => within(() => findNearNames(tx, foldedText, suggestionsMaxCount * 4)))
  const byName = new Map<string, SearchSuggestion>()
  for (const { name, score } of near) byName.set(name, { text: name, score: byName.get(name)?.score ?? score, frequency: (byName.get(name)?.frequency ?? 0) + 1 })
  return [...byName.values()].slice(0, suggestionsMaxCount)
}

export async function shownPage(reader: LineageReader, question: EntityQuestion, found: Omit<FoundEntities, 'ids'>, ids: Int32Array, wishes: EntityWishes): Promise<EntityPage> {
  return {
    total: found.total,
    isEstimate: found.isEstimate,
    results: await shownEntities(reader, question, ids, wishes),
    facets: wishes.facets && question.wantsFacets ? await commonFacetsOf(reader, found.tally, question.facetValuesMaxCount) : null
  }
}

/** An entity that has gone since its id was found is left out. */
async function shownEntities(reader: LineageReader, question: EntityQuestion, ids: Int32Array, wishes: EntityWishes): Promise<FoundEntity[]> {
  const classOf = await reader.classes(ids)
  const urnOf = await reader.urns(ids)
  const found = [...ids].flatMap((id) => {
    const urn = urnOf(id)
    return urn === null ? [] : [{ id, entity: { urn, exists: classOf(id)?.exists ?? false } }]
  })
  const matched = wishes.matchedFields && question.terms ? await matchedFieldsOf(reader, question.terms, found.map(({ id, entity }) => ({ id, urn: entity.urn }))) : new Map<number, MatchedField[]>()
  return found.map(({ id, entity }) => ({ entity, matchedFields: matched.get(id) ?? [] }))
}
