/** Edges between boxes are those of sets of pairs, whatever the lists repeat, and however long they are. */
import t, { type Test } from 'tap'
import { boxLineage, lookedThrough, noPart, outside } from '../shared/graph/box-lineage.ts'
import { pageBits } from '../shared/graph/pages.ts'
import { casesOf, fc, seed } from './support/fast-check.ts'

type Lists = readonly (readonly number[])[]

/** The lists of each id, laid out as the graph has them. */
function adjacency(lists: Lists) {
  const width = 2 << pageBits
  const heads = Array.from({ length: Math.ceil((lists.length * 2) / width) }, () => new Int32Array(width))
  let begin = 0
  for (const [id, list] of lists.entries()) {
    heads[id >>> pageBits]?.set([begin, list.length], (id * 2) % width)
    begin += list.length
  }
  return { heads, pool: Int32Array.from(lists.flat()), poolEnd: begin }
}

/** What an asset reaches: each asset in a box or outside once, also behind jobs, never itself. */
function reachedFrom(lists: Lists, boxOf: readonly number[], start: number): Set<number> {
  const [met, found, open] = [new Set([start]), new Set<number>(), [start]]
  for (let near = open.pop(); near !== undefined; near = open.pop())
    for (const far of lists[near] ?? []) {
      if (met.has(far) || boxOf[far] === noPart) continue
      met.add(far)
      if (boxOf[far] === lookedThrough) open.push(far)
      else found.add(far)
    }
  return found
}

async function check(t: Test, lists: Lists, boxOf: number[], boxCount: number) {
  const view = { downstream: adjacency(lists), upstream: adjacency(lists) }
  const { pairs, inside, toOutside, fromOutside } = await boxLineage(
    view,
    { boxOf: Int32Array.from(boxOf), boxCount, hasOutside: true },
    () => Promise.resolve()
  )
  const wanted = new Map<string, number>()
  const [within, out] = [new Int32Array(boxCount + 1), new Int32Array(boxCount + 1)]
  for (const [id, box] of boxOf.entries())
    if (box > 0)
      for (const far of reachedFrom(lists, boxOf, id)) {
        const to = boxOf[far] ?? noPart
        if (to === box) within[box] = (within[box] ?? 0) + 1
        else if (to === outside) out[box] = (out[box] ?? 0) + 1
        else wanted.set(`${box} ${to}`, (wanted.get(`${box} ${to}`) ?? 0) + 1)
      }
  const counted = Array.from(
    pairs.counts,
    (count, at) => `${pairs.upstream[at]} ${pairs.downstream[at]} ${count}`
  )
  t.strictSame(counted.toSorted(), [...wanted].map(([pair, count]) => `${pair} ${count}`).toSorted())
  t.strictSame(inside, within)
  t.strictSame(toOutside, out)
  t.strictSame(fromOutside, out)
}

t.test('lists around the length that is searched, with repeats, itself and jobs', async (t) => {
  for (const length of [0, 1, 15, 16, 17, 40])
    for (const ids of [3, 400])
      for (const job of [false, true]) {
        const lists = Array.from({ length: 401 }, (_, id) =>
          id === 0 ? Array.from({ length }, (_each, at) => at % ids) : id === 2 ? [0, 1, 5, 5, 6] : []
        )
        const boxOf = lists.map((_, id) =>
          id === 2 && job ? lookedThrough : id === 6 ? outside : 1 + (id % 3)
        )
        await check(t, lists, boxOf, 3)
      }
})

t.test('random graphs, with few boxes and with many', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(fc.array(fc.nat(29), { maxLength: 30 }), fc.integer({ min: lookedThrough, max: 4 })),
        {
          minLength: 30,
          maxLength: 30
        }
      ),
      fc.boolean(),
      async (nodes, isMany) => {
        const boxOf = nodes.map(([, box]) => (isMany && box > 0 ? box + 1_200 : box))
        await check(
          t,
          nodes.map(([list]) => list),
          boxOf,
          isMany ? 1_300 : 4
        )
      }
    ),
    { numRuns: casesOf(60), seed }
  )
})
