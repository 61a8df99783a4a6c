/**
 * `npm run bench -- loading-kinds`: the cost of records other than plain edges between described assets,
 * compared with these and with a raw COPY of as many pairs in the same Postgres. Client, API, worker and
 * Postgres share the machine; Postgres is durable. The COPY runs before and after; the median of three
 * counts. Arguments: the number of edges of each kind (100,000), and the names of the kinds to run, by
 * default all.
 */
import { query } from '../../shared/db/query.ts'
import { runAlone } from '../../shared/db/run-alone.ts'
import {
  assetCount,
  assetLines,
  assetUrn,
  drawEdges,
  edgeLines,
  proposalLines,
  upstreamsPerAsset,
  type Edges
} from './edges.ts'
import { timeRawCopy } from './raw-copy.ts'
import { openStage, sendFile, type Stage, writeLines } from './stage.ts'

type Kind = {
  name: string
  /** Sent before the measurement. */
  first?: (edges: Edges) => Iterable<string>
  lines: (edges: Edges) => Iterable<string>
  format?: 'csv'
}

const columnUrn = (asset: number, column: number): string =>
  `urn:li:schemaField:(${assetUrn(asset)},column_${column})`

function* columnEdgeLines({ upstream, downstream }: Edges): Generator<string> {
  for (const [index, asset] of downstream.entries())
    yield `${JSON.stringify({ upstreamUrn: columnUrn(upstream[index] ?? 0, index % 7), downstreamUrn: columnUrn(asset, index % 10) })}\n`
}

function* rows({ upstream, downstream }: Edges): Generator<string> {
  yield 'upstream,downstream\n'
  for (const [index, asset] of downstream.entries())
    yield `"${assetUrn(upstream[index] ?? 0)}","${assetUrn(asset)}"\n`
}

function* columnRows({ upstream, downstream }: Edges): Generator<string> {
  yield 'upstream,upstream_column,downstream,downstream_column\n'
  for (const [index, asset] of downstream.entries())
    yield `"${assetUrn(upstream[index] ?? 0)}",column_${index % 7},"${assetUrn(asset)}",column_${index % 10}\n`
}

/** Assets with new names, of which the catalog knows nothing. */
function* renamed(lines: Iterable<string>, name: string): Generator<string> {
  for (const line of lines) yield line.replaceAll('warehouse_', `${name}_`)
}

function* entityLines({ downstream }: Edges): Generator<string> {
  for (const index of downstream.keys())
    yield `${JSON.stringify({ op: 'upsertEntity', urn: assetUrn(index).replace('warehouse_', 'entities_'), name: `Table ${index}`, description: 'As a crawler finds it' })}\n`
}

/** Other edges between the same assets: each asset gets the upstreams of the next. */
const others = ({ upstream, downstream }: Edges): Edges => ({
  upstream: upstream.map((_, index) => upstream[(index + upstreamsPerAsset) % upstream.length] ?? 0),
  downstream
})

const kinds: readonly Kind[] = [
  { name: 'plain edges between described assets', lines: edgeLines },
  { name: 'edges between new assets', lines: (edges) => renamed(edgeLines(edges), 'new') },
  { name: 'edges between placeholders', lines: (edges) => renamed(edgeLines(others(edges)), 'new') },
  { name: 'column edges', lines: columnEdgeLines },
  { name: 'rows of edges', format: 'csv', lines: (edges) => renamed(rows(edges), 'rows') },
  { name: 'rows of column edges', format: 'csv', lines: (edges) => renamed(columnRows(edges), 'rows') },
  { name: 'upsertEntity', lines: entityLines },
  {
    name: 'proposals that replace others',
    first: proposalLines,
    lines: (edges) => proposalLines(others(edges))
  }
]

export async function benchLoadingKinds([count = '100000', ...names]: readonly string[]): Promise<object> {
  const edges = drawEdges(Number(count), 7)
  const stage = await openStage()
  try {
    const copies = [await timeRawCopy(stage.databaseUrl, edges), await timeRawCopy(stage.databaseUrl, edges)]
    await send(stage, assetLines())
    await runAlone(stage.db, ['vacuum (analyze)'])
    const measured: { name: string; seconds: number; cpu: Record<string, number> }[] = []
    for (const { name, first, lines, format } of kinds.filter(
      ({ name }) => names.length === 0 || names.some((each) => name.includes(each))
    )) {
      if (first) await send(stage, first(edges))
      await query(stage.db, 'checkpoint')
      measured.push({ name, ...(await send(stage, lines(edges), format)) })
    }
    copies.push(await timeRawCopy(stage.databaseUrl, edges))
    const copy = copies.toSorted((a, b) => a - b)[1] ?? 0
    const plain = measured[0]?.seconds ?? 0
    const rows = measured.map(({ name, seconds, cpu }) => ({
      name,
      seconds: round(seconds),
      perSecond: Math.round(edges.upstream.length / seconds),
      ofRawCopy: round(copy / seconds),
      ofPlainEdges: round(plain / seconds),
      ...cpu
    }))
    console.table(rows)
    return { count: edges.upstream.length, assetCount, copies: copies.map(round), rows }
  } finally {
    await stage.stop()
  }
}

async function send(
  stage: Stage,
  lines: Iterable<string>,
  format = 'ndjson'
): Promise<{ seconds: number; cpu: Record<string, number> }> {
  const file = await writeLines(stage, 'lines.ndjson', lines)
  const before = stage.cpu()
  const { doneS } = await sendFile(stage, file, { format, source: 'bench', missingReferences: 'create' })
  const after = stage.cpu()
  const cpu = Object.entries(after).map(([whose, seconds]) => [
    whose,
    round(seconds - before[whose as keyof typeof before])
  ])
  return { seconds: doneS, cpu: Object.fromEntries(cpu) }
}

const round = (value: number): number => Math.round(value * 100) / 100
