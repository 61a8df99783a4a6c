/** Traps that other lineage servers fell into with OpenLineage events, each by its name. */
import t from 'tap'
import { query } from '../shared/db/query.ts'
import { limits } from '../shared/limits.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { eventAt, facet } from './support/openlineage.ts'
import { withServer, type TestServer } from './support/server.ts'

const data = (name: string, facets: JsonObject = {}): JsonObject => ({
  namespace: 'postgres://db',
  name,
  facets
})
const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:postgres,${name},PROD)`
const job = (name = 'etl.load'): JsonObject => ({ namespace: 'nightly', name, facets: {} })
const jobUrn = 'urn:li:dataJob:(urn:li:dataFlow:(spark,etl,nightly),etl.load)'
const run: JsonObject = { runId: 'r', facets: {} }
const send = async (server: TestServer, ...events: JsonObject[]): Promise<number[]> => {
  const statuses = []
  for (const body of events)
    statuses.push((await server.rest({ method: 'POST', url: '/api/v1/lineage', body })).status)
  return statuses
}
const edges = async ({ db }: TestServer): Promise<string[]> =>
  (
    await query<{ up: string; down: string }>(
      db,
      `
      select distinct up.urn as up, down.urn as down
      from statement
      join entity as up on up.id = upstream_id
      join entity as down on down.id = downstream_id`
    )
  ).map(({ up, down }) => `${short(up)} -> ${short(down)}`)
const short = (urn: string): string => (urn === jobUrn ? 'job' : (/,([^,]+),PROD\)$/.exec(urn)?.[1] ?? urn))
const reached = async (server: TestServer, urn: string): Promise<number> => {
  const { body } = await server.graphql(
    'query ($urn: String!) { scrollAcrossLineage(input: { urn: $urn, direction: DOWNSTREAM, query: "*", count: 1, orFilters: [{ and: [{ field: "degree", values: ["1", "2", "3+"] }] }] }) { total } }',
    { urn }
  )
  return body.data.scrollAcrossLineage.total
}

t.test('1: the same event twice, START after COMPLETE, COMPLETE alone, RUNNING only', async (t) => {
  const start = eventAt(0, { eventType: 'START', run, job: job(), inputs: [data('a')] })
  const complete = eventAt(9, { eventType: 'COMPLETE', run, job: job(), outputs: [data('b')] })
  for (const [events, expected] of [
    [
      [start, start, complete, complete],
      ['a -> job', 'job -> b']
    ],
    [
      [complete, start],
      ['a -> job', 'job -> b']
    ],
    [[complete], ['job -> b']],
    [
      [0, 1, 2].map((at) =>
        eventAt(at, { eventType: 'RUNNING', run, job: job(), inputs: [data(`in${at}`)] })
      ),
      ['in0 -> job', 'in1 -> job', 'in2 -> job']
    ]
  ] as const) {
    const server = await withServer(t)
    t.ok((await send(server, ...events)).every((status) => status === 201))
    t.strictSame((await edges(server)).sort(), expected)
  }
})

t.test('one server', async (t) => {
  const server = await withServer(t)

  await t.test('2: columnLineage without fields or with none, schema without fields', async (t) => {
    const facets = [
      { columnLineage: facet({}) },
      { columnLineage: facet({ fields: {} }) },
      { columnLineage: facet({ fields: { x: {} } }) },
      { columnLineage: facet({ fields: { x: null } }) },
      { schema: facet({}) },
      { schema: facet({ fields: null }) }
    ]
    t.strictSame(
      await send(
        server,
        ...facets.map((each, at) => eventAt(at, { job: job('trap.two'), outputs: [data('two', each)] }))
      ),
      facets.map(() => 201)
    )
  })

  await t.test(
    '3: times without a zone or with nanoseconds, a runId that is not a UUID, any producer, unknown and deleted facets',
    async (t) => {
      const event = eventAt(0, {
        eventType: 'COMPLETE',
        run: { runId: 'not a uuid', facets: { mine: facet({ deep: [{}] }) } },
        job: { ...job('trap.three'), facets: { documentation: { _deleted: true } } }
      })
      t.strictSame(
        await send(
          server,
          { ...event, eventTime: '2026-01-01T00:00:00' },
          { ...event, eventTime: '2026-01-01T00:00:00.123456789Z' },
          { ...event, producer: 'anything at all' },
          { ...event, producer: null, schemaURL: null }
        ),
        [201, 201, 201, 201]
      )
    }
  )

  await t.test('4: brackets, commas, dots, spaces, colons and any script in names', async (t) => {
    const columnLineage = facet({
      fields: { 'sum(a,b)': { inputFields: [{ ...data('in, (put) 表'), field: 'x.y,(z' }] } }
    })
    t.strictSame(
      await send(
        server,
        eventAt(0, {
          job: { namespace: 'a:b://c,d(', name: 'nodot' },
          outputs: [data('out, (put) größe', { columnLineage })]
        })
      ),
      [201]
    )
    const [row] = await query<{ count: number }>(
      server.db,
      `select count(*)::int as count from entity where urn like 'urn:li:schemaField:%sum(a,b))'`
    )
    t.equal(row?.count, 1)
  })

  await t.test(
    '6: 10,000 inputs of one job, a self loop, a cycle of two, a diamond of 40 layers',
    async (t) => {
      const parts = Array.from({ length: 10 }, (_, part) =>
        eventAt(part, {
          eventType: 'RUNNING',
          run,
          job: job('fan.in'),
          inputs: Array.from({ length: 1_000 }, (_, at) => data(`fan.t${part * 1_000 + at}`)),
          outputs: [data('fan.out')]
        })
      )
      t.ok((await send(server, ...parts)).every((status) => status === 201))
      t.equal(await reached(server, dataset('fan.t9999')), 2)
      const layers = Array.from({ length: 40 }, (_, at) =>
        eventAt(at, {
          job: job(`diamond.l${at}`),
          inputs: [data(`d${at}.left`), data(`d${at}.right`)],
          outputs: [data(`d${at + 1}.left`), data(`d${at + 1}.right`)]
        })
      )
      const loops = [
        eventAt(0, { job: job('loop.self'), inputs: [data('self')], outputs: [data('self')] }),
        eventAt(0, { job: job('loop.a'), inputs: [data('x')], outputs: [data('y')] }),
        eventAt(0, { job: job('loop.b'), inputs: [data('y')], outputs: [data('x')] })
      ]
      t.ok((await send(server, ...layers, ...loops)).every((status) => status === 201))
      t.equal(await reached(server, dataset('d0.left')), 40 + 80)
      t.equal(await reached(server, dataset('x')), 3)
    }
  )

  await t.test('7: an edge that is both added and removed is removed', async (t) => {
    await send(
      server,
      eventAt(0, { job: job('trap.seven'), inputs: [data('seven.a')], outputs: [data('seven.b')] })
    )
    const edge = { upstreamUrn: dataset('seven.a'), downstreamUrn: dataset('seven.b') }
    await server.graphql('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', {
      input: { edgesToAdd: [edge], edgesToRemove: [edge] }
    })
    t.notOk((await edges(server)).includes('seven.a -> seven.b'))
  })

  await t.test('8: an event beyond the limit is 413 and says which', async (t) => {
    const body = eventAt(0, {
      job: { ...job(), facets: { sql: facet({ query: 'x'.repeat(17 * 1024 * 1024) }) } }
    })
    t.match(await server.rest({ method: 'POST', url: '/api/v1/lineage', body }), {
      status: 413,
      body: { limit: 'openLineageEventMaxBytes', message: String }
    })
  })

  await t.test('a column whose name is too long is left out and named with its place', async (t) => {
    const long = 'c'.repeat(limits.schemaFieldUrnMaxBytes)
    const columns = (list: string, made: string, from: string): JsonObject =>
      facet({ fields: { [made]: { [list]: [{ ...data('long.in'), field: from }] } } })
    for (const [facets, field] of [
      [{ columnLineage: columns('inputFields', 'a', long) }, 'columnLineage.fields.a.inputFields[0]'],
      [{ columnLineage: columns('inputFields', long, 'a') }, 'columnLineage.fields.ccc'],
      [{ lineage: columns('inputs', 'a', long) }, 'lineage.fields.a.inputs[0]'],
      [{ lineage: columns('inputs', long, 'a') }, 'lineage.fields.ccc']
    ] as const) {
      const { status, body } = await server.rest({
        method: 'POST',
        url: '/api/v1/lineage',
        body: eventAt(0, { job: job('trap.long'), outputs: [data('long.out', facets)] })
      })
      t.match({ status, body }, { status: 201, body: { droppedParts: { count: 1 } } })
      const [dropped] = body.droppedParts.first
      t.ok(dropped.field.startsWith(`outputs[0].facets.${field}`), dropped.field)
      t.ok(dropped.field.length < 400, 'the place is cut')
    }
    t.strictSame(await query(server.db, `select urn from entity where urn like '%schemaField%long.%'`), [])
  })

  await t.test('9: the lineage of a domain, which has none, is answered', async (t) => {
    await server.graphql('mutation ($input: CreateDomainInput!) { createDomain(input: $input) }', {
      input: { id: 'sales', name: 'Sales' }
    })
    t.equal(await reached(server, 'urn:li:domain:sales'), 0)
  })

  await t.test('a token that is limited to a domain sends no events', async (t) => {
    const token = await server.tokenWith(['read', 'write'], { domainUrn: 'urn:li:domain:sales' })
    const body = eventAt(0, { dataset: data('frozen', { documentation: facet({ description: 'x' }) }) })
    for (const url of ['/api/v1/lineage', '/openapi/openlineage/api/v1/lineage'])
      t.match(await server.rest({ method: 'POST', url, body, token }), {
        status: 403,
        body: { code: 'FORBIDDEN', message: /limited to urn:li:domain:sales/ }
      })
    t.match(await server.rest({ method: 'POST', url: '/api/v1/lineage/batch', body: [body], token }), {
      status: 403
    })
  })

  await t.test('an event dated more than a day ahead is refused', async (t) => {
    const inHours = (hours: number): JsonObject => ({
      ...eventAt(0, { job: job('trap.ahead') }),
      eventTime: new Date(Date.now() + hours * 3_600_000).toISOString()
    })
    t.strictSame(await send(server, inHours(23), inHours(25)), [201, 400])
    t.match(
      await server.rest({
        method: 'POST',
        url: '/api/v1/lineage/batch',
        body: [inHours(22), { ...inHours(0), eventTime: '9999-01-01T00:00:00Z' }]
      }),
      { body: { failed_events: [{ index: 1, reason: /events\[1\]\.eventTime .* ahead/, retriable: false }] } }
    )
  })

  await t.test('10: events without a token are refused', async (t) => {
    const body = eventAt(0, { job: job() })
    for (const url of ['/api/v1/lineage', '/api/v1/lineage/batch', '/openapi/openlineage/api/v1/lineage'])
      t.equal((await server.rest({ method: 'POST', url, body, token: null })).status, 401, url)
  })
})
