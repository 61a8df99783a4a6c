/**
 * Searches across lineage: everything that is reached from a start, filtered, nearest first, a page at a
 * time.
 *
 * Walk, filters, total and page are of one snapshot. While this process holds the first result of a scroll,
 * all its pages are of that snapshot; otherwise each page walks again. Results are ordered by (degree, id),
 * so a page continues where the last one ended, and says so if the results have changed.
 */
import type { WalkBounds } from '../../model/walk.ts'
import { findHits, placeAfter, sizeOf, walkBounds, type FoundHits } from './find-hits.ts'
import type { HeldResults } from './held-results.ts'
import { showPage, type PageWishes, type ShownPage } from './lineage-page.ts'
import type { LineageReader } from './lineage-reader.ts'
import { millisecondsSince, reportOf, type LineageReport } from './lineage-report.ts'
import { checkQuestion, unitsOfWalk, type ScrollInput, type ScrollQuestion } from './scroll-question.ts'
import { printCursor } from './scroll-cursor.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'

export type SearchPage = ShownPage & {
  total: number
  report: LineageReport
  /** Whether the page is from a held result of an earlier walk. */
  isCached: boolean
  /** Whether documents or URNs were read to find the results. */
  readsOwn: boolean
}

export type ScrollPage = SearchPage & { nextScrollId: string | null }

/**
 * One page. Throws what checkQuestion throws, NOT_FOUND for a start that does not exist, DEADLINE_EXCEEDED
 * after walkDeadlineMs, LIMIT_EXCEEDED if the paths of a page are too long.
 */
export async function scrollAcrossLineage(
  sources: LineageSources,
  input: ScrollInput,
  wishes: PageWishes,
  bounds: WalkBounds = walkBounds
): Promise<ScrollPage> {
  const startedAt = performance.now()
  const question = checkQuestion(input)
  const { after, identity, count, window } = question
  return withLineage(
    sources,
    async (reader) => {
      const held = await heldFor(sources.held, question, reader, wishes)
      const { found, begin, page } = await pageOf(reader, question, wishes, bounds, held, (hits) =>
        after === null ? 0 : placeAfter(hits, after)
      )
      const { fingerprint, total } = found.filtered
      const first = after?.fingerprint ?? fingerprint
      const end = begin + count
      if (end < total) sources.held?.hold(identity, first, found, sizeOf(found))
      return {
        ...page,
        nextScrollId:
          end < total ? printCursor({ ...lastOf(found, end), fingerprint: first }, identity) : null,
        total,
        isCached: found === held,
        readsOwn: found.filtered.readsOwn,
        report: {
          ...reportOnPage(question, found, reader, startedAt),
          ...(first === fingerprint ? {} : { changedSinceFirstPage: true })
        }
      }
    },
    { window, units: unitsOfWalk(question, wishes) }
  )
}

/** The report of a page, in the shape of `extensions.lineage`. */
export const reportOnPage = (
  question: ScrollQuestion,
  { walk }: FoundHits,
  { engine }: LineageReader,
  startedAt: number
): LineageReport => ({
  ...reportOf(walk, engine, startedAt, question.window),
  ms: millisecondsSince(startedAt),
  ...(question.withoutEffect.length > 0 ? { withoutEffect: question.withoutEffect } : {})
})

/**
 * The held result that may answer, or null. It must be of this run of the database, because in a restored
 * database its ids may belong to other entities. Paths are looked up in the present graph, so the result must
 * be of a walk on that graph. A first page must be as fresh as a new walk: of the present graph, and filtered
 * only by facts in it.
 */
export async function heldFor(
  held: HeldResults<FoundHits> | undefined,
  question: ScrollQuestion,
  reader: LineageReader,
  wishes: PageWishes
): Promise<FoundHits | null> {
  const { after, identity, usesHeld } = question
  const found = after
    ? held?.ofScroll(identity, after.fingerprint)
    : usesHeld
      ? held?.ofQuestion(identity)
      : null
  if (!found) return null
  const isCurrent = found.version !== null && found.version === reader.version
  const mayAnswer = after ? isCurrent || !wishes.paths : isCurrent && !found.filtered.readsOwn
  // Checked last, because in SQL it takes a query.
  return mayAnswer && found.epoch === (await reader.epoch()) ? found : null
}

/** A page of the held result; if that can no longer be shown, a page of a new walk. */
export async function pageOf(
  reader: LineageReader,
  question: ScrollQuestion,
  wishes: PageWishes,
  bounds: WalkBounds,
  held: FoundHits | null,
  beginIn: (found: FoundHits) => number
): Promise<{ found: FoundHits; begin: number; page: ShownPage }> {
  const shown = held && (await showPage(reader, question, held, beginIn(held), wishes))
  if (held && shown) return { found: held, begin: beginIn(held), page: shown }
  const found = await findHits(reader, question, bounds)
  const begin = beginIn(found)
  const page = await showPage(reader, question, found, begin, wishes)
  if (!page) throw new Error('an entity that was just reached has no URN')
  return { found, begin, page }
}

/** Degree and id of the last result before an index. */
function lastOf({ hits, filtered }: FoundHits, end: number): { degree: number; id: number } {
  const index = filtered.kept?.[end - 1] ?? end - 1
  return { degree: hits.degrees[index] ?? 0, id: hits.ids[index] ?? 0 }
}
