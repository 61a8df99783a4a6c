/** Failures of chunks and their consequences: errors, deaths, lost messages, and pruning. */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { ApplyRecords } from '../shared/catalog/loads/apply-chunk.ts'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import { allChunkGuards } from '../shared/catalog/loads/chunk-guards.ts'
import { readRecords } from '../shared/catalog/loads/chunk-records.ts'
import { claimChunk } from '../shared/catalog/loads/claim-chunk.ts'
import { createIsolationGate } from '../shared/catalog/loads/isolation-gate.ts'
import { prune } from '../shared/catalog/loads/prune.ts'
import { sweep } from '../shared/catalog/loads/sweep.ts'
import { query } from '../shared/db/query.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { startChunkWorker } from '../shared/queue/chunk-worker.ts'
import { cancelTransaction } from '../shared/store/chunks.ts'
import { insertLoad } from '../shared/store/loads.ts'
import { withDatabase } from './support/database.ts'
import {
  admin,
  edge,
  entity,
  guardsWithout,
  pretend,
  rejectsOf,
  removal,
  withLoadBench,
  type LoadBench
} from './support/load-bench.ts'

/** Fails like Postgres does. */
const sqlError = (code: string): Error => Object.assign(new Error('something with a secret value'), { code })

t.test('failures', async (t) => {
  /** Fails permanently on records that contain the word. */
  const guilty =
    (word: string, error: () => Error): ApplyRecords =>
    async (tx, records, context) => {
      if (JSON.stringify(records).includes(word)) throw error()
      return pretend(tx, records, context)
    }
  const records = [
    ...Array.from({ length: 40 }, (_, index) => entity(`t${index}`)),
    entity('poison'),
    ...Array.from({ length: 40 }, (_, index) => entity(`u${index}`))
  ]

  t.test(
    'one guilty record is found, tried three times alone, and rejected; the others are applied',
    async (t) => {
      const bench = await withLoadBench(t, { apply: guilty('poison', () => sqlError('22P02')) })
      const id = await bench.submit(records)
      await bench.drain()
      t.match(await bench.load(id), { state: 'done', counts: { received: 81, applied: 80, rejected: 1 } })
      const [reject] = await rejectsOf(bench, id)
      t.match(reject, { line: 41, code: 'BAD_REQUEST', record: JSON.stringify(entity('poison')) })
      t.notMatch(reject?.message, /secret/)
      t.ok(
        (await bench.chunks(id)).some(
          (chunk) => chunk.state === 'settled' && chunk.recordCount === 1 && chunk.attempts === 2
        )
      )
    }
  )

  t.test('without a count of attempts, it blocks its load for ever (the test can see it)', async (t) => {
    const bench = await withLoadBench(t, { apply: guilty('poison', () => sqlError('22P02')) })
    const id = await bench.submit(records)
    for (let attempt = 0; attempt < 30; attempt += 1) {
      await bench.rows("update chunk set next_at = now() where state = 'waiting'")
      await bench.look(bench.told[0] ?? 0, { guards: guardsWithout('attempts') })
    }
    t.match(await bench.load(id), { state: 'applying', counts: { applied: 0 } })
  })

  t.test('a fault of the program is found the same way, and its text goes to nobody', async (t) => {
    const bench = await withLoadBench(t, {
      apply: guilty('poison', () => new TypeError('secret is not a function'))
    })
    const id = await bench.submit(records)
    await bench.drain()
    t.match(await bench.load(id), { state: 'done', counts: { applied: 80, rejected: 1 } })
    t.match((await rejectsOf(bench, id))[0], {
      code: 'INTERNAL',
      message: /^The record could not be applied/
    })
  })

  t.test('temporary failures are retried without end, and never count as attempts', async (t) => {
    let failures = 25
    const codes = ['40001', '40P01', '55P03', '53100', '57014', '08006', '23505', '57P01']
    const bench = await withLoadBench(t, {
      apply: async (tx, records, context) => {
        failures -= 1
        if (failures >= 0) throw sqlError(codes[failures % codes.length] ?? '40001')
        return pretend(tx, records, context)
      }
    })
    const id = await bench.submit([entity('a'), entity('b')])
    const chunkId = bench.told[0] ?? 0
    let run = await bench.look(chunkId)
    for (; run.outcome === 'released'; run = await bench.look(chunkId)) {
      t.ok((run.retryInMs ?? 0) <= 30_000)
      t.match(await bench.chunks(id), [{ state: 'waiting', attempts: 0 }])
      await bench.rows("update chunk set next_at = now() where state = 'waiting'")
    }
    t.equal(run.outcome, 'settled')
    t.match(await bench.load(id), { state: 'done', counts: { applied: 2 } })
  })

  /**
   * Lets workers die of records with the word until the load ends, at most `mostDeaths` times. Returns the
   * number of deaths.
   */
  async function dieOf(
    bench: LoadBench,
    id: string,
    word: string,
    guards: typeof allChunkGuards,
    mostDeaths: number
  ): Promise<number> {
    let deaths = 0
    while (deaths < mostDeaths && (await bench.load(id)).state !== 'done') {
      for (const { id: chunkId } of (await bench.chunks(id)).filter((chunk) => chunk.hasPayload)) {
        const isDeadly = (await readRecords(bench.db, await bench.payload(chunkId))).some((record) =>
          record.text.includes(word)
        )
        // A worker that dies has claimed the chunk, and its lease runs out.
        const claim = isDeadly ? await claimChunk(bench.db, chunkId, guards, 0) : null
        if (claim?.next === 'apply') deaths += 1
        else await bench.look(chunkId, { guards })
        await sleep(2)
      }
    }
    return deaths
  }

  t.test('a record that kills every worker is isolated and rejected; the others are applied', async (t) => {
    const bench = await withLoadBench(t, { apply: pretend })
    const id = await bench.submit(
      Array.from({ length: 8 }, (_, index) => entity(index === 5 ? 'killer' : `k${index}`))
    )
    t.equal(
      await dieOf(bench, id, 'killer', allChunkGuards, 50),
      3 + 1 + 1 + 1 + 3,
      'three before it is isolated, one for each half, three alone'
    )
    t.match(await bench.load(id), { state: 'done', counts: { received: 8, applied: 7, rejected: 1 } })
    t.match(await rejectsOf(bench, id), [{ line: 6, code: 'INTERNAL', message: /^The worker ended/ }])
  })

  t.test(
    'a lease that ran out across a start of Postgres is no crash: it says nothing of the chunk',
    async (t) => {
      const bench = await withLoadBench(t, { apply: pretend })
      const id = await bench.submit([entity('a')])
      const chunkId = bench.told[0] ?? 0
      const leaseSeconds = 1
      for (const [afterStart, crashes] of [
        ['0.9 seconds', 0],
        ['1.1 seconds', 1]
      ] as const) {
        await claimChunk(bench.db, chunkId, allChunkGuards, leaseSeconds)
        await bench.rows('update chunk set lease_until = pg_postmaster_start_time() + ?::interval', [
          afterStart
        ])
        await claimChunk(bench.db, chunkId, allChunkGuards, leaseSeconds)
        t.match(await bench.chunks(id), [{ crashes }])
        await bench.rows("update chunk set state = 'waiting'")
      }
    }
  )

  t.test('a worker that cannot report a failure keeps trying, and does not count as dead', async (t) => {
    const bench = await withLoadBench(t, {
      apply: async () => {
        throw sqlError('53100')
      }
    })
    const id = await bench.submit([entity('a')])
    await bench.rows(`
      create function refuse() returns trigger language plpgsql as $$
      begin
        if new.state = 'waiting' then raise exception 'no room' using errcode = '53100'; end if;
        return new;
      end $$`)
    await bench.rows('create trigger refuse before update on chunk for each row execute function refuse()')
    const looking = bench.look(bench.told[0] ?? 0)
    await sleep(1_200)
    t.match(await bench.chunks(id), [{ state: 'applying', fence: 1 }])
    await bench.rows('drop function refuse() cascade')
    t.equal((await looking).outcome, 'released')
    t.match(await bench.chunks(id), [{ state: 'waiting', fence: 1, crashes: 0 }])
  })

  t.test('without isolation it kills workers for ever (the test can see it)', async (t) => {
    const bench = await withLoadBench(t, { apply: pretend })
    const id = await bench.submit([entity('a'), entity('killer')])
    t.equal(await dieOf(bench, id, 'killer', guardsWithout('isolation'), 50), 50)
    t.equal((await bench.load(id)).state, 'applying')
  })

  t.test('an isolated chunk runs alone in its process', async (t) => {
    const gate = createIsolationGate()
    const seen: string[] = []
    let running = 0
    async function work(name: string, ms: number): Promise<void> {
      running += 1
      seen.push(`${name} beside ${running - 1}`)
      await sleep(ms)
      running -= 1
    }
    await Promise.all([
      gate.together(() => work('first', 30)),
      gate.together(() => work('second', 10)),
      gate.alone(() => work('isolated', 20)),
      gate.together(() => work('third', 5)),
      gate.alone(() => work('isolated too', 5))
    ])
    t.match(
      seen.filter((entry) => entry.startsWith('isolated')),
      ['isolated beside 0', 'isolated too beside 0']
    )
    t.equal(seen.length, 5)
  })

  t.test('a stop cancels no statement of a later transaction on the same session', async (t) => {
    const { db } = await withDatabase(t, 2)
    const begin = 'select pg_backend_pid() as pid, now()::text as "begunAt"'
    await inTransaction(db, async (tx) => {
      const [running] = await query<{ pid: number; begunAt: string }>(tx, begin)
      if (!running) throw new Error('no answer')
      const sleeping = query(tx, 'select pg_sleep(20)').catch((error: unknown) => error)
      const isSleeping = async (): Promise<boolean> =>
        (
          await query(
            db,
            `select from pg_stat_activity where pid = ?::int and state = 'active' and query = 'select pg_sleep(20)'`,
            [running.pid]
          )
        ).length > 0
      while (!(await isSleeping())) await sleep(5)
      await cancelTransaction(db, { ...running, begunAt: '2026-01-01 00:00:00+00' })
      await sleep(50)
      t.ok(await isSleeping(), 'an earlier transaction was meant')
      await cancelTransaction(db, running)
      t.match(await sleeping, { code: '57014' })
    })
  })

  t.test('a stop rolls back at once and hands the chunk back without an attempt', async (t) => {
    const bench = await withLoadBench(t)
    const id = await bench.submit([entity('a')])
    const stop = new AbortController()
    let hasSleptOn = false
    const slow: ApplyRecords = async (tx, records, context) => {
      const verdicts = await applyRecords(tx, records, context)
      await tx.raw('select pg_sleep(30)')
      hasSleptOn = true
      return verdicts
    }
    const chunkId = bench.told[0] ?? 0
    const running = bench.look(chunkId, { apply: slow, signal: stop.signal })
    const isSleeping = `select from pg_stat_activity where datname = current_database() and state = 'active' and query = 'select pg_sleep(30)'`
    while ((await bench.rows(isSleeping)).length === 0) await sleep(5)
    stop.abort()
    t.equal((await running).outcome, 'aborted')
    t.notOk(hasSleptOn, 'the statement that ran was cancelled')
    t.match(await bench.chunks(id), [{ state: 'waiting', attempts: 0, crashes: 0, faults: 0 }])
    t.same(await bench.rows('select id from entity'), [])
    t.equal((await bench.look(chunkId)).outcome, 'settled', 'and another worker may take it at once')
  })
})

t.test('a worker that starts while Postgres is away says so, and does not block its process', async (t) => {
  const config = readConfig({ DATABASE_URL: 'postgres://127.0.0.1:1/none' })
  const look = async (): Promise<'done'> => 'done'
  await t.rejects(
    startChunkWorker({ config, concurrency: 1, look, log: createLog({ logLevel: 'silent' }) }),
    { code: 'ECONNREFUSED' }
  )
  // It would never come to its end if nothing else in the process ran.
  await sleep(100)
})

t.test('the sweeper', async (t) => {
  t.test('finds what the queue has lost', async (t) => {
    const bench = await withLoadBench(t)
    const id = await bench.submit([entity('a'), edge('a', 'a')])
    bench.told.length = 0
    await sweep(bench.db, bench.queue, { quietSeconds: 0, guards: guardsWithout('sweeper') })
    await bench.drain()
    t.equal((await bench.load(id)).state, 'accepted', 'without the sweeper it is lost (the test can see it)')
    t.match(await sweep(bench.db, bench.queue, { quietSeconds: 0 }), { nudged: 1 })
    await bench.drain()
    t.equal((await bench.load(id)).state, 'done')
  })

  t.test('leaves alone what was asked for just now, is not due, or is held', async (t) => {
    const bench = await withLoadBench(t)
    await bench.submit([entity('a')])
    t.match(await sweep(bench.db, bench.queue), { nudged: 0 })
    const chunkId = bench.told[0] ?? 0
    await claimChunk(bench.db, chunkId, allChunkGuards)
    t.match(await sweep(bench.db, bench.queue, { quietSeconds: 0 }), { nudged: 0 })
    await bench.rows("update chunk set lease_until = now() - interval '1 second'")
    await sleep(5)
    t.match(await sweep(bench.db, bench.queue, { quietSeconds: 0 }), { nudged: 1 }, 'a lease that ran out')
  })

  t.test('takes chunks from every load in turn', async (t) => {
    const bench = await withLoadBench(t)
    const large = await bench.submit(Array.from({ length: 20_000 }, (_, index) => entity(index)))
    const small = await bench.submit([entity('small')])
    bench.told.length = 0
    await sweep(bench.db, bench.queue, { quietSeconds: 0 })
    const [smallChunk] = await bench.chunks(small)
    t.ok(bench.told.slice(0, 2).includes(smallChunk?.id ?? 0))
    t.equal((await bench.chunks(large)).length, 4)
  })

  t.test(
    'accepts a load whose API process died after the end of its body, and aborts one that nobody writes to',
    async (t) => {
      const bench = await withLoadBench(t)
      const whole = await bench.submit([entity('a')])
      bench.told.length = 0
      await bench.rows(
        "update load set state = 'receiving', seq = null, remaining = 0, body_ended_at = now() - interval '1 minute' where id = ?::uuid",
        [whole]
      )
      const silent = '00000000-0000-4000-8000-000000000001'
      await inTransaction(bench.db, (tx) =>
        insertLoad(tx, {
          id: silent,
          format: 'ndjson',
          header: null,
          mode: 'merge',
          source: 's',
          missingReferences: 'reject',
          actor: admin.urn,
          tokenId: null,
          scopes: ['write'],
          domainUrns: null,
          requestId: null,
          isAtomic: false,
          isDryRun: false,
          idempotencyKey: null
        })
      )
      await bench.rows("update load set touched_at = now() - interval '1 hour' where id = ?::uuid", [silent])
      t.match(await sweep(bench.db, bench.queue), { accepted: 1, aborted: 1 })
      await bench.drain()
      t.equal((await bench.load(whole)).state, 'done')
      t.equal((await bench.load(silent)).state, 'aborted')
    }
  )
})

t.test('pruning', async (t) => {
  const countOf = async (
    bench: LoadBench,
    table: 'edge_tombstone' | 'graph_change' | 'load'
  ): Promise<number> => (await bench.rows(`select 1 from ${table}`)).length

  t.test('keeps the order of removals while anything older is unfinished, and no longer', async (t) => {
    const bench = await withLoadBench(t)
    await bench.submit([entity('a'), entity('b')])
    await bench.drain()
    const older = await bench.submit([edge('a', 'b')])
    const olderChunks = bench.told.splice(0)
    await bench.submit([removal('a', 'b')])
    await bench.drain()
    t.equal(await countOf(bench, 'edge_tombstone'), 1)
    await prune(bench.db)
    t.equal(await countOf(bench, 'edge_tombstone'), 1)
    bench.told.push(...olderChunks)
    await bench.drain()
    t.equal((await bench.load(older)).state, 'done')
    t.same(
      await bench.rows('select 1 from statement'),
      [],
      'the older add came late and does not bring the edge back'
    )
    await bench.submit([entity('c')])
    await bench.drain()
    await prune(bench.db)
    t.equal(await countOf(bench, 'edge_tombstone'), 0)
  })

  t.test('keeps everything while a load whose body has ended has no seq yet', async (t) => {
    const bench = await withLoadBench(t)
    await bench.submit([entity('a')])
    await bench.rows("update load set state = 'receiving', seq = null, body_ended_at = now()")
    await bench.rows(
      'insert into edge_tombstone (owner_id, aspect_code, downstream_id, upstream_id, seq, line) values (1, 1, 1, 2, 0, 1)'
    )
    await prune(bench.db)
    t.equal(await countOf(bench, 'edge_tombstone'), 1)
  })

  t.test('moves the horizon of the change log past what it threw away', async (t) => {
    const bench = await withLoadBench(t)
    await bench.submit([entity('a'), edge('a', 'a')])
    await bench.drain()
    const before = await countOf(bench, 'graph_change')
    t.ok(before > 0)
    t.match(await prune(bench.db), { graphChanges: 0 })
    const [newest] = await bench.rows<{ xid: number }>(
      'select max(xid::text::bigint) as xid from graph_change'
    )
    // Changes after the oldest open transaction stay, and other tests have open transactions.
    let pruned = 0
    while (pruned < before) {
      pruned += (await prune(bench.db, { changeLogKeepSeconds: 0 })).graphChanges
      await sleep(10)
    }
    t.equal(pruned, before)
    const [horizon] = await bench.rows<{ xid: number }>(
      'select horizon::text::bigint as xid from graph_horizon'
    )
    t.equal(horizon?.xid, (newest?.xid ?? 0) + 1)
  })

  t.test('keeps what began after a transaction that is still open', async (t) => {
    const bench = await withLoadBench(t)
    await inTransaction(bench.db, async (tx) => {
      await query(tx, 'select pg_current_xact_id()')
      await bench.submit([entity('a')])
      await bench.drain()
      t.ok((await countOf(bench, 'graph_change')) > 0)
      t.match(await prune(bench.db, { changeLogKeepSeconds: 0 }), { graphChanges: 0 })
    })
  })

  t.test('deletes loads that ended long ago, with all their rows', async (t) => {
    const bench = await withLoadBench(t)
    await bench.submit([entity('a'), 'x'])
    await bench.drain()
    await bench.submit([entity('b')])
    await bench.drain()
    await bench.rows("update load set finished_at = now() - interval '31 days' where rejected = 1")
    t.match(await prune(bench.db), { loads: 1 })
    t.equal(await countOf(bench, 'load'), 1)
    t.same(await bench.rows('select line from reject'), [])
  })
})
