/**
 * Gives each point its height in the picture: near its neighbours, in the order of its layer, without
 * overlap.
 */
import { at, edgesBy, type IndexGraph } from './graph.ts'

export type PlaceQuestion = {
  /** Points from top to bottom, by layer. */
  layers: readonly (readonly number[])[]
  segments: IndexGraph
  /** Space needed above and below the height at which edges join a point, including gaps. */
  above: Float64Array
  below: Float64Array
  /** Points with this number or a higher one belong to long edges, which should be straight. */
  firstOfEdges: number
}

const passes = 6
/** How much more the straightness of a long edge counts than that of a short edge. */
const [weightOfShort, weightOfLong, weightWithin] = [1, 2, 8]

/** The y at which edges join each point. */
export function placePoints(question: PlaceQuestion): Float64Array {
  const { layers, segments, firstOfEdges } = question
  const y = new Float64Array(segments.count)
  for (const layer of layers) {
    let top = 0
    for (const point of layer) {
      y[point] = top + at(question.above, point)
      top = at(y, point) + at(question.below, point)
    }
    for (const point of layer) y[point] = at(y, point) - top / 2
  }
  const before = edgesBy(segments.to, segments.count)
  const after = edgesBy(segments.from, segments.count)
  const weightOf = (edge: number): number => {
    const long =
      Number(at(segments.from, edge) >= firstOfEdges) + Number(at(segments.to, edge) >= firstOfEdges)
    return long === 2 ? weightWithin : long === 1 ? weightOfLong : weightOfShort
  }
  const sumOf = (
    { begins, list }: typeof before,
    ends: Int32Array,
    point: number
  ): { sum: number; weight: number } => {
    let sum = 0
    let weight = 0
    for (let place = at(begins, point); place < at(begins, point + 1); place += 1) {
      const edge = at(list, place)
      sum += at(y, at(ends, edge)) * weightOf(edge)
      weight += weightOf(edge)
    }
    return { sum, weight }
  }
  for (let pass = 0; pass < passes; pass += 1) {
    // The last passes use both directions, so that a card ends up between all its neighbours.
    const looksBoth = pass >= passes - 2
    for (const layer of pass % 2 === 0 ? layers : layers.toReversed()) {
      const back = (point: number) => sumOf(before, segments.from, point)
      const ahead = (point: number) => sumOf(after, segments.to, point)
      const wishes = layer.map((point) => {
        const [first, second] = pass % 2 === 0 ? [back(point), ahead(point)] : [ahead(point), back(point)]
        const sum = first.sum + (looksBoth || first.weight === 0 ? second.sum : 0)
        const weight = first.weight + (looksBoth || first.weight === 0 ? second.weight : 0)
        return weight === 0 ? { y: at(y, point), weight: 0.1 } : { y: sum / weight, weight }
      })
      settleLayer(layer, wishes, question, y)
    }
  }
  return y
}

/**
 * Heights as near to the wanted heights as order and space allow: weighted isotonic regression by pooling
 * neighbours.
 */
function settleLayer(
  layer: readonly number[],
  wishes: readonly { y: number; weight: number }[],
  { above, below }: PlaceQuestion,
  y: Float64Array
): void {
  const offsets: number[] = []
  let offset = 0
  for (const [place, point] of layer.entries()) {
    const upper = layer[place - 1]
    if (upper !== undefined) offset += at(below, upper) + at(above, point)
    offsets.push(offset)
  }
  const blocks: { mean: number; weight: number; size: number }[] = []
  for (const [place, wish] of wishes.entries()) {
    let block = { mean: wish.y - (offsets[place] ?? 0), weight: wish.weight, size: 1 }
    for (let last = blocks.at(-1); last && last.mean > block.mean; last = blocks.at(-1)) {
      blocks.pop()
      const weight = last.weight + block.weight
      block = {
        mean: (last.mean * last.weight + block.mean * block.weight) / weight,
        weight,
        size: last.size + block.size
      }
    }
    blocks.push(block)
  }
  let place = 0
  for (const { mean, size } of blocks) {
    for (let member = 0; member < size; member += 1, place += 1) {
      const point = layer[place]
      if (point !== undefined) y[point] = mean + (offsets[place] ?? 0)
    }
  }
}
