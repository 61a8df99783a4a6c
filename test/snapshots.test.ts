/**
 * Snapshots: statements that a source no longer makes are removed, and no others, whatever the order of loads
 * and whichever workers die.
 */
import t, { type Test } from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import { cancelLoad } from '../shared/catalog/loads/cancel-load.ts'
import { allChunkGuards, type ChunkGuards } from '../shared/catalog/loads/chunk-guards.ts'
import { claimChunk } from '../shared/catalog/loads/claim-chunk.ts'
import { readAspect } from '../shared/catalog/entities/read-aspects.ts'
import { compareSnapshot } from '../shared/catalog/loads/compare-snapshot.ts'
import { removeUnstated } from '../shared/catalog/loads/remove-unstated.ts'
import type { LoadRequest } from '../shared/catalog/loads/load-request.ts'
import { retryLoad } from '../shared/catalog/loads/retry-load.ts'
import { query } from '../shared/db/query.ts'
import type { JsonValue } from '../shared/model/changes.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { addEdge, asCall, chart, column, dataset as hive, job, record, upstream } from './support/changes.ts'
import { graphOfLog, graphOfTables } from './support/graph-log.ts'
import { withServer } from './support/server.ts'
import {
  admin,
  dataset,
  edge,
  entity,
  guardsWithout,
  removal,
  withLoadBench,
  type LoadBench
} from './support/load-bench.ts'

const snapshot = (
  source = 'a',
  more: Partial<NonNullable<LoadRequest['snapshot']>> = {}
): Partial<LoadRequest> => ({ source, snapshot: { force: false, maxRemovedShare: 1, ...more } })

/** The edges with their sources: `1>2 a`. */
const stated = async (bench: LoadBench): Promise<string[]> =>
  (
    await bench.rows<{ text: string }>(`
  select split_part(u.urn, ',', 2) || '>' || split_part(d.urn, ',', 2) || ' ' || statement_source.name as text
  from statement
  join entity u on u.id = statement.upstream_id
  join entity d on d.id = statement.downstream_id
  join statement_source on statement_source.id = statement.source_id
  order by 1`)
  ).map(({ text }) => text)

/** Assets 0 to 9. */
async function withAssets(t: Test): Promise<LoadBench> {
  const bench = await withLoadBench(t)
  await bench.submit(Array.from({ length: 10 }, (_, index) => entity(index)))
  await bench.drain()
  return bench
}

async function loaded(
  bench: LoadBench,
  records: JsonValue[],
  request: Partial<LoadRequest> = {},
  guards: ChunkGuards = allChunkGuards
): Promise<string> {
  const id = await bench.submit(records, request)
  await bench.drain({ guards })
  return id
}

/** Submits a load without queueing its chunks; returns the nudges. */
async function pending(
  bench: LoadBench,
  records: JsonValue[],
  request: Partial<LoadRequest> = {}
): Promise<{ id: string; told: number[] }> {
  const id = await bench.submit(records, request)
  return { id, told: bench.told.splice(0) }
}

const byHand = (bench: LoadBench, up: number, down: number) =>
  applyCall(bench.db, [record(0, addEdge(toUrn(dataset(up)), toUrn(dataset(down))))], asCall())

/** Runs a scenario with all guards and without one; returns the remaining edges of each. */
async function bothWays(
  t: Test,
  name: keyof ChunkGuards,
  play: (bench: LoadBench, guards: ChunkGuards) => Promise<unknown>,
  right: string[],
  wrong: string[]
): Promise<void> {
  for (const [guards, expected, says] of [
    [allChunkGuards, right, 'with all rules'],
    [guardsWithout(name), wrong, `without ${name} it would be wrong`]
  ] as const) {
    const bench = await withAssets(t)
    await play(bench, guards)
    t.same(await stated(bench), expected, says)
  }
}

t.test(
  'a snapshot removes what its source stated before and does not state now, and nothing else',
  async (t) => {
    const bench = await withAssets(t)
    await loaded(bench, [edge(0, 1), edge(0, 2), edge(0, 3), edge(0, 4)], snapshot('a'))
    await loaded(bench, [edge(0, 2), edge(5, 6)], { source: 'b' })
    await byHand(bench, 0, 3)
    const id = await loaded(bench, [edge(0, 1), edge(7, 8)], snapshot('a'))
    t.same(await stated(bench), ['0>1 a', '0>2 b', '0>3 manual', '5>6 b', '7>8 a'])
    t.match(await bench.load(id), {
      state: 'done',
      mode: 'snapshot',
      counts: { received: 2, applied: 1, unchanged: 1, rejected: 0 },
      snapshot: { sweep: 'done', stated: 4, toRemove: 3, kept: 1, removed: 3 }
    })
    t.same(await bench.rows('select 1 from snapshot_statement'), [], 'what was stated is forgotten')
    t.same(await bench.rows('select 1 from snapshot_removal'), [])
    t.equal((await bench.rows('select 1 from entity where is_present')).length, 10, 'entities stay')
    t.same(await graphOfLog(bench.db), await graphOfTables(bench.db), 'readers in memory are told')
    t.same(
      (
        await bench.rows<{ operation: string }>(
          'select operation from audit where load_id = ?::uuid order by id',
          [id]
        )
      ).map((row) => row.operation),
      ['load', 'compareSnapshot', 'removeUnstated']
    )
  }
)

t.test('records that a snapshot finds unchanged are not written again', async (t) => {
  const bench = await withAssets(t)
  await loaded(bench, [edge(0, 1), edge(0, 2)], snapshot())
  const rows = () =>
    bench.rows('select xmin::text, seq, line, upstream_id from statement order by upstream_id, downstream_id')
  const before = await rows()
  await loaded(bench, [edge(0, 2), edge(0, 1)], snapshot())
  t.same(await rows(), before)
})

t.test('a sweep keeps what its load states, also what was there already', (t) =>
  bothWays(
    t,
    'sweepSparesStated',
    async (bench, guards) => {
      await loaded(bench, [edge(0, 1), edge(0, 2)], snapshot())
      await loaded(bench, [edge(0, 1)], snapshot(), guards)
    },
    ['0>1 a'],
    []
  )
)

t.test('a sweep waits for older loads of its source', (t) =>
  bothWays(
    t,
    'sweepWaits',
    async (bench, guards) => {
      const older = await pending(bench, [edge(0, 1), edge(0, 2)], { source: 'a' })
      const id = await bench.submit([edge(0, 1)], snapshot())
      await bench.look(bench.told.shift() ?? 0, { guards })
      const compared = await bench.look(bench.told.shift() ?? 0, { guards })
      if (guards.sweepWaits) t.match(compared, { outcome: 'released', error: { name: 'WaitForOlderLoad' } })
      const told = bench.told.splice(0)
      bench.told.push(...older.told)
      await bench.drain({ guards })
      await bench.rows("update chunk set next_at = now() where state = 'waiting'")
      bench.told.push(
        ...told,
        ...(await bench.chunks(id)).filter((chunk) => chunk.state === 'waiting').map((chunk) => chunk.id)
      )
      await bench.drain({ guards })
      t.equal((await bench.load(id)).state, 'done')
    },
    ['0>1 a'],
    ['0>1 a', '0>2 a']
  )
)

t.test('a sweep keeps the edges that rejected records name', async (t) => {
  const typo = { op: 'addEgde', upstreamUrn: dataset(0), downstreamUrn: dataset(1) }
  const upsert = {
    entityType: 'dataset',
    entityUrn: dataset(3),
    changeType: 'UPSERT',
    aspectName: 'upstreamLineage',
    aspect: { upstreams: [upstream(hive('2')), upstream(hive('gone'))] }
  }
  await bothWays(
    t,
    'sweepSparesRejected',
    async (bench, guards) => {
      await loaded(bench, [edge(0, 1), edge(0, 2), edge(2, 3), edge(4, 3)], snapshot())
      const id = await loaded(
        bench,
        [typo, upsert, { op: 'setDomain', entityUrn: dataset(1), domainUrn: 'urn:li:domain:absent' }],
        snapshot(),
        guards
      )
      t.match(await bench.load(id), { state: 'done', counts: { rejected: 3 } })
    },
    ['0>1 a', '2>3 a'],
    []
  )

  t.test('and all edges of an entity if it is unclear which edge it names', async (t) => {
    const bench = await withAssets(t)
    await loaded(bench, [edge(0, 1), edge(0, 2), edge(2, 3), edge(4, 5)], snapshot())
    await loaded(
      bench,
      [
        { upstreamUrn: 'urn:li:dataset:(half', downstreamUrn: dataset(2) },
        { ...upsert, entityUrn: dataset(5), aspect: { upstreams: 7 } }
      ],
      snapshot()
    )
    t.same(await stated(bench), ['0>2 a', '2>3 a', '4>5 a'])
  })

  t.test('and if it could be any edge, nothing is removed unless forced', async (t) => {
    const bench = await withAssets(t)
    await loaded(bench, [edge(0, 1), edge(0, 2), edge(0, 3)], snapshot())
    const id = await loaded(bench, [edge(0, 1), '{"upstreamUrn": "urn:li:dat'], snapshot())
    t.match(await bench.load(id), {
      state: 'done',
      counts: { rejected: 1 },
      snapshot: { sweep: 'held', stated: null, removed: 0 }
    })
    t.equal((await stated(bench)).length, 3)
    await t.rejects(retryLoad(bench.db, bench.queue, admin, id, { force: true }), {
      code: 'CONFLICT',
      message: /send the snapshot again/
    })
    await loaded(
      bench,
      [
        edge(0, 1),
        '{"upstreamUrn": "urn:li:dat',
        { op: 'what', upstreamUrn: dataset(0), downstreamUrn: dataset(2) }
      ],
      snapshot('a', { force: true })
    )
    t.same(await stated(bench), ['0>1 a', '0>2 a'], 'what is named is spared all the same')
  })

  t.test('rejects that are sent again are stated then, as the newest there is', async (t) => {
    const bench = await withAssets(t)
    await loaded(bench, [edge(0, 1), edge(0, 2)], snapshot())
    const id = await loaded(bench, [edge(0, 1), edge(0, 'late')], snapshot())
    await loaded(bench, [entity('late'), edge(0, 3)], { source: 'a' })
    await retryLoad(bench.db, bench.queue, admin, id)
    await bench.drain()
    t.match(await bench.load(id), {
      state: 'done',
      counts: { applied: 1, unchanged: 1, rejected: 0 },
      snapshot: { sweep: 'done', removed: 1 }
    })
    t.same(await stated(bench), ['0>1 a', '0>3 a', '0>late a'])
  })
})

t.test('a sweep keeps what a newer load of its source states, even if it was stated already', (t) =>
  bothWays(
    t,
    'sweepSparesNewer',
    async (bench, guards) => {
      await loaded(bench, [edge(0, 1), edge(0, 2), edge(0, 3)], snapshot())
      await bench.submit([edge(0, 1)], snapshot())
      await bench.look(bench.told.shift() ?? 0, { guards })
      await bench.look(bench.told.shift() ?? 0, { guards })
      const pieces = bench.told.splice(0)
      await loaded(bench, [edge(0, 2), edge(4, 5)], { source: 'a' }, guards)
      bench.told.push(...pieces)
      await bench.drain({ guards })
    },
    ['0>1 a', '0>2 a', '4>5 a'],
    ['0>1 a', '4>5 a']
  )
)

t.test(
  'when a source has two snapshots at once, the one accepted later wins, whichever is applied first',
  async (t) => {
    for (const newerFirst of [false, true]) {
      const bench = await withAssets(t)
      await loaded(bench, [edge(0, 1), edge(0, 2), edge(0, 3)], snapshot())
      const older = await pending(bench, [edge(0, 1), edge(0, 4)], snapshot())
      const newer = await pending(bench, [edge(0, 2), edge(0, 5)], snapshot())
      bench.told.push(...(newerFirst ? [...newer.told, ...older.told] : [...older.told, ...newer.told]))
      await bench.drain()
      t.same(await stated(bench), ['0>2 a', '0>5 a'])
      t.match([(await bench.load(older.id)).state, (await bench.load(newer.id)).state], ['done', 'done'])
    }
  }
)

t.test('a snapshot that would remove too much', async (t) => {
  const all = Array.from({ length: 9 }, (_, index) => edge(0, index + 1))

  t.test(
    'is refused at the end of its body, if the record count shows it, and nothing of it is applied',
    async (t) => {
      const bench = await withAssets(t)
      await loaded(bench, all, snapshot())
      await t.rejects(bench.submit([edge(0, 1), edge(5, 6)], snapshot('a', { maxRemovedShare: 0.3 })), {
        code: 'SNAPSHOT_REMOVES_TOO_MUCH',
        message: /at least 7 of the 9 .* Send it with force=true if this is intended\.$/,
        details: { actual: 7, maximum: 2 }
      })
      t.equal((await stated(bench)).length, 9)
      t.match(await bench.rows('select state from load order by created_at desc limit 1'), [
        { state: 'aborted' }
      ])
      t.same(bench.told, [])
      t.equal(
        (await bench.load(await loaded(bench, [edge(0, 1)], snapshot('other', { maxRemovedShare: 0 }))))
          .state,
        'done',
        'the first one removes nothing'
      )
    }
  )

  t.test(
    'otherwise when it is compared: it fails, what it added stays, and a forced retry continues',
    async (t) => {
      const bench = await withAssets(t)
      await loaded(bench, all, snapshot())
      const others = Array.from({ length: 9 }, (_, index) => edge(index + 1, 0))
      const id = await loaded(bench, others, snapshot('a', { maxRemovedShare: 0.3 }))
      t.match(await bench.load(id), {
        state: 'failed',
        error:
          /^SNAPSHOT_REMOVES_TOO_MUCH: .* 9 of the 9 .* Retry the load with force=true if this is intended\.$/,
        counts: { applied: 9 },
        snapshot: { sweep: 'pending', stated: 9, toRemove: 9, kept: 0, removed: 0 }
      })
      t.equal((await stated(bench)).length, 18)
      await retryLoad(bench.db, bench.queue, admin, id)
      await bench.drain()
      t.equal((await bench.load(id)).state, 'failed', 'a retry alone changes nothing')
      await retryLoad(bench.db, bench.queue, admin, id, { force: true })
      await bench.drain()
      t.match(await bench.load(id), { state: 'done', error: null, snapshot: { sweep: 'done', removed: 9 } })
      t.same(
        await stated(bench),
        Array.from({ length: 9 }, (_, index) => `${index + 1}>0 a`)
      )
    }
  )

  t.test('is not refused without the guard (the test can see it)', async (t) => {
    const bench = await withAssets(t)
    await loaded(bench, all, snapshot())
    const id = await loaded(
      bench,
      all.map((_, index) => edge(index + 1, 0)),
      snapshot('a', { maxRemovedShare: 0.3 }),
      guardsWithout('sweepShare')
    )
    t.match(await bench.load(id), { state: 'done', snapshot: { removed: 9 } })
  })

  t.test('counts as unfinished: what a newer load states meanwhile stays', async (t) => {
    const bench = await withAssets(t)
    await loaded(bench, all, snapshot())
    const id = await loaded(
      bench,
      all.map((_, index) => edge(index + 1, 0)),
      snapshot('a', { maxRemovedShare: 0.3 })
    )
    await loaded(bench, [edge(0, 4)], { source: 'a' })
    await retryLoad(bench.db, bench.queue, admin, id, { force: true })
    await bench.drain()
    t.ok((await stated(bench)).includes('0>4 a'))
  })

  t.test('and is not retried once a newer snapshot of its source has been applied', async (t) => {
    const bench = await withAssets(t)
    await loaded(bench, all, snapshot())
    const id = await loaded(
      bench,
      all.map((_, index) => edge(index + 1, 0)),
      snapshot('a', { maxRemovedShare: 0.3 })
    )
    const newer = await loaded(bench, [edge(0, 1)], snapshot('a', { force: true }))
    t.equal((await bench.load(newer)).state, 'done')
    t.same(await stated(bench), ['0>1 a'])
    await t.rejects(retryLoad(bench.db, bench.queue, admin, id, { force: true }), {
      code: 'CONFLICT',
      message: new RegExp(newer)
    })
  })
})

t.test('an UPSERT in a snapshot replaces only what its own source states', async (t) => {
  const bench = await withAssets(t)
  const upsert = (...ups: number[]) => ({
    entityType: 'dataset',
    entityUrn: dataset(9),
    changeType: 'UPSERT',
    aspectName: 'upstreamLineage',
    aspect: { upstreams: ups.map((up) => upstream(hive(String(up)))) }
  })
  await loaded(bench, [upsert(0, 1), edge(0, 5)], snapshot())
  await byHand(bench, 3, 9)
  await loaded(bench, [edge(4, 9)], { source: 'b' })
  const id = await loaded(bench, [upsert(1, 2)], snapshot())
  t.same(await stated(bench), ['1>9 a', '2>9 a', '3>9 manual', '4>9 b'])
  t.match(await bench.load(id), { snapshot: { removed: 1 } })
})

t.test(
  'a snapshot sweeps edges of jobs, charts and columns, and their aspects have a version for it',
  async (t) => {
    const bench = await withAssets(t)
    const things = [
      { op: 'upsertEntity', urn: job('j') },
      { op: 'upsertEntity', urn: chart('c') }
    ]
    const edges = [
      { upstreamUrn: dataset(0), downstreamUrn: job('j') },
      { upstreamUrn: job('j'), downstreamUrn: dataset(1) },
      { upstreamUrn: dataset(1), downstreamUrn: chart('c') },
      { upstreamUrn: column(hive('0'), 'x'), downstreamUrn: column(hive('1'), 'y') },
      edge(0, 1)
    ]
    await loaded(bench, [...things, ...edges], snapshot())
    const versions = async () =>
      [
        await readAspect(bench.db, job('j'), 'dataJobInputOutput'),
        await readAspect(bench.db, chart('c'), 'chartInfo'),
        await readAspect(bench.db, hive('1'), 'upstreamLineage')
      ].map((aspect) => aspect?.version)
    const before = await versions()
    await loaded(bench, [...things, edge(0, 1)], snapshot())
    t.same(await stated(bench), ['0>1 a'])
    t.same(
      (await versions()).map((version, index) => (version ?? 0) - (before[index] ?? 0)),
      [1, 1, 1]
    )
    t.match((await readAspect(bench.db, hive('1'), 'upstreamLineage'))?.value, {
      upstreams: [{ dataset: dataset(0) }]
    })
    t.same(await graphOfLog(bench.db), await graphOfTables(bench.db))
  }
)

t.test('a sweep of many is done in pieces, each once, whoever dies', async (t) => {
  const bench = await withLoadBench(t)
  const many = Array.from({ length: 5_400 }, (_, index) => edge(index % 90, 100 + Math.floor(index / 60)))
  await loaded(bench, [...Array.from({ length: 200 }, (_, index) => entity(index)), ...many], snapshot())
  const before = (await stated(bench)).length
  const id = await bench.submit([edge(0, 1)], snapshot('a', { force: true }))
  await bench.look(bench.told.shift() ?? 0)
  const comparing = bench.told.shift() ?? 0
  // Two workers die during the comparison, and one that was believed dead comes back late.
  for (let death = 0; death < 2; death += 1) await claimChunk(bench.db, comparing, allChunkGuards, 0)
  const late = await claimChunk(bench.db, comparing, allChunkGuards, 0)
  await bench.look(comparing)
  if (late)
    await t.rejects(compareSnapshot(bench.db, late.chunk, { guards: allChunkGuards }), {
      name: 'ChunkOvertaken'
    })
  const pieces = bench.told.splice(0)
  t.equal(pieces.length, 2)
  for (const piece of pieces) {
    // More deaths than would reject a record.
    for (let death = 0; death < 9; death += 1) await claimChunk(bench.db, piece, allChunkGuards, 0)
    const lost = await claimChunk(bench.db, piece, allChunkGuards, 0)
    t.equal((await bench.look(piece)).outcome, 'settled')
    if (lost)
      await t.rejects(removeUnstated(bench.db, lost.chunk, { guards: allChunkGuards }), {
        name: 'ChunkOvertaken'
      })
  }
  t.match(await bench.load(id), {
    state: 'done',
    counts: { received: 1, applied: 1 },
    snapshot: { stated: before, toRemove: before, removed: before }
  })
  t.same(await stated(bench), ['0>1 a'])
  t.same(
    await bench.rows('select chunk_id from audit where chunk_id is not null group by 1 having count(*) > 1'),
    []
  )
  t.same(await graphOfLog(bench.db), await graphOfTables(bench.db))
})

t.test(
  'a removal keeps its place in the order: an older change that is applied later does not undo it',
  async (t) => {
    const bench = await withAssets(t)
    // An older load of another name that is still to be applied: it states edges of this source too.
    const older = await pending(bench, [edge(8, 9)], { source: 'other' })
    await loaded(bench, [edge(0, 1), edge(0, 2)], snapshot())
    await loaded(bench, [edge(0, 1)], snapshot())
    const [seq] = await bench.rows<{ seq: number }>('select seq from load where id = ?::uuid', [older.id])
    await bench.db.transaction((tx) =>
      applyRecords(
        tx,
        [
          record(1, {
            kind: 'replaceEdges',
            ownerUrn: hive('2'),
            aspectName: 'upstreamLineage',
            source: 'a',
            edges: [{ upstreamUrn: hive('0'), downstreamUrn: hive('2') }]
          })
        ],
        asCall({
          source: 'other',
          operation: 'load',
          chunk: { seq: seq?.seq ?? 0, loadId: older.id, chunkId: 1_000_000 }
        })
      )
    )
    t.same(await stated(bench), ['0>1 a'])
  }
)

t.test(
  'a snapshot that is cancelled leaves nothing of its comparison, and what had gone stays gone',
  async (t) => {
    const bench = await withAssets(t)
    await loaded(bench, [edge(0, 1), edge(0, 2)], snapshot())
    const id = await bench.submit([edge(0, 1)], snapshot())
    await bench.look(bench.told.shift() ?? 0)
    await bench.look(bench.told.shift() ?? 0)
    t.equal((await bench.rows('select 1 from snapshot_removal')).length, 1)
    const piece = await claimChunk(bench.db, bench.told.shift() ?? 0, allChunkGuards)
    await cancelLoad(bench.db, admin, id)
    t.same(await bench.rows('select 1 from snapshot_removal union all select 1 from snapshot_statement'), [])
    if (piece)
      await t.rejects(removeUnstated(bench.db, piece.chunk, { guards: allChunkGuards }), {
        name: 'ChunkOvertaken'
      })
    t.same(await stated(bench), ['0>1 a', '0>2 a'])
  }
)

t.test('a token that is limited to a domain sweeps what is in its domain only', async (t) => {
  const bench = await withAssets(t)
  await loaded(
    bench,
    [
      { op: 'createDomain', id: 'own', name: 'Own' },
      { op: 'setDomain', entityUrn: dataset(1), domainUrn: 'urn:li:domain:own' },
      edge(0, 1),
      edge(2, 1),
      edge(0, 3)
    ],
    { source: 'a' }
  )
  const id = await bench.submit([edge(0, 1)], {
    ...snapshot('a', { maxRemovedShare: 0.5 }),
    actor: { ...admin, domainUrns: [toUrn('urn:li:domain:own')] }
  })
  await bench.drain()
  t.match(await bench.load(id), { state: 'done', snapshot: { stated: 2, toRemove: 1, removed: 1 } })
  t.same(await stated(bench), ['0>1 a', '0>3 a'])
})

t.test('a token that is limited to several domains sweeps what is in them, and nothing else', async (t) => {
  const bench = await withAssets(t)
  await loaded(
    bench,
    [
      { op: 'createDomain', id: 'own', name: 'Own' },
      { op: 'createDomain', id: 'more', name: 'More' },
      { op: 'setDomain', entityUrn: dataset(1), domainUrn: 'urn:li:domain:own' },
      { op: 'setDomain', entityUrn: dataset(2), domainUrn: 'urn:li:domain:more' },
      edge(0, 1),
      edge(3, 1),
      edge(0, 2),
      edge(3, 2),
      edge(0, 3)
    ],
    { source: 'a' }
  )
  const id = await bench.submit([edge(0, 1), edge(0, 2)], {
    ...snapshot('a', { maxRemovedShare: 0.5 }),
    actor: { ...admin, domainUrns: [toUrn('urn:li:domain:own'), toUrn('urn:li:domain:more')] }
  })
  await bench.drain()
  t.match(await bench.load(id), { state: 'done', snapshot: { stated: 4, toRemove: 2, removed: 2 } })
  t.same(await stated(bench), ['0>1 a', '0>2 a', '0>3 a'])
})

t.test('explicit removals in a snapshot are applied', async (t) => {
  const bench = await withAssets(t)
  await loaded(bench, [edge(0, 1), edge(0, 2)], { source: 'b' })
  await loaded(bench, [removal(0, 1), edge(0, 2)], snapshot())
  t.same(await stated(bench), ['0>2 a', '0>2 b'])
})

t.test(
  'row 7: a source is sent twice with a tenth removed; what others state as well, or people, stays',
  async (t) => {
    const { rest, graphql, db, token } = await withServer(t, { withWorker: true })
    const send = async (parameters: string, records: JsonValue[]) => {
      const { status, body } = await rest({
        method: 'POST',
        url: `/loads?format=ndjson&wait=25&${parameters}`,
        body: records.map((each) => JSON.stringify(each)).join('\n'),
        headers: { 'content-type': 'application/x-ndjson' },
        token
      })
      return { status, body }
    }
    const count = 200
    const all = Array.from({ length: count }, (_, index) => ({ up: index, down: (index * 7 + 1) % count }))
    const kept = all.filter((_, index) => index % 10 !== 3)
    const gone = all.filter((_, index) => index % 10 === 3)
    const toRecord = ({ up, down }: { up: number; down: number }) => edge(up, down)
    const [alsoByB = { up: 0, down: 0 }, alsoByHand = { up: 0, down: 0 }, ...onlyByA] = gone
    t.equal(
      (
        await send(
          'source=assets',
          Array.from({ length: count }, (_, index) => entity(index))
        )
      ).status,
      200
    )
    t.match((await send('source=a&mode=snapshot', all.map(toRecord))).body, {
      state: 'done',
      mode: 'snapshot',
      snapshot: { sweep: 'done', stated: 0, toRemove: 0, kept: 0, removed: 0 }
    })
    t.match((await send('source=b&mode=snapshot', [toRecord(alsoByB)])).body, { state: 'done' })
    t.match(
      (
        await graphql(
          'mutation ($edges: [LineageEdge!]!) { updateLineage(input: { edgesToAdd: $edges, edgesToRemove: [] }) }',
          { edges: [toRecord(alsoByHand)] }
        )
      ).body,
      { data: { updateLineage: true } }
    )

    const again = await send('source=a&mode=snapshot', kept.map(toRecord))
    t.match(again, {
      status: 200,
      body: {
        state: 'done',
        counts: { received: 180, applied: 0, unchanged: 180 },
        snapshot: { sweep: 'done', stated: 200, toRemove: 20, kept: 180, removed: 20 }
      }
    })
    const key = ({ up, down }: { up: number; down: number }) => `${up}>${down}`
    const left = await query<{ edge: string }>(
      db,
      `
    select distinct split_part(u.urn, ',', 2) || '>' || split_part(d.urn, ',', 2) as edge
    from statement
    join entity u on u.id = statement.upstream_id
    join entity d on d.id = statement.downstream_id`
    )
    t.same(left.map((row) => row.edge).sort(), [...kept, alsoByB, alsoByHand].map(key).sort())
    const upstreamsOf = async ({ down }: { down: number }): Promise<string[]> => {
      const { body } = await graphql(
        'query ($urn: String!) { searchAcrossLineage(input: { urn: $urn, direction: UPSTREAM, orFilters: [{ and: [{ field: "degree", values: ["1"] }] }], count: 10 }) { searchResults { entity { urn } } } }',
        { urn: dataset(down) }
      )
      return body.data.searchAcrossLineage.searchResults.map(
        (result: { entity: { urn: string } }) => result.entity.urn
      )
    }
    for (const each of onlyByA) t.same(await upstreamsOf(each), [])
    for (const each of [alsoByB, alsoByHand, ...kept.slice(0, 20)])
      t.same(await upstreamsOf(each), [dataset(each.up)])
    t.match(
      (
        await graphql(
          'query ($id: String!) { load(id: $id) { mode snapshot { sweep stated toRemove kept removed } } }',
          { id: again.body.id }
        )
      ).body,
      {
        data: {
          load: {
            mode: 'snapshot',
            snapshot: { sweep: 'done', stated: 200, toRemove: 20, kept: 180, removed: 20 }
          }
        }
      }
    )

    const refused = await send('source=a&mode=snapshot', kept.slice(0, 90).map(toRecord))
    t.match(refused, { status: 409, body: { code: 'SNAPSHOT_REMOVES_TOO_MUCH', actual: 90, maximum: 54 } })
    t.match((await send('source=a&mode=snapshot&force=true', kept.slice(0, 90).map(toRecord))).body, {
      state: 'done',
      snapshot: { removed: 90 }
    })
  }
)

t.test('a dry run of a snapshot says what would be removed, and removes nothing', async (t) => {
  const bench = await withAssets(t)
  await loaded(bench, [edge(0, 1), edge(0, 2), edge(0, 3)], snapshot())
  const before = await stated(bench)
  const typo = { op: 'addEgde', upstreamUrn: dataset(0), downstreamUrn: dataset(3) }
  const id = await loaded(bench, [edge(0, 1), edge(4, 5), typo], {
    ...snapshot('a', { maxRemovedShare: 0.3 }),
    isDryRun: true
  })
  t.match(await bench.load(id), {
    state: 'done',
    counts: { applied: 1, unchanged: 1, rejected: 1 },
    snapshot: { sweep: 'done', stated: 3, toRemove: 1, kept: 2, removed: 1 },
    report: { edges: { added: 1, removed: 1 }, wouldFail: true }
  })
  t.same(await stated(bench), before)
  t.same(await bench.rows('select 1 from snapshot_removal union all select 1 from snapshot_statement'), [])
  t.match(await bench.load(await loaded(bench, ['no json'], { ...snapshot(), isDryRun: true })), {
    snapshot: { sweep: 'held', removed: 0 },
    report: { edges: { removed: 0 } }
  })
})

t.test('an atomic snapshot adds and removes in one transaction, or does neither', async (t) => {
  const bench = await withAssets(t)
  await loaded(bench, [edge(0, 1), edge(0, 2), edge(0, 3)], snapshot())
  const refused = await loaded(bench, [edge(0, 1), edge(4, 5), edge(5, 6)], {
    ...snapshot('a', { maxRemovedShare: 0.3 }),
    isAtomic: true
  })
  t.match(await bench.load(refused), {
    state: 'failed',
    error:
      /^SNAPSHOT_REMOVES_TOO_MUCH: .* Send it again with force=true if this is intended\. Nothing was applied\.$/
  })
  t.same(await stated(bench), ['0>1 a', '0>2 a', '0>3 a'])
  const id = await loaded(bench, [edge(0, 1), edge(4, 5)], { ...snapshot(), isAtomic: true })
  t.match(await bench.load(id), {
    state: 'done',
    snapshot: { sweep: 'done', stated: 3, toRemove: 2, removed: 2 }
  })
  t.same(await stated(bench), ['0>1 a', '4>5 a'])
  t.same(await graphOfLog(bench.db), await graphOfTables(bench.db))
})

t.test('a snapshot is not refused for removing too much if it removes the edges by name', async (t) => {
  const bench = await withLoadBench(t)
  const names = Array.from({ length: 11 }, (_, index) => index)
  await bench.submit(names.map(entity))
  await bench.submit(
    names.slice(1).map((name) => edge(0, name)),
    snapshot()
  )
  await bench.drain()
  const id = await bench.submit(
    [...names.slice(1, 7).map((name) => edge(0, name)), ...names.slice(7).map((name) => removal(0, name))],
    snapshot('a', { maxRemovedShare: 0.3 })
  )
  await bench.drain()
  t.match(await bench.load(id), { state: 'done', counts: { applied: 4, unchanged: 6 } })
  t.equal((await stated(bench)).length, 6)
})
