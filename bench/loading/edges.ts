/**
 * The edges of the loading benchmarks: a million between 100,000 assets, in the order of a job that goes
 * through its tables.
 */
import { randomFrom } from '../../test/torture/workload.ts'

export const assetCount = 100_000
export const upstreamsPerAsset = 10

/** 110 to 125 characters, like real ones. */
export const assetUrn = (asset: number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:snowflake,warehouse_${asset % 40}.project_${asset % 400}_analytics.a_table_of_ordinary_length_${asset},PROD)`

export type Edges = { upstream: Int32Array; downstream: Int32Array }

/** Distinct edges, grouped by downstream, with random upstreams. */
export function drawEdges(count: number, seed: number, first = 0): Edges {
  const random = randomFrom(seed)
  const edges = { upstream: new Int32Array(count), downstream: new Int32Array(count) }
  const drawn = new Set<number>()
  for (let index = 0; index < count; index += 1) {
    const downstream = (first + Math.floor(index / upstreamsPerAsset)) % assetCount
    if (index % upstreamsPerAsset === 0) drawn.clear()
    let upstream = downstream
    while (upstream === downstream || drawn.has(upstream)) upstream = Math.floor(random() * assetCount)
    drawn.add(upstream)
    edges.upstream[index] = upstream
    edges.downstream[index] = downstream
  }
  return edges
}

export function* assetLines(): Generator<string> {
  for (let asset = 0; asset < assetCount; asset += 1)
    yield `${JSON.stringify({ op: 'upsertEntity', urn: assetUrn(asset) })}\n`
}

const endsOf = ({ upstream, downstream }: Edges, index: number) => ({
  upstreamUrn: assetUrn(upstream[index] ?? 0),
  downstreamUrn: assetUrn(downstream[index] ?? 0)
})

export function* edgeLines(edges: Edges): Generator<string> {
  for (let index = 0; index < edges.upstream.length; index += 1)
    yield `${JSON.stringify(endsOf(edges, index))}\n`
}

/** Removes every other edge and adds the others, so that both kinds of record occur for every owner. */
export function* mixedLines(edges: Edges): Generator<string> {
  for (let index = 0; index < edges.upstream.length; index += 1)
    yield `${JSON.stringify({ ...(index % 2 === 0 ? { op: 'removeEdge' } : {}), ...endsOf(edges, index) })}\n`
}

export function* removalLines(edges: Edges): Generator<string> {
  for (let index = 0; index < edges.upstream.length; index += 1)
    yield `${JSON.stringify({ op: 'removeEdge', ...endsOf(edges, index) })}\n`
}

/** One upstreamLineage proposal for each downstream. */
export function* proposalLines({ upstream, downstream }: Edges): Generator<string> {
  for (let begin = 0; begin < upstream.length; begin += upstreamsPerAsset) {
    const upstreams = Array.from(upstream.subarray(begin, begin + upstreamsPerAsset), (asset) => ({
      dataset: assetUrn(asset),
      type: 'TRANSFORMED'
    }))
    const aspect = { value: JSON.stringify({ upstreams }), contentType: 'application/json' }
    yield `${JSON.stringify({ entityType: 'dataset', entityUrn: assetUrn(downstream[begin] ?? 0), changeType: 'UPSERT', aspectName: 'upstreamLineage', aspect })}\n`
  }
}
