/**
 * Snapshots, merges, removals by hand and rejects, applied in any order while workers die, have the same
 * result as one after the other.
 */
import t from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { allChunkGuards, type ChunkGuards } from '../shared/catalog/loads/chunk-guards.ts'
import { claimChunk } from '../shared/catalog/loads/claim-chunk.ts'
import type { JsonValue } from '../shared/model/changes.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { addEdge, asCall, record, removeEdge } from './support/changes.ts'
import { fc, fixedSeed, casesOf, seed } from './support/fast-check.ts'
import { graphOfLog, graphOfTables } from './support/graph-log.ts'
import {
  dataset,
  edge,
  entity,
  guardsWithout,
  removal,
  withLoadBench,
  type LoadBench
} from './support/load-bench.ts'

/** Edges by their numbers. */
type Step =
  | { do: 'merge'; source: string; adds: number[]; removes: number[] }
  | {
      do: 'snapshot'
      source: string
      adds: number[]
      misspelt: number[]
      isUnreadable: boolean
      force: boolean
    }
  | { do: 'call'; adds: number[]; removes: number[] }

type Plan = { steps: Step[]; turns: number[] }

const pairs = [
  [0, 1],
  [0, 2],
  [1, 2],
  [2, 1],
  [3, 1],
  [3, 3]
] as const
const some = fc.subarray(pairs.map((_, index) => index))
const few = fc.subarray(
  pairs.map((_, index) => index),
  { maxLength: 2 }
)
const source = fc.constantFrom('a', 'b')

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('snapshot' as const),
      source,
      adds: some,
      misspelt: few,
      isUnreadable: fc.nat(9).map((drawn) => drawn === 0),
      force: fc.boolean()
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('merge' as const), source, adds: some, removes: few })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('call' as const), adds: few, removes: few }) }
)
const plan: fc.Arbitrary<Plan> = fc.record({
  steps: fc.array(step, { minLength: 2, maxLength: 6 }),
  turns: fc.array(fc.nat(9_999), { minLength: 64, maxLength: 64 })
})

/** The sources of each edge after the steps in order, by the simplest means. */
function oracle(steps: readonly Step[]): string[] {
  let stated = new Set<string>()
  const without = (edges: readonly number[]): Set<string> =>
    new Set([...stated].filter((key) => !edges.includes(Number(key.split(' ')[0]))))
  for (const each of steps) {
    const by = each.do === 'call' ? 'manual' : each.source
    for (const index of each.adds) stated.add(`${index} ${by}`)
    if (each.do !== 'snapshot') stated = without(each.removes)
    else if (each.force || !each.isUnreadable)
      stated = new Set(
        [...stated].filter(
          (key) =>
            !key.endsWith(` ${by}`) || [...each.adds, ...each.misspelt].includes(Number(key.split(' ')[0]))
        )
      )
  }
  return [...stated].sort()
}

/** The names of the assets and sources of one run. */
type World = { name: string; ends: (index: number) => [string, string] }

const worldOf = (run: number): World => ({
  name: `r${run}`,
  ends: (index) => [`r${run}-${pairs[index]?.[0]}`, `r${run}-${pairs[index]?.[1]}`]
})

async function submit(bench: LoadBench, { name, ends }: World, each: Step): Promise<void> {
  if (each.do === 'call') {
    const changes = [
      ...each.adds.map((index) => addEdge(toUrn(dataset(ends(index)[0])), toUrn(dataset(ends(index)[1])))),
      ...each.removes.map((index) =>
        removeEdge(toUrn(dataset(ends(index)[0])), toUrn(dataset(ends(index)[1])))
      )
    ]
    if (changes.length > 0) await applyCall(bench.db, [record(0, ...changes)], asCall())
    return
  }
  const records: JsonValue[] = each.adds.map((index) => edge(...ends(index)))
  if (each.do === 'merge') records.push(...each.removes.map((index) => removal(...ends(index))))
  else {
    records.push(
      ...each.misspelt.map((index) => ({
        op: 'addEgde',
        upstreamUrn: dataset(ends(index)[0]),
        downstreamUrn: dataset(ends(index)[1])
      }))
    )
    if (each.isUnreadable) records.push('{"upstreamUrn": "urn:li:data')
  }
  // A load needs a record, even if it states nothing.
  await bench.submit(records.length > 0 ? records : [entity(`${name}-0`)], {
    source: `${name}-${each.source}`,
    ...(each.do === 'snapshot' ? { snapshot: { force: each.force, maxRemovedShare: 1 } } : {})
  })
}

/**
 * The chunks that can be applied, whether or not they are due, and whether their worker may die: a record
 * that is alone in its chunk is rejected after its third worker has died.
 */
async function ready(bench: LoadBench): Promise<{ id: number; mayDie: boolean }[]> {
  await bench.rows("update chunk set next_at = now() where state = 'waiting'")
  return bench.rows<{ id: number; mayDie: boolean }>(`
    select
      chunk.id,
      not chunk.is_isolated or chunk.crashes + (chunk.state = 'applying')::integer < 2 as "mayDie"
    from chunk
    join load on load.id = chunk.load_id
    where chunk.state in ('waiting', 'applying') and chunk.pass = load.current_pass and load.state in ('accepted', 'applying')
    order by chunk.id`)
}

async function play(
  bench: LoadBench,
  world: World,
  { steps, turns }: Plan,
  guards: ChunkGuards
): Promise<string[]> {
  await bench.submit([0, 1, 2, 3].map((index) => entity(`${world.name}-${index}`)))
  await bench.drain()
  // Each random draw is used once. When all are used, the chunks take turns and no worker dies, so that the
  // loads end.
  let turn = 0
  const draw = (): number | undefined => turns[turn++]
  let looked = 0
  const work = async (): Promise<boolean> => {
    looked += 1
    const chunks = await ready(bench)
    const chunk = chunks[(draw() ?? looked) % Math.max(1, chunks.length)]
    if (chunk === undefined) return false
    // Sometimes its worker dies while it applies the chunk.
    if ((draw() ?? 1) % 4 === 0 && chunk.mayDie) await claimChunk(bench.db, chunk.id, guards, 0)
    else await bench.look(chunk.id, { guards })
    return true
  }
  for (const each of steps) {
    await submit(bench, world, each)
    for (let looks = (draw() ?? 0) % 4; looks > 0; looks -= 1) await work()
  }
  for (let looks = 0; await work(); looks += 1) if (looks > 600) throw new Error('the loads do not end')
  bench.told.length = 0
  const rows = await bench.rows<{ up: string; down: string; by: string }>(
    `
    select u.urn as up, d.urn as down, replace(statement_source.name, ?, '') as by
    from statement
    join entity u on u.id = statement.upstream_id
    join entity d on d.id = statement.downstream_id
    join statement_source on statement_source.id = statement.source_id
    where d.urn like ?`,
    [`${world.name}-`, `%,${world.name}-%`]
  )
  return rows
    .map(
      ({ up, down, by }) =>
        `${pairs.findIndex((_, index) => dataset(world.ends(index)[0]) === up && dataset(world.ends(index)[1]) === down)} ${by}`
    )
    .sort()
}

const runs = casesOf(40)

t.test(
  'snapshots of several sources, in any interleaving with merges, calls, rejects and deaths, end as in order',
  { timeout: 600_000 },
  async (t) => {
    const bench = await withLoadBench(t)
    let run = 0
    await fc.assert(
      fc.asyncProperty(plan, async (drawn) => {
        const found = await play(bench, worldOf((run += 1)), drawn, allChunkGuards)
        const expected = oracle(drawn.steps)
        if (found.join() !== expected.join())
          throw new Error(`found ${found.join(', ')}; expected ${expected.join(', ')}`)
      }),
      { numRuns: runs, seed }
    )
    t.same(await graphOfLog(bench.db), await graphOfTables(bench.db))
    t.same(
      await bench.rows(
        "select state, error, sweep, remaining, mode, current_pass from load where state not in ('done')"
      ),
      []
    )
  }
)

for (const name of ['sweepWaits', 'sweepSparesStated', 'sweepSparesRejected', 'sweepSparesNewer'] as const) {
  t.test(`and without ${name} they do not (the test can see it)`, { timeout: 600_000 }, async (t) => {
    const bench = await withLoadBench(t)
    let run = 0
    await t.rejects(
      fc.assert(
        fc.asyncProperty(plan, async (drawn) => {
          const found = await play(bench, worldOf((run += 1)), drawn, guardsWithout(name))
          if (found.join() !== oracle(drawn.steps).join()) throw new Error('another end')
        }),
        { numRuns: 300, seed: fixedSeed, endOnFailure: true }
      )
    )
  })
}
