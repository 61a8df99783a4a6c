/**
 * Column lineage along given asset lineage: ten columns per asset, each derived from about three upstream
 * columns.
 */
import { randomFrom } from '../../test/torture/workload.ts'
import { adjacencyOf } from './adjacency.ts'
import type { EdgeList } from './project-graph.ts'

export const columnsPerAsset = 10

/** Columns of asset n are numbered from n * columnsPerAsset; most have the same position in each asset. */
export function drawColumnEdges(
  assetCount: number,
  edges: EdgeList,
  edgeCount: number,
  seed: number
): EdgeList {
  const random = randomFrom(seed)
  const { begins, neighbours } = adjacencyOf(assetCount, edges.downstream, edges.upstream)
  const made = [...columnsWithUpstreams(assetCount, begins)]
  const upstream = new Int32Array(edgeCount)
  const downstream = new Int32Array(edgeCount)
  let edge = 0
  made.forEach(({ asset, place }, index) => {
    const first = edge
    const begin = begins[asset] ?? 0
    const count = (begins[asset + 1] ?? 0) - begin
    for (
      const end = Math.min(
        Math.floor(((index + 1) * edgeCount) / made.length),
        first + count * columnsPerAsset
      );
      edge < end;
    ) {
      const from =
        (neighbours[begin + Math.floor(random() * count)] ?? 0) * columnsPerAsset +
        (random() < 0.6 ? place : Math.floor(random() * columnsPerAsset))
      if (upstream.subarray(first, edge).includes(from)) continue
      upstream[edge] = from
      downstream[edge] = asset * columnsPerAsset + place
      edge += 1
    }
  })
  return { upstream, downstream }
}

function* columnsWithUpstreams(
  assetCount: number,
  begins: Int32Array
): Generator<{ asset: number; place: number }> {
  for (let asset = 0; asset < assetCount; asset += 1) {
    if (begins[asset + 1] === begins[asset]) continue
    for (let place = 0; place < columnsPerAsset; place += 1) yield { asset, place }
  }
}
