/** Row 1 over HTTP: a walk that reaches some 50,000 assets of M, against SQL alone on the same data in the same Postgres. */
import { randomFrom } from '../../test/torture/workload.ts'
import { startApi } from './api-process.ts'
import { asker, type Ask } from './ask.ts'
import { changeEdges, newEdge } from './churn.ts'
import { median, rounded, type Finding } from './findings.ts'
import { faultOf, isComplete, mustBeRight, pageInput, pageOf, pageQuery } from './questions.ts'
import { checkScroll } from './scroll.ts'
import { pickOf, untilInMemory, type Catalog } from './stage.ts'

const pageCount = 100
const warmCount = 10
const timedCount = 21

export async function benchWalk(catalog: Catalog): Promise<Finding[]> {
  const api = await startApi(catalog)
  try {
    const ask = asker(api)
    await untilInMemory(catalog, ask)
    const ms = await timeFirstPages(catalog, ask)
    const pages = await checkScroll(catalog, ask, pickOf(catalog, '50k').node)
    return [{ row: 1, name: 'walk', value: median(ms), unit: 'ms', goal: { atMost: 1_000 }, context: { ms: ms.map(rounded), ...pages } }]
  } finally {
    await api.stop()
  }
}

/** Each after a write somewhere, so that none can be answered with what was kept of the one before. */
async function timeFirstPages(catalog: Catalog, ask: Ask): Promise<number[]> {
  const { graph, oracle } = catalog
  const { node } = pickOf(catalog, '50k')
  const random = randomFrom(11)
  const ms: number[] = []
  for (let count = 0; count < warmCount + timedCount; count += 1) {
    const edge = newEdge(catalog, random)
    await changeEdges(catalog, ask, 'edgesToAdd', [edge])
    const reached = oracle.reach(node, 'DOWNSTREAM')
    const asked = await ask(pageQuery, pageInput(graph.urnOf(node), 'DOWNSTREAM', pageCount))
    const page = pageOf(asked)
    mustBeRight(page.total === reached.nodes.length && isComplete(asked) ? faultOf(page, graph, reached, 0, pageCount) : `total ${page.total} instead of ${reached.nodes.length}`)
    if (count >= warmCount) ms.push(asked.ms)
    await changeEdges(catalog, ask, 'edgesToRemove', [edge])
  }
  return ms
}
