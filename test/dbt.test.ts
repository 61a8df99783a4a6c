/**
 * Loads of dbt projects: the result of a manifest, and that it gives the same lineage as events of the same
 * project.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { query } from '../shared/db/query.ts'
import type { Db } from '../shared/db/database.ts'
import { openRecords, type ReadRecord } from '../shared/formats/read-records.ts'
import { limits } from '../shared/limits.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { packageRoot } from '../shared/platform/paths.ts'
import {
  catalog,
  ephemeral,
  manifest,
  node,
  runResults,
  table,
  type TestNode
} from './support/dbt-projects.ts'
import { aspectOf, done, edgesOf, load } from './support/dbt-loads.ts'
import { fc, casesOf } from './support/fast-check.ts'
import { contentFrom } from './support/openlineage.ts'
import { withFolder } from './support/program.ts'
import { runCommand as run } from './support/run-command.ts'
import { skipUnless } from './support/skip.ts'
import { withServer, type RestAnswer } from './support/server.ts'

t.setTimeout(300_000)

const edge = (upstream: string, downstream: string): string => `${upstream} > ${downstream}`
const tables = (upstream: string, downstream: string): string => edge(table(upstream), table(downstream))

async function domainOf(db: Db, urn: string): Promise<string | null> {
  const [row] = await query<{ domain: string }>(
    db,
    `
    select domain.urn as domain
    from domain_association
    join entity on entity.id = entity_id
    join entity as domain on domain.id = domain_id
    where entity.urn = ?`,
    [urn]
  )
  return row?.domain ?? null
}

const shop: readonly TestNode[] = [
  node('source.shop.raw.raw_orders'),
  node('seed.shop.countries'),
  node('model.shop.stg_orders', ['source.shop.raw.raw_orders'], ephemeral),
  node('model.shop.stg_again', ['model.shop.stg_orders'], ephemeral),
  node('model.shop.orders', ['model.shop.stg_again', 'seed.shop.countries'], {
    description: 'What was ordered',
    tags: ['daily'],
    columns: { id: { name: 'id', description: 'The key', data_type: null } },
    group: 'finance',
    meta: { owner: ['ann', 'team:sales'], domain: 'Sales' }
  }),
  node('snapshot.shop.history', ['model.shop.orders']),
  node('model.shop.off', ['model.shop.orders'], { config: { enabled: false } }),
  node('test.shop.not_null_orders_id', ['model.shop.orders'])
]
const shopEdges = [tables('countries', 'orders'), tables('orders', 'history'), tables('raw_orders', 'orders')]

t.test('a project', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const { db } = server

  t.test('becomes tables and edges; ephemeral models are looked through, tests left out', async (t) => {
    t.match(await load(server, manifest(shop)), done({ received: 4, applied: 4 }))
    t.strictSame(await edgesOf(db), shopEdges)
    t.match(await aspectOf(db, table('orders'), 'datasetProperties'), {
      name: 'orders',
      description: 'What was ordered',
      customProperties: { dbt_unique_id: 'model.shop.orders', dbt_materialized: 'table', dbt_package: 'shop' }
    })
    t.match(await aspectOf(db, table('orders'), 'globalTags'), { tags: [{ tag: 'urn:li:tag:daily' }] })
    t.match(await aspectOf(db, table('orders'), 'schemaMetadata'), {
      fields: [{ fieldPath: 'id', description: 'The key' }]
    })
    t.equal(await aspectOf(db, table('orders'), 'ownership'), undefined, 'nobody asked for owners')
    t.equal(await domainOf(db, table('orders')), null, 'nor for domains')
  })

  t.test('sent again is unchanged', async (t) => {
    t.match(await load(server, manifest(shop)), done({ received: 4, unchanged: 4 }))
    t.match(
      await load(server, `${JSON.stringify(manifest(shop), null, 2)}\n`),
      done({ received: 4, unchanged: 4 }),
      'written over many lines'
    )
    const sorted = Object.fromEntries(
      Object.entries({
        ...manifest(shop),
        child_map: { 'model.shop.orders': ['snapshot.shop.history'] }
      }).sort(([one], [other]) => (one < other ? -1 : 1))
    )
    for (const indent of [0, 2])
      t.match(
        await load(server, JSON.stringify(sorted, null, indent)),
        done({ received: 4, unchanged: 4 }),
        `written by a program that sorts keys, indented by ${indent}`
      )
  })

  t.test('removes what the project no longer has, and nothing that others state', async (t) => {
    await server.rest({
      method: 'POST',
      url: '/loads?format=ndjson&source=other&wait=25',
      body: JSON.stringify({ upstreamUrn: table('countries'), downstreamUrn: table('history') })
    })
    const less = shop.filter(({ unique_id }) => unique_id !== 'snapshot.shop.history')
    t.match(await load(server, manifest(less), '&force=true'), {
      ...done({ received: 3 }),
      body: { snapshot: { removed: 1 } }
    })
    t.strictSame(await edgesOf(db), [
      tables('countries', 'history'),
      tables('countries', 'orders'),
      tables('raw_orders', 'orders')
    ])
  })

  t.test('as a merge, or under another source, removes nothing', async (t) => {
    const other = [node('source.shop.raw.a'), node('model.shop.b', ['source.shop.raw.a'])]
    t.match(await load(server, manifest(other), '&mode=merge'), {
      body: { mode: 'merge', source: 'dbt:shop', counts: { applied: 2 } }
    })
    t.match(await load(server, manifest(other), '&source=dbt:shop-dev'), {
      body: { mode: 'snapshot', source: 'dbt:shop-dev', counts: { received: 2 } }
    })
    t.ok((await edgesOf(db)).includes(tables('raw_orders', 'orders')))
  })

  t.test('a snapshot that would remove too much is refused', async (t) => {
    t.match(await load(server, manifest([node('seed.shop.countries')])), {
      status: 409,
      body: { code: 'SNAPSHOT_REMOVES_TOO_MUCH' }
    })
  })

  t.test('a dry run says what would change', async (t) => {
    t.match(await load(server, manifest(shop), '&dryRun=true&force=true'), {
      body: { state: 'done', dryRun: true, report: { edges: { added: 1 } } }
    })
  })
})

t.test('columns', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const { db } = server
  const connector = {
    schemaName: 'orders',
    platform: 'urn:li:dataPlatform:postgres',
    version: 0,
    hash: '',
    platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
    fields: ['id', 'amount'].map((fieldPath) => ({
      fieldPath,
      nativeDataType: 'int4',
      type: { type: { 'com.linkedin.schema.NumberType': {} } }
    }))
  }

  t.test('of a manifest are added to those that others know, and leave their types', async (t) => {
    await server.rest({
      method: 'POST',
      url: '/loads?format=mcp&wait=25',
      body: JSON.stringify([
        {
          entityType: 'dataset',
          entityUrn: table('orders'),
          changeType: 'UPSERT',
          aspectName: 'schemaMetadata',
          aspect: { json: connector }
        }
      ])
    })
    const more = {
      columns: {
        id: { name: 'id', description: 'The key' },
        'total/net': { name: 'total/net', data_type: 'numeric(10,2)' },
        note: { name: 'note', description: 'Added later' }
      }
    }
    t.match(await load(server, manifest([node('model.shop.orders', [], more)])), done({ applied: 1 }))
    t.match(await aspectOf(db, table('orders'), 'schemaMetadata'), {
      fields: [
        { fieldPath: 'id', nativeDataType: 'int4', description: 'The key' },
        { fieldPath: 'amount', nativeDataType: 'int4' },
        {
          fieldPath: 'total/net',
          nativeDataType: 'numeric(10,2)',
          type: { type: { 'com.linkedin.schema.NumberType': {} } }
        },
        { fieldPath: 'note', nativeDataType: '', description: 'Added later' }
      ]
    })
    t.match(await load(server, manifest([node('model.shop.orders', [], more)])), done({ unchanged: 1 }))
  })

  t.test(
    'of a catalog are all there are, with the descriptions of the manifest; and go through select *',
    async (t) => {
      const compiled = shop.map((each) =>
        each.unique_id === 'snapshot.shop.history'
          ? { ...each, compiled_code: 'select * from "shop"."public"."orders"' }
          : each
      )
      const documents = [
        manifest(compiled),
        catalog({
          'model.shop.orders': [
            ['ID', 'integer'],
            ['amount', 'numeric']
          ],
          'snapshot.shop.history': [
            ['ID', 'integer'],
            ['amount', 'numeric'],
            ['dbt_valid_from', 'timestamp']
          ]
        }),
        runResults({ 'model.shop.orders': 'success' })
      ]
      t.match(await load(server, documents), done({ received: 4 }))
      const schema = await aspectOf(db, table('orders'), 'schemaMetadata')
      t.match(schema, {
        fields: [
          { fieldPath: 'ID', nativeDataType: 'integer', description: 'The key' },
          { fieldPath: 'amount', nativeDataType: 'numeric' }
        ]
      })
      t.match(await aspectOf(db, table('orders'), 'datasetProperties'), {
        customProperties: { dbt_run_status: 'success', dbt_run_at: '2026-01-01T00:00:02Z' }
      })
      const column = (name: string, of: string): string => `urn:li:schemaField:(${table(of)},${name})`
      t.strictSame(
        (await edgesOf(db)).filter((each) => each.includes('schemaField')),
        ['ID', 'amount'].map((name) => edge(column(name, 'orders'), column(name, 'history')))
      )
      t.match(await load(server, documents), done({ received: 4, unchanged: 4 }))
    }
  )

  await t.test('run results of a command that builds nothing say nothing of runs', async (t) => {
    const server = await withServer(t, { withWorker: true })
    const runStatus = async (which: string, status: string): Promise<string | undefined> => {
      const results = { ...runResults({ 'model.shop.orders': status }), args: { which } }
      t.match(await load(server, [manifest(shop), results]), done({ received: 4 }))
      const properties = JSON.stringify(await aspectOf(server.db, table('orders'), 'datasetProperties'))
      return /"dbt_run_status":"(\w+)"/.exec(properties)?.[1]
    }
    t.equal(await runStatus('compile', 'success'), undefined)
    t.equal(await runStatus('build', 'error'), 'error')
    t.equal(await runStatus('generate', 'success'), 'error', 'generate is dbt docs generate')
  })
})

t.test('what a load cannot use of a project is among its warnings', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const { db } = server
  const project = manifest(
    [
      node('model.shop.raw'),
      node('function.shop.clean', ['model.shop.raw']),
      node('model.shop.orders', ['function.shop.clean', 'model.other.customers', 'test.shop.t'], {
        columns: { id: { name: 'id', meta: { pii: true } } }
      }),
      node('test.shop.t', ['model.shop.raw']),
      node('test.shop.u', ['model.shop.raw']),
      node('unit_test.shop.v', ['model.shop.raw']),
      node('saved_query.shop.weekly', ['model.shop.raw']),
      node('model.shop.off', ['model.shop.raw'], { config: { enabled: false } })
    ],
    {},
    'v13'
  )
  const { body } = await load(server, project)
  t.match(body, { state: 'done', counts: { rejected: 0 } })
  t.strictSame(body.warnings, {
    count: 5,
    messages: [
      'The manifest has schema version v13, which is newer than the known v1 to v12 and v20 (dbt 0.19 to 1.11, dbt Fusion): it was read as v12.',
      'model.shop.orders depends on model.other.customers, which the manifest does not have: that lineage is missing.',
      'Not kept: 2 data tests, 1 unit test and 1 saved query.',
      'Not kept: the meta of 1 columns.',
      'The manifest has no compiled SQL of 2 models, so nothing new is known of their columns: dbt compile, run, build and docs generate write it.'
    ]
  })
  t.strictSame(await edgesOf(db), [tables('raw', 'orders')], 'lineage leads through the function')
  const { body: plain } = await load(server, manifest([node('seed.shop.raw')]), '&source=dbt:plain')
  t.notHas(plain, { warnings: {} })
})

t.test('exposures, semantic models and metrics', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const { db } = server
  const nodes = [
    ...shop,
    node('semantic_model.shop.orders', ['model.shop.orders'], { alias: null }),
    node('metric.shop.revenue', ['semantic_model.shop.orders'], { alias: null, description: 'Money in' }),
    node('metric.shop.margin', ['metric.shop.revenue'], { alias: null }),
    node('exposure.shop.weekly', ['metric.shop.margin', 'model.shop.stg_orders'], {
      type: 'dashboard',
      url: 'https://bi.example.org/weekly',
      owner: { name: 'Ann', email: 'ann@example.org' },
      alias: null
    })
  ]
  const metric = (name: string): string => `urn:li:metric:(urn:li:dataPlatform:dbt,shop,${name})`
  const dashboard = 'urn:li:dashboard:(dbt,exposure.shop.weekly)'
  t.match(await load(server, manifest(nodes)), done({ received: 8, applied: 8 }))
  t.strictSame(
    await edgesOf(db),
    [
      ...shopEdges,
      edge(table('orders'), 'urn:li:semanticModel:(urn:li:dataPlatform:dbt,shop,orders)'),
      edge(table('orders'), metric('revenue')),
      edge(metric('revenue'), metric('margin')),
      edge(table('orders'), dashboard),
      edge(table('raw_orders'), dashboard)
    ].sort()
  )
  t.match(await aspectOf(db, dashboard, 'dashboardInfo'), {
    title: 'weekly',
    externalUrl: 'https://bi.example.org/weekly',
    customProperties: { dbt_exposure_type: 'dashboard' }
  })
  t.match(await aspectOf(db, metric('revenue'), 'metricInfo'), { name: 'revenue', description: 'Money in' })
  const { body } = await server.graphql(
    '{ searchAcrossEntities(input: { query: "revenue", start: 0, count: 9 }) { searchResults { entity { urn } } } }'
  )
  t.strictSame(
    body.data.searchAcrossEntities.searchResults,
    [{ entity: { urn: metric('revenue') } }],
    'people find it by its name'
  )
  t.match(
    await load(server, manifest(nodes), '&owners=true'),
    done({ received: 8, applied: 2, unchanged: 6 })
  )
  t.match(await aspectOf(db, dashboard, 'ownership'), {
    owners: [{ owner: 'urn:li:corpuser:ann@example.org', type: 'DATAOWNER' }]
  })
  t.match(await aspectOf(db, table('orders'), 'ownership'), {
    owners: [
      { owner: 'urn:li:corpuser:ann' },
      { owner: 'urn:li:corpGroup:sales' },
      { owner: 'urn:li:corpGroup:finance' }
    ]
  })
})

t.test('domains', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const { db, rest } = server
  const send = (...records: JsonObject[]): Promise<RestAnswer> =>
    rest({
      method: 'POST',
      url: '/loads?format=ndjson&wait=25',
      body: records.map((each) => JSON.stringify(each)).join('\n')
    })
  t.match(await load(server, manifest(shop), '&domains=all'), {
    body: { state: 'done', counts: { received: 5, applied: 4, rejected: 1 } }
  })
  const { text } = await rest({
    url: `/loads/${(await rest({ url: '/loads?limit=1' })).body.loads?.[0]?.id}/rejects`
  })
  t.match(
    JSON.parse(text.split('\n')[0] ?? ''),
    { message: /^model\.shop\.orders: .*Sales/ },
    'the lineage is there'
  )
  t.strictSame(await edgesOf(db), shopEdges)

  await send(
    { op: 'createDomain', id: 'sales', name: 'Sales' },
    { op: 'createDomain', id: 'other', name: 'Other' }
  )
  t.match(
    await load(server, manifest(shop), '&domains=unset'),
    done({ received: 5, applied: 1, unchanged: 4 })
  )
  t.equal(await domainOf(db, table('orders')), 'urn:li:domain:sales')

  await send({ op: 'setDomain', entityUrn: table('orders'), domainUrn: 'urn:li:domain:other' })
  t.match(await load(server, manifest(shop), '&domains=unset'), done({ received: 5, unchanged: 5 }))
  t.equal(await domainOf(db, table('orders')), 'urn:li:domain:other', 'what a person chose stays')
  t.match(await load(server, manifest(shop), '&domains=all'), done({ received: 5, applied: 1 }))
  t.equal(await domainOf(db, table('orders')), 'urn:li:domain:sales')
})

t.test('a project in a namespace that the operator has a connection for has its names', async (t) => {
  const connections = [
    { namespace: 'postgres://db:*', platformInstance: 'main', environment: 'DEV', lowerCase: true }
  ]
  const server = await withServer(t, {
    withWorker: true,
    env: { OPENLINEAGE_CONNECTIONS: JSON.stringify(connections) }
  })
  const namespace = encodeURIComponent('postgres://db:5432')
  const nodes = [node('seed.shop.A'), node('model.shop.B', ['seed.shop.A'])]
  t.match(await load(server, manifest(nodes), `&namespace=${namespace}`), done({ applied: 2 }))
  const named = (name: string): string =>
    `urn:li:dataset:(urn:li:dataPlatform:postgres,main.shop.public.${name},DEV)`
  t.strictSame(await edgesOf(server.db), [edge(named('a'), named('b'))])
  const { body } = await server.graphql(
    'query ($instance: String!) { searchAcrossEntities(input: { query: "*", orFilters: [{ and: [{ field: "platformInstance", values: [$instance] }] }] }) { searchResults { entity { urn } } } }',
    { instance: 'urn:li:dataPlatformInstance:(urn:li:dataPlatform:postgres,main)' }
  )
  t.strictSame(
    body.data.searchAcrossEntities.searchResults
      .map(({ entity }: { entity: { urn: string } }) => entity.urn)
      .sort(),
    [named('a'), named('b')],
    'and its platform instance'
  )
})

t.test('refusals', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const { db, rest } = server
  const good = manifest([node('seed.shop.a')])
  const cases: [name: string, body: JsonObject | JsonObject[] | string, parameters: string, error: object][] =
    [
      ['version 0', manifest([], {}, 'v0'), '', { code: 'UNSUPPORTED', message: /v0;/ }],
      ['a catalog alone', catalog({}), '', { code: 'BAD_REQUEST', message: /no manifest/ }],
      ['two manifests', [good, good], '', { code: 'BAD_REQUEST', message: /two artifacts/ }],
      [
        'the freshness of sources',
        { metadata: { dbt_schema_version: 'https://schemas.getdbt.com/dbt/sources/v3.json' } },
        '',
        { code: 'BAD_REQUEST', field: 'metadata.dbt_schema_version' }
      ],
      [
        'no artifact',
        { nodes: {} },
        '&format=dbt',
        { code: 'BAD_REQUEST', field: 'metadata.dbt_schema_version' }
      ],
      ['a list', '[]', '&format=dbt', { code: 'BAD_REQUEST', message: /must be an object/ }],
      [
        'a manifest that is cut off',
        JSON.stringify(good).slice(0, -20),
        '',
        { code: 'BAD_REQUEST', message: /no end/ }
      ],
      [
        'brackets that do not match',
        '{"metadata": {"dbt_schema_version": "x"}, "nodes": {]',
        '',
        { code: 'BAD_REQUEST' }
      ],
      ['an empty body', '', '&format=dbt', { code: 'BAD_REQUEST' }],
      ['a project without nodes', manifest([]), '', { code: 'BAD_REQUEST', message: /no records/ }],
      [
        'no adapter',
        manifest([node('seed.shop.a')], { adapter_type: null }),
        '',
        { code: 'BAD_REQUEST', field: 'namespace' }
      ],
      [
        'no project',
        manifest([node('seed.shop.a')], { project_name: null }),
        '',
        { code: 'BAD_REQUEST', field: 'metadata.project_name' }
      ],
      ['an unknown choice', good, '&domains=some', { code: 'BAD_REQUEST', field: 'domains' }],
      ['force of a merge', good, '&mode=merge&force=true', { code: 'BAD_REQUEST', field: 'force' }],
      [
        'options of another format',
        '{"op": "upsertEntity"}',
        '&owners=true',
        { code: 'BAD_REQUEST', field: 'format' }
      ],
      [
        'force without a snapshot',
        '{"op": "upsertEntity"}',
        '&force=true',
        { code: 'BAD_REQUEST', field: 'force' }
      ],
      [
        'a snapshot without a source',
        '{"op": "upsertEntity"}',
        '&mode=snapshot',
        { code: 'BAD_REQUEST', field: 'source' }
      ]
    ]
  for (const [name, body, parameters, error] of cases)
    t.match((await load(server, body, parameters)).body, error, name)
  t.match((await rest({ url: '/loads' })).body, { loads: { length: 0 } }, 'nothing of them is stored')

  t.test('a node that cannot be read is a reject that names it, and prevents the removal', async (t) => {
    const nodes = [
      node('seed.shop.a'),
      node('model.shop.b', ['seed.shop.a']),
      node('model.shop.c', ['model.shop.b']),
      node('model.shop.d', ['model.shop.c']),
      node('model.shop.e', ['model.shop.d'])
    ]
    t.match(await load(server, manifest(nodes)), done({ received: 5, applied: 5 }))
    const before = await edgesOf(db)
    const broken = nodes.map((each) =>
      each.unique_id === 'model.shop.c' ? { ...each, depends_on: 'model.shop.b' } : each
    )
    const { body } = await load(server, manifest(broken))
    t.match(body, {
      state: 'done',
      counts: { received: 5, rejected: 1, unchanged: 4 },
      snapshot: { sweep: 'held' }
    })
    t.match(JSON.parse((await rest({ url: `/loads/${body.id}/rejects` })).text), {
      code: 'BAD_REQUEST',
      message: /^model\.shop\.c: model\.shop\.c\.depends_on must be an object/
    })
    t.strictSame(await edgesOf(db), before)

    const long = nodes.map((each) =>
      each.unique_id === 'model.shop.c' ? { ...each, description: 'x'.repeat(limits.recordMaxBytes) } : each
    )
    const second = await load(server, manifest(long))
    t.match(second.body, { counts: { rejected: 1 } })
    t.match(JSON.parse((await rest({ url: `/loads/${second.body.id}/rejects` })).text), {
      code: 'LIMIT_EXCEEDED',
      message: /^model\.shop\.c: /
    })
    t.strictSame(await edgesOf(db), before)
  })
})

t.test('a project sent again under its key is the same load; with other options it is another', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const send = (parameters: string): Promise<RestAnswer> =>
    server.rest({
      method: 'POST',
      url: `/loads?wait=25${parameters}`,
      body: JSON.stringify(manifest(shop)),
      headers: { 'content-type': 'application/json', 'idempotency-key': 'nightly' }
    })
  const first = await send('&owners=true')
  t.match(first, { status: 200, body: { source: 'dbt:shop' } })
  t.match(await send('&owners=true'), {
    headers: { 'idempotency-replayed': 'true' },
    body: { id: first.body.id }
  })
  for (const parameters of [
    '',
    '&owners=true&domains=all',
    '&owners=true&mode=merge',
    '&owners=true&source=x'
  ])
    t.match(await send(parameters), { status: 422, body: { code: 'IDEMPOTENCY_MISMATCH' } }, parameters)
})

t.test('a project is read alike however its bytes come', async (t) => {
  const read = async (bytes: Buffer, size: number): Promise<ReadRecord[]> => {
    async function* chunks(): AsyncGenerator<Buffer> {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    }
    const found: ReadRecord[] = []
    for await (const piece of (await openRecords('dbt', chunks())).records) found.push(...piece)
    return found
  }
  const strange = node('seed.shop.été "]}{[\\', [], { description: 'a "quoted" }],{ text \\" 数' })
  const bytes = Buffer.from(
    [manifest([...shop, strange]), catalog({ 'model.shop.orders': [['id', 'integer']] })]
      .map((each) => JSON.stringify(each, null, 1))
      .join('')
  )
  const whole = await read(bytes, bytes.length)
  t.equal(whole.length, 5)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 300 }), async (size) => {
      t.strictSame(await read(bytes, size), whole)
    }),
    { numRuns: casesOf(40) }
  )

  const long = node('model.shop.long', [], { raw_code: 'x'.repeat(limits.dbtNodeMaxBytes) })
  const records = await read(Buffer.from(JSON.stringify(manifest([...shop, long]))), 65_536)
  t.match(records[0], {
    error: { code: 'LIMIT_EXCEEDED', message: /^model\.shop\.long: /, details: { limit: 'dbtNodeMaxBytes' } }
  })
  t.equal(records.length, 5, 'the others are read')
})

t.test('tributary load', async (t) => {
  const { url, token, db } = await withServer(t, { withWorker: true })
  const env = { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: token }
  const folder = withFolder(t)
  const file = (name: string, content: JsonObject): string => {
    writeFileSync(join(folder, name), JSON.stringify(content))
    return join(folder, name)
  }
  const project = file('manifest.json', manifest(shop))
  const columns = file('catalog.json', catalog({ 'model.shop.orders': [['id', 'integer']] }))
  const results = file('run_results.json', runResults({ 'model.shop.orders': 'success' }))

  t.test('loads a project with its other artifacts', async (t) => {
    const beside = ['--catalog', columns, '--run-results', results]
    t.match(await run(['load', project, ...beside], { env }), {
      code: 0,
      out: [/is done: 4 records applied/]
    })
    t.match(await aspectOf(db, table('orders'), 'schemaMetadata'), {
      fields: [{ fieldPath: 'id', nativeDataType: 'integer' }]
    })
    t.match(await run(['load', project], { env }), { code: 0, out: [/: 4 records unchanged/] })
    t.match(await run(['load', project, '--owners'], { env }), {
      code: 0,
      out: [/: 1 record applied, 3 unchanged/]
    })
  })

  t.test('names the node of a reject', async (t) => {
    const { code, err } = await run(['load', project, '--domains', 'all'], { env })
    t.equal(code, 2)
    t.match(err.join('\n'), /record 5: .*model\.shop\.orders: .*Sales/)
  })

  t.test('says how to let a refused snapshot remove what the project no longer has', async (t) => {
    const names = ['other', 'another', 'one_more', 'the_last']
    const others = file(
      'others.json',
      manifest([
        node('seed.shop.countries'),
        ...names.map((name) => node(`model.shop.${name}`, ['seed.shop.countries']))
      ])
    )
    const { err, code } = await run(['load', others], { env, command: 'npx tributary' })
    t.equal(code, 3)
    const [, command = ''] = /^That is: npx tributary (load retry \S+ --force)$/.exec(err.at(-1) ?? '') ?? []
    t.match(await run(command.split(' '), { env }), { code: 0 })
    t.match(await run(['load', project, '--force'], { env }), { code: 0 })
  })

  t.test('refuses what does not go together', async (t) => {
    t.match(await run(['load', project, project, columns, '--catalog', columns], { env }), {
      code: 1,
      err: [/manifest\.json of one dbt project/]
    })
    t.match(await run(['load', project, '--format', 'mcp', '--catalog', columns], { env }), { code: 1 })
    t.match(await run(['load', columns], { env }), { code: 1, err: [/no manifest/] })
  })
})

t.test('real projects are the lineage that their events have', async (t) => {
  const folder = process.env.TRIBUTARY_TEST_DATA ?? join(packageRoot, '..', 'shared', 'data')
  if (skipUnless(t, existsSync(join(folder, 'dbt')), 'no folder of real data: set TRIBUTARY_TEST_DATA'))
    return
  // What a manifest contains and events do not; docs/guides/dbt.md says why.
  const onlyInManifest: { [project: string]: string[] } = {
    small: [],
    postgres: ['customers', 'orders', 'payments'].map((name) => {
      const of = (table: string): string =>
        `urn:li:dataset:(urn:li:dataPlatform:postgres,postgres.public.${table},PROD)`
      return edge(of(`raw_${name}`), of(`stg_${name}`))
    })
  }
  for (const [project, more] of Object.entries(onlyInManifest)) {
    await t.test(project, async (t) => {
      const read = (file: string): string => readFileSync(join(folder, 'dbt', project, file), 'utf8')
      const ofManifest = await withServer(t, { withWorker: true })
      const { body } = await load(ofManifest, read('manifest.json'))
      t.match(body, { state: 'done', format: 'dbt', counts: { rejected: 0, unchanged: 0 } })
      const ofEvents = await withServer(t)
      const answer = await ofEvents.rest({
        method: 'POST',
        url: '/api/v1/lineage/batch',
        body: eventsOf(read('expected-openlineage.json'))
      })
      t.match(answer.body, { status: 'success' })
      // These events have no columns.
      t.strictSame(
        (await edgesOf(ofManifest.db)).filter((each) => !each.includes('schemaField')),
        [...(await edgesThroughJobs(ofEvents.db)), ...more].sort()
      )
      t.match(
        await load(ofManifest, read('manifest.json')),
        { body: { counts: { received: body.counts.received, unchanged: body.counts.received } } },
        'sent again it is unchanged'
      )
    })
  }
})

/** The fixtures are expectations of an OpenLineage test; places where any value is allowed are given one. */
function eventsOf(text: string): JsonObject[] {
  const filled = text
    .replaceAll('{{ is_datetime(result) }}', '2026-01-01T00:00:00Z')
    .replaceAll(/\{\{ [^}]* \}\}/g, '0193f2a4-8f0e-7000-8000-000000000001')
  const events: JsonObject[] = JSON.parse(filled)
  return events.map((event, index) => ({
    ...event,
    eventTime: new Date(Date.UTC(2026, 0, 1) + index * 1_000).toISOString(),
    producer: 'https://github.com/OpenLineage/OpenLineage/tree/1.54.0/integration/dbt',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json'
  }))
}

/** From dataset to dataset, skipping the job between them. */
async function edgesThroughJobs(db: Db): Promise<string[]> {
  const edges = (await edgesOf(db)).map((each) => each.split(' > '))
  const isDataset = (urn = ''): boolean => urn.startsWith('urn:li:dataset:')
  return edges.flatMap(([upstream = '', job]) =>
    isDataset(upstream)
      ? edges.flatMap(([from, downstream = '']) =>
          from === job && isDataset(downstream) ? [edge(upstream, downstream)] : []
        )
      : []
  )
}

/** A project without cycles: a node only depends on earlier ones. */
const projects = fc
  .array(
    fc.record({
      kind: fc.constantFrom('source', 'seed', 'model', 'ephemeral', 'snapshot', 'test', 'exposure'),
      dependsOn: fc.array(fc.nat(), { maxLength: 4 })
    }),
    { minLength: 1, maxLength: 15 }
  )
  .map((drawn) => {
    const ids = drawn.map(({ kind }, at) => {
      const type = kind === 'ephemeral' ? 'model' : kind
      return type === 'source' ? `source.shop.raw.t${at}` : `${type}.shop.t${at}`
    })
    return drawn.map(({ kind, dependsOn }, at): TestNode => {
      const isRoot = kind === 'source' || kind === 'seed' || at === 0
      const upstreams = isRoot ? [] : [...new Set(dependsOn.map((each) => ids[each % at] ?? ''))]
      return node(ids[at] ?? '', upstreams, kind === 'ephemeral' ? ephemeral : {})
    })
  })

/**
 * The edges of a project, by the slow method: every path from a table to a table through nodes that are not
 * tables.
 */
function oracle(nodes: readonly TestNode[]): string[] {
  const byId = new Map(nodes.map((each) => [each.unique_id, each]))
  const typeOf = (id: string): string => id.split('.')[0] ?? ''
  const urnOf = (id: string): string =>
    typeOf(id) === 'exposure' ? `urn:li:dashboard:(dbt,${id})` : table(id.split('.').at(-1) ?? '')
  const isEphemeral = (id: string): boolean => byId.get(id)?.config === ephemeral.config
  const isTable = (id: string): boolean =>
    byId.has(id) && ['source', 'seed', 'model', 'snapshot'].includes(typeOf(id)) && !isEphemeral(id)
  const dependenciesOf = (id: string): string[] => {
    const found = byId.get(id)?.depends_on
    return typeof found === 'object' && found !== null && !Array.isArray(found)
      ? (found.nodes as string[])
      : []
  }
  const upstreams = (id: string): string[] =>
    dependenciesOf(id).flatMap((each) => (isTable(each) ? [each] : isEphemeral(each) ? upstreams(each) : []))
  return [
    ...new Set(
      nodes
        .map((each) => each.unique_id)
        .filter((id) => isTable(id) || typeOf(id) === 'exposure')
        .flatMap((id) => upstreams(id).map((each) => edge(urnOf(each), urnOf(id))))
    )
  ].sort()
}

t.test('random projects', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const { db } = server
  let round = 0
  await fc.assert(
    fc.asyncProperty(projects, fc.nat(), fc.infiniteStream(fc.nat()), async (drawn, removed, numbers) => {
      round += 1
      // Each round has its own tables and source, because a round does not clean up.
      const name = `p${round}`
      const nodes = drawn.map((each): TestNode => ({ ...each, schema: name }))
      const send = (some: readonly TestNode[]): Promise<RestAnswer> =>
        load(server, manifest(some, { project_name: name }), '&force=true')
      const edges = async (): Promise<string[]> =>
        (await edgesOf(db, `dbt:${name}`)).map((each) => each.replaceAll(`shop.${name}.`, 'shop.public.'))
      const assets = nodes.filter(
        (each) => each.config !== ephemeral.config && !each.unique_id.startsWith('test')
      )
      if (assets.length === 0) return
      const first = await send(nodes)
      t.match(first.body, { state: 'done', counts: { received: assets.length, rejected: 0 } })
      t.strictSame(await edges(), oracle(nodes), 'the edges are those of the oracle')
      const content = await contentFrom(db)

      const shuffled = nodes
        .map((each) => ({ each, key: numbers.next().value }))
        .sort((a, b) => a.key - b.key)
        .map(({ each }) => each)
      t.match((await send(shuffled)).body, {
        counts: { received: assets.length, applied: 0, unchanged: assets.length }
      })
      t.strictSame(await contentFrom(db), content, 'in any order, and sent again, it is the same')

      const less = nodes.filter((_, at) => at !== removed % nodes.length)
      if (less.every((each) => !assets.includes(each))) return
      await send(less)
      t.strictSame(await edges(), oracle(less), 'a node that is gone takes its edges along, and no others')
    }),
    { numRuns: casesOf(60) }
  )
})
