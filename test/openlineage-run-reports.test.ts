/** Why a run failed, what it checked, read and wrote, its SQL and its code, and the events about a run, a job or a dataset. */
import t from 'tap'
import type { JsonObject } from '../shared/model/changes.ts'
import { limits } from '../shared/limits.ts'
import { valueAt } from './support/json-answer.ts'
import { eventAt, facet } from './support/openlineage.ts'
import { withServer, type TestServer } from './support/server.ts'

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:postgres,${name},PROD)`
const runUrn = (id: string): string => `urn:li:dataProcessInstance:${id}`
const jobUrn = 'urn:li:dataJob:(urn:li:dataFlow:(spark,etl,nightly),etl.load)'

type Sent = {
  type?: string
  run?: JsonObject
  job?: JsonObject
  inputs?: JsonObject[]
  outputs?: JsonObject[]
}
const ran = (seconds: number, runId: string, sent: Sent = {}): JsonObject =>
  eventAt(seconds, {
    eventType: sent.type ?? 'COMPLETE',
    run: { runId, facets: sent.run ?? {} },
    job: { namespace: 'nightly', name: 'etl.load', facets: sent.job ?? {} },
    inputs: sent.inputs ?? [],
    outputs: sent.outputs ?? []
  })
const data = (name: string, more: JsonObject = {}): JsonObject => ({
  namespace: 'postgres://db:5432',
  name,
  ...more
})

const fields = `
  run { urn } state
  error { message stackTrace language }
  checksTotal failedChecksTotal
  failedChecks { dataset { urn } name column severity message }
  written { dataset { urn } rows bytes files }
  read { dataset { urn } rows bytes files }
  sql codeUrl`

async function withEvents(t: Parameters<typeof withServer>[0]) {
  const server = await withServer(t)
  const send = async (...events: JsonObject[]): Promise<void> => {
    for (const body of events) {
      const { status, text } = await server.rest({ method: 'POST', url: '/api/v1/lineage', body })
      if (status !== 201) throw new Error(text)
    }
  }
  return { server, send }
}

const lastRun = async ({ graphql }: TestServer) =>
  (await graphql(`query ($urn: String!) { dataJob(urn: $urn) { lastRun { ${fields} } } }`, { urn: jobUrn }))
    .body.data.dataJob.lastRun
const runOf = async ({ graphql }: TestServer, id: string) =>
  (
    await graphql(`query ($urn: String!) { dataProcessInstance(urn: $urn) { jobRun { ${fields} } } }`, {
      urn: runUrn(id)
    })
  ).body.data.dataProcessInstance.jobRun

const failure = {
  errorMessage: facet({
    message: 'division by zero',
    programmingLanguage: 'PYTHON',
    stackTrace: 'Traceback\n  File "load.py", line 7'
  })
}
const statistics = (rowCount: number, more: JsonObject = {}): JsonObject => facet({ rowCount, ...more })

t.test('the last run of a job, and the run itself, say why it failed and what it did', async (t) => {
  const { server, send } = await withEvents(t)
  await send(
    ran(1, 'one', {
      type: 'START',
      job: {
        sql: facet({ query: 'insert into b select * from a' }),
        sourceCodeLocation: facet({ type: 'git', url: 'https://git.example/etl/load.py' })
      }
    }),
    ran(2, 'one', {
      type: 'FAIL',
      run: failure,
      inputs: [
        data('a', {
          inputFacets: {
            inputStatistics: statistics(10, { size: 100, fileCount: 2 }),
            dataQualityAssertions: facet({
              assertions: [
                { assertion: 'not_null', success: false, column: 'id', severity: 'error' },
                { assertion: 'unique', success: true, column: 'id' },
                { assertion: 'row_count', success: false }
              ]
            })
          }
        })
      ],
      outputs: [data('b', { outputFacets: { outputStatistics: statistics(7, { size: 70 }) } })]
    })
  )
  const expected = {
    run: { urn: runUrn('one') },
    state: 'FAIL',
    error: {
      message: 'division by zero',
      stackTrace: 'Traceback\n  File "load.py", line 7',
      language: 'PYTHON'
    },
    checksTotal: 3,
    failedChecksTotal: 2,
    failedChecks: [
      { dataset: { urn: dataset('a') }, name: 'not_null', column: 'id', severity: 'error', message: null },
      { dataset: { urn: dataset('a') }, name: 'row_count', column: null, severity: null, message: null }
    ],
    written: [{ dataset: { urn: dataset('b') }, rows: 7, bytes: 70, files: null }],
    read: [{ dataset: { urn: dataset('a') }, rows: 10, bytes: 100, files: 2 }],
    sql: 'insert into b select * from a',
    codeUrl: 'https://git.example/etl/load.py'
  }
  t.strictSame(await lastRun(server), expected)
  t.strictSame(await runOf(server, 'one'), expected)
  await send(ran(10, 'two'))
  t.match(await lastRun(server), {
    run: { urn: runUrn('two') },
    state: 'COMPLETE',
    error: null,
    written: { length: 0 }
  })
  t.strictSame(await runOf(server, 'one'), expected, 'a later run changes nothing of it')
  await server.db.raw(`delete from openlineage_state where urn = ?`, [runUrn('one')])
  t.equal(await runOf(server, 'one'), null, 'of which nothing is known any more')
})
t.test('a dataset and a flow show the newest run of their jobs, and a job its last runs', async (t) => {
  const { server, send } = await withEvents(t)
  const writes = { outputs: [data('b')] }
  for (const seconds of [1, 2, 3, 4])
    await send(ran(seconds * 10, `r${seconds}`, { ...writes, type: seconds === 4 ? 'FAIL' : 'COMPLETE' }))
  await send({ ...ran(60, 'fine'), job: { namespace: 'nightly', name: 'etl.fine', facets: {} } })
  // A job of another flow that wrote the same dataset, earlier.
  await send({ ...ran(15, 'other', writes), job: { namespace: 'nightly', name: 'rest.load', facets: {} } })
  const run = 'lastRun { state run { urn } job { urn } }'
  const answer = await server.graphql(
    `query ($urns: [String!]!) { entities(urns: $urns) {
      ... on Dataset { ${run} } ... on DataFlow { ${run} }
      ... on DataJob { lastRun { job { urn } } runs(count: 3) { run { urn } state } }
    } }`,
    {
      urns: [
        dataset('b'),
        'urn:li:dataFlow:(spark,etl,nightly)',
        'urn:li:dataFlow:(spark,rest,nightly)',
        dataset('none'),
        jobUrn
      ]
    }
  )
  const failed = { state: 'FAIL', run: { urn: runUrn('r4') }, job: { urn: jobUrn } }
  t.strictSame(answer.body.data.entities, [
    { lastRun: failed },
    { lastRun: failed },
    {
      lastRun: {
        state: 'COMPLETE',
        run: { urn: runUrn('other') },
        job: { urn: 'urn:li:dataJob:(urn:li:dataFlow:(spark,rest,nightly),rest.load)' }
      }
    },
    { lastRun: null },
    {
      lastRun: { job: { urn: jobUrn } },
      runs: [
        { run: { urn: runUrn('r4') }, state: 'FAIL' },
        { run: { urn: runUrn('r3') }, state: 'COMPLETE' },
        { run: { urn: runUrn('r2') }, state: 'COMPLETE' }
      ]
    }
  ])
  const failedNow = async () =>
    (await server.graphql('{ failedRuns { state run { urn } job { urn } } }')).body.data.failedRuns
  t.strictSame(await failedNow(), [failed])
  await send(ran(50, 'r5', writes))
  t.strictSame(await failedNow(), [], 'a run that has been repeated is no longer listed')
  const bad = await server.graphql(
    'query ($urn: String!) { dataJob(urn: $urn) { runs(count: -1) { state } } }',
    {
      urn: jobUrn
    }
  )
  t.match(bad.body.errors[0].message, /count/)
})

t.test('events in any order report the same', async (t) => {
  const events = [
    ran(1, 'r', {
      outputs: [data('b', { outputFacets: { outputStatistics: statistics(1) } })],
      type: 'RUNNING'
    }),
    ran(2, 'r', {
      outputs: [data('b', { outputFacets: { outputStatistics: statistics(2) } })],
      type: 'RUNNING'
    }),
    ran(3, 'r', {
      outputs: [data('c', { outputFacets: { outputStatistics: statistics(3) } })],
      run: failure
    }),
    ran(4, 'r', { type: 'FAIL', run: { errorMessage: facet({ message: 'the last word' }) } })
  ]
  const seen: object[] = []
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 3, 0, 2]
  ]) {
    const { server, send } = await withEvents(t)
    await send(...order.flatMap((index) => events.slice(index, index + 1)))
    seen.push(await lastRun(server))
  }
  t.match(seen[0] ?? {}, {
    error: { message: 'the last word', stackTrace: null },
    written: [{ rows: 2 }, { rows: 3 }]
  })
  t.strictSame(seen[1], seen[0])
  t.strictSame(seen[2], seen[0])
})

t.test('facets are found where producers put them, and what does not fit is left out', async (t) => {
  const { server, send } = await withEvents(t)
  await send(
    ran(1, 'r', {
      run: {
        errorMessage: facet({ message: 7 }),
        test: facet({
          tests: [
            { name: 'accepted_values', status: 'FAIL', severity: 'warn', description: 'status is new' },
            { name: 'fresh', status: 'pass' },
            { name: 'broken', status: 'error' },
            'not a test'
          ]
        })
      },
      job: {
        sql: facet({ query: `select ${'x'.repeat(30_000)}` }),
        sourceCodeLocation: facet({ type: 'git', url: 'javascript:alert(1)' })
      },
      inputs: [
        data('a', {
          facets: {
            dataQualityAssertions: facet({ assertions: [{ assertion: 'in_facets', success: false }] }),
            greatExpectations_assertions: facet({
              assertions: [{ expectationType: 'expect_id', success: false, columnId: 'id' }]
            })
          },
          inputFacets: { inputStatistics: facet({ rowCount: -1, size: 'many' }) }
        })
      ],
      outputs: [data('b', { outputFacets: { outputStatistics: statistics(5) }, facets: null })]
    })
  )
  const run = await lastRun(server)
  t.match(run, { error: null, read: { length: 0 }, written: [{ rows: 5 }], codeUrl: null, checksTotal: 5 })
  t.strictSame(
    run.failedChecks.map(({ name, column, message }: JsonObject) => [name, column, message]),
    [
      ['accepted_values', null, 'status is new'],
      ['broken', null, null],
      ['in_facets', null, null],
      ['expect_id', 'id', null]
    ]
  )
  t.ok(run.sql.startsWith('select xxx'))
  t.equal(run.sql.length, 20_001)
})

t.test('a run with thousands of datasets and checks stays small', async (t) => {
  const { server, send } = await withEvents(t)
  const outputs = Array.from({ length: 1_500 }, (_, index) =>
    data(`t${String(index).padStart(4, '0')}`, {
      outputFacets: {
        outputStatistics: statistics(index),
        dataQualityAssertions: facet({
          assertions: Array.from({ length: 30 }, () => ({ assertion: 'x', success: false }))
        })
      }
    })
  )
  await send(ran(1, 'r', { outputs }))
  const run = await lastRun(server)
  t.equal(run.written.length, 100)
  t.match(run.written[99], { dataset: { urn: dataset('t0099') }, rows: 99 })
  t.equal(run.failedChecks.length, 100)
  t.same(
    [...new Set(run.failedChecks.map((check: JsonObject) => valueAt(check, 'dataset.urn')))],
    ['t0000', 't0001', 't0002', 't0003', 't0004'].map(dataset)
  )
  t.equal(run.failedChecksTotal, 3_000)
  t.equal(run.checksTotal, 3_000)
})

t.test('of too many failed checks the same are shown, in whatever order events come', async (t) => {
  const checked = (name: string, failed: number): JsonObject =>
    data(name, {
      inputFacets: {
        dataQualityAssertions: facet({
          assertions: Array.from({ length: 30 }, (_, index) => ({
            assertion: `check${index}`,
            success: index >= failed
          }))
        })
      }
    })
  const events = [
    ran(1, 'r', { inputs: ['a', 'b', 'c'].map((name) => checked(name, 30)) }),
    ran(1, 'r', { inputs: ['d', 'e', 'f', 'g'].map((name) => checked(name, 25)) }),
    ran(2, 'r', { inputs: [checked('a', 0), checked('g', 3)] }),
    ran(2, 'r', { inputs: [checked('b', 15), checked('h', 30)] })
  ]
  for (const order of [events, events.toReversed()]) {
    const { server, send } = await withEvents(t)
    await send(...order)
    const run = await runOf(server, 'r')
    const counts: { [name: string]: number } = {}
    for (const { dataset: named } of run.failedChecks) {
      const name = String(named.urn).split(',')[1] ?? ''
      counts[name] = (counts[name] ?? 0) + 1
    }
    t.strictSame(counts, { b: 15, c: 20, d: 20, e: 20, f: 20, g: 3, h: 2 }, 'what has passed takes no room')
    t.strictSame([run.checksTotal, run.failedChecksTotal], [8 * 30, 15 + 30 + 3 * 25 + 3 + 30])
  }
})

t.test('events are found by run, job and dataset', async (t) => {
  const { server, send } = await withEvents(t)
  await send(
    ran(1, 'one', { inputs: [data('a')], outputs: [data('b')] }),
    ran(2, 'two', { inputs: [data('b')] }),
    eventAt(3, {
      eventType: 'COMPLETE',
      run: { runId: 'three', facets: {} },
      job: { namespace: 'nightly', name: 'other.job', facets: {} },
      inputs: [data('a')],
      outputs: []
    }),
    eventAt(4, { dataset: data('c', { facets: { documentation: facet({ description: 'c' }) } }) })
  )
  const runsOf = async (urn: string, more = ''): Promise<(string | null)[]> => {
    const { body, status } = await server.rest({
      url: `/api/v1/events/lineage?urn=${encodeURIComponent(urn)}${more}`
    })
    t.equal(status, 200)
    if (more === '') t.equal(body.totalCount, body.events.length)
    return body.events.map(({ run }: { run?: { runId: string } }) => run?.runId ?? null)
  }
  t.strictSame(await runsOf(runUrn('one')), ['one'])
  t.strictSame(await runsOf(jobUrn), ['two', 'one'])
  t.strictSame(await runsOf(dataset('a')), ['three', 'one'])
  t.strictSame(await runsOf(dataset('b')), ['two', 'one'])
  t.strictSame(await runsOf(dataset('c')), [null])
  t.strictSame(await runsOf(dataset('nothing')), [])
  t.strictSame(await runsOf(jobUrn, '&limit=1&offset=1&sortDirection=desc'), ['one'])
  t.match(await server.rest({ url: '/api/v1/events/lineage?urn=x' }), {
    status: 400,
    body: { code: 'INVALID_URN' }
  })
})

t.test('an event about very many datasets is found by its run, its job and the first of them', async (t) => {
  const { server, send } = await withEvents(t)
  const name = (index: number): string => `t${String(index).padStart(5, '0')}`
  const maximum = limits.openLineageSubjectsMaxCount
  await send(ran(1, 'r', { inputs: Array.from({ length: maximum }, (_, index) => data(name(index))) }))
  const countOf = async (urn: string): Promise<number> =>
    (await server.rest({ url: `/api/v1/events/lineage?urn=${encodeURIComponent(urn)}` })).body.totalCount
  t.strictSame(
    [
      await countOf(runUrn('r')),
      await countOf(jobUrn),
      await countOf(dataset(name(maximum - 3))),
      await countOf(dataset(name(maximum - 1)))
    ],
    [1, 1, 1, 0]
  )
})
