/**
 * Lists of ids, from empty to hundreds of thousands, in a pool that is large enough or must grow: they
 * contain what was put in, and open views do not change.
 */
import t from 'tap'
import { Adjacency, membersIn } from '../shared/graph/adjacency.ts'
import { walkGraph } from '../shared/graph/walk-graph.ts'

const range = (begin: number, end: number): number[] =>
  Array.from({ length: end - begin }, (_, index) => begin + index)
/** In any order. */
const areSame = (members: Int32Array, expected: readonly number[]): boolean =>
  members.toSorted().join(' ') === Int32Array.from(expected).sort().join(' ')
const add = (adjacency: Adjacency, id: number, members: readonly number[], era: number | null): void => {
  adjacency.append(
    new Int32Array(members.length).fill(id),
    Int32Array.from(members),
    Uint32Array.from(members.keys()),
    era
  )
}
const never = (): undefined => undefined

for (const expectedIds of [0, 1_000_000])
  t.test(
    `a list that grows and shrinks again has what was stated, with room for ${expectedIds}`,
    async (t) => {
      const adjacency = new Adjacency(expectedIds)
      const hub = 7
      let expected: number[] = []
      const steps: [number[], number[]][] = [
        [range(10, 12), []],
        [range(12, 70_000), []],
        [range(70_000, 300_000), []],
        [[5], range(10, 200_000)],
        [[], range(200_000, 299_990)],
        [range(10, 66_000), [5]]
      ]
      for (const [added, removed] of steps) {
        const before = adjacency.view()
        const stood = [...expected]
        adjacency.freeze()
        add(adjacency, hub, added, 1)
        if (removed.length > 0) adjacency.remove(hub, removed, 1)
        add(adjacency, 8, [hub], 1)
        const gone = new Set(removed)
        expected = [...expected.filter((id) => !gone.has(id)), ...added]
        t.ok(
          areSame(membersIn(adjacency.view(), hub), expected),
          `after ${added.length} more and ${removed.length} less`
        )
        t.ok(areSame(membersIn(before, hub), stood), 'a view stays what it was')
      }
      t.throws(() => adjacency.remove(hub, [1, 2, 3], 1), /lacks 3/)
    }
  )

for (const way of ['filled', 'changed'] as const) {
  t.test(`a walk over long lists, ${way}, finds all`, async (t) => {
    const adjacency = new Adjacency()
    const idsEnd = 400_000
    const far = range(2, 200_002)
    const further = range(200_002, idsEnd)
    if (way === 'filled') {
      await adjacency.fill(
        [new Int32Array(far.length).fill(1), Int32Array.from(further, (id) => id - 198_000)],
        [Int32Array.from(far), Int32Array.from(further)],
        idsEnd - 1,
        never
      )
    } else {
      add(adjacency, 1, far, null)
      for (const id of further) add(adjacency, id - 198_000, [id], null)
    }
    const walk = await walkGraph(
      adjacency.view(),
      idsEnd,
      { startIds: [1], hopsWanted: 100, bounds: { maxHops: 100, maxEntities: idsEnd } },
      never
    )
    t.equal(walk.ids.length, far.length + further.length)
    t.same([...walk.degrees.subarray(0, 3), walk.degrees[199_999], walk.degrees[200_000]], [1, 1, 1, 1, 2])
    t.same(walk.ids[0], 2)
  })
}

t.test('a pool counts what is written to, not what it has addresses for', async (t) => {
  const adjacency = new Adjacency(2 ** 31 - 1)
  add(adjacency, 1, [2, 3], null)
  t.ok(areSame(membersIn(adjacency.view(), 1), [2, 3]))
  t.ok(adjacency.bytes < 100_000, 'what is not written to does not count')
})

t.test('a large walk stops at entities without a list, whatever was walked before it', async (t) => {
  const bounds = { maxHops: 100, maxEntities: 10_000 }
  const chain = new Adjacency()
  for (const id of range(1, 2_000)) add(chain, id, [id + 1], null)
  const before = await walkGraph(
    chain.view(),
    2_001,
    { startIds: [1], hopsWanted: Infinity, bounds: { ...bounds, maxHops: 5_000 } },
    never
  )
  t.equal(before.ids.length, 1_999)
  // Only ids below 256 have lists. A walk reaches entities that have none, or that were followed a moment
  // ago.
  const fan = new Adjacency()
  add(fan, 1, range(2, 200), null)
  for (const id of range(2, 200)) add(fan, id, [id + 1_000], null)
  const { ids, degrees } = await walkGraph(
    fan.view(),
    2_001,
    { startIds: [1], hopsWanted: Infinity, bounds },
    never
  )
  t.same([...ids], [...range(2, 200), ...range(1_002, 1_200)])
  t.equal(degrees.at(-1), 2)
})
