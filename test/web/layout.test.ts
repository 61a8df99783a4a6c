/** The layout of the lineage graph: what it promises of every picture, on random graphs and on hard ones. */
import t from 'tap'
import { gaps, layOut, type Box, type Layout, type LayoutQuestion } from '../../web/src/graph/layout.ts'
import {
  boxOfPoints,
  crosses,
  detailAt,
  isSameBox,
  viewOfBox,
  visibleOf,
  windowOf
} from '../../web/src/graph/visible.ts'
import { fc, seed } from '../support/fast-check.ts'

const card = { width: 240, height: 56, portY: 28 }

const graphOf = (count: number, edges: readonly (readonly [number, number])[]): LayoutQuestion => ({
  nodes: Array.from({ length: count }, (_, index) => ({ id: String(index), ...card })),
  edges: edges.map(([from, to], index) => ({ id: `e${index}`, from: String(from), to: String(to) }))
})

/** Graphs with cycles, self loops, parallel edges, islands, cards of different heights, and sometimes lanes. */
const anyGraph: fc.Arbitrary<LayoutQuestion> = fc
  .integer({ min: 1, max: 40 })
  .chain((count) =>
    fc.record({
      heights: fc.array(fc.constantFrom(56, 56, 92, 320), { minLength: count, maxLength: count }),
      lanes: fc.array(fc.constantFrom('a', 'b', 'c', null), { minLength: count, maxLength: count }),
      hasLanes: fc.boolean(),
      edges: fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: count * 2 })
    })
  )
  .map(({ heights, lanes, hasLanes, edges }) => {
    const { nodes, edges: named } = graphOf(heights.length, edges)
    return {
      edges: named,
      nodes: nodes.map((node, index) => ({
        ...node,
        height: heights[index] ?? 56,
        ...(hasLanes ? { lane: lanes[index] ?? null } : {})
      }))
    }
  })

const boxOf = (layout: Layout, id: string): Box =>
  layout.boxes.get(id) ?? { x: NaN, y: NaN, width: 0, height: 0 }

function overlaps(boxes: readonly Box[]): [Box, Box][] {
  return boxes.flatMap((box, index) =>
    boxes.slice(index + 1).flatMap((other): [Box, Box][] => (crosses(box, other) ? [[box, other]] : []))
  )
}

/** A lineage as catalogs have it: ten layers, some hubs, some long edges. */
function bigGraph(count: number, edgeCount: number): LayoutQuestion {
  let state = seed
  const random = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
  const layerOf = Array.from({ length: count }, (_, index) => Math.floor((index * 10) / count))
  const edges = Array.from({ length: edgeCount }, (): [number, number] => {
    const to = Math.floor(random() * count)
    const hub = random() < 0.15 ? Math.floor(random() * 20) : Math.floor(random() * count)
    return (layerOf[hub] ?? 0) <= (layerOf[to] ?? 0) && hub < to
      ? [hub, to]
      : [Math.min(to, hub), Math.max(to, hub)]
  })
  return graphOf(
    count,
    edges.filter(([from, to]) => from !== to)
  )
}

await t.test('the same graph is always laid out in the same way', async () => {
  fc.assert(
    fc.property(
      anyGraph,
      (graph) => JSON.stringify([...layOut(graph).boxes]) === JSON.stringify([...layOut(graph).boxes])
    )
  )
})

await t.test('no two cards overlap, whatever their heights, and each has the size asked for', async () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const { boxes } = layOut(graph)
      return (
        boxes.size === graph.nodes.length &&
        overlaps([...boxes.values()]).length === 0 &&
        graph.nodes.every(
          ({ id, width, height }) => boxes.get(id)?.width === width && boxes.get(id)?.height === height
        )
      )
    })
  )
})

await t.test('every edge leads from left to right, except those that close a cycle', async (t) => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const layout = layOut(graph)
      const forwards = layout.edges.filter(({ isLoop }) => !isLoop)
      return (
        layout.edges.length === graph.edges.length &&
        forwards.every(({ from, to, points }) => {
          const [source, target] = [boxOf(layout, from), boxOf(layout, to)]
          return (
            source.x + source.width < target.x &&
            points.every((point, index) => index === 0 || point.x >= (points[index - 1]?.x ?? 0))
          )
        })
      )
    })
  )
  await t.test('no edge is a loop in a graph without cycles', async () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 60 }), (pairs) =>
        layOut(
          graphOf(
            21,
            pairs
              .filter(([a, b]) => a !== b)
              .map(([a, b]): [number, number] => [Math.min(a, b), Math.max(a, b)])
          )
        ).edges.every(({ isLoop }) => !isLoop)
      )
    )
  })
  await t.test('there are as many loops as needed: one for a ring, one for a self loop', async (t) => {
    const ring = layOut(
      graphOf(4, [
        [0, 1],
        [1, 2],
        [2, 0],
        [3, 3],
        [0, 3]
      ])
    )
    t.strictSame(
      ring.edges.filter(({ isLoop }) => isLoop).map(({ id }) => id),
      ['e2', 'e3']
    )
    const entered = layOut(
      graphOf(4, [
        [0, 1],
        [1, 2],
        [2, 0],
        [3, 1]
      ])
    )
    t.strictSame(
      entered.edges.filter(({ isLoop }) => isLoop).map(({ id }) => id),
      ['e0'],
      'what comes from outside enters at the left end of the ring'
    )
  })
})

await t.test('the anchor card stays where it was, whatever appears or disappears around it', async () => {
  fc.assert(
    fc.property(anyGraph, fc.nat(), fc.array(fc.nat(), { maxLength: 10 }), (graph, pick, dropped) => {
      const former = layOut(graph)
      const held = graph.nodes[pick % graph.nodes.length]?.id ?? '0'
      const gone = new Set(
        dropped.map((each) => String(each % graph.nodes.length)).filter((id) => id !== held)
      )
      const { x, y } = boxOf(former, held)
      const next = layOut({
        nodes: [...graph.nodes.filter(({ id }) => !gone.has(id)), { id: 'new', ...card }],
        edges: [...graph.edges, { id: 'new', from: held, to: 'new' }],
        former: former.boxes,
        anchor: { id: held, x, y }
      })
      return boxOf(next, held).x === x && boxOf(next, held).y === y
    })
  )
})

await t.test('cards that stay keep their order from top to bottom when a branch is added', async (t) => {
  const graph = graphOf(7, [
    [0, 1],
    [0, 2],
    [0, 3],
    [1, 4],
    [2, 5],
    [3, 6]
  ])
  const former = layOut(graph)
  const more = layOut({
    nodes: [...graph.nodes, ...['x', 'y'].map((id) => ({ id, ...card }))],
    edges: [...graph.edges, ...['x', 'y'].map((id) => ({ id, from: '2', to: id }))],
    former: former.boxes
  })
  const order = (layout: Layout, ids: string[]): string[] =>
    ids.toSorted((a, b) => boxOf(layout, a).y - boxOf(layout, b).y)
  t.strictSame(order(more, ['1', '2', '3']), order(former, ['1', '2', '3']))
  t.strictSame(order(more, ['4', '5', '6']), order(former, ['4', '5', '6']))
})

await t.test('few edges cross', async (t) => {
  const ladder = layOut(
    graphOf(8, [
      [0, 7],
      [1, 6],
      [2, 5],
      [3, 4]
    ])
  )
  const rows = [0, 1, 2, 3].map((left) => boxOf(ladder, String(left)).y - boxOf(ladder, String(7 - left)).y)
  t.ok(
    rows.every((distance) => Math.abs(distance) < 1),
    'pairs lie side by side'
  )
  const tree = layOut(
    graphOf(7, [
      [0, 1],
      [0, 2],
      [1, 6],
      [2, 5],
      [1, 4],
      [2, 3]
    ])
  )
  const y = (id: number): number => boxOf(tree, String(id)).y
  t.ok(
    Math.max(y(6), y(4)) < Math.min(y(5), y(3)) || Math.min(y(6), y(4)) > Math.max(y(5), y(3)),
    'branches of a tree do not mix'
  )
})

await t.test('a source is next to its consumer, and the flow decides the layer', async (t) => {
  const { layerOf } = layOut(
    graphOf(5, [
      [0, 1],
      [1, 2],
      [2, 3],
      [4, 3]
    ])
  )
  t.strictSame(
    [...layerOf],
    [
      ['0', 0],
      ['1', 1],
      ['2', 2],
      ['3', 3],
      ['4', 2]
    ]
  )
})

await t.test(
  'lanes are bands that do not overlap, and each contains its own cards and no other',
  async () => {
    fc.assert(
      fc.property(anyGraph, (graph) => {
        const layout = layOut(graph)
        const laneBoxes = new Map(layout.lanes.map((lane) => [lane.lane, lane]))
        return (
          overlaps(layout.lanes).length === 0 &&
          graph.nodes.every(({ id, lane }) => {
            if (layout.lanes.length === 0) return true
            const [band, box] = [laneBoxes.get(lane ?? ''), boxOf(layout, id)]
            return (
              band !== undefined &&
              band.y <= box.y &&
              box.y + box.height <= band.y + band.height &&
              band.x <= box.x
            )
          })
        )
      })
    )
  }
)

/** Time of the processor, for a machine may do other work as well. */
await t.test('hard graphs are laid out in time', async (t) => {
  const timed = (name: string, graph: LayoutQuestion, mostMs: number): Layout => {
    const before = process.cpuUsage()
    const layout = layOut(graph)
    const { user, system } = process.cpuUsage(before)
    const ms = Math.round((user + system) / 1_000)
    t.ok(ms < mostMs, `${name}: ${ms} ms`)
    return layout
  }
  timed('1,000 cards and 1,500 edges', bigGraph(1_000, 1_500), 1_000)
  const big = timed('5,000 cards and 7,500 edges', bigGraph(5_000, 7_500), 1_500)
  t.equal(big.boxes.size, 5_000)
  const chain = timed(
    'a chain of 2,000',
    graphOf(
      2_000,
      Array.from({ length: 1_999 }, (_, i): [number, number] => [i, i + 1])
    ),
    1_500
  )
  t.equal(chain.bounds.height, card.height, 'a chain is straight')
  timed(
    'a star of 2,000',
    graphOf(
      2_000,
      Array.from({ length: 1_999 }, (_, i): [number, number] => [0, i + 1])
    ),
    1_500
  )
  timed(
    'a chain of 2,000 whose ends are joined across it',
    graphOf(2_000, [
      ...Array.from({ length: 1_999 }, (_, i): [number, number] => [i, i + 1]),
      ...Array.from({ length: 900 }, (_, i): [number, number] => [i, 1_999 - i])
    ]),
    1_500
  )
  timed(
    'a ring of 2,000',
    graphOf(
      2_000,
      Array.from({ length: 2_000 }, (_, i): [number, number] => [i, (i + 1) % 2_000])
    ),
    1_500
  )
})

await t.test('an empty graph has an empty picture, and an unknown end is left out', async (t) => {
  t.strictSame(layOut({ nodes: [], edges: [] }).bounds, { x: 0, y: 0, width: 0, height: 0 })
  t.equal(layOut(graphOf(1, [[0, 5]])).edges.length, 0)
})

await t.test('everything that crosses the viewport is drawn', async (t) => {
  const view = fc.record({
    x: fc.double({ min: -5_000, max: 5_000, noNaN: true }),
    y: fc.double({ min: -5_000, max: 5_000, noNaN: true }),
    scale: fc.double({ min: 0.02, max: 2, noNaN: true })
  })
  const size = { width: 1_200, height: 800 }
  fc.assert(
    fc.property(view, (each) => {
      const seen = {
        x: -each.x / each.scale,
        y: -each.y / each.scale,
        width: size.width / each.scale,
        height: size.height / each.scale
      }
      const window = windowOf(each, size)
      return (
        window.x <= seen.x &&
        window.y <= seen.y &&
        window.x + window.width >= seen.x + seen.width &&
        window.y + window.height >= seen.y + seen.height
      )
    })
  )
  await t.test('an edge that crosses the viewport is drawn, even if both its ends are outside', async (t) => {
    const window = { x: 0, y: 0, width: 100, height: 100 }
    const across = boxOfPoints([
      { x: -500, y: 50 },
      { x: 500, y: 60 }
    ])
    const beside = boxOfPoints([
      { x: -500, y: 150 },
      { x: 500, y: 160 }
    ])
    t.strictSame(visibleOf([{ box: across }, { box: beside }], window), [{ box: across }])
  })
  await t.test('the drawn part stays the same for small steps', async (t) => {
    const steps = Array.from({ length: 20 }, (_, index) => windowOf({ x: index * 10, y: 0, scale: 1 }, size))
    const changes = steps.filter((each, index) => index > 0 && !isSameBox(each, steps[index - 1] ?? each))
    t.ok(changes.length <= 2, `${changes.length} changes on 200 pixels`)
  })
})

await t.test('a view of a box contains it, at natural size at most', async () => {
  const number = fc.integer({ min: -4_000, max: 4_000 })
  const side = fc.integer({ min: 1, max: 20_000 })
  fc.assert(
    fc.property(fc.record({ x: number, y: number, width: side, height: side }), (box) => {
      const size = { width: 1_200, height: 700 }
      const { x, y, scale } = viewOfBox(box, size)
      return (
        scale <= 1 &&
        box.x * scale + x >= -1 &&
        box.y * scale + y >= -1 &&
        (box.x + box.width) * scale + x <= size.width + 1 &&
        (box.y + box.height) * scale + y <= size.height + 1
      )
    })
  )
})

await t.test('the level of detail falls with the scale', async (t) => {
  t.strictSame([1, 0.98, 0.97, 0.25, 0.2].map(detailAt), ['full', 'full', 'names', 'names', 'blocks'])
  t.ok(gaps.row > 0)
})
