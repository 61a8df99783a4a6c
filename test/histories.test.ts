/**
 * Random graphs with random histories: every lineage reader gives the same answers as a naive oracle, after
 * each step and between the slices of a walk.
 */
import t from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import type { LineageReader } from '../shared/catalog/lineage/lineage-reader.ts'
import { createLog } from '../shared/platform/log.ts'
import type { Turns } from '../shared/graph/turns.ts'
import type { Change } from '../shared/model/changes.ts'
import type { Urn } from '../shared/urn/urn.ts'
import { naiveDegrees, type Direction } from './cases/graphs.ts'
import { addEdge, asCall, create, dataset, hardDelete, record, removeEdge } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { fc, casesOf, seed } from './support/fast-check.ts'
import { openStage } from './support/history-stage.ts'
import { openMemory } from './support/lineage-memory.ts'
import { tryHistories, wordsOf } from './support/play-histories.ts'

const count = casesOf(50)

t.test(
  'graphs with a history are answered as a naive oracle answers them',
  { timeout: 600_000 },
  async (t) => {
    const { db, url } = await withDatabase(t)
    const stage = await openStage(t, db, url)
    t.comment(`seed ${seed}, ${count} histories`)
    const wrong = await tryHistories(stage, { count, seed, log: (line) => t.comment(line) })
    t.equal(wrong && wordsOf(wrong, seed), null)
    t.comment(JSON.stringify(stage.figures))
    t.ok(
      stage.figures.reached > 100 * count && stage.figures.results > 5 * count,
      'the graphs are worth walking'
    )
  }
)

t.test(
  'a write between the slices of a walk is in the next walk and never in this one',
  { timeout: 600_000 },
  async (t) => {
    const { db, url } = await withDatabase(t)
    let betweenSlices = async (): Promise<void> => {}
    // Each slice is as short as possible, and ends when the test has run its code.
    const turns: Turns = {
      begin:
        (check = () => {}) =>
        async () => {
          await betweenSlices()
          check()
        }
    }
    const memory = await openMemory(t, db, url, createLog({ logLevel: 'silent' }), { turns })
    const random = fc.sample(fc.nat(2 ** 30), { numRuns: 20_000, seed })
    let drawn = 0
    const below = (end: number): number => (random[drawn++ % random.length] ?? 0) % end
    const write = (changes: readonly Change[]) =>
      applyCall(db, [record(0, ...changes)], asCall({ missingReferences: 'create' }))

    // More in a layer than one slice follows, so that a walk pauses in the middle of it.
    const layer = 600
    const hub = dataset('slices.hub')
    const [middle, leaves] = ['middle', 'leaf'].map((name) =>
      Array.from({ length: layer }, (_, index) => dataset(`slices.${name}${index}`))
    )
    if (!middle || !leaves) throw new Error('no layers')
    const all = [hub, ...middle, ...leaves]
    const at = (list: readonly Urn[]): Urn => list[below(list.length)] ?? hub
    const edges = new Map<string, readonly [Urn, Urn]>()
    const present = new Set<Urn>(all)
    const state = (up: Urn, down: Urn): Change => {
      edges.set(`${up} ${down}`, [up, down])
      return addEdge(up, down)
    }
    await write(create(...all))
    await write([
      ...middle.map((urn) => state(hub, urn)),
      ...middle.map((urn, index) => state(urn, leaves[index] ?? hub)),
      ...middle.map((urn) => state(urn, at(leaves)))
    ])

    async function change(): Promise<void> {
      const gone = new Set(Array.from({ length: 20 }, () => [...edges.keys()][below(edges.size)] ?? ''))
      const removed = [...edges].filter(([key]) => gone.has(key)).map(([, edge]) => edge)
      // One list grows by dozens and shrinks again, so that its memory is freed and allocated again and
      // again.
      const busy = middle?.[layer - 1] ?? hub
      const wanted: (readonly [Urn, Urn])[] = [
        ...Array.from({ length: 10 }, () => [at([hub, ...(middle ?? [])]), at(all)] as const),
        ...Array.from({ length: 30 }, () => [busy, at(all)] as const)
      ]
      const shrunk = [...edges.values()]
        .filter(([up, down]) => up === busy && !gone.has(`${up} ${down}`))
        .slice(0, 25)
      const taken = [...removed, ...shrunk]
      for (const [up, down] of taken) edges.delete(`${up} ${down}`)
      const added = wanted.filter(([up, down]) => !taken.some((edge) => edge[0] === up && edge[1] === down))
      await write([
        ...taken.map(([up, down]) => removeEdge(up, down)),
        ...added.map(([up, down]) => state(up, down))
      ])
      const victim = at(leaves ?? [])
      await write([hardDelete(victim)])
      present.delete(victim)
      for (const [key, edge] of edges) if (edge.includes(victim)) edges.delete(key)
    }

    const expected = (from: Urn, direction: Direction): string[] =>
      Object.entries(naiveDegrees([...edges.values()], from, direction))
        .map(([urn, degree]) => `${degree} ${urn} ${present.has(urn as Urn)}`)
        .sort()
    async function found(reader: LineageReader, from: Urn, direction: Direction): Promise<string[]> {
      const startIds = [...(await reader.find([from])).values()].flatMap(({ id }) => id ?? [])
      const { ids, degrees } = await reader.walk({
        startIds,
        direction,
        level: 'asset',
        hopsWanted: Infinity,
        bounds: { maxHops: 1_000, maxEntities: 1_000_000 }
      })
      const urnOf = await reader.urns(ids)
      const classOf = await reader.classes(ids)
      return [...ids].map((id, place) => `${degrees[place]} ${urnOf(id)} ${classOf(id)?.exists}`).sort()
    }
    const open = async () => {
      const opened = await memory.open()
      if (!opened) throw new Error('the lineage graph is not in memory')
      return opened
    }

    let slices = 0
    for (const direction of ['DOWNSTREAM', 'UPSTREAM', 'DOWNSTREAM'] as const) {
      const from = direction === 'DOWNSTREAM' ? hub : ([...edges.values()].at(-1)?.[1] ?? hub)
      const before = expected(from, direction)
      const wrong: string[] = []
      let isChanging = false
      const { reader, release } = await open()
      betweenSlices = async () => {
        if (isChanging) return
        isChanging = true
        slices += 1
        await change()
        const next = await open()
        if ((await found(next.reader, hub, 'DOWNSTREAM')).join() !== expected(hub, 'DOWNSTREAM').join())
          wrong.push(`a walk that began after slice ${slices}`)
        next.release()
        isChanging = false
      }
      t.ok(
        (await found(reader, from, direction)).join() === before.join(),
        `${before.length} ${direction} as they were when the walk began, seed ${seed}`
      )
      betweenSlices = async () => {}
      t.ok(
        (await found(reader, from, direction)).join() === before.join(),
        'and when it is walked again on the same state'
      )
      release()
      t.strictSame(wrong, [])
      const last = await open()
      t.ok(
        (await found(last.reader, from, direction)).join() === expected(from, direction).join(),
        'and the next walk has all that was written'
      )
      last.release()
    }
    t.ok(slices >= 5, `${slices} slices`)
  }
)
