/** OpenLineage over HTTP: events of real producers, one by one, in batches, packed, twice and in any order, give the same graph. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { createToken } from '../shared/catalog/access/create-token.ts'
import { groupEvents } from '../shared/catalog/openlineage/group-events.ts'
import { readEventText } from '../shared/catalog/openlineage/ingest-events.ts'
import type { Call } from '../shared/catalog/write/call.ts'
import { query } from '../shared/db/query.ts'
import { limits } from '../shared/limits.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { packageRoot } from '../shared/platform/paths.ts'
import { lockIngestion, writeStates } from '../shared/store/openlineage.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import { connectTestDatabase, withDatabase } from './support/database.ts'
import { contentFrom, eventAt, facet } from './support/openlineage.ts'
import { skipUnless } from './support/skip.ts'
import { withServer, type TestServer } from './support/server.ts'

const names = ['CLL', 'simple_run_event', 'spark_dataproc_bigquery_shakespare'] as const

const eventsOf = (folder: string, name: string): unknown[] =>
  readdirSync(join(folder, 'openlineage', name))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, 'openlineage', name, file), 'utf8')))

type Counts = { datasets: number; jobs: number; jobEdges: number; columnEdges: number }

/** The counts of the scenarios' own description. */
const expected: { [name in (typeof names)[number]]: Counts } = {
  CLL: { datasets: 3, jobs: 4, jobEdges: 5, columnEdges: 10 },
  simple_run_event: { datasets: 2, jobs: 1, jobEdges: 2, columnEdges: 0 },
  spark_dataproc_bigquery_shakespare: { datasets: 2, jobs: 3, jobEdges: 3, columnEdges: 4 }
}

async function countsOf({ db }: TestServer): Promise<Counts> {
  const [counts] = await query<Counts>(
    db,
    `
    select
      (select count(*)::int from entity where entity_type = 'dataset' and is_present) as datasets,
      (select count(*)::int from entity where entity_type = 'dataJob' and is_present) as jobs,
      (select count(distinct (upstream_id, downstream_id))::int from statement where field in (33, 35)) as "jobEdges",
      (select count(distinct (upstream_id, downstream_id))::int from statement where field = 38) as "columnEdges"`
  )
  if (!counts) throw new Error('no counts')
  return counts
}

const post = (server: TestServer, body: unknown, path = '/api/v1/lineage') =>
  server.rest({ method: 'POST', url: path, body })

async function sendEach(t: Test, server: TestServer, events: readonly unknown[]): Promise<void> {
  for (const event of events) {
    const { status, text } = await post(server, event)
    t.equal(status, 201, text)
  }
}

t.test('real events', async (t) => {
  const folder = process.env.TRIBUTARY_TEST_DATA ?? join(packageRoot, '..', 'shared', 'data')
  if (skipUnless(t, existsSync(folder), 'no folder of real data: set TRIBUTARY_TEST_DATA')) return
  for (const name of names) {
    await t.test(name, async (t) => {
      const events = eventsOf(folder, name)
      const one = await withServer(t)
      await sendEach(t, one, events)
      t.strictSame(await countsOf(one), expected[name])
      const content = await contentFrom(one.db)
      await sendEach(t, one, events)
      t.strictSame(await contentFrom(one.db), content, 'sent again they change nothing')

      const batch = await withServer(t)
      const answer = await post(batch, [...events].reverse(), '/api/v1/lineage/batch')
      t.match(answer, {
        status: 200,
        body: {
          status: 'success',
          summary: { received: events.length, failed: 0 },
          failed_events: { length: 0 }
        }
      })
      t.strictSame(await contentFrom(batch.db), content, 'a batch in reverse says the same')

      const single = await withServer(t)
      for (const event of [...events].reverse()) {
        const { statusCode } = await single.app.inject({
          method: 'POST',
          url: '/openapi/openlineage/api/v1/lineage',
          headers: {
            authorization: `Bearer ${single.token}`,
            'content-type': 'application/json',
            'content-encoding': 'gzip'
          },
          payload: gzipSync(JSON.stringify(event))
        })
        t.equal(statusCode, 201)
      }
      t.strictSame(await contentFrom(single.db), content, 'packed, and the newest first')
    })
  }
})

const job = (name: string): JsonObject => ({ namespace: 'nightly', name, facets: {} })
const eventOf = (index: number, facets: JsonObject = {}): JsonObject =>
  eventAt(index, { job: { ...job(`etl.job${index}`), facets } })
const sendList = (server: TestServer, events: readonly unknown[]) =>
  post(server, events, '/api/v1/lineage/batch')

/** The events that were committed, as the numbers and characters of each transaction. */
const transactions = ({ db }: Pick<TestServer, 'db'>): Promise<{ events: number; chars: number }[]> =>
  query(
    db,
    `
    select count(*)::int as events, sum(length(event::text))::int as chars
    from openlineage_event group by xmin::text`
  )

/** Holds what each group of events needs, until it is released. */
async function blockIngestion(t: Test, { databaseUrl }: TestServer): Promise<() => Promise<void>> {
  const other = connectTestDatabase(databaseUrl, 1)
  t.teardown(() => other.destroy())
  const tx = await other.transaction()
  await lockIngestion(tx, false)
  return async () => {
    await tx.commit()
  }
}

/** Process ids of those that wait for it. */
async function waitersOf({ db }: TestServer): Promise<number[]> {
  for (;;) {
    const rows = await query<{ pid: number }>(
      db,
      `
      select pid from pg_locks
      where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`
    )
    if (rows.length > 0) return rows.map(({ pid }) => pid)
    await sleep(20)
  }
}

t.test('one transaction has at most 16 MiB of events', async (t) => {
  const server = await withServer(t)
  const query = 'x'.repeat(6 * 1024 * 1024)
  const events = Array.from({ length: 7 }, (_, index) => eventOf(index, { sql: facet({ query }) }))
  t.match(await sendList(server, events), { body: { summary: { successful: 7 } } })
  const sizes = (await transactions(server)).map(({ chars }) => chars)
  t.ok(Math.max(...sizes) <= 16 * 1024 * 1024, String(sizes))
})

t.test('the states of a group are written in several statements if they are large', async (t) => {
  const { db } = await withDatabase(t)
  const rows = Array.from({ length: 10 }, (_, index) => ({
    urn: `urn:li:dataset:(urn:li:dataPlatform:hive,t${index},PROD)` as Urn,
    state: null,
    asserted: { [`urn:li:dataset:${index}`]: { documentation: { text: 'x'.repeat(4 * 1024 * 1024) } } }
  }))
  const sizes: number[] = []
  db.on('query', ({ bindings }: { bindings?: unknown[] }) => {
    sizes.push(...(bindings ?? []).map((each) => String(each).length))
  })
  await db.transaction((tx) => writeStates(tx, rows))
  t.ok(Math.max(...sizes) <= 16 * 1024 * 1024 + 100, String(sizes))
  t.strictSame(await query(db, 'select count(*)::int as count from openlineage_state'), [{ count: 10 }])
})

t.test('an event that cannot be committed fails alone, found by halving its group', async (t) => {
  const server = await withServer(t)
  await query(
    server.db,
    `
    create function refuse_poison() returns trigger language plpgsql as $$
    begin
      if new.event::text like '%poison%' then raise exception 'poison'; end if;
      return new;
    end $$`
  )
  await query(
    server.db,
    'create trigger poison before insert on openlineage_event for each row execute function refuse_poison()'
  )
  const events = Array.from({ length: 256 }, (_, index) =>
    eventOf(index, index === 77 ? { sql: facet({ query: 'poison' }) } : {})
  )
  t.match((await sendList(server, events)).body, {
    summary: { successful: 255, failed: 1, retriable: 1 },
    failed_events: [{ index: 77, retriable: true, reason: /internal error/ }]
  })
  const committed = await transactions(server)
  t.ok(committed.length <= 20, `${committed.length} transactions`)
})

t.test('an event whose statement takes too long delays few others', async (t) => {
  const server = await withServer(t)
  await query(
    server.db,
    `
    create function cancel_slow() returns trigger language plpgsql as $$
    begin
      if new.event::text like '%slow%' then raise exception 'too long' using errcode = '57014'; end if;
      return new;
    end $$`
  )
  await query(
    server.db,
    'create trigger slow before insert on openlineage_event for each row execute function cancel_slow()'
  )
  const events = Array.from({ length: 256 }, (_, index) =>
    eventOf(index, index === 77 ? { sql: facet({ query: 'slow' }) } : {})
  )
  const { body } = await sendList(server, events)
  t.match(body, { summary: { failed: Number, non_retriable: 0 } })
  t.ok(body.failed_events.some(({ index }: { index: number }) => index === 77))
  t.ok(body.summary.failed <= 32, `${body.summary.failed} failed`)
})

t.test('a temporary failure is retriable', async (t) => {
  const server = await withServer(t)
  const release = await blockIngestion(t, server)
  const answer = sendList(server, [eventOf(1), eventOf(2)])
  const [pid = 0] = await waitersOf(server)
  await query(server.db, 'select pg_terminate_backend(?::int)', [pid])
  t.match((await answer).body, {
    summary: { failed: 2, retriable: 2, non_retriable: 0 },
    failed_events: [
      { index: 0, retriable: true },
      { index: 1, retriable: true }
    ]
  })
  t.strictSame(await transactions(server), [], 'the second was not tried again by itself')
  await release()
})

t.test('events of several tokens are committed in a group for each', async (t) => {
  const { db } = await withDatabase(t)
  const groups = groupEvents(db)
  const callOf = async (name: string): Promise<Call> => {
    const { record } = await createToken(db, { name, scopes: ['write'] })
    const urn = toUrn(`urn:li:corpuser:${name}`)
    return { actor: { urn, tokenId: record.id, scopes: ['write'], domainUrns: null }, requestId: null }
  }
  const calls = [await callOf('one'), await callOf('two')] as const
  // They arrive in turns, all before the first is committed.
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      groups.add(readEventText(JSON.stringify(eventOf(index))), calls[index % 2 === 0 ? 0 : 1])
    )
  )
  t.strictSame(
    (await transactions({ db })).map(({ events }) => events),
    [20, 20]
  )
})

t.test('where an event has waited for two seconds, further ones are refused and lists wait', async (t) => {
  const server = await withServer(t)
  const release = await blockIngestion(t, server)
  const taken = [post(server, eventOf(0))]
  await waitersOf(server)
  taken.push(post(server, eventOf(1)))
  await sleep(limits.openLineageWaitMaxMs + 500)
  const list = sendList(server, [eventOf(2), eventOf(3)])
  const late = post(server, eventOf(4))
  // It would be answered only after the release.
  const first = await Promise.race([late, sleep(15_000, null, { ref: false })])
  await release()
  t.match(first, {
    status: 503,
    headers: { 'retry-after': '1' },
    body: { code: 'UNAVAILABLE', message: /send it again/ }
  })
  t.strictSame(
    (await Promise.all(taken)).map(({ status }) => status),
    [201, 201]
  )
  t.match((await list).body, { summary: { successful: 2 } })
  t.equal((await post(server, eventOf(5))).status, 201)
})

t.test('the bodies that arrive at once have at most 128 MiB', async (t) => {
  const server = await withServer(t)
  const blanks = Buffer.alloc(limits.openLineageBatchMaxBytes - 64 * 1024, ' ')
  const unfinished = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const request = http.request(`${server.url}/api/v1/lineage/batch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
      })
      request.on('error', () => {})
      await new Promise((resolve) => request.write(blanks, resolve))
      return request
    })
  )
  await sleep(500)
  // Larger than what the sockets may still hold.
  const body = eventOf(0, { sql: facet({ query: 'x'.repeat(14 * 1024 * 1024) }) })
  t.match(await post(server, body), { status: 503, body: { code: 'UNAVAILABLE', message: /send it again/ } })
  for (const request of unfinished) request.destroy()
  let status = 503
  for (let count = 0; status === 503 && count < 100; count += 1) {
    await sleep(50)
    ;({ status } = await post(server, body))
  }
  t.equal(status, 201, 'what was cut off is released')
})

t.test('a list leaves turns to others while it is read', async (t) => {
  const server = await withServer(t)
  const fields = Array.from({ length: 100 }, (_, index) => ({ name: `column${index}`, type: 'text' }))
  const events = Array.from({ length: 4_000 }, (_, index) => ({
    ...eventOf(index),
    outputs: [{ namespace: 'postgres://db', name: `t${index}`, facets: { schema: facet({ fields }) } }],
    eventTime: '9999-01-01T00:00:00Z'
  }))
  const body = JSON.stringify(events)
  let turns = 0
  let isRunning = true
  const countTurns = (): void => {
    turns += 1
    if (isRunning) setImmediate(countTurns)
  }
  countTurns()
  const answer = await server.rest({
    method: 'POST',
    url: '/api/v1/lineage/batch',
    body,
    headers: { 'content-type': 'application/json' }
  })
  isRunning = false
  t.match(answer.body, { summary: { received: 4_000, failed: 4_000, retriable: 0 } })
  t.comment(`${turns} turns`)
  // Three if it leaves none. How many more there are depends on the machine: the slower, the more.
  t.ok(turns >= 7, `${turns} turns`)
})

t.test('a list of 10,000 events is taken, one of more is refused', async (t) => {
  const server = await withServer(t)
  const events = Array.from({ length: 10_000 }, (_, index) => ({
    ...eventOf(index),
    job: job(`etl.job${index % 10}`)
  }))
  t.match(await sendList(server, events), { status: 200, body: { summary: { successful: 10_000 } } })
  t.match(await sendList(server, [...events, eventOf(1)]), {
    status: 400,
    body: { code: 'LIMIT_EXCEEDED', limit: 'openLineageBatchMaxCount', maximum: 10_000, actual: 10_001 }
  })
})
