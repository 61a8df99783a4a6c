/** What a part of an OpenLineage event that is empty or cannot be read costs: only itself, and it is said. */
import t from 'tap'
import { query } from '../shared/db/query.ts'
import type { JsonObject, JsonValue } from '../shared/model/changes.ts'
import { metrics } from '../shared/platform/metrics.ts'
import { valueAt } from './support/json-answer.ts'
import { eventAt, facet } from './support/openlineage.ts'
import { withServer, type TestServer } from './support/server.ts'

const data = (name: string, facets: JsonObject = {}): JsonObject => ({
  namespace: 'postgres://db:5432',
  name,
  facets
})
const at = (name: string): JsonObject => ({ namespace: 'postgres://db:5432', name, type: 'DATASET' })
const jobOf = (facets: JsonObject = {}): JsonObject => ({ namespace: 'nightly', name: 'etl.load', facets })
const runIdOf = (id: number): string => `11111111-1111-1111-1111-${String(id).padStart(12, '0')}`
const runOf = (id: number, facets: JsonObject = {}): JsonObject => ({ runId: runIdOf(id), facets })
const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:postgres,${name},PROD)`
const long = 'x'.repeat(2_000)

const send = async (server: TestServer, body: JsonObject): Promise<JsonValue> => {
  const answer = await server.rest({ method: 'POST', url: '/api/v1/lineage', body })
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`)
  return answer.text === '' ? null : answer.body
}

async function aspectOf(server: TestServer, urn: string, name: string): Promise<JsonValue> {
  const [row] = await query<{ value: JsonValue }>(
    server.db,
    'select value from aspect join entity on entity.id = entity_id where urn = ? and aspect_name = ?',
    [urn, name]
  )
  return row?.value ?? null
}

const columnsOf = async (server: TestServer, name: string): Promise<string[]> => {
  const fields = valueAt(await aspectOf(server, dataset(name), 'schemaMetadata'), 'fields')
  return Array.isArray(fields) ? fields.map((field) => String(valueAt(field, 'fieldPath'))) : []
}

const fieldsIn = (answer: JsonValue): JsonValue[] => {
  const first = valueAt(answer, 'droppedParts.first')
  return Array.isArray(first) ? first.map((part) => valueAt(part, 'field') ?? null) : []
}

/** The edges that the newest entities take part in, as `up -> down`, with short names. */
async function edgesOf(server: TestServer, tag: string): Promise<string[]> {
  const rows = await query<{ up: string; down: string }>(
    server.db,
    `
    select distinct up.urn as up, down.urn as down
    from statement
    join entity as up on up.id = upstream_id
    join entity as down on down.id = downstream_id
    where up.urn like ? or down.urn like ?`,
    [`%${tag}%`, `%${tag}%`]
  )
  const short = (urn: string): string =>
    urn
      .replace(/^urn:li:schemaField:\((.*\)),(.*)\)$/, '$1#$2')
      .replace(/urn:li:dataset:\(urn:li:dataPlatform:\w+,(.*?),PROD\)/, '$1')
      .replace(/^urn:li:dataJob:.*$/, 'job')
  return rows.map(({ up, down }) => `${short(up)} -> ${short(down)}`).sort()
}

t.test('an empty facet says nothing: what is known of the dataset stays', async (t) => {
  const server = await withServer(t)
  const known = {
    schema: facet({ fields: [{ name: 'id', type: 'int' }, { name: 'total' }] }),
    ownership: facet({ owners: [{ name: 'ann' }] }),
    tags: facet({ tags: [{ key: 'finance', value: 'true' }] }),
    documentation: facet({ description: 'orders' })
  }
  await send(server, eventAt(0, { job: jobOf(), run: runOf(0), outputs: [data('orders', known)] }))
  const empty: readonly JsonObject[] = [
    { schema: facet({ fields: [] }) },
    { schema: facet({}) },
    { schema: facet({ fields: [{ type: 'int' }, { name: '' }, 7] }) },
    { schema: facet({ fields: {} }), lifecycleStateChange: facet({ lifecycleStateChange: 'CREATE' }) },
    {
      ownership: facet({ owners: [] }),
      tags: facet({ tags: [] }),
      documentation: facet({ description: '' })
    },
    { ownership: facet({}), tags: facet({}), documentation: facet({}) },
    { ownership: facet({ owners: [{ name: long }] }), tags: facet({ tags: [{ key: long }] }) }
  ]
  for (const [index, facets] of empty.entries()) {
    for (const event of [
      { job: jobOf(), run: runOf(0), outputs: [data('orders', facets)] },
      { job: jobOf(), run: runOf(0), inputs: [data('orders', facets)] },
      { dataset: data('orders', facets) }
    ])
      await send(server, eventAt(index + 1, event))
    t.same(await columnsOf(server, 'orders'), ['id', 'total'], JSON.stringify(facets).slice(0, 200))
  }
  t.match(await aspectOf(server, dataset('orders'), 'ownership'), {
    owners: [{ owner: 'urn:li:corpuser:ann' }]
  })
  t.match(await aspectOf(server, dataset('orders'), 'globalTags'), { tags: [{ tag: 'urn:li:tag:finance' }] })
  t.match(await aspectOf(server, dataset('orders'), 'datasetProperties'), { description: 'orders' })

  await t.test('a facet with other columns, owners and tags replaces them', async (t) => {
    const next = {
      schema: facet({ fields: [{ name: 'key' }] }),
      ownership: facet({ owners: [{ name: 'bob' }] }),
      tags: facet({ tags: [{ key: 'sales' }] })
    }
    await send(server, eventAt(60, { dataset: data('orders', next) }))
    t.same(await columnsOf(server, 'orders'), ['key'])
    t.match(await aspectOf(server, dataset('orders'), 'ownership'), {
      owners: [{ owner: 'urn:li:corpuser:bob' }]
    })
    t.match(await aspectOf(server, dataset('orders'), 'globalTags'), { tags: [{ tag: 'urn:li:tag:sales' }] })
  })
})

t.test('a deleted schema ends the columns that events stated, and no others', async (t) => {
  const server = await withServer(t)
  const schema = facet({ fields: [{ name: 'id', type: 'int' }] })
  const deleted = { schema: facet({ _deleted: true }) }
  for (const [name, ...events] of [
    ['dropped', { dataset: data('dropped', deleted) }],
    ['dropped.by.run', { job: jobOf(), run: runOf(1), outputs: [data('dropped.by.run', deleted)] }],
    [
      'dropped.twice',
      { dataset: data('dropped.twice', deleted) },
      { dataset: data('dropped.twice', deleted) }
    ]
  ] as [string, ...JsonObject[]][]) {
    await send(server, eventAt(0, { dataset: data(name, { schema }) }))
    t.same(await columnsOf(server, name), ['id'])
    for (const [index, event] of events.entries()) await send(server, eventAt(index + 2, event))
    t.same(await columnsOf(server, name), [], name)
    await send(server, eventAt(1, { dataset: data(name, { schema: facet({ fields: [{ name: 'late' }] }) }) }))
    t.same(await columnsOf(server, name), [], 'an older event that comes late does not bring them back')
    await send(server, eventAt(9, { dataset: data(name, { schema }) }))
    t.same(await columnsOf(server, name), ['id'], 'a newer one does')
  }
  await send(server, eventAt(0, { dataset: data('crawled', { schema }) }))
  const value = valueAt(await aspectOf(server, dataset('crawled'), 'schemaMetadata'), 'platformSchema') ?? {}
  await server.rest({
    method: 'POST',
    url: '/aspects?action=ingestProposal',
    body: {
      proposal: {
        entityType: 'dataset',
        entityUrn: dataset('crawled'),
        changeType: 'UPSERT',
        aspectName: 'schemaMetadata',
        aspect: {
          json: {
            schemaName: 'crawled',
            platform: 'urn:li:dataPlatform:postgres',
            version: 0,
            hash: '',
            platformSchema: value,
            fields: [
              {
                fieldPath: 'crawled_id',
                nativeDataType: 'int',
                type: { type: { 'com.linkedin.schema.NumberType': {} } }
              }
            ]
          }
        }
      }
    }
  })
  await send(server, eventAt(2, { dataset: data('crawled', deleted) }))
  t.same(await columnsOf(server, 'crawled'), ['crawled_id'], 'what a connector wrote since stays')
})

t.test('lineage that says nothing keeps what was declared', async (t) => {
  const server = await withServer(t)
  const declared = { lineage: facet({ inputs: [{ ...at('a'), field: 'p' }], fields: { q: { inputs: [] } } }) }
  await send(server, eventAt(0, { dataset: data('made', declared) }))
  const before = ['a -> made', 'a#p -> made#[rows]', 'made#[rows] -> made#q']
  t.same(await edgesOf(server, 'made'), before)
  const nothing: readonly JsonObject[] = [
    { lineage: facet({}) },
    { lineage: facet({ fields: {} }) },
    { columnLineage: facet({ fields: {} }) },
    { columnLineage: facet({ fields: {}, dataset: [] }) },
    { columnLineage: facet({}) }
  ]
  for (const [index, facets] of nothing.entries()) {
    await send(server, eventAt(index + 1, { dataset: data('made', facets) }))
    t.same(await edgesOf(server, 'made'), before, JSON.stringify(facets).slice(-60))
  }
  await send(server, eventAt(20, { dataset: data('made', { lineage: facet({ inputs: [] }) }) }))
  t.same(await edgesOf(server, 'made'), [], 'an empty list of inputs states that it is made from nothing')

  await t.test('so does a job event without inputs and outputs', async (t) => {
    await send(server, eventAt(0, { job: jobOf(), inputs: [data('in')], outputs: [data('jobs.out')] }))
    const edges = ['in -> job', 'job -> jobs.out']
    for (const [index, event] of [
      { job: jobOf(), inputs: [], outputs: [] },
      { job: jobOf({ lineage: facet({}) }) },
      { job: jobOf({ lineage: facet({ entries: {} }) }), inputs: [] }
    ].entries()) {
      await send(server, eventAt(index + 1, event))
      t.same(
        (await edgesOf(server, 'etl.load')).filter((edge) => edges.includes(edge)),
        edges
      )
    }
    await send(server, eventAt(9, { job: jobOf(), inputs: [data('in')], outputs: [] }))
    t.same(await edgesOf(server, 'jobs.out'), [], 'a list with something in it declares all')
  })

  await t.test('an empty facet of a run leaves its columnLineage and its lists', async (t) => {
    const columnLineage = facet({ fields: { q: { inputFields: [{ ...data('src'), field: 'p' }] } } })
    for (const [index, [job, output]] of (
      [
        [{ lineage: facet({}) }, {}],
        [{ lineage: facet({ entries: [] }) }, {}],
        [{}, { lineage: facet({}) }]
      ] as [JsonObject, JsonObject][]
    ).entries()) {
      const name = `run${index}.out`
      await send(
        server,
        eventAt(30, {
          job: { namespace: 'nightly', name: `run${index}`, facets: job },
          run: runOf(index),
          inputs: [data('src')],
          outputs: [data(name, { columnLineage, ...output })]
        })
      )
      t.same(await edgesOf(server, name), [`job -> ${name}`, `src#p -> ${name}#q`])
    }
  })
})

t.test('a part that cannot be read is left out and said, and the rest of its event counts', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const good = { inputs: [data('a')], outputs: [data('b')] }
  const columns = (fields: JsonObject, more: JsonObject = {}): JsonObject => ({
    inputs: [data('a')],
    outputs: [data('b', { columnLineage: facet({ fields, ...more }) })]
  })
  const ok = { ...data('a'), field: 'p' }
  const table = ['a -> job', 'job -> b']
  const parts: readonly (readonly [
    what: string,
    event: JsonObject & { job?: JsonObject; run?: JsonObject },
    edges: string[],
    fields: string[]
  ])[] = [
    [
      'an input of a column without a namespace',
      columns({ q: { inputFields: [{ namespace: '', name: 'x', field: 'p' }, ok] } }),
      ['a#p -> b#q'],
      ['outputs[0].facets.columnLineage.fields.q.inputFields[0].namespace']
    ],
    [
      'a column input without a field, and columns that are no objects',
      columns({ q: { inputFields: [data('a'), ok] }, r: 7, s: { inputFields: 'x' } }),
      ['a#p -> b#q'],
      [
        'outputs[0].facets.columnLineage.fields.q.inputFields[0].field',
        'outputs[0].facets.columnLineage.fields.r',
        'outputs[0].facets.columnLineage.fields.s.inputFields'
      ]
    ],
    [
      'a facet of another form',
      { inputs: [data('a')], outputs: [data('b', { columnLineage: facet({ fields: [], dataset: {} }) })] },
      [],
      ['outputs[0].facets.columnLineage.fields', 'outputs[0].facets.columnLineage.dataset']
    ],
    [
      'U+0000 in the SQL of the job',
      { ...good, job: { sql: facet({ query: 'select 1\u0000' }) } },
      [],
      ['job.facets.sql.query']
    ],
    [
      'U+0000 and half a character in columns, and in a description of a step',
      columns({
        q: { inputFields: [ok, { ...data('a'), field: 'x\u0000' }] },
        'bad\u0000': { inputFields: [ok] },
        r: { inputFields: [{ ...ok, transformations: [{ type: 'DIRECT', description: '\ud800' }] }] }
      }),
      ['a#p -> b#q', 'a#p -> b#r'],
      [
        'outputs[0].facets.columnLineage.fields.q.inputFields[1].field',
        'outputs[0].facets.columnLineage.fields.bad\ufffd',
        'outputs[0].facets.columnLineage.fields.r.inputFields[0].transformations[0].description'
      ]
    ],
    [
      'datasets without a name, too long, and lists that are no lists',
      { inputs: [data('a'), { name: 'x' }, data(long), 7], outputs: [data('b')] },
      [],
      ['inputs[3]', 'inputs[1].namespace', 'inputs[2]']
    ],
    [
      'facets that are no object',
      { inputs: [data('a')], outputs: [{ ...data('b'), facets: [] }] },
      [],
      ['outputs[0].facets']
    ],
    [
      'a facet that is no object, and one nested too deep',
      {
        inputs: [data('a', { schema: 'x' })],
        outputs: [
          data('b', {
            plan: facet({ tree: Array.from({ length: 90 }).reduce<JsonValue>((inner) => [inner], 1) })
          })
        ]
      },
      [],
      [`outputs[0].facets.plan.tree${'[0]'.repeat(59)}`, 'inputs[0].facets.schema']
    ],
    [
      'a parent, dependencies, a symlink and a former name that are no names',
      {
        run: {
          parent: facet({ run: {} }),
          jobDependencies: facet({ upstream: [{ job: data(long) }, { job: 7 }], downstream: {} })
        },
        inputs: [data('a')],
        outputs: [
          data('b', {
            symlinks: facet({ identifiers: [{ namespace: '', name: 'x', type: 'TABLE' }] }),
            lifecycleStateChange: facet({
              lifecycleStateChange: 'RENAME',
              previousIdentifier: { namespace: '', name: 'x' }
            })
          })
        ]
      },
      [],
      [
        'outputs[0].facets.symlinks.identifiers[0].namespace',
        'outputs[0].facets.lifecycleStateChange.previousIdentifier.namespace',
        'run.facets.jobDependencies.upstream[1].job',
        'run.facets.jobDependencies.upstream[0].job',
        'run.facets.jobDependencies.downstream',
        'run.facets.parent.run.runId'
      ]
    ],
    ['an unknown type of event', { ...good, eventType: 'DONE' }, [], ['eventType']],
    [
      'entries of the facet lineage',
      {
        ...good,
        job: {
          lineage: facet({
            entries: [
              7,
              { type: 'TABLE', name: 'x' },
              { ...at(long), inputs: [at('a')] },
              { ...at('b'), inputs: [at('a'), at(long), { ...at('a'), type: 'VIEW' }, 'x'] }
            ]
          })
        }
      },
      ['a -> b', 'job -> b'],
      [
        'job.facets.lineage.entries[0]',
        'job.facets.lineage.entries[1].type',
        'job.facets.lineage.entries[3].inputs[3]',
        'job.facets.lineage.entries[3].inputs[2].type',
        'job.facets.lineage.entries[2]',
        'job.facets.lineage.entries[3].inputs[1]'
      ]
    ],
    [
      'a list of inputs that cannot be read does not say that there are none',
      { ...good, job: { lineage: facet({ entries: [{ ...at('b'), inputs: [{ ...at('a'), name: '' }] }] }) } },
      [],
      ['job.facets.lineage.entries[0].inputs[0].name']
    ]
  ]
  for (const [index, [what, { job = {}, run = {}, ...event }, edges, fields]] of parts.entries())
    await t.test(what, async (t) => {
      // Each case has names of its own.
      const own = (text: string): string => text.replaceAll(/\b([ab])(?=["# ]|$)/g, `case${index}.$1`)
      const body: JsonObject = JSON.parse(
        own(
          JSON.stringify(
            eventAt(index, {
              ...event,
              job: { namespace: 'nightly', name: 'etl.load', facets: job },
              run: runOf(index, run)
            })
          )
        )
      )
      const answer = await send(server, body)
      const expected = edges.includes('a -> b') ? edges : [...table, ...edges]
      t.same(await edgesOf(server, `case${index}.`), expected.map(own).sort())
      t.same(new Set(fieldsIn(answer)), new Set(fields.map(own)))
      t.equal(valueAt(answer, 'droppedParts.count'), fields.length)
      const urn = `urn:li:dataProcessInstance:${runIdOf(index)}`
      t.match(await aspectOf(server, urn, 'dataProcessInstanceProperties'), {
        customProperties: { droppedParts: String(fields.length), droppedPart1: String }
      })
    })

  await t.test('a CTE of an ephemeral model of dbt is not a table', async (t) => {
    const cte = (name: string): JsonObject => ({ namespace: 'postgres://db:5432', name })
    const names = [
      'shop.public.__dbt__cte__stg',
      '__dbt__cte__stg',
      'shop."__dbt__cte__stg"',
      'shop.__DBT__CTE__stg'
    ]
    const columnLineage = facet({
      fields: { q: { inputFields: [...names.map((name) => ({ ...cte(name), field: 'p' })), ok] } }
    })
    const answer = await send(
      server,
      eventAt(49, {
        job: { namespace: 'nightly', name: 'cte' },
        run: runOf(49),
        inputs: [data('cte.in'), ...names.map(cte)],
        outputs: [data('cte.out', { columnLineage })]
      })
    )
    t.equal(valueAt(answer, 'droppedParts.count'), 8)
    t.same(await edgesOf(server, 'cte.out'), ['a#p -> cte.out#q', 'job -> cte.out'])
    const checked = {
      inputFacets: {
        dataQualityAssertions: facet({ assertions: [{ assertion: 'not_null', success: false }] }),
        inputStatistics: facet({ rowCount: 1 })
      },
      outputFacets: { outputStatistics: facet({ rowCount: 1 }) }
    }
    const reported = eventAt(49, {
      job: { namespace: 'nightly', name: 'cte' },
      run: runOf(49),
      inputs: [{ ...data('cte.in'), ...checked }, ...names.map((name) => ({ ...cte(name), ...checked }))],
      outputs: [{ ...cte('__dbt__cte__stg'), ...checked }]
    })
    t.equal(valueAt(await send(server, reported), 'droppedParts.count'), 5, 'nor are its checks and rows')
    t.match(await aspectOf(server, `urn:li:dataProcessInstance:${runIdOf(49)}`, 'dataProcessInstanceInput'), {
      inputs: [dataset('cte.in')]
    })
    t.same(await query(server.db, "select urn from entity where urn ilike '%dbt__cte__%'"), [])
    const kept = eventAt(49, {
      dataset: data('my__dbt__cte__table', { schema: facet({ fields: [{ name: 'x' }] }) })
    })
    await send(server, kept)
    t.same(await columnsOf(server, 'my__dbt__cte__table'), ['x'])
  })

  await t.test('a tag whose value says the same as its key is the key', async (t) => {
    const tags = [
      { key: 'daily', value: 'TRUE' },
      { key: 'finance', value: 'finance', source: 'AIRFLOW' },
      { key: 'pii', value: '' },
      { key: 'tier', value: '1' }
    ]
    await send(server, eventAt(49, { dataset: data('tagged', { tags: facet({ tags }) }) }))
    t.strictSame(
      valueAt(await aspectOf(server, dataset('tagged'), 'globalTags'), 'tags'),
      ['daily', 'finance', 'pii', 'tier:1'].map((tag) => ({ tag: `urn:li:tag:${tag}` }))
    )
  })

  await t.test('an event without such parts is answered without a body', async (t) => {
    t.equal(await send(server, eventAt(50, { job: jobOf(), run: runOf(50), ...good })), null)
    t.notMatch(
      await aspectOf(server, `urn:li:dataProcessInstance:${runIdOf(50)}`, 'dataProcessInstanceProperties'),
      { customProperties: {} }
    )
  })

  await t.test('the parts of all events of a run are counted, whatever their order', async (t) => {
    const events = [1, 2, 3].map((second) =>
      eventAt(60 + second, {
        job: jobOf(),
        run: runOf(60),
        inputs: [data('a'), { name: 'x' }],
        ...(second === 2 ? { eventType: 'NO' } : {})
      })
    )
    const [first, second, third] = events
    for (const event of [third, first, second, third]) if (event) await send(server, event)
    t.match(
      await aspectOf(server, `urn:li:dataProcessInstance:${runIdOf(60)}`, 'dataProcessInstanceProperties'),
      {
        customProperties: {
          droppedParts: '4',
          droppedPart1: 'eventType must be one of START, RUNNING, COMPLETE, ABORT, FAIL, OTHER',
          droppedPart2: 'inputs[1].namespace must be a text that is not empty'
        }
      }
    )
  })

  const bad = eventAt(70, { job: jobOf(), run: runOf(70), inputs: [data('list.a'), { name: 'x' }] })
  await t.test('a list of events names them with the index of their event', async (t) => {
    const whole = eventAt(71, { job: jobOf(), run: runOf(71) })
    const { body } = await server.rest({ method: 'POST', url: '/api/v1/lineage/batch', body: [whole, bad] })
    t.match(body, {
      status: 'success',
      summary: { received: 2, successful: 2, failed: 0, dropped_parts: 1 },
      dropped_parts: [{ index: 1, field: 'events[1].inputs[1].namespace' }]
    })
    const { body: clean } = await server.rest({ method: 'POST', url: '/api/v1/lineage/batch', body: [whole] })
    t.notHas(clean, { dropped_parts: [] })
  })

  await t.test('a load of events warns of them with their line', async (t) => {
    const events = [
      eventAt(72, { job: jobOf(), run: runOf(72) }),
      { ...bad, run: runOf(73) },
      { eventTime: 'no' }
    ]
    const { body } = await server.rest({
      method: 'POST',
      url: '/loads?format=openlineage&wait=20',
      body: events.map((event) => JSON.stringify(event)).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' }
    })
    t.match(body, {
      state: 'done',
      counts: { received: 3, applied: 2, rejected: 1 },
      warnings: { count: 1, messages: ['line 2: inputs[1].namespace must be a text that is not empty'] }
    })
  })

  await t.test('a dry run warns of them too, and only what is stored is counted', async (t) => {
    const countOf = async (): Promise<number> =>
      (await metrics.eventPartsDropped.get()).values.reduce((sum, { value }) => sum + value, 0)
    const before = await countOf()
    const lines = [74, 75]
      .map((id) => JSON.stringify({ ...bad, run: runOf(id), outputs: [data('b'), 7] }))
      .join('\n')
    for (const [parameter, count] of [
      ['&dryRun=true', 0],
      ['&atomic=true', 4],
      ['', 4]
    ] as const) {
      const { body } = await server.rest({
        method: 'POST',
        url: `/loads?format=openlineage&wait=20${parameter}`,
        body: lines,
        headers: { 'content-type': 'application/x-ndjson' }
      })
      t.equal(body.state, 'done', parameter)
      if (parameter !== '')
        t.match(body.warnings, { count: 4, messages: { length: 4 } }, `warnings of ${parameter}`)
      t.equal((await countOf()) - before, count, `counted after ${parameter}`)
    }
    const refused = { ...bad, run: runOf(76), job: { ...jobOf(), name: long } }
    const several = [{ ...bad, run: runOf(77) }, refused]
    await server.rest({ method: 'POST', url: '/api/v1/lineage/batch', body: several })
    t.equal((await countOf()) - before, 5, 'once for each event that is stored')
  })

  await t.test('an event that is nothing but faults is refused', async (t) => {
    const inputs = Array.from({ length: 1_200 }, () => ({ name: 'x' }))
    const answer = await server.rest({
      method: 'POST',
      url: '/api/v1/lineage',
      body: eventAt(80, { job: jobOf(), run: runOf(80), inputs })
    })
    t.match(answer, { status: 400, body: { field: 'inputs[1000].namespace' } })
  })
})
