/**
 * Requests of DataHub's clients over GraphQL besides domains and lineage: the current user, relationships of
 * an entity, tokens of an actor.
 */
import { buildSchema, graphql } from 'graphql'
import t from 'tap'
import { catalogErrorOf } from '../api/graphql/error-formatter.ts'
import { limits } from '../shared/limits.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { withServer, type TestServer } from './support/server.ts'

const dataset = 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)'

async function write(server: TestServer, urn: string, aspects: JsonObject): Promise<void> {
  const proposals = Object.entries(aspects).map(([aspectName, json]) => ({
    entityType: urn.split(':')[2] ?? '',
    entityUrn: urn,
    changeType: 'UPSERT',
    aspectName,
    aspect: { json }
  }))
  const { status, text } = await server.rest({
    method: 'POST',
    url: '/aspects?action=ingestProposalBatch',
    body: { proposals },
    headers: { 'x-missing-references': 'create' }
  })
  if (status !== 200) throw new Error(text)
}

t.test('me', async (t) => {
  const server = await withServer(t)
  const ask = async (token: string) =>
    (
      await server.graphql(
        '{ me { corpUser { urn username type } platformPrivileges { createDomains manageDomains generatePersonalAccessTokens manageTokens managePolicies } } }',
        {},
        { token }
      )
    ).body.data.me
  const privileges = (domains: boolean, tokens: boolean) => ({
    createDomains: domains,
    manageDomains: domains,
    generatePersonalAccessTokens: tokens,
    manageTokens: tokens,
    managePolicies: false
  })

  await t.test('is the actor of the token, and what its scopes allow', async (t) => {
    const actorUrn = 'urn:li:corpuser:jo'
    t.strictSame(await ask(await server.tokenWith(['read'], { actorUrn })), {
      corpUser: { urn: actorUrn, username: 'jo', type: 'CORP_USER' },
      platformPrivileges: privileges(false, false)
    })
    t.strictSame((await ask(await server.tokenWith(['write']))).platformPrivileges, privileges(true, false))
    t.strictSame((await ask(await server.tokenWith(['admin']))).platformPrivileges, privileges(true, true))
  })

  await t.test('has no platform privilege with a token that is limited to a domain', async (t) => {
    const { body } = await server.graphql('mutation { createDomain(input: { name: "Sales" }) }')
    t.strictSame(
      (await ask(await server.tokenWith(['admin'], { domainUrn: body.data.createDomain })))
        .platformPrivileges,
      privileges(false, false)
    )
  })

  await t.test('appConfig gives the version, and says that telemetry is off', async (t) => {
    const { body } = await server.graphql(
      '{ appConfig { appVersion authConfig { tokenAuthEnabled } telemetryConfig { enableThirdPartyLogging } } }'
    )
    t.match(body.data.appConfig, {
      appVersion: /^\d+\.\d+/,
      authConfig: { tokenAuthEnabled: true },
      telemetryConfig: { enableThirdPartyLogging: false }
    })
  })
})

t.test('tags, terms, links, owners and containers of an entity', async (t) => {
  const server = await withServer(t)
  const stamp = { time: 7, actor: 'urn:li:corpuser:jo' }
  await write(server, 'urn:li:tag:pii', { tagProperties: { name: 'PII' } })
  await write(server, 'urn:li:glossaryTerm:sales.order', {
    glossaryTermInfo: { name: 'Order', definition: 'What is bought', termSource: 'INTERNAL' }
  })
  await write(server, 'urn:li:corpuser:jo', {
    corpUserInfo: { active: true, displayName: 'Jo', email: 'jo@example.org' }
  })
  await write(server, 'urn:li:container:db', {
    containerProperties: { name: 'shop' },
    dataPlatformInstance: { platform: 'urn:li:dataPlatform:hive' }
  })
  await write(server, dataset, {
    globalTags: { tags: [{ tag: 'urn:li:tag:pii' }, { tag: 'urn:li:tag:never_described' }] },
    glossaryTerms: { terms: [{ urn: 'urn:li:glossaryTerm:sales.order' }], auditStamp: stamp },
    institutionalMemory: { elements: [{ url: 'http://wiki', description: 'the wiki', createStamp: stamp }] },
    ownership: { owners: [{ owner: 'urn:li:corpuser:jo', type: 'DATAOWNER' }], lastModified: stamp },
    container: { container: 'urn:li:container:db' }
  })
  const fields = `
    tags { tags { tag { urn name properties { name } } associatedUrn } }
    glossaryTerms { terms { term { name hierarchicalName properties { name definition } } } }
    institutionalMemory { elements { url label created { time actor } } }
    ownership { owners { owner { ... on CorpUser { username properties { displayName email active } } } } }
    container { properties { name } platform { name } }`
  const expected = {
    tags: {
      tags: [
        { tag: { urn: 'urn:li:tag:pii', name: 'pii', properties: { name: 'PII' } }, associatedUrn: dataset },
        {
          tag: { urn: 'urn:li:tag:never_described', name: 'never_described', properties: null },
          associatedUrn: dataset
        }
      ]
    },
    glossaryTerms: {
      terms: [
        {
          term: {
            name: 'order',
            hierarchicalName: 'sales.order',
            properties: { name: 'Order', definition: 'What is bought' }
          }
        }
      ]
    },
    institutionalMemory: { elements: [{ url: 'http://wiki', label: 'the wiki', created: stamp }] },
    ownership: {
      owners: [
        {
          owner: { username: 'jo', properties: { displayName: 'Jo', email: 'jo@example.org', active: true } }
        }
      ]
    },
    container: { properties: { name: 'shop' }, platform: { name: 'hive' } }
  }

  await t.test('a dataset shows its tags, terms, links, owners and container', async (t) => {
    const { body } = await server.graphql(`query ($urn: String!) { dataset(urn: $urn) { ${fields} } }`, {
      urn: dataset
    })
    t.strictSame(body, { data: { dataset: expected }, extensions: {} })
  })

  await t.test('a query for a version shows the dataset as it is, and refuses an older one', async (t) => {
    const { body } = await server.graphql(
      `query ($urn: String!) { versionedDataset(urn: $urn) { type name ${fields} } }`,
      { urn: dataset }
    )
    t.strictSame(body.data.versionedDataset, { type: 'DATASET', name: 'shop.orders', ...expected })
    const refused = await server.graphql(
      'query ($urn: String!) { versionedDataset(urn: $urn, versionStamp: "schemaMetadata:1") { urn } }',
      { urn: dataset }
    )
    t.match(refused.body, {
      data: { versionedDataset: null },
      errors: [{ extensions: { reason: 'UNSUPPORTED', field: 'versionStamp' } }]
    })
  })

  await t.test('an aspect that says nothing is null', async (t) => {
    await write(server, 'urn:li:chart:(looker,bare)', { status: { removed: false } })
    const { body } = await server.graphql(
      `query ($urn: String!) { chart(urn: $urn) { dataPlatformInstance { urn platform { name } } deprecation { deprecated } ${fields} } }`,
      { urn: 'urn:li:chart:(looker,bare)' }
    )
    t.strictSame(body.data.chart, {
      dataPlatformInstance: { urn: null, platform: { name: 'looker' } },
      deprecation: null,
      tags: null,
      glossaryTerms: null,
      institutionalMemory: null,
      ownership: null,
      container: null
    })
  })
})

t.test('containers', async (t) => {
  const server = await withServer(t)
  const container = (id: string) => `urn:li:container:${id}`
  const [loop, deep] = [container('loop'), container('deep')]
  await write(server, container('server'), { containerProperties: { name: 'server' } })
  await write(server, container('db'), {
    containerProperties: { name: 'db' },
    container: { container: container('server') }
  })
  await write(server, container('schema'), {
    containerProperties: { name: 'schema' },
    container: { container: container('db') }
  })
  await write(server, dataset, {
    datasetProperties: { name: 'orders', description: 'what is bought' },
    container: { container: container('schema') },
    globalTags: { tags: [{ tag: 'urn:li:tag:pii' }] }
  })
  for (const name of ['a', 'b', 'gone'])
    await write(server, `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`, {
      datasetProperties: { name },
      container: { container: container('schema') },
      status: { removed: name === 'gone' }
    })
  await write(server, loop, { container: { container: container('loop2') } })
  await write(server, container('loop2'), { container: { container: loop } })

  const above = async (urn: string, type: string) => {
    const { body } = await server.graphql(
      `query ($urn: String!) { entity(urn: $urn) { ... on ${type} { parentContainers { count containers { urn properties { name } } } } } }`,
      { urn }
    )
    t.equal(body.errors, undefined)
    const { count, containers } = body.data.entity.parentContainers
    t.equal(count, containers.length)
    return containers.map(({ urn: each }: { urn: string }) => each)
  }
  await t.test('the containers above an entity are listed, the nearest first', async (t) => {
    t.strictSame(await above(dataset, 'Dataset'), ['schema', 'db', 'server'].map(container))
    t.strictSame(await above(container('db'), 'Container'), [container('server')])
    t.strictSame(await above(container('server'), 'Container'), [])
  })

  await t.test('a chain of containers with a cycle ends, and a deep one is cut', async (t) => {
    t.strictSame(await above(loop, 'Container'), [container('loop2')])
    for (let level = 0; level < limits.containerMaxDepth + 2; level += 1)
      await write(server, level === 0 ? deep : container(`deep${level}`), {
        container: { container: container(`deep${level + 1}`) }
      })
    t.equal((await above(deep, 'Container')).length, limits.containerMaxDepth)
  })

  const within = async (id: string, input: JsonObject) =>
    (
      await server.graphql(
        'query ($urn: String!, $input: ContainerEntitiesInput) { container(urn: $urn) { entities(input: $input) { start count total searchResults { entity { urn } } } } }',
        { urn: container(id), input }
      )
    ).body
  await t.test(
    'entities directly in a container are listed, searched and filtered, page by page',
    async (t) => {
      const urnsOf = (body: Awaited<ReturnType<typeof within>>): string[] =>
        body.data.container.entities.searchResults.map(
          ({ entity }: { entity: { urn: string } }) => entity.urn
        )
      const all = await within('schema', {})
      t.match(all.data.container.entities, { start: 0, count: 3, total: 3 }, 'soft-deleted ones are left out')
      t.ok(urnsOf(all).includes(dataset))
      t.strictSame(urnsOf(await within('db', {})), [container('schema')], 'not what is further below')
      t.strictSame(urnsOf(await within('schema', { query: 'orders' })), [dataset])
      t.match(
        (await within('schema', { filters: [{ field: 'removed', values: ['true'] }] })).data.container
          .entities,
        { total: 1 }
      )
      const pages = [
        await within('schema', { count: 2 }),
        await within('schema', { start: 2, count: 2 })
      ].flatMap(urnsOf)
      t.strictSame(pages.toSorted(), urnsOf(all).toSorted())
      t.match(await within('schema', { count: -1 }), { errors: [{ extensions: { field: 'input.count' } }] })
      const urns = Array.from({ length: 101 }, () => container('schema'))
      const many = await server.graphql(
        'query ($urns: [String!]!) { entities(urns: $urns) { ... on Container { entities(input: { count: 0 }) { total } } } }',
        { urns }
      )
      t.match(
        many.body.errors,
        [{ extensions: { reason: 'QUERY_TOO_COMPLEX', limit: 'graphqlMaxReads' } }],
        'the searches of one request are bounded'
      )
    }
  )

  await t.test('a dataset shows its description and tags by their older names', async (t) => {
    const { body } = await server.graphql(
      'query ($urn: String!) { dataset(urn: $urn) { description globalTags { tags { tag { urn } } } } }',
      { urn: dataset }
    )
    t.strictSame(body.data.dataset, {
      description: 'what is bought',
      globalTags: { tags: [{ tag: { urn: 'urn:li:tag:pii' } }] }
    })
  })
})

t.test('the columns of a chart and the properties of a run are read off their aspects', async (t) => {
  const server = await withServer(t)
  const [chart, run, bare] = [
    'urn:li:chart:(looker,c)',
    'urn:li:dataProcessInstance:r',
    'urn:li:dataProcessInstance:bare'
  ]
  const schemaFieldUrn = `urn:li:schemaField:(${dataset},amount)`
  const schemaField = {
    fieldPath: 'total',
    nullable: true,
    nativeDataType: 'int',
    type: { type: { 'com.linkedin.schema.NumberType': {} } }
  }
  await write(server, chart, {
    status: { removed: false },
    inputFields: { fields: [{ schemaFieldUrn, schemaField }] }
  })
  await write(server, run, {
    dataProcessInstanceProperties: {
      name: 'nightly',
      created: { time: 5, actor: 'urn:li:corpuser:jo' },
      externalUrl: 'http://runs/1',
      customProperties: { a: '1' }
    }
  })
  await write(server, bare, { status: { removed: false } })
  const { body } = await server.graphql(
    'query ($chart: String!) { chart(urn: $chart) { inputFields { fields { schemaFieldUrn schemaField { fieldPath nullable nativeDataType } } } } }',
    { chart }
  )
  t.strictSame(body.data.chart.inputFields, {
    fields: [{ schemaFieldUrn, schemaField: { fieldPath: 'total', nullable: true, nativeDataType: 'int' } }]
  })
  const runs = await server.graphql(
    'query ($run: String!, $bare: String!) { run: dataProcessInstance(urn: $run) { properties { name created { time actor } externalUrl customProperties { key value } } } bare: dataProcessInstance(urn: $bare) { properties { name } } }',
    { run, bare }
  )
  t.strictSame(runs.body.data, {
    run: {
      properties: {
        name: 'nightly',
        created: { time: 5, actor: 'urn:li:corpuser:jo' },
        externalUrl: 'http://runs/1',
        customProperties: [{ key: 'a', value: '1' }]
      }
    },
    bare: { properties: null }
  })
})

t.test('entities that can be in a domain and nothing else have types of their own', async (t) => {
  const server = await withServer(t)
  const {
    body: {
      data: { createDomain: domainUrn }
    }
  } = await server.graphql('mutation { createDomain(input: { name: "Sales" }) }')
  const urns: { [type: string]: [string, JsonObject, string] } = {
    GlossaryTerm: [
      'urn:li:glossaryTerm:t',
      { glossaryTermInfo: { name: 'T', definition: 'd', termSource: 'INTERNAL' } },
      'properties { name definition termSource }'
    ],
    GlossaryNode: [
      'urn:li:glossaryNode:n',
      { glossaryNodeInfo: { name: 'N', definition: 'd' } },
      'properties { name description }'
    ],
    Notebook: [
      'urn:li:notebook:(jupyter,n)',
      { notebookInfo: { title: 'N' } },
      'tool notebookId info { title }'
    ],
    DataProduct: ['urn:li:dataProduct:p', { dataProductProperties: { name: 'P' } }, 'properties { name }'],
    Application: ['urn:li:application:a', { applicationProperties: { name: 'A' } }, 'properties { name }'],
    Document: [
      'urn:li:document:d',
      { documentInfo: { title: 'D' }, subTypes: { typeNames: ['Page'] } },
      'subType info { title } platform { urn }'
    ]
  }
  for (const [type, [urn, aspects, fields]] of Object.entries(urns)) {
    await write(server, urn, aspects)
    t.equal(
      (
        await server.graphql(
          'mutation ($e: String!, $d: String!) { setDomain(entityUrn: $e, domainUrn: $d) }',
          { e: urn, d: domainUrn }
        )
      ).body.data.setDomain,
      true
    )
    const { body } = await server.graphql(
      `query ($urn: String!) { entity(urn: $urn) { __typename exists ... on ${type} { ${fields} domain { domain { urn } } } } }`,
      { urn }
    )
    t.match(
      body.data.entity,
      { __typename: type, exists: true, domain: { domain: { urn: domainUrn } } },
      JSON.stringify(body)
    )
  }
  const { body } = await server.graphql(
    '{ entity(urn: "urn:li:document:d") { ... on Document { platform { urn } } } }'
  )
  t.strictSame(
    body.data.entity,
    { platform: { urn: 'urn:li:dataPlatform:unknown' } },
    'a platform that nobody told is never null'
  )
  t.match(
    (
      await server.graphql(
        'query { glossaryTerm(urn: "urn:li:glossaryTerm:t") { name } notebook(urn: "urn:li:notebook:(jupyter,n)") { notebookId } }'
      )
    ).body.data,
    { glossaryTerm: { name: 't' }, notebook: { notebookId: 'n' } }
  )
  t.match(
    (await server.graphql('query { glossaryTerm(urn: "urn:li:tag:t") { name } }')).body.errors[0].extensions,
    { reason: 'INVALID_URN' }
  )
})

t.test('a stored value that the schema cannot show is null and takes nothing else down', async (t) => {
  const server = await withServer(t)
  const custom = 'urn:li:ownershipType:architect'
  const feature = 'urn:li:mlFeature:(shop,basket)'
  const owners = (...types: string[]): JsonObject => ({
    owners: types.map((type, index) => ({ owner: `urn:li:corpuser:u${index}`, type, typeUrn: custom }))
  })
  await write(server, dataset, {
    datasetProperties: { name: 'orders' },
    ownership: owners('CUSTOM', 'CUSTOM_OWNERSHIP_TYPE', 'DATA_STEWARD', 'OWNER_OF_A_LATER_VERSION'),
    deprecation: { deprecated: true, note: '', actor: 'urn:li:corpuser:u0', decommissionTime: 2 ** 60 },
    globalTags: { tags: [{ tag: 'urn:li:corpuser:u0' }] },
    institutionalMemory: {
      elements: [{ url: 'http://wiki', description: 7, createStamp: { time: 2.5, actor: 7 } }]
    },
    dataPlatformInstance: { platform: 'urn:li:tag:t', instance: 'urn:li:tag:t' },
    container: { container: 'urn:li:tag:t' },
    glossaryTerms: { terms: [{ urn: 'urn:li:tag:t' }, { urn: 'no urn' }] }
  })
  await write(server, feature, { mlFeatureProperties: { description: 'What is in it', dataType: 'TENSOR' } })
  const fields = `urn
    ... on Dataset {
      origin
      properties { name origin }
      deprecation { deprecated decommissionTime }
      ownership { owners { type owner { ... on CorpUser { username } } } }
      tags { tags { tag { urn type name } } }
      institutionalMemory { elements { url description created { time actor } } }
      dataPlatformInstance { platform { urn } instanceId }
      container { urn type properties { name } platform { urn } }
      glossaryTerms { terms { term { urn name hierarchicalName } } }
    }
    ... on MLFeature { dataType properties { description dataType } }`
  const shown = {
    [dataset]: {
      urn: dataset,
      origin: 'PROD',
      properties: { name: 'orders', origin: 'PROD' },
      deprecation: { deprecated: true, decommissionTime: null },
      ownership: {
        owners: ['CUSTOM', 'CUSTOM', 'DATA_STEWARD', null].map((type, index) => ({
          type,
          owner: { username: `u${index}` }
        }))
      },
      tags: { tags: [{ tag: { urn: 'urn:li:corpuser:u0', type: 'CORP_USER', name: 'u0' } }] },
      institutionalMemory: {
        elements: [{ url: 'http://wiki', description: '', created: { time: 0, actor: null } }]
      },
      dataPlatformInstance: { platform: { urn: 'urn:li:tag:t' }, instanceId: null },
      container: {
        urn: 'urn:li:tag:t',
        type: 'TAG',
        properties: null,
        platform: { urn: 'urn:li:dataPlatform:unknown' }
      },
      glossaryTerms: { terms: [{ term: { urn: 'urn:li:tag:t', name: 't', hierarchicalName: 't' } }] }
    },
    [feature]: {
      urn: feature,
      dataType: null,
      properties: { description: 'What is in it', dataType: null }
    }
  }

  for (const [urn, wanted] of Object.entries(shown)) {
    const { body } = await server.graphql(`query ($urn: String!) { entity(urn: $urn) { ${fields} } }`, {
      urn
    })
    t.strictSame([body.errors, body.data], [undefined, { entity: wanted }], urn)
  }

  const { body } = await server.graphql(
    `{ searchAcrossEntities(input: { query: "*", count: 100 }) { searchResults { entity { ${fields} } } } }`
  )
  t.equal(body.errors, undefined, 'also among search results')
  t.strictSame(
    body.data.searchAcrossEntities.searchResults
      .map(({ entity }: { entity: { urn: string } }) => entity)
      .filter(({ urn }: { urn: string }) => urn in shown)
      .sort((a: { urn: string }, b: { urn: string }) => (a.urn < b.urn ? -1 : 1)),
    Object.values(shown).sort((a, b) => (a.urn < b.urn ? -1 : 1))
  )

  for (const [type, kept] of [
    ['CUSTOM', 'CUSTOM'],
    ['CUSTOM_OWNERSHIP_TYPE', 'CUSTOM']
  ]) {
    const created = await server.graphql(
      `mutation ($owner: OwnerInput!) { createDomain(input: { name: "${type}", owners: [$owner] }) }`,
      {
        owner: {
          ownerUrn: 'urn:li:corpuser:u0',
          ownerEntityType: 'CORP_USER',
          type: type ?? null,
          ownershipTypeUrn: custom
        }
      }
    )
    const stored = await server.rest({
      url: `/aspects/${encodeURIComponent(created.body.data.createDomain)}?aspect=ownership&version=0`
    })
    t.match(
      JSON.stringify(stored.body),
      `"type":"${kept}"`,
      `${type} is stored as DataHub's clients can read it`
    )
  }
})

t.test("a value no field can show is our fault, an argument that does not fit the caller's", async (t) => {
  const schema = buildSchema(`
    enum Kind { A B }
    type Shown { text: String, kind: Kind, whole: Int, always: String! }
    union Some = Shown
    type Query { shown(of: String!): Shown, some: Some }`)
  const reasonsOf = async (source: string, rootValue: unknown, variableValues: JsonObject = {}) => {
    const { errors = [] } = await graphql({ schema, source, rootValue, variableValues })
    return errors.map((error) => catalogErrorOf(error).code)
  }
  for (const [field, shown] of [
    ['text', { text: {} }],
    ['kind', { kind: 'C' }],
    ['whole', { whole: 1.5 }],
    ['always', { always: null }]
  ] as const)
    t.strictSame(await reasonsOf(`{ shown(of: "x") { ${field} } }`, { shown }), ['INTERNAL'], field)
  t.strictSame(
    await reasonsOf('{ some { __typename } }', { some: { __typename: 'Kind' } }),
    ['INTERNAL'],
    'a type that is not in the union'
  )
  t.strictSame(
    await reasonsOf('query ($of: String = "x") { shown(of: $of) { text } }', { shown: {} }, { of: null }),
    ['GRAPHQL_VALIDATION_FAILED']
  )
})

t.test('tokens are listed by actor', async (t) => {
  const server = await withServer(t)
  const [jo, kim] = ['urn:li:corpuser:jo', 'urn:li:corpuser:kim']
  for (const actorUrn of [jo, jo, kim]) await server.tokenWith(['read'], { actorUrn })
  const list = (filters: JsonObject[]) =>
    server.graphql(
      'query ($f: [FacetFilterInput!]) { listAccessTokens(input: { filters: $f }) { total tokens { ownerUrn description } } }',
      { f: filters }
    )
  const totals = async (...filters: JsonObject[]) => (await list(filters)).body.data.listAccessTokens.total
  t.strictSame(
    [
      await totals(),
      await totals({ field: 'ownerUrn', values: [jo] }),
      await totals({ field: 'actorUrn', values: [jo, kim] }),
      await totals({ field: 'actorUrn', values: [jo] }, { field: 'ownerUrn', values: [kim] })
    ],
    [4, 2, 3, 0]
  )
  for (const filter of [
    { field: 'name', values: ['x'] },
    { field: 'ownerUrn', values: [jo], negated: true },
    { field: 'ownerUrn', values: [jo], condition: 'CONTAIN' }
  ]) {
    t.match(
      (await list([filter])).body,
      {
        data: { listAccessTokens: null },
        errors: [{ extensions: { reason: 'BAD_REQUEST', field: 'input.filters' } }]
      },
      JSON.stringify(filter)
    )
  }
})
