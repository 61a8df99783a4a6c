/** Orders the points of each layer so that few edges cross: barycentre sweeps, then exchanges of neighbours. */
import { at, edgesBy, type EdgeLists, type IndexGraph } from './graph.ts'

export type OrderQuestion = {
  segments: IndexGraph
  layerOf: Int32Array
  /** The previous position of a point, from top to bottom; NaN for a new point. */
  formerY: Float64Array
  /** Points of a lane stay together, and every layer has the lanes in this order. */
  laneOf: Int32Array
}

const sweepsMaxCount = 12
/** A picture that the person has already seen should change little, so it gets fewer passes. */
const sweepsOfKnownCount = 4
const transposeRounds = 4
/** Two neighbours with more edges than this are not exchanged: counting their crossings would take too long. */
const transposeMaxEdges = 2_000

/** The points of each layer from top to bottom. The same input always gives the same order. */
export function orderLayers(question: OrderQuestion): number[][] {
  const { segments, layerOf, formerY, laneOf } = question
  const before = edgesBy(segments.to, segments.count)
  const after = edgesBy(segments.from, segments.count)
  const near = { before: farEnds(before, segments.from), after: farEnds(after, segments.to) }
  const layers = firstOrder(segments.count, layerOf, near)
  const position = new Float64Array(segments.count)
  const isKnown = formerY.some((y) => !Number.isNaN(y))

  const settle = (layer: number[], keyOf: (point: number) => number): void => {
    const keys = new Map(layer.map((point) => [point, keyOf(point)]))
    layer.sort(
      (a, b) =>
        at(laneOf, a) - at(laneOf, b) ||
        (keys.get(a) ?? 0) - (keys.get(b) ?? 0) ||
        at(position, a) - at(position, b)
    )
    number(layer, position)
  }
  for (const layer of layers) number(layer, position)
  if (isKnown) orderByFormerY(layers, formerY, near, position, settle)
  else for (const layer of layers) settle(layer, (point) => at(position, point))

  let best = layers.map((layer) => [...layer])
  let bestCount = crossings(layers, near.after, position)
  const sweeps = isKnown ? sweepsOfKnownCount : sweepsMaxCount
  let sinceBetter = 0
  for (let sweep = 0; sweep < sweeps && bestCount > 0 && sinceBetter < 4; sweep += 1) {
    const isDown = sweep % 2 === 0
    const side = isDown ? near.before : near.after
    for (const layer of isDown ? layers : layers.toReversed())
      settle(layer, (point) => barycentre(side, point, position))
    const count = crossings(layers, near.after, position)
    sinceBetter = count < bestCount ? 0 : sinceBetter + 1
    if (count < bestCount) {
      bestCount = count
      best = layers.map((layer) => [...layer])
    }
  }
  for (const layer of best) number(layer, position)
  if (bestCount > 0) transpose(best, near, laneOf, position)
  return best
}

/** The far ends of the edges of each point. */
type FarEnds = { begins: Int32Array; ends: Int32Array }
type Near = { before: FarEnds; after: FarEnds }

const farEnds = ({ begins, list }: EdgeLists, ends: Int32Array): FarEnds => ({
  begins,
  ends: list.map((edge) => at(ends, edge))
})

function number(layer: readonly number[], position: Float64Array): void {
  for (const [place, point] of layer.entries()) position[point] = place
}

/** The mean position of a point's neighbours on one side; its own position if it has none. */
function barycentre({ begins, ends }: FarEnds, point: number, position: Float64Array): number {
  const begin = at(begins, point)
  const end = at(begins, point + 1)
  if (begin === end) return at(position, point)
  let sum = 0
  for (let place = begin; place < end; place += 1) sum += at(position, at(ends, place))
  return sum / (end - begin)
}

/** Depth-first over both directions, so that connected points get near each other. */
function firstOrder(count: number, layerOf: Int32Array, { before, after }: Near): number[][] {
  const layerCount = layerOf.reduce((most, layer) => Math.max(most, layer + 1), 0)
  const layers: number[][] = Array.from({ length: layerCount }, () => [])
  const isSeen = new Uint8Array(count)
  for (let start = 0; start < count; start += 1) {
    if (isSeen[start] === 1) continue
    isSeen[start] = 1
    const open = [start]
    for (let point = open.pop(); point !== undefined; point = open.pop()) {
      layers[at(layerOf, point)]?.push(point)
      for (const { begins, ends } of [before, after]) {
        for (let place = at(begins, point + 1) - 1; place >= at(begins, point); place -= 1) {
          const far = at(ends, place)
          if (isSeen[far] === 1) continue
          isSeen[far] = 1
          open.push(far)
        }
      }
    }
  }
  return layers
}

/** Known points keep their order; new points begin next to their neighbours. */
function orderByFormerY(
  layers: number[][],
  formerY: Float64Array,
  { before, after }: Near,
  position: Float64Array,
  settle: (layer: number[], keyOf: (point: number) => number) => void
): void {
  const wanted = Float64Array.from(formerY)
  const meanOfKnown = (point: number): number => {
    let sum = 0
    let count = 0
    for (const { begins, ends } of [before, after]) {
      for (let place = at(begins, point); place < at(begins, point + 1); place += 1) {
        const y = at(wanted, at(ends, place))
        if (Number.isNaN(y)) continue
        sum += y
        count += 1
      }
    }
    return count === 0 ? Number.NaN : sum / count
  }
  for (const turn of [layers, layers.toReversed()])
    for (const layer of turn)
      for (const point of layer) if (Number.isNaN(at(wanted, point))) wanted[point] = meanOfKnown(point)
  for (const layer of layers)
    settle(layer, (point) =>
      Number.isNaN(at(wanted, point)) ? at(position, point) * 1e-6 : at(wanted, point)
    )
}

/** The number of crossings between neighbouring layers, counted with a Fenwick tree. */
function crossings(
  layers: readonly (readonly number[])[],
  { begins, ends }: FarEnds,
  position: Float64Array
): number {
  let total = 0
  for (const [index, layer] of layers.entries()) {
    const size = layers[index + 1]?.length ?? 0
    const tree = new Int32Array(size + 1)
    let seen = 0
    for (const point of layer) {
      const fars: number[] = []
      for (let place = at(begins, point); place < at(begins, point + 1); place += 1)
        fars.push(Math.min(at(position, at(ends, place)), size - 1))
      for (const far of fars) {
        let upTo = 0
        for (let slot = far + 1; slot > 0; slot -= slot & -slot) upTo += at(tree, slot)
        total += seen - upTo
      }
      for (const far of fars) {
        for (let slot = far + 1; slot <= size && slot > 0; slot += slot & -slot)
          tree[slot] = at(tree, slot) + 1
        seen += 1
      }
    }
  }
  return total
}

/** Exchanges neighbours of a lane if that removes crossings. */
function transpose(
  layers: number[][],
  { before, after }: Near,
  laneOf: Int32Array,
  position: Float64Array
): void {
  for (let round = 0; round < transposeRounds; round += 1) {
    let isBetter = false
    for (const layer of layers) {
      for (let place = 1; place < layer.length; place += 1) {
        const upper = layer[place - 1] ?? 0
        const lower = layer[place] ?? 0
        if (laneOf[upper] !== laneOf[lower]) continue
        const gain =
          gainOfExchange(before, upper, lower, position) + gainOfExchange(after, upper, lower, position)
        if (gain <= 0) continue
        layer[place - 1] = lower
        layer[place] = upper
        position[lower] = place - 1
        position[upper] = place
        isBetter = true
      }
    }
    if (!isBetter) return
  }
}

/** The number of crossings that disappear when two neighbours are exchanged. */
function gainOfExchange(
  { begins, ends }: FarEnds,
  upper: number,
  lower: number,
  position: Float64Array
): number {
  const sizes = [at(begins, upper + 1) - at(begins, upper), at(begins, lower + 1) - at(begins, lower)]
  if (sizes.includes(0) || (sizes[0] ?? 0) + (sizes[1] ?? 0) > transposeMaxEdges) return 0
  const placesOf = (point: number): Float64Array =>
    Float64Array.from(ends.subarray(at(begins, point), at(begins, point + 1)), (far) =>
      at(position, far)
    ).sort()
  return pairsAbove(placesOf(upper), placesOf(lower)) - pairsAbove(placesOf(lower), placesOf(upper))
}

/** The number of pairs in which the value from `those` is above the value from `these`. Both lists ascend. */
function pairsAbove(these: Float64Array, those: Float64Array): number {
  let count = 0
  let above = 0
  for (const place of these) {
    while (above < those.length && at(those, above) < place) above += 1
    count += above
  }
  return count
}
