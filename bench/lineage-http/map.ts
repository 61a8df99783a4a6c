/**
 * Row 3: one level of the map of a million assets, over HTTP, beside lineage between domains in the same run. The
 * top level is checked against the edges of the graph.
 */
import { startApi } from './api-process.ts'
import { asker, type Ask } from './ask.ts'
import { median, rounded, type Finding } from './findings.ts'
import { mustBeRight } from './questions.ts'
import { untilInMemory, type Catalog } from './stage.ts'

const tries = 7
const boxCount = 40
const mapQuery = `query map($input: LineageMapInput) { lineageMap(input: $input) {
  total assetCount edgeCount
  boxes { key kind name assetCount insideCount upstreamCount downstreamCount platforms { urn } }
  edges { upstreamKey downstreamKey edgeCount } } }`
const domainsQuery =
  'query { domainLineage(input: { direction: DOWNSTREAM }) { total edgeCount edges { edgeCount } } }'

type Place = { domain?: string; system?: string; schema?: string }
type Edge = { upstreamKey: string; downstreamKey: string; edgeCount: number }
type Answer = {
  total: number
  assetCount: number
  edgeCount: number
  boxes: { key: string; kind: string; assetCount: number }[]
  edges: Edge[]
}
type Timed = { place: Place; total: number; assetCount: number; firstMs: number; medianMs: number }

export async function benchMap(catalog: Catalog): Promise<Finding[]> {
  const api = await startApi(catalog)
  try {
    const ask = asker(api)
    await untilInMemory(catalog, ask)
    const places: Timed[] = []
    checkTop(catalog, (await timed(ask, {}, places)).edges)
    const open = async (place: Place, next: keyof Place): Promise<Place> => {
      const { boxes } = await timed(ask, place, places)
      const largest = boxes.toSorted((a, b) => b.assetCount - a.assetCount)[0]
      return { ...place, [next]: largest?.key ?? '' }
    }
    await open({ domain: catalog.domains.urns[0] ?? '' }, 'system')
    await open(await open(await open({ domain: '' }, 'system'), 'schema'), 'schema')
    const domainsMs = (await ask(domainsQuery, {})).ms
    const slowest = places.reduce((most, each) => (each.medianMs > most.medianMs ? each : most))
    return [
      {
        row: 3,
        name: 'a level of the map of a million assets, the slowest of five',
        value: slowest.medianMs,
        unit: 'ms',
        goal: { atMost: 300 },
        context: places
      },
      {
        row: 3,
        name: 'lineage between all domains takes longer than the top level of the map by',
        value: domainsMs / (places[0]?.medianMs ?? NaN),
        unit: 'x',
        goal: { atLeast: 1 },
        context: { domainsMs: rounded(domainsMs) }
      }
    ]
  } finally {
    await api.stop()
  }
}

async function timed(ask: Ask, place: Place, places: Timed[]): Promise<Answer> {
  const ms: number[] = []
  let answer: Answer | null = null
  for (let count = 0; count <= tries; count += 1) {
    const asked = await ask(mapQuery, { input: { ...place, count: boxCount } })
    // a border: an answer that does not match the schema shows when it is compared
    answer = (asked.answer.data as { lineageMap: Answer }).lineageMap
    ms.push(rounded(asked.ms))
  }
  if (!answer) throw new Error('no answer')
  const { total, assetCount } = answer
  places.push({ place, total, assetCount, firstMs: ms[0] ?? NaN, medianMs: median(ms.slice(1)) })
  return answer
}

/** Throws if the edges between top-level domains are not those of the graph, each pair of assets once. */
function checkTop({ graph, domains }: Catalog, edges: readonly Edge[]): void {
  const { upstream, downstream } = graph.edges
  const pairs = Float64Array.from(upstream, (up, at) => up * graph.assetCount + (downstream[at] ?? 0)).sort()
  const counts = new Map<string, number>()
  let last = -1
  for (const pair of pairs) {
    if (pair === last) continue
    last = pair
    const [from, to] = [Math.floor(pair / graph.assetCount), pair % graph.assetCount].map((node) =>
      topOf(domains.domainOf(node))
    )
    if (from !== to) counts.set(`${from} ${to}`, (counts.get(`${from} ${to}`) ?? 0) + 1)
  }
  const wanted = [...counts].map(([key, count]) => `${key} ${count}`).sort()
  const found = edges.map((edge) => `${edge.upstreamKey} ${edge.downstreamKey} ${edge.edgeCount}`).sort()
  mustBeRight(
    wanted.join('\n') === found.join('\n') ? null : `${found.join('\n')}\ninstead of\n${wanted.join('\n')}`
  )
}

/** `urn:li:domain:finance` for urn:li:domain:finance_core; empty for no domain. */
const topOf = (domain: string | null): string => domain?.replace(/_.*$/, '') ?? ''
