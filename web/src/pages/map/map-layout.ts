/**
 * Lays out a map: boxes in layers, arrows that pass no box, and their numbers, none of which covers a box or
 * another number.
 */
import { curve } from '../../graph/curves.ts'
import { textWidth } from '../../graph/labels.ts'
import { boundsOf, layOut, type Box, type PlacedEdge, type Point } from '../../graph/layout.ts'
import { crosses } from '../../graph/visible.ts'
import { number } from '../../texts/numbers.ts'

/** `back` counts the edges that lead the other way, if both are one arrow. */
export type MapEdge = { from: string; to: string; count: number; back?: number }
/** `label` is where the number is; null if there is no room for it. */
export type MapArrow = MapEdge & { path: string; width: number; label: Box | null }
export type MapLayout = { boxes: { id: string; box: Box }[]; arrows: MapArrow[]; bounds: Box }

export const boxSize = { width: 228, height: 58 }
const gaps = { row: 20, layer: 84, lane: 20, label: 2 }
const strokes = { least: 1.2, most: 3.6 }
/** Numbers are drawn larger where the map is small. */
const labelHeight = 24
export const labelOf = ({ count, back }: MapEdge): string =>
  back === undefined ? number(count) : `${number(count)} ⇄ ${number(back)}`

/** Both directions of two boxes as one arrow, which leads where more edges lead. */
export function paired(edges: readonly MapEdge[]): MapEdge[] {
  const of = new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge]))
  return edges.flatMap((edge, index) => {
    const other = of.get(`${edge.to} ${edge.from}`)
    if (!other || other === edge) return [edge]
    const isFirst = edge.count > other.count || (edge.count === other.count && index < edges.indexOf(other))
    return isFirst ? [{ ...edge, back: other.count }] : []
  })
}

/**
 * The width of an arrow grows with the logarithm of its count, because an arrow of ten thousand edges must
 * not hide an arrow of ten.
 */
const strokeOf = (count: number, most: number): number =>
  strokes.least + (strokes.most - strokes.least) * (most > 1 ? Math.log(count) / Math.log(most) : 0)

const rounded = (value: number): number => Math.round(value * 10) / 10

export function layOutMap(ids: readonly string[], edges: readonly MapEdge[]): MapLayout {
  const joined = new Set(edges.flatMap(({ from, to }) => [from, to]))
  const layout = layOut({
    nodes: ids.filter((id) => joined.has(id)).map((id) => ({ id, ...boxSize, portY: boxSize.height / 2 })),
    edges: edges.map(({ from, to }, index) => ({ id: String(index), from, to })),
    layerGap: gaps.layer
  })
  const ways = waysOf(layout.edges, layout.bounds)
  const bounds = boundsOf([layout.bounds, ...ways.map(({ points }) => boundsOf(points.map(dot)))])
  const boxes = [
    ...[...layout.boxes].map(([id, box]) => ({ id, box })),
    ...placeAlone(
      ids.filter((id) => !joined.has(id)),
      bounds
    )
  ].sort((a, b) => a.box.x - b.box.x || a.box.y - b.box.y)
  const most = Math.max(1, ...edges.map(({ count }) => count))
  const taken = boxes.map(({ box }) => box)
  const arrows = ways.flatMap(({ id, path, places }) => {
    const edge = edges[Number(id)]
    if (!edge) return []
    const label = labelAt(places, labelOf(edge), taken)
    if (label) taken.push(label)
    return [{ ...edge, path, width: rounded(strokeOf(edge.count, most)), label }]
  })
  return { boxes, arrows, bounds: boundsOf([bounds, ...taken]) }
}

const dot = (point: Point): Box => ({ ...point, width: 0, height: 0 })

/** Boxes without arrows, in rows below all others. */
function placeAlone(ids: readonly string[], { x, y, width, height }: Box): { id: string; box: Box }[] {
  const step = { x: boxSize.width + gaps.row, y: boxSize.height + gaps.row }
  const columns = Math.max(4, Math.ceil(Math.sqrt(ids.length * 0.8)), Math.floor((width + gaps.row) / step.x))
  const top = height === 0 ? y : y + height + 2 * gaps.row
  return ids.map((id, index) => ({
    id,
    box: { x: x + (index % columns) * step.x, y: top + Math.floor(index / columns) * step.y, ...boxSize }
  }))
}

type Way = { id: string; path: string; points: readonly Point[]; places: Point[] }

/** The lines of the arrows; those that close a cycle lead around all boxes, each in a lane of its own. */
function waysOf(edges: readonly PlacedEdge[], bounds: Box): Way[] {
  const middle = bounds.y + bounds.height / 2
  const lanes = { above: 0, below: 0 }
  return edges.map(({ id, isLoop, points }) => {
    const [start, end] = [points[0], points.at(-1)]
    if (!isLoop || !start || !end) return { id, path: curve(points).path, points, places: placesOn(points) }
    const side = (start.y + end.y) / 2 < middle ? 'above' : 'below'
    const lane = (lanes[side] += 1)
    const y = side === 'above' ? bounds.y - lane * gaps.lane : bounds.y + bounds.height + lane * gaps.lane
    const out = start.x + 12 + (lane % 6) * 6
    const into = end.x - 14 - (lane % 6) * 6
    const corners = [start, { x: out, y: start.y }, { x: out, y }, { x: into, y }, { x: into, y: end.y }, end]
    const places = [0.5, 0.35, 0.65, 0.2, 0.8].map((part) => ({ x: out + (into - out) * part, y }))
    return { id, path: roundedLine(corners), points: corners, places }
  })
}

/** Lines between the points, with round corners. */
function roundedLine(points: readonly Point[]): string {
  const [start] = points
  if (!start) return ''
  const text = ({ x, y }: Point): string => `${rounded(x)},${rounded(y)}`
  const towards = (from: Point, to: Point): Point => {
    const length = Math.hypot(to.x - from.x, to.y - from.y)
    const part = length === 0 ? 0 : Math.min(8, length / 2) / length
    return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
  }
  return points.slice(1).reduce(
    (path, point, index) => {
      const [before, next] = [points[index] ?? start, points[index + 2]]
      return next
        ? `${path}L${text(towards(point, before))}Q${text(point)} ${text(towards(point, next))}`
        : `${path}L${text(point)}`
    },
    `M${text(start)}`
  )
}

/** Points of a curve where its number may be: in the middle of a gap first. */
function placesOn(points: readonly Point[]): Point[] {
  const spans = points
    .slice(1)
    .map((to, index) => ({ from: points[index] ?? to, to, isBend: index % 2 === 0 }))
  return [0.5, 0.36, 0.64, 0.24, 0.76].flatMap((part) =>
    spans.map(({ from, to, isBend }) => {
      const reach = isBend ? Math.max(24, (to.x - from.x) / 2) : 0
      const [a, b, c, d] = [
        (1 - part) ** 3,
        3 * (1 - part) ** 2 * part,
        3 * (1 - part) * part ** 2,
        part ** 3
      ]
      return isBend
        ? {
            x: a * from.x + b * (from.x + reach) + c * (to.x - reach) + d * to.x,
            y: (a + b) * from.y + (c + d) * to.y
          }
        : { x: from.x + (to.x - from.x) * part, y: from.y }
    })
  )
}

function labelAt(places: readonly Point[], text: string, taken: readonly Box[]): Box | null {
  const width = Math.ceil(textWidth(text, 22, 600)) + 8
  for (const { x, y } of places) {
    const label = { x: x - width / 2, y: y - labelHeight / 2, width, height: labelHeight }
    const room = {
      x: label.x - gaps.label,
      y: label.y - gaps.label,
      width: width + 2 * gaps.label,
      height: labelHeight + 2 * gaps.label
    }
    if (!taken.some((box) => crosses(room, box))) return label
  }
  return null
}
