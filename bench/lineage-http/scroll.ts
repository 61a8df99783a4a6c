/**
 * Scrolls through everything that a hub reaches and checks every result; on the way three random pages of
 * 100.
 */
import { randomFrom } from '../../test/torture/workload.ts'
import type { Ask } from './ask.ts'
import { rounded } from './findings.ts'
import { checkPage, mustBeRight, pageInput, pageOf, pageQuery } from './questions.ts'
import type { Catalog } from './stage.ts'

const pageCount = 100
const skipCount = 10_000
const pagesChecked = 3

/**
 * Throws if a result, a total or the end is wrong. Between the checked pages it uses the largest page size.
 */
export async function checkScroll(
  { graph, oracle }: Catalog,
  ask: Ask,
  start: number
): Promise<{ randomPages: { begin: number; ms: number }[]; resultsChecked: number }> {
  const reached = oracle.reach(start, 'DOWNSTREAM')
  const total = reached.nodes.length
  const random = randomFrom(24)
  const begins = Array.from({ length: pagesChecked }, () => Math.floor(random() * (total - pageCount))).sort(
    (a, b) => a - b
  )
  const randomPages: { begin: number; ms: number }[] = []
  let position = 0
  let scrollId: string | null = null
  while (position < total) {
    const next = begins.find((begin) => begin >= position) ?? total
    const count = next === position ? pageCount : Math.min(skipCount, next - position)
    const asked: Awaited<ReturnType<Ask>> = await ask(
      pageQuery,
      pageInput(graph.urnOf(start), 'DOWNSTREAM', count, scrollId)
    )
    const page = pageOf(asked)
    checkPage(page, graph, reached, position, count)
    if (next === position) {
      randomPages.push({ begin: position, ms: rounded(asked.ms) })
      begins.shift()
    }
    position += page.searchResults.length
    scrollId = page.nextScrollId
    mustBeRight(
      (scrollId === null) === (position === total)
        ? null
        : `the scroll says that it ${scrollId === null ? 'ends' : 'goes on'} at ${position} of ${total}`
    )
  }
  return { randomPages, resultsChecked: position }
}
