/** Draws lineage between domains: boxes in layers, and arrows whose width shows the number of edges. */
import type { RawDomainEdge } from '../../api/domain-queries.ts'
import { layOut, type Box, type Point } from '../../graph/layout.ts'

/** The box of all assets without a domain. */
export const outside = ''

export type MapEdge = { from: string; to: string; count: number }
export type MapPicture = {
  boxes: { urn: string; name: string; box: Box }[]
  arrows: (MapEdge & { path: string; width: number; label: Point; fromName: string; toName: string })[]
  width: number
  height: number
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

/** A curve through the points, horizontal at both ends. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (!first) return ''
  let last = first
  return `M${round(first.x)} ${round(first.y)}${rest
    .map((point) => {
      const bend = Math.max(24, Math.abs(point.x - last.x) / 2)
      const text = `C${round(last.x + bend)} ${round(last.y)} ${round(point.x - bend)} ${round(point.y)} ${round(point.x)} ${round(point.y)}`
      last = point
      return text
    })
    .join('')}`
}

export function drawMap(edges: readonly MapEdge[], nameOf: (urn: string) => string): MapPicture {
  const urns = [...new Set(edges.flatMap(({ from, to }) => [from, to]))]
  const layout = layOut({
    nodes: urns.map((urn) => ({ id: urn, ...box, portY: box.height / 2 })),
    edges: edges.map(({ from, to }, index) => ({ id: String(index), from, to }))
  })
  const shift = { x: margin - layout.bounds.x, y: margin - layout.bounds.y }
  const moved = ({ x, y }: Point): Point => ({ x: x + shift.x, y: y + shift.y })
  const most = Math.max(1, ...edges.map(({ count }) => count))
  return {
    boxes: urns.flatMap((urn) => {
      const placed = layout.boxes.get(urn)
      return placed ? [{ urn, name: nameOf(urn), box: { ...placed, ...moved(placed) } }] : []
    }),
    arrows: layout.edges.flatMap(({ id, points }) => {
      const edge = edges[Number(id)]
      const [start, end] = [points[0], points.at(-1)]
      if (!edge || !start || !end) return []
      const middle = points.length > 2 ? (points[Math.floor(points.length / 2)] ?? start) : start
      const label =
        points.length > 2 ? moved(middle) : moved({ x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 })
      return [
        {
          ...edge,
          fromName: nameOf(edge.from),
          toName: nameOf(edge.to),
          path: curve(points.map(moved)),
          width: round(strokeOf(edge.count, most)),
          label
        }
      ]
    }),
    width: layout.bounds.width + 2 * margin,
    height: layout.bounds.height + 2 * margin
  }
}
