/**
 * Rows 7 and 8: all pages of an asset with 100,000 neighbours on each side; an asset without lineage; a
 * start that does not exist.
 */
import { heldResultsBounds, holdResults } from '../../shared/catalog/lineage/held-results.ts'
import { scrollAcrossLineage, type ScrollPage } from '../../shared/catalog/lineage/scroll-across-lineage.ts'
import type { LineageSources } from '../../shared/catalog/lineage/with-lineage.ts'
import { CatalogError } from '../../shared/errors.ts'
import type { LineageDirection } from '../../shared/model/walk.ts'
import { toUrn, type Urn } from '../../shared/urn/urn.ts'
import type { BenchPostgres } from './bench-database.ts'
import { noEdges, onlyDatasets, type BenchGraph } from './graphs.ts'
import { loadIntoCatalog } from './load-graph.ts'
import { median, timed } from './measure.ts'
import { openMemory } from './memory-walks.ts'

const fanCount = 100_000
const firstPageCount = 100
const pageCount = 1_000
const runs = 9
const emptyRuns = 101

/** Node 0 is the asset in the middle; the last node has no edges. */
const fanGraph: BenchGraph = {
  ...onlyDatasets,
  name: 'fan',
  assetCount: 2 * fanCount + 2,
  columnCount: 0,
  columnEdges: noEdges,
  picks: [],
  edges: {
    upstream: Int32Array.from({ length: 2 * fanCount }, (_, index) => (index < fanCount ? index + 1 : 0)),
    downstream: Int32Array.from({ length: 2 * fanCount }, (_, index) => (index < fanCount ? 0 : index + 1))
  },
  urnOf: (node) =>
    toUrn(
      `urn:li:dataset:(urn:li:dataPlatform:snowflake,warehouse.analytics.a_table_of_ordinary_length_${node},PROD)`
    )
}

export type FanRow = {
  direction: LineageDirection
  total: number
  firstPageMs: number
  pages: number
  medianPageMs: number
  slowestPageMs: number
  wholeMs: number
}

export type EmptyRow = { start: string; medianMs: number; slowestMs: number }

export async function benchFans(postgres: BenchPostgres): Promise<{ fans: FanRow[]; empty: EmptyRow[] }> {
  const { db, url } = await postgres.newDatabase('fan')
  await loadIntoCatalog(db, fanGraph)
  const memory = await openMemory(url)
  try {
    const { sources } = memory
    const fans = [
      await pageThrough(sources, 'UPSTREAM', 1),
      await pageThrough(sources, 'DOWNSTREAM', fanCount + 1)
    ]
    return { fans, empty: await walkFromNothing(sources, fanGraph) }
  } finally {
    await memory.close()
    await db.destroy()
  }
}

const ask = (
  sources: LineageSources,
  urn: Urn,
  direction: LineageDirection,
  count: number,
  scrollId: string | null
): Promise<ScrollPage> =>
  scrollAcrossLineage(
    sources,
    { urn, direction, query: '*', count, scrollId },
    { facets: false, paths: false }
  )

/** The fan's nodes begin at `first`, in order, so that each page can be checked. */
async function pageThrough(
  { db, memory }: LineageSources,
  direction: LineageDirection,
  first: number
): Promise<FanRow> {
  // Holds results as an API process does; a new one for each first page, so that it is walked and not
  // remembered.
  const fresh = (): LineageSources => ({ db, memory, held: holdResults(heldResultsBounds) })
  const middle = fanGraph.urnOf(0)
  const firstPage = await timed(
    (clock) => clock(() => ask(fresh(), middle, direction, firstPageCount, null)),
    (page) => {
      mustFollow(page, first, firstPageCount)
    },
    runs
  )
  const sources = fresh()
  const pageMs: number[] = []
  let scrollId: string | null = null
  for (let seen = 0; seen < fanCount; seen += pageCount) {
    const begun = performance.now()
    const page: ScrollPage = await ask(sources, middle, direction, pageCount, scrollId)
    pageMs.push(performance.now() - begun)
    mustFollow(page, first + seen, pageCount)
    scrollId = page.nextScrollId
    if ((scrollId === null) !== (seen + pageCount === fanCount))
      throw new Error(`the scroll ends after ${seen + pageCount} of ${fanCount}`)
  }
  return {
    direction,
    total: fanCount,
    firstPageMs: firstPage.medianMs,
    pages: pageMs.length,
    medianPageMs: median(pageMs),
    slowestPageMs: Math.max(...pageMs),
    wholeMs: pageMs.reduce((sum, ms) => sum + ms, 0)
  }
}

function mustFollow({ total, results, report }: ScrollPage, first: number, count: number): void {
  const isRight =
    total === fanCount &&
    report.complete &&
    results.length === count &&
    results.every(({ entity, degree }, index) => degree === 1 && entity.urn === fanGraph.urnOf(first + index))
  if (!isRight)
    throw new Error(
      `the page from node ${first} is wrong: ${results.length} of ${total}, the first ${results[0]?.entity.urn}`
    )
}

/** A start without lineage, and one that does not exist. */
export async function walkFromNothing(sources: LineageSources, graph: BenchGraph): Promise<EmptyRow[]> {
  const alone = graph.urnOf(graph.assetCount - 1)
  const absent = toUrn('urn:li:dataset:(urn:li:dataPlatform:snowflake,nobody.knows.it,PROD)')
  return [
    await timeMany('has no lineage', async () => {
      const page = await ask(sources, alone, 'DOWNSTREAM', firstPageCount, null)
      if (page.total !== 0 || page.results.length > 0 || !page.report.complete)
        throw new Error('an asset without lineage has some')
    }),
    await timeMany('does not exist', async () => {
      const code = await ask(sources, absent, 'DOWNSTREAM', firstPageCount, null).then(
        () => 'an answer',
        (error: unknown) => (error instanceof CatalogError ? error.code : String(error))
      )
      if (code !== 'NOT_FOUND') throw new Error(`an absent start gave ${code}`)
    })
  ]
}

async function timeMany(start: string, run: () => Promise<void>): Promise<EmptyRow> {
  const times: number[] = []
  for (let made = 0; made < emptyRuns; made += 1) {
    const begun = performance.now()
    await run()
    times.push(performance.now() - begun)
  }
  return { start, medianMs: median(times), slowestMs: Math.max(...times) }
}
