/**
 * Lays out a lineage graph from left to right: layers in the direction of flow, few crossings, cards near
 * their neighbours.
 *
 * A pure function without a clock: the same input gives the same picture. Every edge leads from left to
 * right, except edges that close a cycle, and no two cards overlap. The `anchor` card stays where it was.
 */
import { backEdges } from './layout/cycles.ts'
import { cutLongEdges, layersOf, type Chains } from './layout/layers.ts'
import { orderLayers } from './layout/order.ts'
import { placePoints } from './layout/place.ts'
import { at, type IndexGraph } from './layout/graph.ts'

export type Point = { x: number; y: number }
export type Box = { x: number; y: number; width: number; height: number }

export type LayoutNode = {
  id: string
  width: number
  height: number
  /** The height at which edges join the card, measured from its top. */
  portY: number
  /** Cards of one lane share a horizontal band; null without lanes. */
  lane?: string | null
}

export type LayoutEdge = { id: string; from: string; to: string }

export type LayoutQuestion = {
  nodes: readonly LayoutNode[]
  /** Edges with an unknown end are ignored. */
  edges: readonly LayoutEdge[]
  /** Boxes of the previous picture, which the new one should resemble. */
  former?: ReadonlyMap<string, Point>
  /** The card whose top left corner must be at this point. */
  anchor?: { id: string; x: number; y: number } | null
  /** Pixels between layers. */
  layerGap?: number
}

export type PlacedEdge = {
  id: string
  from: string
  to: string
  /** Whether the edge closes a cycle. It then leads from right to left. */
  isLoop: boolean
  /**
   * Points from the right side of `from` to the left side of `to`. In between are the left and the right
   * side of each layer that the edge passes.
   */
  points: readonly Point[]
}

export type PlacedLane = Box & { lane: string }

export type Layout = {
  boxes: ReadonlyMap<string, Box>
  layerOf: ReadonlyMap<string, number>
  edges: readonly PlacedEdge[]
  lanes: readonly PlacedLane[]
  bounds: Box
}

/** Pixels between cards, between layers, and between an edge and its neighbour. */
export const gaps = { row: 16, layer: 108, edge: 10, lane: 44, laneSide: 24 }

export function layOut({ nodes, edges, former, anchor, layerGap = gaps.layer }: LayoutQuestion): Layout {
  const indexOf = new Map(nodes.map(({ id }, index) => [id, index]))
  const known = edges.flatMap((edge) => {
    const from = indexOf.get(edge.from)
    const to = indexOf.get(edge.to)
    return from === undefined || to === undefined ? [] : [{ edge, from, to }]
  })
  const graph: IndexGraph = {
    count: nodes.length,
    from: Int32Array.from(known, ({ from }) => from),
    to: Int32Array.from(known, ({ to }) => to)
  }
  const isBack = backEdges(graph)
  const nodeLayers = layersOf(graph, isBack)
  const chains = cutLongEdges(graph, isBack, nodeLayers)
  const formerY = formerYOf(nodes, chains, former)
  const noLanes = new Int32Array(chains.pointCount)
  const hasLanes = nodes.some(({ lane }) => lane != null)
  const plain = placeAll(nodes, chains, formerY, noLanes)
  const { y, lanes } = hasLanes
    ? placeInLanes(nodes, graph, chains, formerY, plain.y)
    : { y: plain.y, lanes: [] }
  const columns = columnsOf(nodes, nodeLayers, chains, layerGap)

  const boxes = new Map(
    nodes.map(({ id, width, height, portY }, index): [string, Box] => [
      id,
      { x: columns[at(nodeLayers, index)]?.x ?? 0, y: Math.round(at(y, index) - portY), width, height }
    ])
  )
  const held = anchor ? boxes.get(anchor.id) : undefined
  const shift = held && anchor ? { x: anchor.x - held.x, y: anchor.y - held.y } : { x: 0, y: 0 }
  for (const box of boxes.values()) {
    box.x += shift.x
    box.y += shift.y
  }
  const placedEdges = known.map(({ edge, from, to }, index): PlacedEdge => {
    const chain = chains.chainOf[index] ?? []
    const [source, target] = [boxes.get(edge.from), boxes.get(edge.to)]
    const start = {
      x: (source?.x ?? 0) + (source?.width ?? 0),
      y: (source?.y ?? 0) + (nodes[from]?.portY ?? 0)
    }
    const end = { x: target?.x ?? 0, y: (target?.y ?? 0) + (nodes[to]?.portY ?? 0) }
    const between = chain.slice(1, -1).flatMap((point): Point[] => {
      const column = columns[at(chains.layerOf, point)]
      const left = (column?.x ?? 0) + shift.x
      const height = Math.round(at(y, point)) + shift.y
      return [
        { x: left, y: height },
        { x: left + (column?.width ?? 0), y: height }
      ]
    })
    return { ...edge, isLoop: isBack[index] === true, points: [start, ...between, end] }
  })
  const bounds = boundsOf([...boxes.values()])
  return {
    boxes,
    layerOf: new Map(nodes.map(({ id }, index) => [id, at(nodeLayers, index)])),
    edges: placedEdges,
    lanes: lanes.map(({ lane, top, bottom }) => ({
      lane,
      x: bounds.x - gaps.laneSide,
      y: Math.round(top) + shift.y,
      width: bounds.width + 2 * gaps.laneSide,
      height: Math.round(bottom - top)
    })),
    bounds
  }
}

export function boundsOf(boxes: readonly Box[]): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { x, y, width, height } of boxes) {
    left = Math.min(left, x)
    top = Math.min(top, y)
    right = Math.max(right, x + width)
    bottom = Math.max(bottom, y + height)
  }
  return left === Infinity
    ? { x: 0, y: 0, width: 0, height: 0 }
    : { x: left, y: top, width: right - left, height: bottom - top }
}

/** The previous y of each point; for a point of a long edge, a y between those of its ends. */
function formerYOf(
  nodes: readonly LayoutNode[],
  { pointCount, chainOf }: Chains,
  former: ReadonlyMap<string, Point> | undefined
): Float64Array {
  const y = new Float64Array(pointCount).fill(Number.NaN)
  if (!former || former.size === 0) return y
  for (const [index, { id, portY }] of nodes.entries()) {
    const point = former.get(id)
    if (point) y[index] = point.y + portY
  }
  for (const chain of chainOf) {
    const [first, last] = [at(y, chain[0] ?? 0), at(y, chain.at(-1) ?? 0)]
    for (const [step, point] of chain.slice(1, -1).entries())
      y[point] = first + ((last - first) * (step + 1)) / (chain.length - 1)
  }
  return y
}

function roomOf(nodes: readonly LayoutNode[], pointCount: number) {
  const above = new Float64Array(pointCount).fill(gaps.edge)
  const below = new Float64Array(pointCount).fill(gaps.edge)
  for (const [index, { height, portY }] of nodes.entries()) {
    above[index] = portY + gaps.row / 2
    below[index] = height - portY + gaps.row / 2
  }
  return { above, below }
}

function placeAll(
  nodes: readonly LayoutNode[],
  { segments, layerOf, pointCount }: Chains,
  formerY: Float64Array,
  laneOf: Int32Array
) {
  const layers = orderLayers({ segments, layerOf, formerY, laneOf })
  const room = roomOf(nodes, pointCount)
  return { layers, room, y: placePoints({ layers, segments, ...room, firstOfEdges: nodes.length }) }
}

/**
 * Lanes are bands across all layers. Each is as high as its own cards need, and they are in the order of the
 * picture without lanes.
 */
function placeInLanes(
  nodes: readonly LayoutNode[],
  graph: IndexGraph,
  chains: Chains,
  formerY: Float64Array,
  plainY: Float64Array
) {
  const sums = new Map<string, { sum: number; count: number }>()
  for (const [index, { lane }] of nodes.entries()) {
    const own = sums.get(lane ?? '') ?? { sum: 0, count: 0 }
    sums.set(lane ?? '', { sum: own.sum + at(plainY, index), count: own.count + 1 })
  }
  const names = [...sums]
    .sort(([a, left], [b, right]) => left.sum / left.count - right.sum / right.count || (a < b ? -1 : 1))
    .map(([name]) => name)
  const numberOf = new Map(names.map((name, number) => [name, number]))
  const laneOf = new Int32Array(chains.pointCount)
  for (const [index, { lane }] of nodes.entries()) laneOf[index] = numberOf.get(lane ?? '') ?? 0
  for (const [edge, chain] of chains.chainOf.entries())
    for (const point of chain.slice(1, -1)) laneOf[point] = at(laneOf, at(graph.from, edge))

  const { layers, room } = placeAll(nodes, chains, formerY, laneOf)
  const y = new Float64Array(chains.pointCount)
  let top = 0
  const lanes = names.map((lane, number) => {
    const own = layers.map((layer) => layer.filter((point) => laneOf[point] === number))
    const kept: { from: number[]; to: number[] } = { from: [], to: [] }
    for (const [edge, from] of chains.segments.from.entries()) {
      const to = at(chains.segments.to, edge)
      if (laneOf[from] !== number || laneOf[to] !== number) continue
      kept.from.push(from)
      kept.to.push(to)
    }
    const segments = {
      count: chains.pointCount,
      from: Int32Array.from(kept.from),
      to: Int32Array.from(kept.to)
    }
    const ownY = placePoints({ layers: own, segments, ...room, firstOfEdges: nodes.length })
    let [highest, lowest] = [Infinity, -Infinity]
    for (const point of own.flat()) {
      highest = Math.min(highest, at(ownY, point) - at(room.above, point))
      lowest = Math.max(lowest, at(ownY, point) + at(room.below, point))
    }
    for (const point of own.flat()) y[point] = at(ownY, point) - highest + top + gaps.lane
    const placed = { lane, top, bottom: top + gaps.lane + lowest - highest + gaps.row / 2 }
    top = placed.bottom + gaps.row
    return placed
  })
  return { y, lanes }
}

/** The left side and the width of each layer. */
function columnsOf(
  nodes: readonly LayoutNode[],
  layerOf: Int32Array,
  { layerOf: ofPoints }: Chains,
  layerGap: number
): { x: number; width: number }[] {
  const layerCount = ofPoints.reduce((most, layer) => Math.max(most, layer + 1), 0)
  const columns = Array.from({ length: layerCount }, () => ({ x: 0, width: 0 }))
  for (const [index, { width }] of nodes.entries()) {
    const column = columns[at(layerOf, index)]
    if (column) column.width = Math.max(column.width, width)
  }
  let x = 0
  for (const column of columns) {
    column.x = x
    x += column.width + layerGap
  }
  return columns
}
