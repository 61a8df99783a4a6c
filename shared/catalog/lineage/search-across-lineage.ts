/**
 * Searches across lineage by offset: a page begins after a number of results of a new walk, or of a held one
 * that is still valid.
 */
import type { WalkBounds } from '../../model/walk.ts'
import { sizeOf, walkBounds } from './find-hits.ts'
import { mergedGroups, type FacetFilterInput } from './lineage-filters.ts'
import type { PageWishes } from './lineage-page.ts'
import { pageStart } from '../entities/page-count.ts'
import { heldFor, pageOf, reportOnPage, type SearchPage } from './scroll-across-lineage.ts'
import { checkQuestion, unitsOfWalk, type ScrollInput } from './scroll-question.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'

/** The input as clients send it. `filters`, DataHub's older form, must match in addition to the groups. */
export type SearchInput = Omit<ScrollInput, 'scrollId'> & {
  start?: number | null
  filters?: readonly FacetFilterInput[] | null
  viewUrn?: string | null
  sortInput?: object | null
}

/** Throws what scrollAcrossLineage throws, and BAD_REQUEST for a negative start. */
export async function searchAcrossLineage(
  sources: LineageSources,
  input: SearchInput,
  wishes: PageWishes,
  bounds: WalkBounds = walkBounds
): Promise<SearchPage & { start: number }> {
  const startedAt = performance.now()
  const start = pageStart(input.start, 'input.start')
  const { filters, orFilters, ...others } = input
  const question = checkQuestion({ ...others, orFilters: mergedGroups(orFilters, filters) }, 0)
  const withoutEffect = [
    ...question.withoutEffect,
    ...(['viewUrn', 'sortInput'] as const).filter((name) => input[name] !== null && input[name] !== undefined)
  ]
  return withLineage(
    sources,
    async (reader) => {
      const held = await heldFor(sources.held, question, reader, wishes)
      const { found, page } = await pageOf(reader, question, wishes, bounds, held, () => start)
      const { fingerprint, total, readsOwn } = found.filtered
      if (start + question.count < total)
        sources.held?.hold(question.identity, fingerprint, found, sizeOf(found))
      return {
        ...page,
        start,
        total,
        isCached: found === held,
        readsOwn,
        report: reportOnPage({ ...question, withoutEffect }, found, reader, startedAt)
      }
    },
    { window: question.window, units: unitsOfWalk(question, wishes) }
  )
}
