/**
 * Loads: reception, the order of application, and that each chunk and each load ends exactly once, whichever
 * workers die.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { allChunkGuards } from '../shared/catalog/loads/chunk-guards.ts'
import { cancelLoad } from '../shared/catalog/loads/cancel-load.ts'
import { claimChunk } from '../shared/catalog/loads/claim-chunk.ts'
import { applyChunk, type ApplyRecords } from '../shared/catalog/loads/apply-chunk.ts'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import { receiveLoad } from '../shared/catalog/loads/receive-load.ts'
import { retryLoad } from '../shared/catalog/loads/retry-load.ts'
import { submitChanges } from '../shared/catalog/loads/submit-changes.ts'
import { sweep } from '../shared/catalog/loads/sweep.ts'
import { CatalogError } from '../shared/errors.ts'
import {
  admin,
  dataset,
  edge,
  entity,
  guardsWithout,
  pretend,
  rejectsOf,
  removal,
  withLoadBench,
  type LoadBench
} from './support/load-bench.ts'

t.test('an upload', async (t) => {
  const bench = await withLoadBench(t)

  t.test(
    'is applied, unchanged or rejected record by record, with line numbers, and the three add up',
    async (t) => {
      const id = await bench.submit([
        '',
        entity('a'),
        edge('a', 'b'),
        entity('b'),
        'no json',
        '',
        edge('a', 'missing')
      ])
      t.match(await bench.load(id), { state: 'accepted', counts: { received: 5, applied: 0, rejected: 1 } })
      await bench.drain()
      t.match(await bench.load(id), {
        state: 'done',
        counts: { received: 5, applied: 3, unchanged: 0, rejected: 2 },
        error: null
      })
      t.match(await rejectsOf(bench, id), [
        { line: 5, code: 'BAD_REQUEST', record: 'no json' },
        {
          line: 7,
          code: 'MISSING_REFERENCE',
          field: 'downstreamUrn',
          record: JSON.stringify(edge('a', 'missing'))
        }
      ])
      const again = await bench.submit([entity('a'), edge('a', 'b')])
      await bench.drain()
      t.match(await bench.load(again), {
        state: 'done',
        counts: { received: 2, applied: 0, unchanged: 2, rejected: 0 }
      })
    }
  )

  t.test('without a record is refused and leaves nothing', async (t) => {
    const before = await bench.rows('select id from load')
    await t.rejects(bench.submit([]), { code: 'BAD_REQUEST' })
    await t.rejects(bench.submit(['', '  ']), { code: 'BAD_REQUEST' })
    t.equal((await bench.rows('select id from load')).length, before.length)
  })

  t.test('that is cut off is aborted, and its records are gone', async (t) => {
    async function* cutOff(): AsyncGenerator<Buffer> {
      for (let index = 0; index < 6_000; index += 1)
        yield Buffer.from(`${JSON.stringify(entity(`cut${index}`))}\n`)
      yield Buffer.from('no json\n')
      throw new CatalogError('BAD_REQUEST', 'The upload was cut off')
    }
    await t.rejects(
      receiveLoad(
        bench.db,
        bench.queue,
        { actor: admin, requestId: null, format: 'ndjson', source: 'test', missingReferences: 'reject' },
        cutOff()
      ),
      { code: 'BAD_REQUEST' }
    )
    const [load] = await bench.rows<{ id: string }>('select id from load order by created_at desc limit 1')
    t.match(await bench.load(load?.id ?? ''), {
      state: 'aborted',
      error: 'The upload was cut off',
      counts: { applied: 0 }
    })
    t.same(await bench.chunks(load?.id ?? ''), [])
    t.same(bench.told, [], 'no worker was told')
  })

  t.test('whose records are all rejected is done at once', async (t) => {
    const id = await bench.submit(['x', 'y', '{}'])
    t.match(await bench.load(id), {
      state: 'done',
      counts: { received: 3, applied: 0, unchanged: 0, rejected: 3 }
    })
    t.same(
      (await rejectsOf(bench, id)).map((reject) => reject.line),
      [1, 2, 3]
    )
  })

  t.test('becomes chunks of bounded size, each of one pass', async (t) => {
    const count = 20_200
    const records = Array.from({ length: count }, (_, index) => [
      entity(`p${index}`),
      edge(`p${index}`, `p${index + 1}`)
    ]).flat()
    const removals = Array.from({ length: 300 }, (_, index) => removal(`p${index}`, `q${index}`))
    const id = await bench.submit([...records, ...removals])
    const chunks = await bench.chunks(id)
    t.same(
      chunks.map(({ pass, recordCount }) => ({ pass, recordCount })),
      [
        ...Array.from({ length: 4 }, () => ({ pass: 1, recordCount: 5_000 })),
        { pass: 3, recordCount: 20_000 },
        { pass: 1, recordCount: 200 },
        { pass: 3, recordCount: 200 },
        { pass: 3, recordCount: 300 }
      ],
      'edges given by their ends alone have chunks of their own, added or removed'
    )
    await cancelLoad(bench.db, admin, id)
    bench.told.length = 0
  })

  t.test('keeps of a rejected record what can be stored, and says nothing else of it', async (t) => {
    const id = await bench.submit([`{"op":"upsertEntity","urn":"${'x'.repeat(100_000)}"}`, `{"a":"\u{fffd}"`])
    const [long] = await rejectsOf(bench, id)
    t.ok(Buffer.byteLength(long?.record ?? '') <= 64 * 1024)
    t.equal((await bench.load(id)).state, 'done')
  })
})

t.test(
  'submitted changes go the way of an upload, and a removal wins over an addition of the same edge',
  async (t) => {
    const bench = await withLoadBench(t)
    await bench.submit([entity('a'), entity('b'), entity('c')])
    await bench.drain()
    const { id, source } = await submitChanges(
      bench.db,
      bench.queue,
      {
        edgesToRemove: [{ upstreamUrn: dataset('a'), downstreamUrn: dataset('b') }],
        edgesToAdd: [
          { upstreamUrn: dataset('a'), downstreamUrn: dataset('b') },
          { upstreamUrn: dataset('a'), downstreamUrn: dataset('c') }
        ],
        createDomains: [
          { id: 'sales', name: 'Sales', parentDomain: 'urn:li:domain:company' },
          { id: 'company', name: 'Company' }
        ],
        setDomains: [{ entityUrn: dataset('a'), domainUrn: 'urn:li:domain:sales' }]
      },
      { actor: admin, requestId: null, missingReferences: 'reject' }
    )
    t.equal(source, 'manual')
    await bench.drain()
    t.match(await bench.load(id), { state: 'done', counts: { received: 6, rejected: 0 } })
    t.same(await bench.rows(`select e.urn from statement join entity e on e.id = statement.downstream_id`), [
      { urn: dataset('c') }
    ])
    await t.rejects(
      submitChanges(
        bench.db,
        bench.queue,
        {},
        { actor: admin, requestId: null, missingReferences: 'reject' }
      ),
      { code: 'BAD_REQUEST' }
    )
    const edges = Array.from({ length: 5_001 }, () => ({ upstreamUrn: 'x', downstreamUrn: 'y' }))
    await t.rejects(
      submitChanges(
        bench.db,
        bench.queue,
        { edgesToAdd: edges },
        { actor: admin, requestId: null, missingReferences: 'reject' }
      ),
      { code: 'LIMIT_EXCEEDED' }
    )
  }
)

t.test('references inside a load hold in any order', async (t) => {
  t.test('20,001 records with every reference before its entity are accepted whole', async (t) => {
    const bench = await withLoadBench(t)
    const edges = Array.from({ length: 10_000 }, (_, index) => edge(index, index + 1))
    const entities = Array.from({ length: 10_001 }, (_, index) => entity(index))
    const id = await bench.submit([...edges, ...entities])
    await bench.drain()
    t.match(await bench.load(id), {
      state: 'done',
      counts: { received: 20_001, applied: 20_001, rejected: 0 }
    })
  })

  t.test('and over two loads in their order of acceptance: the later one waits', async (t) => {
    const bench = await withLoadBench(t)
    const older = await bench.submit([entity('a'), entity('b')])
    const olderChunks = bench.told.splice(0)
    const newer = await bench.submit([edge('a', 'b')])
    const first = await bench.look(bench.told.shift() ?? 0)
    t.match(first, { outcome: 'released', error: { name: 'WaitForOlderLoad' } })
    t.match(await bench.chunks(newer), [{ state: 'waiting', attempts: 0, faults: 0 }])
    bench.told.push(...olderChunks)
    await bench.drain()
    await bench.rows("update chunk set next_at = now() where state = 'waiting'")
    await sweep(bench.db, bench.queue, { quietSeconds: 0 })
    await bench.drain()
    t.match(await bench.load(older), { state: 'done', counts: { applied: 2 } })
    t.match(await bench.load(newer), { state: 'done', counts: { applied: 1, rejected: 0 } })
  })

  const inCircles = [
    { op: 'createDomain', id: 'child', name: 'Child', parentDomain: 'urn:li:domain:parent' },
    { op: 'createDomain', id: 'orphan', name: 'Orphan', parentDomain: 'urn:li:domain:absent' },
    { op: 'createDomain', id: 'grandorphan', name: 'Grand-orphan', parentDomain: 'urn:li:domain:orphan' },
    { op: 'createDomain', id: 'parent', name: 'Parent', parentDomain: 'urn:li:domain:root' },
    { op: 'createDomain', id: 'root', name: 'Root' }
  ]

  t.test('a record that depends on a missing one is missing too, however long the chain', async (t) => {
    const bench = await withLoadBench(t)
    const id = await bench.submit(inCircles)
    await bench.drain()
    t.match(await bench.load(id), { state: 'done', counts: { received: 5, applied: 3, rejected: 2 } })
    t.match(await rejectsOf(bench, id), [
      { line: 2, code: 'MISSING_REFERENCE' },
      { line: 3, code: 'MISSING_REFERENCE' }
    ])
  })

  t.test('without settling declarations first it is not (the test can see it)', async (t) => {
    const bench = await withLoadBench(t)
    const id = await bench.submit(inCircles)
    await bench.drain({ guards: guardsWithout('declarations') })
    t.not((await bench.load(id)).counts.rejected, 2)
  })

  t.test(
    'an entity that an older load creates is not reported missing when declarations are settled',
    async (t) => {
      const bench = await withLoadBench(t)
      const older = await bench.submit([{ op: 'createDomain', id: 'absent', name: 'There after all' }])
      const olderChunks = bench.told.splice(0)
      const newer = await bench.submit(inCircles)
      while (bench.told.length > 0) await bench.look(bench.told.shift() ?? 0)
      t.equal((await bench.load(newer)).state, 'applying')
      bench.told.push(...olderChunks)
      await bench.drain()
      await bench.rows("update chunk set next_at = now() where state = 'waiting'")
      await sweep(bench.db, bench.queue, { quietSeconds: 0 })
      await bench.drain()
      t.equal((await bench.load(older)).state, 'done')
      t.match(await bench.load(newer), { state: 'done', counts: { received: 5, applied: 5, rejected: 0 } })
    }
  )

  for (const [title, guards] of [
    ['a pass begins when the one before it is settled', allChunkGuards],
    [
      'without the order of passes edges come before their entities (the test can see it)',
      guardsWithout('passOrder')
    ]
  ] as const) {
    t.test(title, async (t) => {
      const bench = await withLoadBench(t)
      const id = await bench.submit([edge('a', 'b'), entity('a'), entity('b')])
      bench.told.length = 0
      const edges = (await bench.chunks(id)).find((chunk) => chunk.pass === 3)
      // A job that comes too early: it names a chunk of a later pass.
      const run = await bench.look(edges?.id ?? 0, { guards })
      await sweep(bench.db, bench.queue, { quietSeconds: 0 })
      await bench.drain({ guards })
      if (guards.passOrder) t.equal(run.outcome, 'nothing')
      const { counts } = await bench.load(id)
      t.equal(counts.rejected, guards.passOrder ? 0 : 1)
    })
  }
})

t.test('a chunk ends once', async (t) => {
  /**
   * Two workers that both believe to hold the same chunk: the first was frozen past its lease, and wakes up.
   * Returns which one settled it.
   */
  async function settledBy(bench: LoadBench, guards: typeof allChunkGuards): Promise<string[]> {
    await bench.submit([entity('a'), entity('b'), edge('a', 'b')])
    const chunkId = bench.told.shift() ?? 0
    const names: string[] = []
    const frozen = await claimChunk(bench.db, chunkId, guards, 0)
    await sleep(5)
    const newest = await claimChunk(bench.db, chunkId, guards)
    for (const [name, claim] of [
      ['the frozen one', frozen],
      ['the newest', newest]
    ] as const) {
      if (claim)
        await applyChunk(bench.db, claim.chunk, { apply: pretend, guards }).then(
          () => names.push(name),
          () => {}
        )
    }
    return names
  }

  t.test('under its newest fence only', async (t) => {
    t.same(await settledBy(await withLoadBench(t), allChunkGuards), ['the newest'])
  })

  t.test('without the fence a worker that has lost the chunk settles it (the test can see it)', async (t) => {
    t.same(await settledBy(await withLoadBench(t), guardsWithout('fence')), ['the frozen one'])
  })

  t.test('in the hands of one worker at a time', async (t) => {
    const bench = await withLoadBench(t)
    await bench.submit([entity('a')])
    const chunkId = bench.told.shift() ?? 0
    t.ok(await claimChunk(bench.db, chunkId, allChunkGuards))
    t.equal(await claimChunk(bench.db, chunkId, allChunkGuards), null)
    t.ok(
      await claimChunk(bench.db, chunkId, guardsWithout('lease')),
      'without the lease two hold it (the test can see it)'
    )
  })

  t.test(
    'when twenty workers are nudged at once, one of them applies it, and the load ends once',
    async (t) => {
      const bench = await withLoadBench(t)
      const id = await bench.submit([entity('a'), entity('b'), edge('a', 'b')])
      for (let round = 0; round < 3; round += 1) {
        const chunks = await bench.chunks(id)
        await Promise.all(chunks.flatMap((chunk) => Array.from({ length: 10 }, () => bench.look(chunk.id))))
      }
      t.match(await bench.load(id), { state: 'done', counts: { applied: 3 } })
      const audits = await bench.rows<{ chunkId: number }>(
        'select chunk_id as "chunkId" from audit where load_id = ?::uuid',
        [id]
      )
      t.equal(audits.length, 2, 'one audit row a chunk')
      t.ok((await bench.chunks(id)).every((chunk) => chunk.state === 'settled' && !chunk.hasPayload))
    }
  )

  t.test('only when its verdicts add up to its records', async (t) => {
    const forgetful: ApplyRecords = async (tx, records, context) =>
      (await pretend(tx, records, context)).slice(1)
    const bench = await withLoadBench(t)
    const id = await bench.submit([entity('a'), entity('b')])
    const chunkId = bench.told[0] ?? 0
    t.equal((await bench.look(chunkId, { apply: forgetful })).outcome, 'released')
    t.match(await bench.load(id), { state: 'applying', counts: { applied: 0 } })
    await bench.rows('update chunk set next_at = now()')
    await bench.look(chunkId, { apply: forgetful, guards: guardsWithout('countCheck') })
    t.match(
      await bench.load(id),
      { state: 'done', counts: { received: 2, applied: 1 } },
      'without the check a record is lost (the test can see it)'
    )
  })
})

t.test('cancel', async (t) => {
  const bench = await withLoadBench(t)

  t.test(
    'drops the chunks that are not settled, frees their records, and counts what was applied',
    async (t) => {
      const id = await bench.submit([entity('a'), entity('b'), edge('a', 'b')])
      await bench.look(bench.told.shift() ?? 0)
      t.match(await cancelLoad(bench.db, admin, id), {
        state: 'cancelled',
        counts: { received: 3, applied: 2 }
      })
      await bench.drain()
      t.match(await bench.chunks(id), [
        { state: 'settled', hasPayload: false },
        { state: 'dropped', hasPayload: false }
      ])
      await t.rejects(cancelLoad(bench.db, admin, id), { code: 'CONFLICT' })
      await t.rejects(retryLoad(bench.db, bench.queue, admin, id), { code: 'CONFLICT' })
    }
  )

  t.test('while a chunk is being applied rolls that chunk back', async (t) => {
    const id = await bench.submit([entity('rolled-back')])
    let isCancelled: Promise<unknown> = Promise.resolve()
    const run = await bench.look(bench.told.shift() ?? 0, {
      apply: async (tx, records, context) => {
        const verdicts = await applyRecords(tx, records, context)
        isCancelled = cancelLoad(bench.db, admin, id)
        await isCancelled
        return verdicts
      }
    })
    t.equal(run.outcome, 'ended')
    t.match(await bench.load(id), { state: 'cancelled', counts: { applied: 0 } })
    t.match(await bench.chunks(id), [{ state: 'dropped' }])
    t.same(await bench.rows('select id from entity where urn = ?', [dataset('rolled-back')]), [])
  })

  t.test('while it is being received ends the upload', async (t) => {
    let begun = ''
    async function* body(): AsyncGenerator<Buffer> {
      for (let index = 0; index < 5_000; index += 1)
        yield Buffer.from(`${JSON.stringify(entity(`r${index}`))}\n`)
      const [load] = await bench.rows<{ id: string }>("select id from load where state = 'receiving'")
      begun = load?.id ?? ''
      await cancelLoad(bench.db, admin, begun)
      yield Buffer.from(`${JSON.stringify(entity('last'))}\n`)
    }
    await t.rejects(
      receiveLoad(
        bench.db,
        bench.queue,
        { actor: admin, requestId: null, format: 'ndjson', source: 'test', missingReferences: 'reject' },
        body()
      ),
      { code: 'CONFLICT' }
    )
    t.equal((await bench.load(begun)).state, 'cancelled')
  })
})

t.test('retry', async (t) => {
  t.test('sends the rejected records of a done load again, under a fresh seq', async (t) => {
    const bench = await withLoadBench(t)
    const id = await bench.submit([entity('a'), edge('a', 'late'), 'no json'])
    await bench.drain()
    t.match(await bench.load(id), { state: 'done', counts: { applied: 1, rejected: 2 } })
    const [before] = await bench.rows<{ seq: number }>('select seq from load where id = ?::uuid', [id])
    await bench.submit([entity('late')])
    await bench.drain()
    t.match(await retryLoad(bench.db, bench.queue, admin, id), {
      state: 'accepted',
      finishedAt: null,
      counts: { received: 3, applied: 1, rejected: 1 }
    })
    await bench.drain()
    t.match(await bench.load(id), {
      state: 'done',
      counts: { received: 3, applied: 2, unchanged: 0, rejected: 1 }
    })
    t.match(await rejectsOf(bench, id), [{ line: 3, code: 'BAD_REQUEST' }])
    const [after] = await bench.rows<{ seq: number }>('select seq from load where id = ?::uuid', [id])
    t.ok((after?.seq ?? 0) > (before?.seq ?? 0))
    await t.rejects(
      retryLoad(bench.db, bench.queue, admin, id),
      { code: 'CONFLICT' },
      'nothing is left that could be sent again'
    )
  })

  t.test('creates placeholders for what is missing if it is told to, and keeps to that', async (t) => {
    const bench = await withLoadBench(t)
    const id = await bench.submit([entity('a'), edge('a', 'late'), edge('a', 'later')])
    await bench.drain()
    t.match(await bench.load(id), { state: 'done', counts: { applied: 1, rejected: 2 } })
    await retryLoad(bench.db, bench.queue, admin, id, { missingReferences: 'create' })
    await bench.drain()
    t.match(await bench.load(id), { state: 'done', counts: { received: 3, applied: 3, rejected: 0 } })
    const [row] = await bench.rows<{ missing: string }>(
      'select missing_references as missing from load where id = ?::uuid',
      [id]
    )
    t.equal(row?.missing, 'create')
  })

  t.test('that is cancelled leaves the records it did not get to rejected as they were', async (t) => {
    const bench = await withLoadBench(t)
    const id = await bench.submit([entity('a'), edge('a', 'late'), edge('a', 'later')])
    await bench.drain()
    const before = await rejectsOf(bench, id)
    t.equal(before.length, 2)
    await retryLoad(bench.db, bench.queue, admin, id)
    t.same(await rejectsOf(bench, id), [], 'while they are tried again they are not rejected')
    t.match(await cancelLoad(bench.db, admin, id), {
      state: 'cancelled',
      counts: { received: 3, applied: 1, unchanged: 0, rejected: 2 }
    })
    t.same(await rejectsOf(bench, id), before)
  })

  t.test('lets a failed load continue where it stopped, under the same seq', async (t) => {
    const bench = await withLoadBench(t)
    const id = await bench.submit([entity('a'), edge('a', 'a')])
    const [chunk] = await bench.rows<{ id: number; payload: Buffer }>(
      'select id, payload from chunk where load_id = ?::uuid and pass = 1',
      [id]
    )
    await bench.rows('update chunk set payload = ?::bytea where id = ?', [
      Buffer.from('broken'),
      chunk?.id ?? 0
    ])
    t.equal((await bench.look(chunk?.id ?? 0)).outcome, 'failed')
    t.match(await bench.load(id), { state: 'failed', error: /cannot be read/ })
    bench.told.length = 0
    await bench.rows('update chunk set payload = ?::bytea where id = ?', [
      chunk?.payload ?? null,
      chunk?.id ?? 0
    ])
    const [before] = await bench.rows('select seq from load where id = ?::uuid', [id])
    await retryLoad(bench.db, bench.queue, admin, id)
    t.same(await bench.rows('select seq from load where id = ?::uuid', [id]), [before])
    await bench.drain()
    t.match(await bench.load(id), { state: 'done', error: null, counts: { applied: 2 } })
  })

  t.test('finds all chunks of a failed load, also one that was being applied when it failed', async (t) => {
    const bench = await withLoadBench(t)
    const id = await bench.submit([entity('a')])
    const chunkId = bench.told.shift() ?? 0
    const run = await bench.look(chunkId, {
      apply: async (tx, records, context) => {
        await bench.rows("update load set state = 'failed', finished_at = now() where id = ?::uuid", [id])
        return applyRecords(tx, records, context)
      }
    })
    t.equal(run.outcome, 'ended')
    t.match(await bench.chunks(id), [{ state: 'waiting', hasPayload: true }])
    await retryLoad(bench.db, bench.queue, admin, id)
    await bench.drain()
    t.match(await bench.load(id), { state: 'done', counts: { applied: 1 } })
  })
})

t.test('a load waits for the disk while it is received and when it is done, and not between', async (t) => {
  const bench = await withLoadBench(t)
  await bench.submit(['a', 'b', 'c'].map(entity))
  await bench.drain()
  await bench.rows('create table waits (of text, waits boolean)')
  // At the commit: whether the transaction changed the setting of the server.
  await bench.rows(`create function note_wait() returns trigger language plpgsql as $$
    begin
      insert into waits select tg_op || ' ' || tg_table_name || ' ' || new.state, pg_settings.source <> 'session' from pg_settings where pg_settings.name = 'synchronous_commit';
      return null;
    end $$`)
  for (const table of ['load', 'chunk'])
    await bench.rows(
      `create constraint trigger note_wait after insert or update on ${table} deferrable initially deferred for each row execute function note_wait()`
    )
  await bench.submit([edge('a', 'b'), removal('b', 'c')])
  const told = async (): Promise<string[]> =>
    (await bench.rows<{ said: string }>("delete from waits returning of || ' ' || waits as said")).map(
      ({ said }) => said
    )
  const received = await told()
  t.ok(received.includes('UPDATE load receiving true') && received.includes('UPDATE load accepted true'))
  t.same(
    received.filter((each) => each.endsWith('false')),
    [],
    'an upload goes on after a crash: what it has stored must be there'
  )
  await bench.drain()
  const applied = await told()
  t.same(
    applied.filter((each) => each.startsWith('UPDATE chunk settled')),
    ['UPDATE chunk settled false', 'UPDATE chunk settled true'],
    'the last chunk takes the others to disk'
  )
  t.ok(applied.includes('UPDATE load done true'))
  t.notOk(applied.includes('UPDATE chunk applying false'), 'who holds a chunk is known after a crash')
})
