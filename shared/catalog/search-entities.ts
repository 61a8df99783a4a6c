/**
 * Searches for entities by words and filters: the best first, a page by number.
 *
 * A write that was acknowledged is found by the next search: documents are written in the transaction of the write, and
 * what is judged in memory is as fresh as every read of lineage.
 */
import { findEntitiesOf, type FoundEntities } from './find-entities.ts'
import { commonFacetsOf, type Facet } from './lineage-facets.ts'
import type { LineageReader } from './lineage-reader.ts'
import { pageStart } from './page-count.ts'
import type { EntityReference } from './read-entity.ts'
import { matchedFieldsOf } from './matched-fields.ts'
import type { MatchedField } from './entity-texts.ts'
import { checkEntityQuestion, type EntityQuestion, type EntitySearchInput } from './search-question.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'

/** What the caller will show; what is not wished for is not read. */
export type EntityWishes = { facets: boolean, matchedFields: boolean }

export type FoundEntity = { entity: Required<EntityReference>, matchedFields: MatchedField[] }

export type EntityPage = {
  total: number
  /** Whether the total and the counts of facets are estimates: more than searchExactMaxCount documents match. */
  isEstimate: boolean
  results: FoundEntity[]
  facets: Facet[] | null
}

/** Results beyond the first searchExactMaxCount of an estimated search are not on any page: a scroll has all of them. */
export async function searchEntities(sources: LineageSources, input: EntitySearchInput & { start?: number | null }, wishes: EntityWishes, defaultCount?: number): Promise<EntityPage & { start: number }> {
  const start = pageStart(input.start, 'input.start')
  const question = checkEntityQuestion(input, defaultCount)
  return withLineage(sources, async (reader) => {
    const found = await findEntitiesOf(reader, question, { ranked: true })
    return { start, ...await shownPage(reader, question, found, found.ids.subarray(start, start + question.count), wishes) }
  })
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
