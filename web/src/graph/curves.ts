/** The lines of edges: curves between layers, and loops for edges that lead back; each with the box it is in. */
import type { Box, Point } from './layout.ts'
import { boxOfPoints } from './visible.ts'

const text = ({ x, y }: Point): string => `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`

/** An S-shaped curve between two points, horizontal at both ends. */
function bend(from: Point, to: Point): string {
  const reach = Math.max(24, (to.x - from.x) / 2)
  return `C${text({ x: from.x + reach, y: from.y })} ${text({ x: to.x - reach, y: to.y })} ${text(to)}`
}

/** Curves in the gaps between layers, and straight lines through the layers. */
export function curve(points: readonly Point[]): { path: string; box: Box } {
  const [start, ...others] = points
  if (!start) return { path: '', box: boxOfPoints([]) }
  let path = `M${text(start)}`
  let last = start
  for (const [index, point] of others.entries()) {
    path += index % 2 === 0 ? bend(last, point) : `L${text(point)}`
    last = point
  }
  return { path, box: boxOfPoints(points, 4) }
}

/** A back edge: leaves on the right, passes above or below the cards, and enters on the left. */
export function loop(points: readonly Point[], source: Box, target: Box): { path: string; box: Box } {
  const [start, end] = [points[0], points.at(-1)]
  if (!start || !end) return { path: '', box: boxOfPoints([]) }
  const far = 44
  const top = Math.min(source.y, target.y) - 26
  const corner = { right: { x: start.x + far, y: top }, left: { x: end.x - far, y: top } }
  const path =
    `M${text(start)}C${text({ x: start.x + far, y: start.y })} ${text(corner.right)} ${text({ x: start.x, y: top })}` +
    `L${text({ x: end.x, y: top })}C${text(corner.left)} ${text({ x: end.x - far, y: end.y })} ${text(end)}`
  return { path, box: boxOfPoints([start, end, corner.right, corner.left], 4) }
}
