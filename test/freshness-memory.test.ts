/**
 * P3 with the graph in memory: each API process shows what any other has acknowledged. Also tests the checker
 * of that property.
 */
import t, { type Test } from 'tap'
import { buildServer } from '../api/server.ts'
import { applyRecords, type ApplyContext } from '../shared/catalog/write/apply-records.ts'
import type { LineageMemory } from '../shared/catalog/lineage/lineage-memory.ts'
import type { Db, Tx } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { catalogClient } from './support/catalog-client.ts'
import { withDatabase } from './support/database.ts'
import { openMemory, type MemoryOptions } from './support/lineage-memory.ts'
import { readAfterMaxId } from './support/max-id-rule.ts'
import { latch, pausedBefore } from './support/paused-tx.ts'
import { withServer, type TestServer } from './support/server.ts'
import type { Api } from './torture/catalog-calls.ts'
import { catalogDoor, dawdling } from './torture/freshness-doors.ts'
import { createHistory, type Outcome } from './torture/freshness-history.ts'
import { prepare, startRun, writeAndRead } from './torture/freshness-run.ts'
import { assets } from './torture/freshness-workload.ts'
import { randomFrom } from './torture/workload.ts'

const key = 'edge a > b'

/** A history with its own clock: each event is one moment after the previous one. */
function historyOfMoments() {
  let moment = 0
  const history = createHistory(
    () => 'no',
    () => {
      moment += 1
      return moment
    }
  )
  const shows = (value: string) => [[[key, value]]] as const
  return {
    history,
    write: (value: string) => history.write([[key, value]]),
    acknowledged: (value: string) => history.write([[key, value]])('acknowledged'),
    /** The values that a read from now until `end` may show. */
    read: () => {
      const judges = ['yes', 'no', 'other'].map((value) => ({ value, judge: history.read() }))
      return {
        allowed: () =>
          judges.filter(({ value, judge }) => judge(shows(value)).length === 0).map(({ value }) => value)
      }
    }
  }
}

t.test('the judge of freshness', async (t) => {
  t.test('allows only the initial value before anything is written', async (t) => {
    t.same(historyOfMoments().read().allowed(), ['no'])
  })

  t.test('refuses what was overwritten before the read began', async (t) => {
    const { acknowledged, read } = historyOfMoments()
    acknowledged('yes')
    t.same(read().allowed(), ['yes'])
    acknowledged('no')
    t.same(read().allowed(), ['no'])
  })

  t.test('allows both sides of a write that is under way', async (t) => {
    const { write, read } = historyOfMoments()
    const end = write('yes')
    t.same(read().allowed(), ['yes', 'no'])
    const during = read()
    end('acknowledged')
    t.same(during.allowed(), ['yes', 'no'])
    t.same(read().allowed(), ['yes'])
  })

  t.test('allows a write that began after the read did, and not one that began after it ended', async (t) => {
    const { acknowledged, read } = historyOfMoments()
    const early = read()
    t.same(read().allowed(), ['no'])
    acknowledged('yes')
    t.same(early.allowed(), ['yes', 'no'])
  })

  t.test('allows either of two overlapping writes, and nothing older', async (t) => {
    const { write, acknowledged, read } = historyOfMoments()
    acknowledged('other')
    const ends = [write('yes'), write('no')]
    for (const end of ends) end('acknowledged')
    t.same(read().allowed(), ['yes', 'no'])
    acknowledged('other')
    t.same(read().allowed(), ['other'])
  })

  for (const outcome of ['refused', 'unknown'] satisfies Outcome[]) {
    t.test(
      `treats a write that was ${outcome} as ${outcome === 'refused' ? 'none' : 'one that may still happen'}`,
      async (t) => {
        const { write, acknowledged, history, read } = historyOfMoments()
        write('yes')(outcome)
        t.same(read().allowed(), outcome === 'refused' ? ['no'] : ['yes', 'no'])
        acknowledged('other')
        t.same(read().allowed(), outcome === 'refused' ? ['other'] : ['yes', 'other'])
        t.equal(history.settle(), outcome === 'refused' ? 0 : 1)
        acknowledged('no')
        t.same(read().allowed(), ['no'])
      }
    )
  }

  t.test('asks for one of several things, and for an edge in the case of a path', async (t) => {
    const { acknowledged, history } = historyOfMoments()
    acknowledged('yes')
    t.same(
      history.read()([
        [
          [key, 'no'],
          [key, 'yes']
        ]
      ]),
      []
    )
    t.same(
      history.read()([
        [
          [key, 'no'],
          [key, 'other']
        ],
        []
      ]),
      [
        [
          [key, 'no'],
          [key, 'other']
        ],
        []
      ]
    )
  })

  t.test('forgets nothing that a read may still need', async (t) => {
    const { acknowledged, read } = historyOfMoments()
    const early = read()
    for (let count = 0; count < 500; count += 1) acknowledged(count % 2 === 0 ? 'yes' : 'other')
    t.same(read().allowed(), ['other'])
    t.same(early.allowed(), ['yes', 'no', 'other'])
    acknowledged('yes')
    t.same(read().allowed(), ['yes'])
  })
})

/** A separate API on the database, with its own graph. */
async function anotherApi(t: Test, first: TestServer, options: MemoryOptions = {}): Promise<Api> {
  const config = readConfig({ DATABASE_URL: first.databaseUrl, LOG_LEVEL: 'silent' })
  const log = createLog(config)
  const memory = await openMemory(t, first.db, first.databaseUrl, log, options)
  const app = await buildServer(
    {
      db: first.db,
      lineage: { db: first.db, memory },
      queue: { nudge: async () => true, depth: async () => 0, close: async () => {} },
      config,
      log
    },
    { isStopping: false }
  )
  t.teardown(() => app.close())
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), token: first.token }
}

const context: ApplyContext = {
  actor: { urn: toUrn('urn:li:corpuser:test'), tokenId: null, scopes: ['admin'], domainUrns: null },
  source: 'manual',
  missingReferences: 'create',
  operation: 'test',
  requestId: null
}
const addEdge = (tx: Tx, [upstream, downstream]: readonly [string, string]) =>
  applyRecords(
    tx,
    [
      {
        line: 0,
        changes: [{ kind: 'addEdge', upstreamUrn: toUrn(upstream), downstreamUrn: toUrn(downstream) }]
      }
    ],
    context
  )

t.test(
  'P3: of three APIs with graphs of their own, none misses a write that was acknowledged before it read',
  async (t) => {
    const first = await withServer(t)
    const apis = [first, await anotherApi(t, first), await anotherApi(t, first)]
    const random = randomFrom(7)
    const run = startRun({
      apis,
      own: catalogDoor(dawdling(first.db, random, 6), random),
      random,
      hasLoads: false
    })
    await prepare(run)
    await writeAndRead(run, { count: 400, writers: 4, readers: 1 })
    t.equal(run.figures.staleReads, 0, run.faults.join('\n'))
    t.ok(run.figures.writes >= 300 && run.figures.reads >= 150, JSON.stringify(run.figures))
    t.same([run.figures.unknown, run.figures.failedReads], [0, 0])
    t.ok(run.figures.walks > 0 && run.figures.fromMemory === run.figures.walks, JSON.stringify(run.figures))
  }
)

t.test(
  'a write that drew its log row before another and committed after it is seen by transaction ids, and missed by row ids',
  async (t) => {
    const first = await withServer(t)
    const byRule = {
      snapshot: await anotherApi(t, first),
      maxIdSeen: await anotherApi(t, first, { readUnseen: readAfterMaxId() })
    }
    const [a = '', b = '', c = '', d = ''] = assets
    const client = catalogClient(first.url, first.token)
    await client.make(a, b, c, d)
    const below = (api: Api, urn: string) => catalogClient(api.url, api.token).walk(urn)

    const late = pausedBefore(first.db, /insert into audit/, (tx) => addEdge(tx, [a, b]))
    await late.reached
    t.equal((await client.updateLineage([[c, d]])).reason, null)
    t.same([await below(byRule.snapshot, c), await below(byRule.maxIdSeen, c)], [[`1 ${d}`], [`1 ${d}`]])
    late.goOn()
    t.equal((await late.done).status, 'fulfilled')
    t.same(await below(byRule.snapshot, a), [`1 ${b}`])
    t.same(await below(byRule.maxIdSeen, a), [])
  }
)

/** The entities one hop downstream, or null if the graph does not answer. */
async function below(memory: LineageMemory, urn: string): Promise<string[] | null> {
  const opened = await memory.open()
  if (!opened) return null
  const { reader, release } = opened
  const id = (await reader.find([toUrn(urn)])).get(toUrn(urn))?.id ?? 0
  const ids = (await reader.neighbours([id], 'DOWNSTREAM', 'asset'))(id)
  const urnOf = await reader.urns(ids)
  release()
  return ids.map((each) => urnOf(each) ?? '')
}

t.test('a read that comes while a question to the database is under way waits for the next', async (t) => {
  const { db, url } = await withDatabase(t)
  const [a = '', b = '', c = ''] = assets
  await inTransaction(db, (tx) => addEdge(tx, [a, b]))
  const answered = latch()
  const released = latch()
  let isHeld = false
  /** While `isHeld`, answers of Postgres are delayed until they are released. */
  const slow = (graphDb: Db): Db =>
    new Proxy(graphDb, {
      get(target, name, receiver) {
        if (name !== 'raw') return Reflect.get(target, name, receiver) as unknown
        return async (sql: string, bindings: never) => {
          const rows: unknown = await target.raw(sql, bindings)
          if (!isHeld) return rows
          answered.open()
          await released.opened
          return rows
        }
      }
    })
  const memory = await openMemory(t, db, url, createLog({ logLevel: 'silent' }), { through: slow })
  isHeld = true
  const early = below(memory, a)
  await answered.opened
  await inTransaction(db, (tx) => addEdge(tx, [a, c]))
  const late = below(memory, a)
  isHeld = false
  released.open()
  t.same([await early, await late], [[b], [b, c]])
})

for (const { name, andThen } of [
  {
    name: 'pruned before the graph has read it',
    andThen: async (tx: Tx) => {
      await query(tx, 'delete from graph_change')
      await query(
        tx,
        'update graph_horizon set horizon = (pg_current_xact_id()::text::bigint + 1)::text::xid8'
      )
    }
  },
  {
    name: 'lost with the epoch of the server',
    andThen: async (tx: Tx) => {
      await query(tx, 'delete from graph_change')
      await query(tx, 'delete from graph_epoch')
    }
  }
]) {
  t.test(`what is in the tables is seen although its log row was ${name}`, async (t) => {
    const { db, url } = await withDatabase(t)
    const [a = '', b = ''] = assets
    const memory = await openMemory(t, db, url, createLog({ logLevel: 'silent' }))
    t.same(await below(memory, a), [])
    await inTransaction(db, async (tx) => {
      await addEdge(tx, [a, b])
      await andThen(tx)
    })
    t.equal(await below(memory, a), null)
    // The horizon may be above a transaction of another test, which pruning never causes. It is passed when
    // that transaction has ended.
    let seen = null
    while (seen === null) {
      await memory.settled()
      seen = await below(memory, a)
    }
    t.same(seen, [b])
  })
}
