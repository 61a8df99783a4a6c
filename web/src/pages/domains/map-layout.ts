/** Draws lineage between domains: boxes in layers, and arrows whose width shows the number of edges. */
import type { RawDomainEdge } from '../../api/domain-queries.ts'
import { curve, loop } from '../../graph/curves.ts'
import { boundsOf, layOut, type Box, type Point } from '../../graph/layout.ts'

/** The box of all assets without a domain. */
export const outside = ''

export type MapEdge = { from: string; to: string; count: number }
export type MapPicture = {
  boxes: { urn: string; name: string; box: Box }[]
  arrows: (MapEdge & {
    path: string
    box: Box
    width: number
    label: Point
    fromName: string
    toName: string
  })[]
  /** Contains all boxes and arrows. */
  bounds: Box
}

const box = { width: 168, height: 40 }
const margin = 12
const strokes = { least: 1.5, most: 6 }

/** Merges the answers for both directions: each pair of domains becomes one edge. */
export function mergeEdges(edges: readonly RawDomainEdge[]): MapEdge[] {
  const merged = new Map<string, MapEdge>()
  for (const { upstream, downstream, edgeCount } of edges) {
    const [from, to] = [upstream?.urn ?? outside, downstream?.urn ?? outside]
    if (from === to) continue
    const key = `${from}\n${to}`
    merged.set(key, { from, to, count: Math.max(edgeCount, merged.get(key)?.count ?? 0) })
  }
  return [...merged.values()].sort((a, b) => b.count - a.count || (a.from + a.to < b.from + b.to ? -1 : 1))
}

/**
 * The width of an arrow grows with the logarithm of its count, because an arrow of ten thousand edges must
 * not hide an arrow of ten.
 */
const strokeOf = (count: number, most: number): number =>
  strokes.least + (strokes.most - strokes.least) * (most > 1 ? Math.log(count) / Math.log(most) : 0)

const round = (value: number): number => Math.round(value * 10) / 10

/** A point of the line in the gap, or in the layer, that is half way. */
function middleOf(points: readonly Point[]): Point {
  const [start = { x: 0, y: 0 }, end = start] = [points[0], points.at(-1)]
  return points.length > 2
    ? (points[Math.floor(points.length / 2)] ?? start)
    : { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 }
}

export function drawMap(edges: readonly MapEdge[], nameOf: (urn: string) => string): MapPicture {
  const urns = [...new Set(edges.flatMap(({ from, to }) => [from, to]))]
  const layout = layOut({
    nodes: urns.map((urn) => ({ id: urn, ...box, portY: box.height / 2 })),
    edges: edges.map(({ from, to }, index) => ({ id: String(index), from, to }))
  })
  const most = Math.max(1, ...edges.map(({ count }) => count))
  const arrows = layout.edges.flatMap(({ id, from, to, isLoop, points }) => {
    const edge = edges[Number(id)]
    const [source, target] = [layout.boxes.get(from), layout.boxes.get(to)]
    if (!edge || !source || !target) return []
    const line = isLoop ? loop(points, source, target) : curve(points)
    return [
      {
        ...edge,
        ...line,
        fromName: nameOf(edge.from),
        toName: nameOf(edge.to),
        width: round(strokeOf(edge.count, most)),
        label: isLoop ? { x: line.box.x + line.box.width / 2, y: line.box.y } : middleOf(points)
      }
    ]
  })
  const bounds = boundsOf([layout.bounds, ...arrows.map(({ box }) => box)])
  return {
    boxes: urns.flatMap((urn) => {
      const placed = layout.boxes.get(urn)
      return placed ? [{ urn, name: nameOf(urn), box: placed }] : []
    }),
    arrows,
    bounds: {
      x: bounds.x - margin,
      y: bounds.y - margin,
      width: bounds.width + 2 * margin,
      height: bounds.height + 2 * margin
    }
  }
}
