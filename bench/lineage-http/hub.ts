/**
 * Row 2: a hub that reaches nine tenths of a million assets, over HTTP, and the latency of other clients
 * while four such walks run. Before each timed walk and throughout the loop a shortcut edge is written, so
 * that no answer can come from a cache. Shortcuts change no total, so every total can be checked.
 */
import { randomFrom } from '../../test/torture/workload.ts'
import type { LineageDirection } from '../../shared/model/walk.ts'
import { startApi, type ApiProcess } from './api-process.ts'
import { asker, type Ask } from './ask.ts'
import { changeEdges, newEdge, whileChurning } from './churn.ts'
import { median, quantile, rounded, type Finding } from './findings.ts'
import { callOnSchedule } from './on-schedule.ts'
import {
  checkPage,
  hopsInput,
  hopsQuery,
  isComplete,
  mustBeRight,
  pageInput,
  pageOf,
  pageQuery
} from './questions.ts'
import { checkScroll } from './scroll.ts'
import { pickOf, untilInMemory, type Catalog } from './stage.ts'

const pageCount = 100
const firstPageTries = 5
const walkersCount = 4
const loopSeconds = 20
const writeEveryMs = 250
const calmSeconds = 5
/** The share of all assets that a hub must reach. */
const leastShare = 0.3

type Start = { node: number; direction: LineageDirection; total: number }

export async function benchHub(catalog: Catalog): Promise<Finding[]> {
  const api = await startApi(catalog)
  try {
    const ask = asker(api)
    await untilInMemory(catalog, ask)
    const firstPage = await timeFirstPage(catalog, ask)
    const scroll = await checkScroll(catalog, ask, pickOf(catalog, 'hub').node)
    const calm = await callOneHop(catalog, api, calmSeconds)
    const { oneHopMs, loopDelayMs, walkMs, walks, writes } = await walkTogether(
      catalog,
      api,
      startsOf(catalog)
    )
    return [
      {
        row: 2,
        name: 'hub, first page of 100 with exact total',
        value: median(firstPage.ms),
        unit: 'ms',
        goal: { atMost: 1_000 },
        context: { ...firstPage, ms: firstPage.ms.map(rounded), ...scroll }
      },
      {
        row: 2,
        name: '1-hop query while 4 such walks run, p99',
        value: quantile(oneHopMs, 0.99),
        unit: 'ms',
        goal: { atMost: 50 },
        context: {
          p50: rounded(median(oneHopMs)),
          max: rounded(Math.max(...oneHopMs)),
          calls: oneHopMs.length,
          calmP50: rounded(median(calm)),
          calmP99: rounded(quantile(calm, 0.99)),
          walks,
          walkP50: rounded(median(walkMs)),
          writes
        }
      },
      {
        row: 2,
        name: 'event loop delay of the API meanwhile, p99',
        value: loopDelayMs.p99,
        unit: 'ms',
        goal: { atMost: 50 },
        context: loopDelayMs
      }
    ]
  } finally {
    await api.stop()
  }
}

async function timeFirstPage(catalog: Catalog, ask: Ask) {
  const { graph, oracle } = catalog
  const { node } = pickOf(catalog, 'hub')
  const random = randomFrom(21)
  const ms: number[] = []
  let total = 0
  for (let count = 0; count < firstPageTries; count += 1) {
    const edge = newEdge(catalog, random)
    await changeEdges(catalog, ask, 'edgesToAdd', [edge])
    const reached = oracle.reach(node, 'DOWNSTREAM')
    const asked = await ask(pageQuery, pageInput(graph.urnOf(node), 'DOWNSTREAM', pageCount))
    checkPage(pageOf(asked), graph, reached, 0, pageCount)
    ms.push(asked.ms)
    total = reached.nodes.length
    await changeEdges(catalog, ask, 'edgesToRemove', [edge])
  }
  return { total, ms }
}

function checkTotal(asked: Awaited<ReturnType<Ask>>, expected: number): void {
  const { total } = pageOf(asked)
  mustBeRight(
    total === expected && isComplete(asked)
      ? null
      : `total ${total} instead of ${expected}, complete: ${isComplete(asked)}`
  )
}

/** Different starts in both directions, among the assets with the most neighbours. */
function startsOf({ graph, oracle }: Catalog): Start[] {
  const { upstream, downstream } = graph.edges
  const candidates = (
    [
      ['DOWNSTREAM', upstream],
      ['UPSTREAM', downstream]
    ] as const
  ).flatMap(([direction, ends]) =>
    mostFrequent(ends, graph.assetCount, walkersCount * 2).map((node) => ({ node, direction }))
  )
  return candidates
    .map((start) => ({ ...start, total: oracle.reach(start.node, start.direction).nodes.length }))
    .filter(({ total }) => total > graph.assetCount * leastShare)
}

function mostFrequent(nodes: Int32Array, nodeCount: number, count: number): number[] {
  const counts = new Int32Array(nodeCount)
  for (const node of nodes) counts[node] = (counts[node] ?? 0) + 1
  return [...counts.keys()].sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0)).slice(0, count)
}

async function walkTogether(catalog: Catalog, api: ApiProcess, starts: readonly Start[]) {
  const { graph } = catalog
  const walkMs: number[] = []
  const end = performance.now() + loopSeconds * 1_000
  const walkOn = async (walker: number) => {
    const ask = asker(api)
    for (let turn = walker; performance.now() < end; turn += walkersCount) {
      const start = starts[turn % starts.length]
      if (!start) throw new Error('no asset reaches enough of the graph')
      const asked = await ask(pageQuery, pageInput(graph.urnOf(start.node), start.direction, pageCount))
      checkTotal(asked, start.total)
      walkMs.push(asked.ms)
    }
  }
  await api.metrics()
  const { result: oneHopMs, churned } = await whileChurning(
    catalog,
    asker(api),
    { everyMs: writeEveryMs, seed: 22 },
    async () => {
      const [times] = await Promise.all([
        callOneHop(catalog, api, loopSeconds),
        ...Array.from({ length: walkersCount }, (_, walker) => walkOn(walker))
      ])
      return times
    }
  )
  const samples = await api.metrics()
  const delayMs = (name: string) =>
    rounded((samples.get(`nodejs_eventloop_lag_${name}_seconds`) ?? NaN) * 1_000)
  return {
    oneHopMs,
    walkMs,
    walks: walkMs.length,
    starts: starts.length,
    writes: churned.writes,
    loopDelayMs: {
      p50: delayMs('p50'),
      p99: delayMs('p99'),
      max: delayMs('max'),
      note: 'includes the 10 ms between two samples'
    }
  }
}

function callOneHop({ graph }: Catalog, api: ApiProcess, seconds: number): Promise<number[]> {
  const ask = asker(api)
  const random = randomFrom(23)
  return callOnSchedule(seconds, async () => {
    await ask(hopsQuery, hopsInput(graph.urnOf(Math.floor(random() * graph.assetCount)), 'DOWNSTREAM', 1))
  })
}
