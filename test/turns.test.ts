/**
 * How callers share what only a few can use at once: connections for heavy reads and for writes, and the
 * transactions of events. Writers of one asset wait for each other without a connection.
 */
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { connectionShares, poolSizes } from '../api/read-turns.ts'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { groupEvents } from '../shared/catalog/openlineage/group-events.ts'
import { readEvent } from '../shared/catalog/openlineage/ingest-events.ts'
import { connectDatabase } from '../shared/db/connect.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { toCatalogError } from '../shared/db/sql-errors.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { inWriteTurn, shareWrites } from '../shared/db/write-turns.ts'
import { CatalogError } from '../shared/errors.ts'
import { createTurns, type TurnRules } from '../shared/platform/turns.ts'
import { createLog } from '../shared/platform/log.ts'
import { lockIngestion } from '../shared/store/openlineage.ts'
import { asCall, create, createDomain, dataset, domain, record, segment, upsert } from './support/changes.ts'
import { fc } from './support/fast-check.ts'
import { connectTestDatabase, withDatabase } from './support/database.ts'
import { latch } from './support/paused-tx.ts'
import { withServer, type RestAnswer, type TestServer } from './support/server.ts'

const refuse: TurnRules['refuse'] = (why, key) => new CatalogError('OVERLOADED', `${why} ${key}`)

t.test('turns', async (t) => {
  t.test('of one caller leave one for the others, and are its own again when nobody waits', async (t) => {
    const turns = createTurns({ atOnce: 3, perCaller: 2 })
    const [first] = [await turns.enter('a'), await turns.enter('a')]
    let hasEntered = false
    const third = turns.enter('a').then((leave) => {
      hasEntered = true
      return leave
    })
    await nextTurn()
    t.notOk(hasEntered)
    const ofOther = await turns.enter('b')
    first()
    ;(await third)()
    ofOther()
  })

  t.test('at one key are taken in the order of arrival, and those who wait for it use none', async (t) => {
    const turns = createTurns({ atOnce: 2 })
    const order: string[] = []
    const leave = await turns.enter('a', ['x'])
    const waiting = ['a1', 'a2', 'a3'].map(async (name) => {
      const end = await turns.enter('a', ['x'])
      order.push(name)
      await nextTurn()
      end()
    })
    const other = await turns.enter('a', ['y'])
    other()
    t.strictSame(order, [])
    leave()
    await Promise.all(waiting)
    t.strictSame(order, ['a1', 'a2', 'a3'])
  })

  t.test(
    'at several keys wait for all of them, and are not passed by later ones at one of them',
    async (t) => {
      const turns = createTurns({ atOnce: 4 })
      const order: string[] = []
      const enter = async (name: string, keys: readonly string[]) => {
        const end = await turns.enter(name, keys)
        order.push(name)
        await nextTurn()
        end()
      }
      const leave = await turns.enter('first', ['x'])
      const all = [enter('both', ['y', 'x', 'y']), enter('later', ['y']), enter('apart', ['z'])]
      await nextTurn()
      t.strictSame(order, ['apart'])
      leave()
      await Promise.all(all)
      t.strictSame(order, ['apart', 'both', 'later'])
    }
  )

  t.test('at one key are served caller by caller, however many wait of one', async (t) => {
    const turns = createTurns({ atOnce: 3, perCaller: 2 })
    const order: string[] = []
    const enter = async (name: string, keys: readonly string[]) => {
      const end = await turns.enter(name.slice(0, 1), keys)
      order.push(name)
      await nextTurn()
      end()
    }
    const leave = await turns.enter('a', ['x'])
    const all = [
      ...['a1', 'a2', 'a3', 'a4'].map((name) => enter(name, ['x'])),
      enter('b1', ['x', 'y']),
      enter('b2', ['x'])
    ]
    leave()
    await Promise.all(all)
    t.strictSame(order, ['a1', 'b1', 'a2', 'b2', 'a3', 'a4'])
  })

  t.test('never share a key or exceed a bound, and everybody who waits gets one', async (t) => {
    const keys = fc.uniqueArray(fc.constantFrom('x', 'y', 'z', 'w'), { maxLength: 3 })
    const callers = fc.array(fc.record({ caller: fc.constantFrom('a', 'b', 'c'), keys, turns: fc.nat(3) }), {
      minLength: 1,
      maxLength: 30
    })
    await fc.assert(
      fc.asyncProperty(callers, fc.integer({ min: 1, max: 3 }), async (all, atOnce) => {
        const perCaller = Math.max(1, atOnce - 1)
        const turns = createTurns({ atOnce, perCaller })
        const holders: { caller: string; keys: readonly string[] }[] = []
        await Promise.all(
          all.map(async (each) => {
            for (let wait = each.turns; wait > 0; wait -= 1) await nextTurn()
            const leave = await turns.enter(each.caller, each.keys)
            holders.push(each)
            const held = holders.flatMap((holder) => holder.keys)
            if (new Set(held).size < held.length) throw new Error(`shared: ${held.join()}`)
            if (holders.length > atOnce) throw new Error(`${holders.length} at once`)
            if (holders.filter(({ caller }) => caller === each.caller).length > perCaller)
              throw new Error(`too many of ${each.caller}`)
            for (let work = each.turns; work >= 0; work -= 1) await nextTurn()
            holders.splice(holders.indexOf(each), 1)
            leave()
          })
        )
        // Nothing is left of them.
        for (const key of ['x', 'y', 'z', 'w']) (await turns.enter('d', [key]))()
      })
    )
    t.pass('in every case')
  })

  t.test('that are waited for too long are refused by what they wait for, and leave no trace', async (t) => {
    const turns = createTurns({ atOnce: 1, waitMaxMs: 1, refuse })
    const leave = await turns.enter('a', ['x'])
    await t.rejects(turns.enter('b', ['x']), { message: 'lateForKey x' })
    await t.rejects(turns.enter('b'), { message: 'late null' })
    leave()
    ;(await turns.enter('b', ['x']))()
  })

  t.test('that cannot be waited for are refused at once', async (t) => {
    const turns = createTurns({ atOnce: 2, perCaller: 1, refuse })
    const leave = turns.take('a')
    t.throws(() => turns.take('a'), { message: 'callerBusy null' })
    const ofOther = turns.take('b')
    t.throws(() => turns.take('c'), { message: 'busy null' })
    leave()
    leave()
    turns.take('c')()
    ofOther()
  })
})

t.test(
  'the connections of a process leave one for short reads, and no token takes the last turn',
  async (t) => {
    for (let databasePoolApi = 1; databasePoolApi <= 100; databasePoolApi += 1) {
      const { forCalls, forUploads } = poolSizes({ databasePoolApi })
      const { atOnce, perCaller } = connectionShares({ databasePoolApi })
      t.ok(forCalls + forUploads <= Math.max(2, databasePoolApi), `${databasePoolApi} are not exceeded`)
      if (forCalls > 1) t.ok(atOnce < forCalls, `${databasePoolApi}: ${atOnce} of ${forCalls}`)
      if (atOnce > 1) t.ok(perCaller < atOnce, `${databasePoolApi}: ${perCaller} of ${atOnce}`)
      t.ok(perCaller >= 1)
    }
  }
)

/** Locks the row of an entity until `release`. */
async function hold(url: string, urn: string): Promise<{ release: () => Promise<void> }> {
  const db = connectTestDatabase(url, 1)
  const [locked, released] = [latch(), latch()]
  const done = inTransaction(db, async (tx) => {
    await query(tx, 'select id from entity where urn = ? for update', [urn])
    locked.open()
    await released.opened
  })
  await locked.opened
  return {
    async release() {
      released.open()
      await done
      await db.destroy()
    }
  }
}

t.test('writers of one asset', async (t) => {
  const server = await withServer(t)
  const [busy, idle] = [dataset('busy'), dataset('idle')]
  await applyCall(
    server.db,
    [
      record(
        0,
        ...create(busy, idle, ...Array.from({ length: 70 }, (_, index) => dataset(`up${index}`))),
        createDomain(domain('one'), 'One')
      )
    ],
    asCall()
  )
  const patchOf = (urn: string, index: number) => ({
    proposal: {
      entityType: 'dataset',
      entityUrn: urn,
      changeType: 'PATCH',
      aspectName: 'upstreamLineage',
      aspect: {
        value: JSON.stringify([
          {
            op: 'add',
            path: `/upstreams/${segment(dataset(`up${index}`))}`,
            value: { dataset: dataset(`up${index}`), type: 'TRANSFORMED' }
          }
        ]),
        contentType: 'application/json-patch+json'
      }
    }
  })
  const propose = (urn: string, index: number) =>
    server.rest({ method: 'POST', url: '/aspects?action=ingestProposal', body: patchOf(urn, index) })

  /** As a client that obeys Retry-After: on a slow machine seventy writes take longer than one may wait. */
  const untilTaken = async (write: () => Promise<RestAnswer>): Promise<RestAnswer> => {
    for (;;) {
      const answer = await write()
      if (!answer.text.includes('OVERLOADED')) return answer
    }
  }

  /** `many` writes of the held asset by one interface, of which all must succeed once it is free. */
  const ways: readonly [string, (server: TestServer, index: number) => Promise<RestAnswer>][] = [
    ['seventy patches of one asset', (_, index) => propose(busy, index)],
    [
      'seventy patches by OpenAPI',
      ({ rest }, index) =>
        rest({
          method: 'PATCH',
          url: `/openapi/v3/entity/dataset/${encodeURIComponent(busy)}/datasetProperties`,
          body: { patch: [{ op: 'add', path: `/customProperties/k${index}`, value: 'v' }] }
        })
    ],
    [
      'seventy mutations of one asset',
      ({ graphql }) =>
        graphql(
          'mutation ($entity: String!) { setDomain(entityUrn: $entity, domainUrn: "urn:li:domain:one") }',
          {
            entity: busy
          }
        )
    ],
    [
      'seventy batches with one asset in common',
      ({ graphql }, index) =>
        graphql('mutation ($input: BatchSetDomainInput!) { batchSetDomain(input: $input) }', {
          input: {
            domainUrn: 'urn:li:domain:one',
            resources: [dataset(`up${index}`), busy].map((resourceUrn) => ({ resourceUrn }))
          }
        })
    ]
  ]
  for (const [name, write] of ways) {
    t.test(`${name} wait for it with one connection: others write and read meanwhile`, async (t) => {
      const held = await hold(server.databaseUrl, busy)
      const many = Array.from({ length: 70 }, (_, index) => untilTaken(() => write(server, index)))
      const others = await Promise.all([
        propose(idle, 0),
        server.graphql(`{ dataset(urn: ${JSON.stringify(busy)}) { urn exists } }`),
        server.graphql('mutation ($name: String!) { createDomain(input: { name: $name }) }', { name })
      ])
      t.strictSame(
        others.map(({ status }) => status),
        [200, 200, 200]
      )
      const waitingConnections = await query<{ count: number }>(
        server.db,
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
      )
      t.ok((waitingConnections[0]?.count ?? 9) <= 1)
      await held.release()
      for (const { status, body } of await Promise.all(many)) {
        t.equal(status, 200)
        t.notMatch(JSON.stringify(body), '"errors"')
      }
    })
  }

  t.test('lose none of their changes', async (t) => {
    const { body } = await server.rest({
      url: `/openapi/v3/entity/dataset/${encodeURIComponent(busy)}?aspects=upstreamLineage&aspects=datasetProperties`
    })
    t.equal(body.upstreamLineage.value.upstreams.length, 70)
    t.equal(Object.keys(body.datasetProperties.value.customProperties).length, 70)
  })
})

t.test('what a writer is told', async (t) => {
  const { db, url } = await withDatabase(t)
  const urn = dataset('busy')
  await applyCall(db, [record(0, ...create(urn))], asCall())
  const heard = async (work: Promise<unknown>): Promise<CatalogError> =>
    work.then(
      () => {
        throw new Error('it was not refused')
      },
      (error: unknown) => toCatalogError(error)
    )
  const open = (more: { poolMax?: number; acquireTimeoutMs?: number; lockTimeoutMs?: number } = {}): Db => {
    const opened = connectDatabase({
      url,
      poolMax: 1,
      applicationName: 'tributary-test',
      statementTimeoutMs: 30_000,
      lockTimeoutMs: 30_000,
      log: createLog({ logLevel: 'silent' }),
      ...more
    })
    t.teardown(() => opened.destroy())
    return opened
  }

  t.test('that waited too long for others of its asset: their asset', async (t) => {
    const { actor } = asCall()
    shareWrites(db, { atOnce: 2, perCaller: 2, waitMaxMs: 1 })
    const released = latch()
    const first = inWriteTurn(db, { actor, keys: [urn] }, () => released.opened)
    const refused = await heard(applyCall(db, [record(0, ...create(urn))], asCall()))
    t.match(refused, {
      code: 'OVERLOADED',
      message: `for other writes of ${urn}`,
      details: { limit: 'writeWaitMaxMs', retryAfterSeconds: 1 }
    })
    released.open()
    await first
    await applyCall(db, [record(0, ...create(urn))], asCall())
  })

  t.test('while another transaction holds its asset: that, not that the database is away', async (t) => {
    const held = await hold(url, urn)
    const waiting = open({ lockTimeoutMs: 20 })
    const change = upsert(urn, 'status', { removed: true })
    const refused = await heard(applyCall(waiting, [record(0, change)], asCall()))
    t.match(refused, { code: 'OVERLOADED', message: /another transaction/i })
    await held.release()
  })

  t.test('while all connections are in use: that', async (t) => {
    const small = open({ acquireTimeoutMs: 20 })
    const isConnected = (): Promise<boolean> =>
      query(small, 'select 1').then(
        () => true,
        () => false
      )
    while (!(await isConnected())) await nextTurn()
    const released = latch()
    const begun = latch()
    const first = inTransaction(small, async (tx) => {
      await query(tx, 'select 1')
      begun.open()
      await released.opened
    })
    await begun.opened
    t.match(await heard(query(small, 'select 1')), { code: 'OVERLOADED', message: /connections/ })
    released.open()
    await first
  })

  t.test('while the database is away: that', async (t) => {
    const away = connectDatabase({
      url: 'postgres://nobody@127.0.0.1:1/none',
      poolMax: 1,
      applicationName: 'tributary-test',
      statementTimeoutMs: 1_000,
      lockTimeoutMs: 1_000,
      log: createLog({ logLevel: 'silent' })
    })
    t.teardown(() => away.destroy())
    t.match(await heard(query(away, 'select 1')), { code: 'UNAVAILABLE', message: /cannot be reached/ })
  })
})

t.test('events of one token do not keep back those of another', async (t) => {
  const { db, url } = await withDatabase(t)
  const groups = groupEvents(db)
  const event = (name: string, index: number) =>
    readEvent({
      eventTime: '2024-01-01T00:00:00Z',
      producer: 'https://example.com',
      schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
      eventType: 'COMPLETE',
      run: { runId: `0190f0b1-0000-7000-8000-${String(index).padStart(12, '0')}` },
      job: { namespace: 'n', name: `${name}${index}` },
      inputs: [],
      outputs: []
    })
  const tokens = new Map([
    ['many', randomUUID()],
    ['one', randomUUID()]
  ])
  const callOf = (name: string) => ({
    actor: { ...asCall().actor, tokenId: tokens.get(name) ?? null },
    requestId: null
  })
  const holder = connectTestDatabase(url, 1)
  const [locked, released] = [latch(), latch()]
  const holding = inTransaction(holder, async (tx) => {
    await lockIngestion(tx, false)
    locked.open()
    await released.opened
  })
  await locked.opened
  const order: string[] = []
  const add = (token: string, index: number) =>
    groups.add(event(token, index), callOf(token)).then(() => {
      order.push(token)
    })
  const many = Array.from({ length: 1_600 }, (_, index) => add('many', index))
  await sleep(1)
  const one = add('one', 9_000)
  released.open()
  await one
  t.ok(order.filter((token) => token === 'many').length <= 500, 'one group was before it')
  await Promise.all(many)
  t.equal(order.length, 1_601)
  await holding
  await holder.destroy()
})
