/** The layout of a map: arrows pass no box, and numbers cover neither boxes nor each other. */
import t from 'tap'
import { layOutMap, type MapEdge } from '../../web/src/pages/map/map-layout.ts'
import { crosses } from '../../web/src/graph/visible.ts'
import { fc } from '../support/fast-check.ts'

/** Points along a line of curves, straight lines and corners. */
function pointsOn(path: string): { x: number; y: number }[] {
  const found: { x: number; y: number }[] = []
  let last = { x: 0, y: 0 }
  for (const part of path.split(/(?=[MLCQ])/)) {
    const numbers = (part.match(/-?[\d.]+/g) ?? []).map(Number)
    const control = [last]
    for (let at = 0; at < numbers.length; at += 2)
      control.push({ x: numbers[at] ?? Number.NaN, y: numbers[at + 1] ?? Number.NaN })
    if (part.startsWith('M')) control.shift()
    for (let step = 0; step <= 20; step += 1) {
      let points = control
      while (points.length > 1)
        points = points.slice(1).map((to, index) => {
          const from = points[index] ?? to
          return {
            x: from.x + ((to.x - from.x) * step) / 20,
            y: from.y + ((to.y - from.y) * step) / 20
          }
        })
      found.push(...points)
    }
    last = control.at(-1) ?? last
  }
  return found
}

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', '']

t.test('every box and arrow is in the picture, and nothing covers a box or a number', async (t) => {
  const name = fc.constantFrom(...names)
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, name, fc.integer({ min: 1, max: 1_000_000 })), { maxLength: 24, size: 'max' }),
      (tuples) => {
        const edges = [
          ...new Map(
            tuples
              .filter(([from, to]) => from !== to)
              .map(([from, to, count]): [string, MapEdge] => [`${from} ${to}`, { from, to, count }])
          ).values()
        ]
        const { boxes, arrows, bounds } = layOutMap(names, edges)
        t.strictSame(boxes.map(({ id }) => id).sort(), names.toSorted())
        t.strictSame(
          arrows.map(({ from, to, count }) => ({ from, to, count })),
          edges
        )
        const solid = [
          ...boxes.map(({ box }) => box),
          ...arrows.flatMap(({ label }) => (label ? [label] : []))
        ]
        for (const [index, box] of solid.entries()) {
          t.notOk(solid.slice(index + 1).some((other) => crosses(box, other)))
          t.ok(box.x >= bounds.x && box.x + box.width <= bounds.x + bounds.width)
          t.ok(box.y >= bounds.y && box.y + box.height <= bounds.y + bounds.height)
        }
        for (const { path, width } of arrows) {
          t.ok(width >= 1 && width <= 10)
          for (const point of pointsOn(path))
            t.notOk(
              boxes.some(({ box: { x, y, width, height } }) =>
                crosses(
                  { x: x + 1, y: y + 1, width: width - 2, height: height - 2 },
                  { ...point, width: 0.1, height: 0.1 }
                )
              ),
              path
            )
        }
      }
    ),
    { numRuns: 60 }
  )
})
