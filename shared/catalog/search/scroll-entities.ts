/**
 * Scrolls through all results of a search, by id. An entity that matches from the first page to the last is
 * on exactly one of them, whatever is written in the meantime.
 */
import { firstAtLeast } from '../../model/first-index.ts'
import { CatalogError } from '../../errors.ts'
import { findEntitiesAfter, findEntitiesOf, type FindOptions } from './find-entities.ts'
import type { Counted } from '../lineage/lineage-facets.ts'
import { parseCursor, printCursor } from '../lineage/scroll-cursor.ts'
import { shownPage, unitsOf, type EntityPage, type EntityWishes, type SortInput } from './search-entities.ts'
import { checkEntityQuestion, type EntitySearchInput } from './search-question.ts'
import { withLineage, type LineageSources } from '../lineage/with-lineage.ts'

export type EntityScrollInput = EntitySearchInput & { scrollId?: string | null; sortInput?: SortInput | null }

/** A later page without facets counts nothing. */
const nothingCounted: Counted = {
  byClass: [],
  members: () => Promise.resolve({ ids: new Int32Array(0), share: 1 })
}

/**
 * `total` is the total of the first page. Throws as searchEntities does, and BAD_REQUEST for the scroll id of
 * another question, or another order.
 */
export async function scrollEntities(
  sources: LineageSources,
  input: EntityScrollInput,
  wishes: EntityWishes,
  options: FindOptions = {}
): Promise<EntityPage & { nextScrollId: string | null }> {
  const question = checkEntityQuestion(input)
  if (input.sortInput?.sortCriterion || input.sortInput?.sortCriteria?.length) {
    throw new CatalogError(
      'BAD_REQUEST',
      'input.sortInput: a scroll returns entities in the order in which they were first named; use searchAcrossEntities to sort',
      { field: 'input.sortInput' }
    )
  }
  const after =
    input.scrollId === null || input.scrollId === undefined
      ? null
      : parseCursor(input.scrollId, question.identity)
  return withLineage(
    sources,
    async (reader) => {
      const tallies = wishes.facets && question.wantsFacets
      const found =
        after && !tallies
          ? null
          : await findEntitiesOf(reader, question, { ranked: false, wantedCount: 0 }, options)
      const expected = after?.fingerprint ?? found?.total ?? 0
      const isEstimate = after ? after.degree === 1 : (found?.isEstimate ?? false)
      // `found.ids` has only the first ids of the result.
      const ids =
        found && !found.isEstimate && found.ids.length === found.total
          ? found.ids.subarray(after ? firstAtLeast(found.ids, after.id + 1) : 0)
          : await findEntitiesAfter(reader, question, after?.id ?? 0, {
              count: question.count + 1,
              total: expected
            })
      // If the first page is also the last, its length is the exact total.
      const total = isEstimate && !after && ids.length <= question.count ? ids.length : expected
      const page = ids.subarray(0, question.count)
      const last = page.at(-1)
      return {
        ...(await shownPage(
          reader,
          question,
          { total, isEstimate, counted: found?.counted ?? nothingCounted },
          page,
          wishes
        )),
        nextScrollId:
          ids.length > page.length && last !== undefined
            ? printCursor({ degree: isEstimate ? 1 : 0, id: last, fingerprint: total }, question.identity)
            : null
      }
    },
    { units: unitsOf(question, { facets: wishes.facets }) }
  )
}
