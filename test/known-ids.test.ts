/**
 * Edges that a process stores by ids it knows: applied, rejected and returned as if they had been stored by
 * URN.
 */
import t, { type Test } from 'tap'
import { unpackEdgesOnly } from '../shared/catalog/loads/chunk-payload.ts'
import { readRecords } from '../shared/catalog/loads/chunk-records.ts'
import { idsOf } from '../shared/catalog/write/edge-payload.ts'
import type { KnownIds } from '../shared/catalog/lineage/known-ids.ts'
import { receiveLoad } from '../shared/catalog/loads/receive-load.ts'
import { createLog } from '../shared/platform/log.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { apply, create, hardDelete } from './support/changes.ts'
import { openMemory } from './support/lineage-memory.ts'
import {
  admin,
  dataset,
  edge,
  entity,
  rejectsOf,
  withLoadBench,
  type LoadBench
} from './support/load-bench.ts'

const names = ['a', 'b', 'c']

/** A catalog of a few assets, and the ids that a process knows. */
async function openCatalog(t: Test): Promise<{ bench: LoadBench; knownIds: () => KnownIds }> {
  const bench = await withLoadBench(t)
  await bench.submit(names.map(entity))
  await bench.drain()
  const memory = await openMemory(t, bench.db, bench.url, createLog({ logLevel: 'silent' }))
  return {
    bench,
    knownIds() {
      const known = memory.knownIds()
      if (!known) throw new Error('nothing is in memory')
      return known
    }
  }
}

/**
 * Empty records before and after: the first line of a body, and a last line without an end, are read as text.
 */
const ended = ['', edge('a', 'b'), edge('b', 'c'), edge('a', 'c'), '']

const edgesIn = (bench: LoadBench) =>
  bench.rows<{ edge: string }>(`
  select upstream.urn || ' > ' || downstream.urn as edge
  from statement
  join entity as upstream on upstream.id = statement.upstream_id
  join entity as downstream on downstream.id = statement.downstream_id
  order by 1`)

const named = (...pairs: readonly (readonly [string, string])[]) =>
  pairs.map(([upstream, downstream]) => ({ edge: `${dataset(upstream)} > ${dataset(downstream)}` }))

t.test('edges between what is known are stored by ids, and are read back as they were sent', async (t) => {
  const { bench, knownIds } = await openCatalog(t)
  const id = await bench.submit([edge('a', 'b'), edge('b', 'unknown'), edge('a', 'c')], {}, knownIds)
  const [chunk] = await bench.chunks(id)
  const payload = await bench.payload(chunk?.id ?? 0)
  const edges = await unpackEdgesOnly(payload)
  t.same(
    edges && [idsOf(edges.upstreams, edges.downstreams).length, edges.urns.length],
    [1, 4],
    'the first line of a body and a last one without an end are read as texts'
  )
  t.same(
    await readRecords(bench.db, payload),
    [edge('a', 'b'), edge('b', 'unknown'), edge('a', 'c')].map((record, at) => ({
      line: at + 1,
      text: JSON.stringify(record)
    }))
  )
  await bench.drain()
  t.match(await bench.load(id), { state: 'done', counts: { applied: 2, rejected: 1 } })
  t.match(await rejectsOf(bench, id), [
    { line: 2, code: 'MISSING_REFERENCE', record: JSON.stringify(edge('b', 'unknown')) }
  ])
  t.same(await edgesIn(bench), named(['a', 'b'], ['a', 'c']))
  t.match(
    await bench.rows(
      "select count(*)::int as count from audit where load_id = ? and details->'urns' @> ?::jsonb",
      [id, JSON.stringify([dataset('b'), dataset('c')])]
    ),
    [{ count: 1 }],
    'the audit trail names who was changed'
  )
})

t.test(
  'an edge to a deleted entity is refused with its line, or gets a placeholder, and is applied when the entity exists again',
  async (t) => {
    const { bench, knownIds } = await openCatalog(t)
    await apply(bench.db, hardDelete(toUrn(dataset('b'))))
    const first = await bench.submit(ended, {}, knownIds)
    await bench.drain()
    t.match(await bench.load(first), { counts: { applied: 1, rejected: 2 } })
    t.match(await rejectsOf(bench, first), [
      { line: 2, code: 'MISSING_REFERENCE', record: JSON.stringify(edge('a', 'b')) },
      { line: 3, code: 'MISSING_REFERENCE', record: JSON.stringify(edge('b', 'c')) }
    ])
    const second = await bench.submit(['', edge('a', 'b'), ''], { missingReferences: 'create' }, knownIds)
    await bench.drain()
    t.match(await bench.load(second), { counts: { applied: 1, rejected: 0 } })
    await apply(bench.db, ...create(toUrn(dataset('b'))))
    const third = await bench.submit(ended, {}, knownIds)
    await bench.drain()
    t.match(await bench.load(third), { counts: { applied: 1, unchanged: 2, rejected: 0 } })
  }
)

t.test('an edge that a worker has applied by ids is refused by ids once its end was deleted', async (t) => {
  const { bench, knownIds } = await openCatalog(t)
  await bench.submit(ended, {}, knownIds)
  await bench.drain()
  await apply(bench.db, hardDelete(toUrn(dataset('b'))))
  const id = await bench.submit(ended, {}, knownIds)
  await bench.drain()
  t.match(await bench.load(id), { counts: { unchanged: 1, rejected: 2 } })
})

t.test(
  'a chunk that was gathered by ids is stored before new ids are requested, so that the old ones can be freed',
  async (t) => {
    const { bench, knownIds } = await openCatalog(t)
    const ids = [{ ...knownIds() }, { ...knownIds() }]
    let now = 0
    async function* body(): AsyncGenerator<Buffer> {
      yield Buffer.from('\n')
      yield Buffer.from(`${JSON.stringify(edge('a', 'b'))}\n`.repeat(1_000))
      yield Buffer.from(`${JSON.stringify(edge('b', 'c'))}\n`.repeat(1_000))
      now = 1
      yield Buffer.from(`${JSON.stringify(edge('a', 'c'))}\n`.repeat(1_000))
    }
    const request = {
      actor: admin,
      requestId: null,
      format: 'ndjson',
      source: 'test',
      missingReferences: 'reject'
    } as const
    const { id } = await receiveLoad(bench.db, bench.queue, request, body(), () => ids[now] ?? null)
    t.same(
      (await bench.chunks(id)).map(({ recordCount }) => recordCount),
      [2_001, 999],
      'the first line of a piece is read as a text'
    )
    await bench.drain()
    t.match(await bench.load(id), { state: 'done', counts: { applied: 3, unchanged: 2_997 } })
  }
)

/** The ids of a process that has not noticed yet that the database was restored. */
const moved = (known: KnownIds): KnownIds => ({
  ...known,
  epoch: 'another',
  idsOf(bytes, begins, ends, from, to, ids) {
    known.idsOf(bytes, begins, ends, from, to, ids)
    for (let at = from; at < to; at += 1) ids[at] = (ids[at] ?? 0) + 1_000
  }
})

t.test('ids that another life of the database gave are not stored', async (t) => {
  const { bench, knownIds } = await openCatalog(t)
  const known = knownIds()
  const stale: KnownIds = { ...moved(known), urnOf: (id) => known.urnOf(id - 1_000) }
  // The first line is read as text, so that the refused chunk has URNs and ids.
  const id = await bench.submit([edge('a', 'b'), edge('b', 'c'), edge('a', 'c'), ''], {}, () => stale)
  const [chunk] = await bench.chunks(id)
  const edges = await unpackEdgesOnly(await bench.payload(chunk?.id ?? 0))
  t.same(edges && [idsOf(edges.upstreams, edges.downstreams).length, edges.urns.length], [0, 3])
  await bench.drain()
  t.match(await bench.load(id), { counts: { applied: 3 } })
  t.same(await edgesIn(bench), named(['a', 'b'], ['a', 'c'], ['b', 'c']))
})

t.test('a chunk of ids that a worker died of is halved, and both halves are applied', async (t) => {
  const { bench, knownIds } = await openCatalog(t)
  const id = await bench.submit(ended, {}, knownIds)
  await bench.rows('update chunk set is_isolated = true, crashes = 1 where load_id = ?', [id])
  const runs = await bench.drain()
  t.ok(runs.some(({ outcome }) => outcome === 'split'))
  t.match(await bench.load(id), { state: 'done', counts: { applied: 3 } })
  t.same(await edgesIn(bench), named(['a', 'b'], ['a', 'c'], ['b', 'c']))
})

t.test('a load of which nothing is known is stored by its URNs', async (t) => {
  const { bench } = await openCatalog(t)
  const id = await bench.submit(ended, {}, () => null)
  const [chunk] = await bench.chunks(id)
  t.equal((await unpackEdgesOnly(await bench.payload(chunk?.id ?? 0)))?.urns.length, 3)
})
