/**
 * Stored OpenLineage events through `POST /loads`: the same graph as over HTTP, a verdict for each line, and
 * refusals of such a load.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { query } from '../shared/db/query.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { packageRoot } from '../shared/platform/paths.ts'
import { contentFrom, eventAt, facet } from './support/openlineage.ts'
import { withServer, type RestAnswer, type TestServer } from './support/server.ts'
import { skipUnless } from './support/skip.ts'

const lines = (events: readonly unknown[]): string =>
  events.map((event) => `${typeof event === 'string' ? event : JSON.stringify(event)}\n`).join('')
const data = (name: string): JsonObject => ({ namespace: 'postgres://db:5432', name })
const asLines = { 'content-type': 'application/x-ndjson' }

type Loads = TestServer & {
  load: (body: string | Buffer, parameters?: string, headers?: Record<string, string>) => Promise<RestAnswer>
}

async function withLoads(t: Test): Promise<Loads> {
  const server = await withServer(t, { withWorker: true })
  return {
    ...server,
    async load(body, parameters = '', headers = asLines) {
      let answer = await server.rest({
        method: 'POST',
        url: `/loads?wait=20${parameters}`,
        body,
        headers
      })
      while (['accepted', 'applying'].includes(answer.body.state))
        answer = await server.rest({ url: `/loads/${answer.body.id}?wait=20` })
      return answer
    }
  }
}

const runOf = (job: number, seconds: number, eventType: string): JsonObject =>
  eventAt(seconds, {
    eventType,
    run: { runId: `run-${job}`, facets: {} },
    job: { namespace: 'nightly', name: `etl.job${job}` },
    inputs: eventType === 'START' ? [data(`in${job % 7}`), data(`in${(job + 1) % 7}`)] : [],
    outputs:
      eventType === 'START'
        ? []
        : [{ ...data(`out${job}`), facets: { documentation: facet({ description: `of ${job}` }) } }]
  })

t.test('real events that were stored make the graph that they make over HTTP', async (t) => {
  const folder = join(
    process.env.TRIBUTARY_TEST_DATA ?? join(packageRoot, '..', 'shared', 'data'),
    'openlineage'
  )
  if (skipUnless(t, existsSync(folder), 'no folder of real data: set TRIBUTARY_TEST_DATA')) return
  const events = readdirSync(folder).flatMap((name) =>
    readdirSync(join(folder, name))
      .sort()
      .map((file): unknown => JSON.parse(readFileSync(join(folder, name, file), 'utf8')))
  )
  const single = await withServer(t)
  for (const event of events)
    t.equal((await single.rest({ method: 'POST', url: '/api/v1/lineage', body: event })).status, 201)
  const expected = await contentFrom(single.db)

  const server = await withLoads(t)
  t.match(await server.load(lines(events)), {
    status: 200,
    body: {
      state: 'done',
      format: 'openlineage',
      source: 'openlineage',
      counts: { received: events.length, applied: events.length, unchanged: 0, rejected: 0 }
    }
  })
  t.strictSame(await contentFrom(server.db), expected, 'lines')
  t.match((await server.load(lines(events.toReversed()))).body, {
    counts: { applied: 0, unchanged: events.length, rejected: 0 }
  })
  t.strictSame(await contentFrom(server.db), expected, 'sent again they change nothing')

  const array = await withLoads(t)
  const body = gzipSync(JSON.stringify(events.toReversed(), null, 2))
  t.match(
    (await array.load(body, '', { 'content-type': 'application/json', 'content-encoding': 'gzip' })).body,
    {
      format: 'openlineage',
      counts: { applied: events.length }
    }
  )
  t.strictSame(await contentFrom(array.db), expected, 'a packed array, the newest first')
})

t.test(
  'a load of several chunks leaves what its events leave one by one, and the API takes events meanwhile',
  async (t) => {
    const events = Array.from({ length: 700 }, (_, job) => [
      runOf(job, job, 'START'),
      runOf(job, 10_000 + job, 'COMPLETE')
    ]).flat()
    const server = await withLoads(t)
    const loading = server.load(lines(events))
    for (let index = 0; index < 10; index += 1) {
      const body = runOf(5_000 + index, 0, 'COMPLETE')
      t.equal((await server.rest({ method: 'POST', url: '/api/v1/lineage', body })).status, 201)
    }
    t.match((await loading).body, { state: 'done', counts: { received: 1_400, applied: 1_400, rejected: 0 } })
    const [counts] = await query<{ jobs: number; edges: number; runs: number; chunks: number }>(
      server.db,
      `
    select
      (select count(*)::int from entity where entity_type = 'dataJob' and is_present) as jobs,
      (select count(*)::int from statement) as edges,
      (select count(*)::int from timeseries_aspect) as runs,
      (select count(distinct chunk_id)::int from audit where operation = 'ingestEvents') as chunks`
    )
    t.strictSame(counts, { jobs: 710, edges: 3 * 700 + 10, runs: 1_410, chunks: 2 })
  }
)

t.test('each line has its verdict', async (t) => {
  const server = await withLoads(t)
  const good = runOf(1, 0, 'COMPLETE')
  const { body: load } = await server.load(
    lines([
      good,
      '{"eventTime": "2026-01-01T00:00:00Z"',
      { eventTime: 'no', job: good.job ?? null },
      '',
      good,
      { ...runOf(2, 0, 'COMPLETE'), eventTime: 'soon' }
    ])
  )
  t.match(load, { state: 'done', counts: { received: 5, applied: 1, unchanged: 1, rejected: 3 } })
  const rejects = async (id: string): Promise<string> =>
    (await server.rest({ url: `/loads/${id}/rejects?format=ndjson` })).text
  t.match(
    (await rejects(load.id))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    [
      { line: 2, code: 'BAD_REQUEST' },
      { line: 3, code: 'BAD_REQUEST', field: 'eventTime' },
      { line: 6, code: 'BAD_REQUEST', field: 'eventTime' }
    ]
  )
  await t.test('rejects that are mended are read as the event in them', async (t) => {
    const mended = (await rejects(load.id))
      .replace(String.raw`\"soon\"`, String.raw`\"2026-01-01T00:00:01Z\"`)
      .replace(String.raw`\"no\"`, String.raw`\"2026-01-01T00:00:00Z\"`)
    t.match((await server.load(mended, '&format=openlineage')).body, {
      counts: { received: 3, applied: 2, rejected: 1 }
    })
  })
  await t.test('an event that cannot be read stays rejected in a retry', async (t) => {
    t.match(await server.rest({ method: 'POST', url: `/loads/${load.id}/retry` }), { status: 409 })
  })
  await t.test('a load with nothing but such lines is refused as a whole only by its format', async (t) => {
    t.match((await server.load('{"a": 1}\n', '&format=openlineage')).body, {
      state: 'done',
      counts: { received: 1, rejected: 1 }
    })
  })
})

t.test('numbers beyond 2^53 in facets are kept as they were sent', async (t) => {
  const server = await withLoads(t)
  const literals = ['3821550127947089009', '-9223372036854775808', '123456789012345678901234567890']
  const ids = `[${literals.join()},{"id":${literals[0]},"text":"${literals[0]}"}]`
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = [1, 2, 3, 4, 5].map((job) =>
    JSON.stringify(runOf(job, job, 'COMPLETE')).replace(
      `"description":"of ${job}"`,
      `"description":"of ${job}","snapshotIds":${ids}`
    )
  )
  t.match((await server.load(`${first}\n`)).body, { counts: { applied: 1 } })
  t.match((await server.load(`[${second}]`, '', { 'content-type': 'application/json' })).body, {
    counts: { applied: 1 }
  })
  for (const [path, body, status] of [
    ['lineage', third, 201],
    ['lineage/batch', `[${fourth}, ${fifth}]`, 200]
  ] as const) {
    const answer = await server.rest({
      method: 'POST',
      url: `/api/v1/${path}`,
      body,
      headers: { 'content-type': 'application/json' }
    })
    t.equal(answer.status, status)
  }
  const kept = await query<{ text: string }>(server.db, 'select event::text as text from openlineage_event')
  t.strictSame(
    kept.map(({ text }) => /"snapshotIds": ?(\[[^\]]*\])/.exec(text)?.[1]?.replaceAll(' ', '')),
    Array.from({ length: 5 }, () => ids)
  )
  t.match((await server.load(`${first}\n`)).body, { counts: { unchanged: 1 } }, 'sent again')
})

t.test('a number beyond 2^53 where an event needs a text is refused by its place', async (t) => {
  const server = await withLoads(t)
  for (const [event, field] of [
    [{ ...runOf(1, 1, 'START'), job: { namespace: 'n', name: 0 } }, 'job.name'],
    [{ ...runOf(1, 1, 'START'), eventTime: 0 }, 'eventTime']
  ] as const) {
    const { status, body } = await server.rest({
      method: 'POST',
      url: '/api/v1/lineage',
      body: JSON.stringify(event).replace(/:0([,}])/, ':3821550127947089009$1'),
      headers: { 'content-type': 'application/json' }
    })
    t.match({ status, body }, { status: 400, body: { field } })
  }
})

t.test('an event has up to 16 MiB in a load too', async (t) => {
  const server = await withLoads(t)
  const large = (bytes: number): string =>
    JSON.stringify({
      ...runOf(1, bytes, 'COMPLETE'),
      job: { namespace: 'n', name: 'a.b', facets: { sql: facet({ query: 'x'.repeat(bytes) }) } }
    })
  const { body } = await server.load(lines([large(3 * 1024 * 1024), large(17 * 1024 * 1024)]))
  t.match(body, { counts: { received: 2, applied: 1, rejected: 1 } })
  t.match(
    (await server.rest({ url: `/loads/${body.id}/rejects?format=ndjson` })).text,
    /openLineageEventMaxBytes|at most 16777216/
  )
})

t.test('an atomic load, and a dry run of it', async (t) => {
  const server = await withLoads(t)
  const empty = await contentFrom(server.db)
  const good = [runOf(1, 0, 'START'), runOf(1, 9, 'COMPLETE')]
  t.match((await server.load(lines(good), '&dryRun=true')).body, {
    state: 'done',
    counts: { applied: 2, rejected: 0 }
  })
  t.match(
    (await server.load(lines([...good, { eventTime: 'no' }]), '&atomic=true&format=openlineage')).body,
    {
      state: 'failed'
    }
  )
  t.strictSame(await contentFrom(server.db), empty)
  t.match((await server.load(lines(good), '&atomic=true')).body, { state: 'done', counts: { applied: 2 } })
})

t.test('an atomic load has at most the events of one chunk, and other events wait for it', async (t) => {
  const server = await withLoads(t)
  const events = Array.from({ length: 1_001 }, (_, index) => runOf(index, index, 'COMPLETE'))
  for (const parameter of ['&atomic=true', '&dryRun=true'])
    t.match(await server.load(lines(events), parameter), {
      status: 400,
      body: { code: 'LIMIT_EXCEEDED', limit: 'eventChunkMaxRecords', maximum: 1_000 }
    })
  t.match((await server.load(lines(events.slice(0, 1_000)), '&atomic=true')).body, {
    state: 'done',
    counts: { applied: 1_000 }
  })
})

t.test('options that events do not allow are refused before anything is stored', async (t) => {
  const server = await withLoads(t)
  const body = lines([runOf(1, 0, 'COMPLETE')])
  t.match(await server.load(body, '&mode=snapshot&source=nightly'), {
    status: 400,
    body: { code: 'UNSUPPORTED', field: 'mode' }
  })
  t.match(await server.load(body, '&source=nightly'), {
    status: 400,
    body: { code: 'BAD_REQUEST', field: 'source' }
  })
  t.strictSame(await query(server.db, 'select id from load'), [])
  const { body: load } = await server.load(body, '&source=openlineage')
  t.match(await server.rest({ method: 'POST', url: `/loads/${load.id}/undo` }), {
    status: 409,
    body: { message: /OpenLineage/ }
  })
})
