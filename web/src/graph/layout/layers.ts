/**
 * Assigns each node a layer, so that every edge leads to a later layer, and cuts long edges into one point
 * per layer.
 */
import { at, edgesBy, type IndexGraph } from './graph.ts'

/**
 * The layer of a node is the length of the longest path to it. Afterwards a node with more outgoing than
 * incoming edges, above all a source, moves towards its consumers, which makes the edges shorter. `isBack`
 * edges do not count. The first layer is 0.
 */
export function layersOf({ count, from, to }: IndexGraph, isBack: readonly boolean[]): Int32Array {
  const skips = (edge: number): boolean => isBack[edge] === true
  const outgoing = edgesBy(from, count, skips)
  const incoming = edgesBy(to, count, skips)
  const order = topologicalOrder(count, to, outgoing.begins, outgoing.list, incoming.begins)
  const layer = new Int32Array(count)
  for (const node of order) {
    for (let place = at(outgoing.begins, node); place < at(outgoing.begins, node + 1); place += 1) {
      const far = at(to, at(outgoing.list, place))
      layer[far] = Math.max(at(layer, far), at(layer, node) + 1)
    }
  }
  for (const node of order.toReversed()) {
    const out = at(outgoing.begins, node + 1) - at(outgoing.begins, node)
    if (out <= at(incoming.begins, node + 1) - at(incoming.begins, node)) continue
    let nearest = Infinity
    for (let place = at(outgoing.begins, node); place < at(outgoing.begins, node + 1); place += 1)
      nearest = Math.min(nearest, at(layer, at(to, at(outgoing.list, place))))
    layer[node] = nearest - 1
  }
  const first = layer.reduce((least, each) => Math.min(least, each), count === 0 ? 0 : Infinity)
  return layer.map((each) => each - first)
}

function topologicalOrder(
  count: number,
  to: Int32Array,
  begins: Int32Array,
  list: Int32Array,
  incomingBegins: Int32Array
): number[] {
  const open = new Int32Array(count)
  const order: number[] = []
  for (let node = 0; node < count; node += 1) {
    open[node] = at(incomingBegins, node + 1) - at(incomingBegins, node)
    if (open[node] === 0) order.push(node)
  }
  for (let read = 0; read < order.length; read += 1) {
    const node = order[read] ?? 0
    for (let place = at(begins, node); place < at(begins, node + 1); place += 1) {
      const far = at(to, at(list, place))
      open[far] = at(open, far) - 1
      if (open[far] === 0) order.push(far)
    }
  }
  return order
}

/** More points than this would cost too much time for too little improvement. */
const pointsMaxCount = 60_000

export type Chains = {
  /** The nodes, followed by the points of long edges. */
  pointCount: number
  layerOf: Int32Array
  /** The points that edge `e` passes, from its upstream end to its downstream end; empty for a back edge. */
  chainOf: readonly (readonly number[])[]
  /** Edges between neighbouring layers; for an edge that is too long to be cut, between its ends. */
  segments: IndexGraph
}

/** Cuts long edges. If they would have more than pointsMaxCount points, the longest are not cut. */
export function cutLongEdges(
  { from, to }: IndexGraph,
  isBack: readonly boolean[],
  layer: Int32Array
): Chains {
  const spans = Array.from(from, (node, edge) =>
    isBack[edge] === true ? 0 : at(layer, at(to, edge)) - at(layer, node)
  )
  const longestCut = longestToCut(spans)
  const layers = Array.from(layer)
  const segments: { from: number[]; to: number[] } = { from: [], to: [] }
  const chainOf = spans.map((span, edge) => {
    if (span === 0) return []
    const chain = [at(from, edge)]
    if (span <= longestCut) {
      for (let step = 1; step < span; step += 1) {
        chain.push(layers.length)
        layers.push(at(layer, at(from, edge)) + step)
      }
    }
    chain.push(at(to, edge))
    for (let step = 1; step < chain.length; step += 1) {
      segments.from.push(chain[step - 1] ?? 0)
      segments.to.push(chain[step] ?? 0)
    }
    return chain
  })
  return {
    pointCount: layers.length,
    layerOf: Int32Array.from(layers),
    chainOf,
    segments: { count: layers.length, from: Int32Array.from(segments.from), to: Int32Array.from(segments.to) }
  }
}

function longestToCut(spans: readonly number[]): number {
  const countOfSpan = new Map<number, number>()
  for (const span of spans) if (span > 1) countOfSpan.set(span, (countOfSpan.get(span) ?? 0) + 1)
  let points = 0
  let longest = 1
  for (const [span, count] of [...countOfSpan].sort(([a], [b]) => a - b)) {
    points += (span - 1) * count
    if (points > pointsMaxCount) return longest
    longest = span
  }
  return longest
}
