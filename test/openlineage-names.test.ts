/** Names of OpenLineage events: the operator's connections, the domains they give, aliases that last, and when runs used an edge. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readConnections } from '../shared/catalog/openlineage/read-connections.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { eventAt, facet } from './support/openlineage.ts'
import { withServer, type TestServer } from './support/server.ts'

const dataset = (name: string, platform = 'postgres', environment = 'PROD'): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},${environment})`
const jobUrn = 'urn:li:dataJob:(urn:li:dataFlow:(spark,etl,nightly),etl.load)'

const connections = [
  {
    namespace: 'postgres://crm:5432',
    platformInstance: 'crm',
    environment: 'dev',
    domain: 'urn:li:domain:sales'
  },
  { namespace: 'snowflake://*', lowerCase: true },
  { namespace: 'hive://*', platform: 'spark-catalog' },
  { namespace: 'a*b*c', platform: 'stars' }
]

const send = async (server: TestServer, ...events: JsonObject[]): Promise<void> => {
  for (const body of events) {
    const { status, text } = await server.rest({ method: 'POST', url: '/api/v1/lineage', body })
    if (status !== 201) throw new Error(text)
  }
}
const resolved = async (server: TestServer, namespace: string, name: string) =>
  (await server.rest({ url: `/openlineage/resolve?${new URLSearchParams({ namespace, name }).toString()}` }))
    .body
const run = (runId = 'r1'): JsonObject => ({ runId, facets: {} })
const job = { namespace: 'nightly', name: 'etl.load', facets: {} }

t.test('connections', async (t) => {
  const server = await withServer(t, { env: { OPENLINEAGE_CONNECTIONS: JSON.stringify(connections) } })

  await t.test(
    'decide platform, instance, environment and case; the first that fits has its say',
    async (t) => {
      for (const [namespace, name, urn, connection] of [
        [
          'postgres://crm:5432',
          'shop.public.Orders',
          dataset('crm.shop.public.Orders', 'postgres', 'DEV'),
          'postgres://crm:5432'
        ],
        ['postgres://crm:5433', 'shop.public.orders', dataset('shop.public.orders'), null],
        ['snowflake://org-account', 'DB.S.T', dataset('db.s.t', 'snowflake'), 'snowflake://*'],
        ['axxbxxc', 'n', dataset('n', 'stars'), 'a*b*c'],
        ['abc', 'n', dataset('n', 'stars'), 'a*b*c'],
        ['ac', 'n', dataset('n', 'ac'), null]
      ] as const)
        t.match(await resolved(server, namespace, name), { urn, connection, rule: String })
    }
  )

  await t.test('put a dataset into their platform instance, also one that is known already', async (t) => {
    const [known, fresh] = ['known', 'fresh'].map((name) =>
      dataset(`crm.instance.${name}`, 'postgres', 'DEV')
    ) as [string, string]
    const instance = 'urn:li:dataPlatformInstance:(urn:li:dataPlatform:postgres,crm)'
    const found = async (field: string, value: string) => {
      const { body } = await server.graphql(
        'query ($field: String!, $value: String!) { searchAcrossEntities(input: { query: "*", orFilters: [{ and: [{ field: $field, values: [$value] }] }] }) { searchResults { entity { urn } } } }',
        { field, value }
      )
      return body.data.searchAcrossEntities.searchResults
        .map(({ entity }: { entity: { urn: string } }) => entity.urn)
        .sort()
    }
    await server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: {
        proposal: {
          entityType: 'dataset',
          entityUrn: known,
          changeType: 'UPSERT',
          aspectName: 'datasetProperties',
          aspect: { json: { customProperties: {}, tags: [] } }
        }
      }
    })
    const reads = (seconds: number): JsonObject =>
      eventAt(seconds, {
        eventType: 'COMPLETE',
        run: run('instance'),
        job,
        inputs: ['known', 'fresh'].map((name) => ({
          namespace: 'postgres://crm:5432',
          name: `instance.${name}`
        })),
        outputs: [{ namespace: 'snowflake://org', name: 'no.platform.instance' }]
      })
    await send(server, reads(0))
    t.strictSame(await found('platformInstance', instance), [fresh, known])
    t.match(await resolved(server, 'postgres://crm:5432', 'x'), { platformInstance: instance })
    t.match(await resolved(server, 'snowflake://org', 'x'), { platformInstance: null })
    await send(server, reads(1))
    t.strictSame(await found('platformInstance', instance), [fresh, known], 'again after another event')
  })

  await t.test(
    'put a dataset into their domain when it is first seen, and never change the domain that a person chose',
    async (t) => {
      const domainOf = async (urn: string): Promise<string | null> => {
        const { body } = await server.graphql(
          'query ($urn: String!) { dataset(urn: $urn) { domain { domain { urn } } } }',
          { urn }
        )
        return body.data.dataset?.domain?.domain?.urn ?? null
      }
      const input = (name: string): JsonObject => ({ namespace: 'postgres://crm:5432', name })
      const reads = (seconds: number, ...names: string[]): JsonObject =>
        eventAt(seconds, { eventType: 'COMPLETE', run: run(), job, inputs: names.map(input) })
      const urnOf = (name: string): string => dataset(`crm.${name}`, 'postgres', 'DEV')
      await send(server, reads(0, 'before'))
      t.equal(await domainOf(urnOf('before')), null, 'a domain that does not exist is not made')

      for (const name of ['Sales', 'Other'])
        await server.graphql('mutation ($input: CreateDomainInput!) { createDomain(input: $input) }', {
          input: { id: name.toLowerCase(), name }
        })
      await send(server, reads(1, 'before', 'new', 'moved', 'taken'))
      t.equal(await domainOf(urnOf('before')), null, 'what was seen before stays')
      t.equal(await domainOf(urnOf('new')), 'urn:li:domain:sales')

      await server.graphql(
        'mutation ($urn: String!) { setDomain(entityUrn: $urn, domainUrn: "urn:li:domain:other") }',
        {
          urn: urnOf('moved')
        }
      )
      await server.graphql('mutation ($urn: String!) { unsetDomain(entityUrn: $urn) }', {
        urn: urnOf('taken')
      })
      await send(server, reads(2, 'new', 'moved', 'taken'))
      t.equal(await domainOf(urnOf('moved')), 'urn:li:domain:other')
      t.equal(await domainOf(urnOf('taken')), null)

      const rules = [{ name: 'crm.ruled*', domainUrn: 'urn:li:domain:other' }]
      const put = await server.rest({ method: 'PUT', url: '/domain-rules', body: { rules } })
      t.equal(put.status, 200, put.text)
      await send(server, reads(3, 'ruled', 'plain'))
      t.equal(await domainOf(urnOf('ruled')), 'urn:li:domain:other', 'a domain rule goes before')
      t.equal(await domainOf(urnOf('plain')), 'urn:li:domain:sales', 'no rule fits')
    }
  )
})

t.test('a table of connections that cannot be used says which entry and key', (t) => {
  const file = join(t.testdir({}), 'connections.json')
  writeFileSync(file, JSON.stringify(connections))
  t.equal(readConnections(file).length, connections.length)
  t.strictSame(readConnections(null), [])
  for (const [setting, message] of [
    ['/not/there.json', /\/not\/there\.json/],
    ['[', /JSON/],
    ['[7]', /entry 1.*object/],
    ['[{"namespace": "a"}, {"platform": "x"}]', /entry 2.*namespace/],
    ['[{"namespace": "a", "environment": "moon"}]', /entry 1.*environment must be one of/],
    ['[{"namespace": "a", "lowerCase": "yes"}]', /lowerCase must be true or false/],
    ['[{"namespace": "a", "domain": "Sales"}]', /entry 1.*domain/],
    ['[{"namespace": "a", "platform": "a b"}]', /platform/],
    ['[{"namespace": "a", "colour": "red"}]', /colour is not a key; there are namespace/]
  ] as const)
    t.throws(() => readConnections(setting), { name: 'ConfigError', message }, setting)
  t.end()
})

t.test('a bucket is part of a name, a host is not, and one path is one dataset', async (t) => {
  const server = await withServer(t)
  const stores: readonly (readonly [scheme: string, platform: string])[] = [
    ...[
      'oss',
      'cosn',
      'cos',
      'obs',
      'bos',
      'minio',
      'swift',
      'r2',
      'oci',
      'b2',
      'tos',
      'ks3',
      'lakefs',
      's3'
    ].map((scheme) => [scheme, scheme] as const),
    ['s3n', 's3'],
    ['s3a', 's3'],
    ['gs', 'gcs'],
    ['wasb', 'abs'],
    ['az', 'abs'],
    ['adl', 'adlsGen1']
  ]
  for (const [scheme, platform] of stores) {
    const urn = dataset('lake.x@y/raw/orders', platform)
    for (const [namespace, name] of [
      [`${scheme}://lake.x@y`, 'raw/orders'],
      [`${scheme}://lake.x@y/`, '/raw/orders/'],
      [`${scheme.toUpperCase()}://lake.x@y`, 'raw/orders//'],
      ['any', `${scheme}://lake.x@y/raw/orders`]
    ] as const)
      t.match(await resolved(server, namespace, name), { urn }, `${namespace} ${name}`)
    t.match(await resolved(server, `${scheme}://other`, 'raw/orders'), {
      urn: dataset('other/raw/orders', platform)
    })
  }
  for (const scheme of ['hdfs', 'webhdfs', 'viewfs', 'alluxio', 'sftp'])
    for (const [namespace, name] of [
      [`${scheme}://nn:8020`, '/raw/orders'],
      [`${scheme}://nn:8020`, '/raw/orders/'],
      ['any', `${scheme}://nn:8020/raw/orders/`],
      ['any', `${scheme}:///raw/orders`]
    ] as const)
      t.match(await resolved(server, namespace, name), { urn: dataset('/raw/orders', scheme) }, name)
  t.match(await resolved(server, 'hdfs://nn', '/'), { urn: dataset('/', 'hdfs') })
})

t.test('a path that is a table', async (t) => {
  const server = await withServer(t)
  const file = (name: string, facets: JsonObject = {}): JsonObject => ({
    namespace: 's3://lake',
    name,
    facets
  })
  const table = dataset('shop.sales', 'hive')
  await send(
    server,
    eventAt(0, { eventType: 'START', run: run(), job, inputs: [file('sales')] }),
    eventAt(1, {
      eventType: 'COMPLETE',
      run: run(),
      job,
      inputs: [
        file('sales', {
          symlinks: facet({ identifiers: [{ namespace: 'hive://m', name: 'shop.sales', type: 'TABLE' }] })
        }),
        file('never-alone', {
          symlinks: facet({ identifiers: [{ namespace: 'hive://m', name: 'shop.other', type: 'TABLE' }] })
        })
      ],
      outputs: [{ namespace: 'postgres://db', name: 'out' }]
    })
  )
  await t.test(
    'is found by its path: in resolve, by a short reference, as the start of a walk and of a picture',
    async (t) => {
      t.match(await resolved(server, 's3://lake', 'sales'), {
        urn: table,
        namedUrn: dataset('lake/sales', 's3')
      })
      for (const [reference, urn] of [
        ['s3:lake/sales', table],
        ['s3://lake/sales', table],
        [dataset('lake/sales', 's3'), table],
        ['s3:lake/never-alone', dataset('shop.other', 'hive')]
      ] as const)
        t.match(
          (await server.rest({ url: `/resolve?reference=${encodeURIComponent(reference)}` })).body,
          { urn, exists: true },
          reference
        )
      const { body } = await server.graphql(
        `query ($urn: String!) {
        scrollAcrossLineage(input: { urn: $urn, direction: DOWNSTREAM, query: "*", count: 10 }) { searchResults { entity { urn } } }
        lineageGraph(input: { urn: $urn }) { nodes { entity { urn } } }
      }`,
        { urn: dataset('lake/sales', 's3') }
      )
      t.strictSame(
        body.data.scrollAcrossLineage.searchResults.map((hit: { entity: { urn: string } }) => hit.entity.urn),
        [jobUrn, dataset('out')]
      )
      t.equal(body.data.lineageGraph.nodes[0].entity.urn, table)
    }
  )
  await t.test('and a name that nothing had is still not found', async (t) => {
    t.equal((await server.rest({ url: '/resolve?reference=s3:lake/none' })).status, 404)
  })
})

t.test('GraphQL gives the last run of a job, and when an edge was last used', async (t) => {
  const server = await withServer(t)
  const reads = { inputs: [{ namespace: 'postgres://db', name: 'a' }] }
  const parent = { parent: facet({ run: { runId: 'dag' }, job: { namespace: 'nightly', name: 'etl' } }) }
  await send(
    server,
    eventAt(50, { eventType: 'START', run: { runId: 'second', facets: parent }, job }),
    eventAt(9, { eventType: 'COMPLETE', run: run('first'), job, ...reads }),
    eventAt(0, { eventType: 'START', run: run('first'), job })
  )
  const lastRun = async () =>
    (
      await server.graphql(
        'query ($urn: String!) { dataJob(urn: $urn) { lastRun { run { urn } state startedAt endedAt parent { urn } } } }',
        { urn: jobUrn }
      )
    ).body.data.dataJob.lastRun
  const at = (seconds: number): number => Date.UTC(2026, 0, 1) + seconds * 1_000
  t.strictSame(await lastRun(), {
    run: { urn: 'urn:li:dataProcessInstance:second' },
    state: 'RUNNING',
    startedAt: at(50),
    endedAt: null,
    parent: { urn: 'urn:li:dataProcessInstance:dag' }
  })
  await send(server, eventAt(60, { eventType: 'FAIL', run: run('second'), job, ...reads }))
  t.match(await lastRun(), { state: 'FAIL', endedAt: at(60) })
  const { body } = await server.graphql(
    `query ($up: String!, $down: String!) {
      lineageEdge(upstreamUrn: $up, downstreamUrn: $down) { lastUsed statements { source lastUsed } }
      lineageGraph(input: { urn: $up }) { edges { lastUsed } }
    }`,
    { up: dataset('a'), down: jobUrn }
  )
  t.strictSame(body.data.lineageEdge, {
    lastUsed: at(60),
    statements: [{ source: 'openlineage', lastUsed: at(60) }]
  })
  t.strictSame(body.data.lineageGraph.edges, [{ lastUsed: at(60) }])
})
