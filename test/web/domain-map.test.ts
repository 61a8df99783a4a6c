/** Lineage between domains as a picture: the numbers of the API, each pair once. */
import t from 'tap'
import { drawMap, mergeEdges, outside } from '../../web/src/pages/domains/map-layout.ts'
import { fc } from '../support/fast-check.ts'

const domain = (urn: string) => ({ urn, properties: { name: urn } })
const edge = (from: string | null, to: string | null, edgeCount: number) => ({
  upstream: from === null ? null : domain(from),
  downstream: to === null ? null : domain(to),
  edgeCount
})

/** The points that the line passes through, without those that only bend it. */
const endsIn = (path: string): { x: number; y: number }[] =>
  path.split(/(?=[MLC])/).map((part) => {
    const [x = Number.NaN, y = Number.NaN] = (part.match(/-?[\d.]+/g) ?? []).slice(-2).map(Number)
    return { x, y }
  })

t.test('edges of both directions are merged: each pair once, the strongest first', async (t) => {
  t.strictSame(
    mergeEdges([
      edge('a', 'b', 2),
      edge('c', 'a', 9),
      edge('a', 'b', 2),
      edge('a', null, 1),
      edge(null, null, 5),
      edge('b', 'a', 3)
    ]),
    [
      { from: 'c', to: 'a', count: 9 },
      { from: 'b', to: 'a', count: 3 },
      { from: 'a', to: 'b', count: 2 },
      { from: 'a', to: outside, count: 1 }
    ]
  )
})

t.test('the picture has a box for each domain and an arrow for each pair, inside its bounds', async (t) => {
  const names = fc.constantFrom('a', 'b', 'c', 'd', outside)
  fc.assert(
    fc.property(fc.array(fc.tuple(names, names, fc.integer({ min: 1, max: 1_000_000 }))), (tuples) => {
      const edges = mergeEdges(tuples.map(([from, to, count]) => edge(from || null, to || null, count)))
      const picture = drawMap(edges, (urn) => urn.toUpperCase())
      t.strictSame(
        picture.arrows.map(({ from, to, count }) => ({ from, to, count })),
        edges
      )
      t.equal(picture.boxes.length, new Set(edges.flatMap(({ from, to }) => [from, to])).size)
      for (const { name, urn } of picture.boxes) t.equal(name, urn.toUpperCase())
      for (const { width, path } of picture.arrows) {
        t.ok(width >= 1 && width <= 10)
        t.notMatch(path, /NaN|Infinity/)
      }
      const { x, y, width, height } = picture.bounds
      const points = [
        ...picture.arrows.flatMap(({ path }) => endsIn(path)),
        ...picture.boxes.flatMap(({ box }) => [box, { x: box.x + box.width, y: box.y + box.height }])
      ]
      for (const point of points) {
        t.ok(point.x >= x && point.x <= x + width, `x ${point.x}`)
        t.ok(point.y >= y && point.y <= y + height, `y ${point.y}`)
      }
    })
  )
})
