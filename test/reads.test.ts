/** Reads of entities and domains: which exist, what they show, and that many are read with few statements. */
import { readFileSync } from 'node:fs'
import { buildSchema, isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql'
import t from 'tap'
import { typesOfAspect } from '../shared/model/aspect-places.ts'
import type { JsonObject, JsonValue } from '../shared/model/changes.ts'
import { lineageFields, type EntryShape } from '../shared/model/lineage-fields.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { kindShapeOf } from '../shared/urn/kind-shapes.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { apply } from './support/changes.ts'
import { edgesOf, doors, makeAssets, urnEdges, urnOfName } from './support/graph.ts'
import { loadLines } from './support/load-lines.ts'
import { onBothEngines } from './support/engines.ts'
import { withServer, type TestServer } from './support/server.ts'

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`

/** A URN of a type, with the required number of parts. */
const madeUrn = (entityType: string, name: string): string => {
  const { keyFields = ['id'], firstIs, lastIn } = kindShapeOf(entityType) ?? {}
  if (keyFields.length === 1) return `urn:li:${entityType}:${name}`
  const parts = keyFields.map((_, index) =>
    index === 0 && firstIs
      ? entityType === 'dataJob'
        ? `urn:li:dataFlow:(airflow,${name},PROD)`
        : 'urn:li:dataPlatform:hive'
      : lastIn && index === keyFields.length - 1
        ? 'PROD'
        : name
  )
  return `urn:li:${entityType}:(${parts.join(',')})`
}

/** What aspects need besides a list of edges. */
const requiredBeside: { [aspectName: string]: JsonObject } = {
  chartInfo: { title: '', description: '' },
  dashboardInfo: { title: '', description: '' },
  dataJobInputOutput: { inputDatasets: [], outputDatasets: [] },
  dataProcessInstanceInput: { inputs: [] },
  dataProcessInstanceOutput: { outputs: [] }
}

/** One entry, in the form of its list or field. */
const linkIn = (shape: EntryShape, urn: string): JsonValue => {
  if (shape === 'link') return urn
  if (shape === 'urn') return [urn]
  if (shape === 'union') return [{ string: urn }]
  if (shape === 'data') return [{ dataset: urn }]
  return [
    shape === 'upstream'
      ? { auditStamp: { time: 0, actor: 'urn:li:corpuser:unknown' }, dataset: urn, type: 'COPY' }
      : { destinationUrn: urn }
  ]
}

/** The setup that every subtest needs. */
function clientOf(server: TestServer) {
  const read = async (query: string, variables: JsonObject = {}) => {
    const { body } = await server.graphql(query, variables)
    return { data: body?.data, error: body?.errors?.[0], reason: body?.errors?.[0]?.extensions.reason }
  }
  const propose = async (
    entityUrn: string,
    aspectName: string,
    value: JsonObject,
    headers: { [name: string]: string } = {}
  ) => {
    const proposal = {
      entityType: entityUrn.split(':')[2] ?? '',
      entityUrn,
      changeType: 'UPSERT',
      aspectName,
      aspect: { json: value }
    }
    const { status, text } = await server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      headers,
      body: { proposal }
    })
    if (status !== 200) throw new Error(text)
  }
  const createDomain = async (input: JsonObject): Promise<string> =>
    (await read('mutation ($input: CreateDomainInput!) { createDomain(input: $input) }', { input })).data
      .createDomain
  const setDomain = (entityUrn: string, domainUrn: string) =>
    read(
      'mutation ($entityUrn: String!, $domainUrn: String!) { setDomain(entityUrn: $entityUrn, domainUrn: $domainUrn) }',
      { entityUrn, domainUrn }
    )
  return { read, propose, createDomain, setDomain }
}

t.test('entities', async (t) => {
  const server = await withServer(t)
  const { read, propose, createDomain, setDomain } = clientOf(server)
  const orders = dataset('shop.orders')

  await t.test('a dataset shows what its URN and its aspects say', async (t) => {
    await propose(orders, 'datasetProperties', {
      name: 'Orders',
      qualifiedName: 'shop.public.orders',
      description: 'all orders',
      customProperties: { tier: 'gold' },
      externalUrl: 'https://example.org/o',
      created: { time: 5 },
      lastModified: { time: 6, actor: 'urn:li:corpuser:jo' }
    })
    await propose(orders, 'editableDatasetProperties', {
      description: 'by hand',
      created: { time: 0, actor: 'urn:li:corpuser:jo' },
      lastModified: { time: 0, actor: 'urn:li:corpuser:jo' }
    })
    await propose(orders, 'subTypes', { typeNames: ['Table'] })
    await propose(orders, 'deprecation', {
      deprecated: true,
      note: 'use orders_v2',
      actor: 'urn:li:corpuser:jo'
    })
    const { data } = await read(`{ dataset(urn: "${orders}") {
      urn type name exists origin platform { urn type name } domain { associatedUrn } status { removed }
      properties { name qualifiedName origin description externalUrl created lastModified { time actor } customProperties { key value associatedUrn } }
      editableProperties { description } subTypes { typeNames } deprecation { deprecated note decommissionTime actor }
      dataPlatformInstance { urn platform { name } instanceId } schemaMetadata { name } fineGrainedLineages { query }
    } }`)
    t.strictSame(data.dataset, {
      urn: orders,
      type: 'DATASET',
      name: 'shop.orders',
      exists: true,
      origin: 'PROD',
      platform: { urn: 'urn:li:dataPlatform:hive', type: 'DATA_PLATFORM', name: 'hive' },
      domain: null,
      status: null,
      properties: {
        name: 'Orders',
        qualifiedName: 'shop.public.orders',
        origin: 'PROD',
        description: 'all orders',
        externalUrl: 'https://example.org/o',
        created: 5,
        lastModified: { time: 6, actor: 'urn:li:corpuser:jo' },
        customProperties: [{ key: 'tier', value: 'gold', associatedUrn: orders }]
      },
      editableProperties: { description: 'by hand' },
      subTypes: { typeNames: ['Table'] },
      deprecation: {
        deprecated: true,
        note: 'use orders_v2',
        decommissionTime: null,
        actor: 'urn:li:corpuser:jo'
      },
      dataPlatformInstance: { urn: null, platform: { name: 'hive' }, instanceId: null },
      schemaMetadata: null,
      fineGrainedLineages: null
    })
  })

  await t.test('each kind of entity is read under its own name', async (t) => {
    const kinds: [string, string, string, string, JsonObject][] = [
      [
        'dataJob',
        'urn:li:dataJob:(urn:li:dataFlow:(airflow,daily,PROD),clean)',
        'DATA_JOB',
        'jobId dataFlow { flowId } dataPlatformInstance { platform { name } }',
        {
          jobId: 'clean',
          dataFlow: { flowId: 'daily' },
          dataPlatformInstance: { platform: { name: 'airflow' } }
        }
      ],
      [
        'dataFlow',
        'urn:li:dataFlow:(airflow,daily,PROD)',
        'DATA_FLOW',
        'orchestrator flowId cluster',
        { orchestrator: 'airflow', flowId: 'daily', cluster: 'PROD' }
      ],
      [
        'chart',
        'urn:li:chart:(looker,sales)',
        'CHART',
        'tool chartId platform { name }',
        { tool: 'looker', chartId: 'sales', platform: { name: 'looker' } }
      ],
      [
        'dashboard',
        'urn:li:dashboard:(looker,board)',
        'DASHBOARD',
        'tool dashboardId',
        { tool: 'looker', dashboardId: 'board' }
      ],
      ['container', 'urn:li:container:abc', 'CONTAINER', 'properties { name }', { properties: null }],
      [
        'mlPrimaryKey',
        'urn:li:mlPrimaryKey:(users,id)',
        'MLPRIMARY_KEY',
        'name featureNamespace',
        { name: 'id', featureNamespace: 'users' }
      ],
      [
        'mlFeature',
        'urn:li:mlFeature:(users,age)',
        'MLFEATURE',
        'name featureNamespace',
        { name: 'age', featureNamespace: 'users' }
      ],
      [
        'mlFeatureTable',
        'urn:li:mlFeatureTable:(urn:li:dataPlatform:feast,users)',
        'MLFEATURE_TABLE',
        'name platform { name }',
        { name: 'users', platform: { name: 'feast' } }
      ],
      [
        'mlModel',
        'urn:li:mlModel:(urn:li:dataPlatform:mlflow,churn,PROD)',
        'MLMODEL',
        'name origin',
        { name: 'churn', origin: 'PROD' }
      ],
      [
        'mlModelGroup',
        'urn:li:mlModelGroup:(urn:li:dataPlatform:mlflow,models,PROD)',
        'MLMODEL_GROUP',
        'name origin',
        { name: 'models', origin: 'PROD' }
      ],
      [
        'dataProcessInstance',
        'urn:li:dataProcessInstance:run1',
        'DATA_PROCESS_INSTANCE',
        'name',
        { name: null }
      ],
      [
        'dataPlatform',
        'urn:li:dataPlatform:hive',
        'DATA_PLATFORM',
        'name properties { displayName }',
        { name: 'hive', properties: null }
      ],
      ['corpUser', 'urn:li:corpuser:jo', 'CORP_USER', 'username', { username: 'jo' }],
      ['corpGroup', 'urn:li:corpGroup:team', 'CORP_GROUP', 'name', { name: 'team' }],
      ['tag', 'urn:li:tag:pii', 'TAG', 'name properties { name }', { name: 'pii', properties: null }]
    ]
    await makeAssets(
      server,
      kinds.map(([, urn]) => toUrn(urn))
    )
    for (const [field, urn, type, fields, expected] of kinds) {
      const { data } = await read(
        `query ($urn: String!) { ${field}(urn: $urn) { urn type exists ${fields} } entity(urn: $urn) { __typename urn type } }`,
        { urn }
      )
      t.strictSame(data[field], { urn, type, exists: true, ...expected }, field)
      t.strictSame([data.entity.urn, data.entity.type], [urn, type])
    }
    const { data } = await read(
      'query ($urn: String!) { entity(urn: $urn) { __typename urn type exists } }',
      { urn: 'urn:li:tag:pii' }
    )
    t.strictSame(data.entity, { __typename: 'Tag', urn: 'urn:li:tag:pii', type: 'TAG', exists: true })
  })

  await t.test('jobs, charts, features and columns show their lineage and properties', async (t) => {
    const [job, chart, key] = [
      'urn:li:dataJob:(urn:li:dataFlow:(airflow,daily,PROD),load)',
      'urn:li:chart:(looker,orders)',
      'urn:li:mlPrimaryKey:(shop,order)'
    ]
    await makeAssets(
      server,
      [dataset('a'), dataset('b'), job].map((urn) => toUrn(urn))
    )
    await propose(job, 'dataJobInfo', { name: 'Load', type: { string: 'AIRFLOW' } })
    await propose(job, 'dataJobInputOutput', {
      inputDatasets: [dataset('a')],
      outputDatasets: [],
      outputDatasetEdges: [{ destinationUrn: dataset('b') }]
    })
    await propose(chart, 'chartInfo', {
      title: 'Orders by day',
      description: 'd',
      lastModified: {
        created: { time: 1, actor: 'urn:li:corpuser:jo' },
        lastModified: { time: 2, actor: 'urn:li:corpuser:jo' }
      }
    })
    await propose(key, 'mlPrimaryKeyProperties', {
      description: 'the order',
      dataType: 'ORDINAL',
      sources: [dataset('a')],
      version: { versionTag: '2' }
    })
    await propose(dataset('b'), 'upstreamLineage', {
      upstreams: [],
      fineGrainedLineages: [
        {
          upstreamType: 'FIELD_SET',
          upstreams: [`urn:li:schemaField:(${dataset('a')},x)`, dataset('a')],
          downstreamType: 'FIELD',
          downstreams: [`urn:li:schemaField:(${dataset('b')},y)`],
          transformOperation: 'sum'
        }
      ]
    })
    const { data } = await read(`{
      dataJob(urn: "${job}") { properties { name description } inputOutput { inputDatasets { urn exists } outputDatasets { urn } inputDatajobs { urn } } }
      chart(urn: "${chart}") { properties { name created { time } lastModified { time actor } } }
      mlPrimaryKey(urn: "${key}") { description dataType properties { version { versionTag } sources { name } } }
      dataset(urn: "${dataset('b')}") { fineGrainedLineages { upstreams { urn path } downstreams { urn path } transformOperation query } }
      entity(urn: "urn:li:schemaField:(${dataset('b')},y)") { type exists ... on SchemaFieldEntity { fieldPath parent { urn type } } }
    }`)
    t.strictSame(data, {
      dataJob: {
        properties: { name: 'Load', description: null },
        inputOutput: {
          inputDatasets: [{ urn: dataset('a'), exists: true }],
          outputDatasets: [{ urn: dataset('b') }],
          inputDatajobs: []
        }
      },
      chart: {
        properties: {
          name: 'Orders by day',
          created: { time: 1 },
          lastModified: { time: 2, actor: 'urn:li:corpuser:jo' }
        }
      },
      mlPrimaryKey: {
        description: 'the order',
        dataType: 'ORDINAL',
        properties: { version: { versionTag: '2' }, sources: [{ name: 'a' }] }
      },
      dataset: {
        fineGrainedLineages: [
          {
            upstreams: [{ urn: dataset('a'), path: 'x' }],
            downstreams: [{ urn: dataset('b'), path: 'y' }],
            transformOperation: 'sum',
            query: null
          }
        ]
      },
      entity: {
        type: 'SCHEMA_FIELD',
        exists: true,
        fieldPath: 'y',
        parent: { urn: dataset('b'), type: 'DATASET' }
      }
    })
  })

  await t.test('an entity of a type without fields of its own is read as such', async (t) => {
    await propose('urn:li:query:q1', 'queryProperties', {
      statement: { value: 'select 1', language: 'SQL' },
      source: 'MANUAL',
      created: { time: 0, actor: 'urn:li:corpuser:jo' },
      lastModified: { time: 0, actor: 'urn:li:corpuser:jo' }
    })
    await propose('urn:li:spaceship:x', 'status', { removed: false })
    const { data } = await read(
      '{ q: entity(urn: "urn:li:query:q1") { __typename type } s: entity(urn: "urn:li:spaceship:x") { __typename type exists } }'
    )
    t.strictSame(data, {
      q: { __typename: 'GenericEntity', type: 'QUERY' },
      s: { __typename: 'GenericEntity', type: 'OTHER', exists: true }
    })
  })

  await t.test(
    'an absent entity is null with NOT_FOUND naming it; a wrong kind and no URN are INVALID_URN',
    async (t) => {
      const absent = await read(`{ dataset(urn: "${dataset('nowhere')}") { urn } }`)
      t.strictSame(
        [absent.data, absent.reason, absent.error.extensions.urn, absent.error.extensions.code],
        [{ dataset: null }, 'NOT_FOUND', dataset('nowhere'), 404]
      )
      for (const field of ['dataset', 'dataJob', 'chart', 'domain', 'mlPrimaryKey']) {
        for (const urn of ['urn:li:dataFlow:(airflow,daily,PROD)', 'orders', '', 'urn:li:dataset:x']) {
          t.equal(
            (await read(`query ($urn: String!) { ${field}(urn: $urn) { urn } }`, { urn })).reason,
            'INVALID_URN',
            `${field} ${urn}`
          )
        }
      }
      t.equal(
        (await read(`{ entity(urn: "urn:li:schemaField:(${dataset('nowhere')},x)") { urn } }`)).reason,
        'NOT_FOUND',
        'a column of an absent asset'
      )
    }
  )

  await t.test('a placeholder is an object that does not exist, until it is described', async (t) => {
    const ghost = dataset('ghost')
    await makeAssets(server, [toUrn(dataset('haunted'))])
    await propose(
      dataset('haunted'),
      'upstreamLineage',
      { upstreams: [{ dataset: ghost, type: 'COPY' }] },
      { 'x-missing-references': 'create' }
    )
    const query = `{ dataset(urn: "${ghost}") { urn exists name domain { associatedUrn } properties { name } } entityExists(urn: "${ghost}") }`
    t.strictSame((await read(query)).data, {
      dataset: { urn: ghost, exists: false, name: 'ghost', domain: null, properties: null },
      entityExists: false
    })
    await propose(ghost, 'datasetProperties', { name: 'no ghost' })
    t.strictSame((await read(query)).data, {
      dataset: { urn: ghost, exists: true, name: 'ghost', domain: null, properties: { name: 'no ghost' } },
      entityExists: true
    })
  })

  await t.test('a deleted entity is absent, until something refers to its URN again', async (t) => {
    const gone = toUrn(dataset('gone'))
    await makeAssets(server, [gone, toUrn(dataset('kept')), toUrn(dataset('later'))])
    await server.graphql('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', {
      input: { edgesToAdd: [{ upstreamUrn: gone, downstreamUrn: dataset('kept') }] }
    })
    const start = `{ scrollAcrossLineage(input: { urn: "${dataset('kept')}", direction: UPSTREAM }) { total } }`
    t.equal((await read(start)).data.scrollAcrossLineage.total, 1)
    await apply(server.db, { kind: 'deleteEntity', entityUrn: gone, hard: true })
    t.equal((await read(start)).data.scrollAcrossLineage.total, 0)
    t.strictSame(
      [
        (await read(`{ dataset(urn: "${gone}") { urn } }`)).reason,
        (await read(`{ scrollAcrossLineage(input: { urn: "${gone}" }) { total } }`)).reason
      ],
      ['NOT_FOUND', 'NOT_FOUND']
    )
    t.strictSame(
      (await read(`{ entities(urns: ["${gone}"], checkForExistence: true) { urn } }`)).data.entities,
      [null]
    )
    await propose(
      dataset('later'),
      'upstreamLineage',
      { upstreams: [{ dataset: gone, type: 'COPY' }] },
      { 'x-missing-references': 'create' }
    )
    t.strictSame((await read(`{ dataset(urn: "${gone}") { urn exists } }`)).data.dataset, {
      urn: gone,
      exists: false
    })
  })

  await t.test('entityExists answers for what is there, what is not, and columns', async (t) => {
    const exists = async (urn: string) =>
      (await read('query ($urn: String!) { entityExists(urn: $urn) }', { urn })).data.entityExists
    t.strictSame(
      [
        await exists(orders),
        await exists(dataset('nowhere')),
        await exists(`urn:li:schemaField:(${orders},any)`),
        await exists(`urn:li:schemaField:(${dataset('nowhere')},any)`)
      ],
      [true, false, true, false]
    )
  })

  await t.test('entities come in the order asked for, absent ones as asked', async (t) => {
    const urns = [dataset('nowhere'), orders, 'urn:li:tag:pii', orders]
    const list = async (more: JsonObject) =>
      (
        await read(
          'query ($urns: [String!]!, $checkForExistence: Boolean) { entities(urns: $urns, checkForExistence: $checkForExistence) { urn exists } }',
          { urns, ...more }
        )
      ).data.entities
    t.strictSame(await list({}), [
      { urn: urns[0], exists: false },
      { urn: orders, exists: true },
      { urn: urns[2], exists: true },
      { urn: orders, exists: true }
    ])
    t.strictSame((await list({ checkForExistence: true }))[0], null)
    t.equal((await read('{ entities(urns: ["x"]) { urn } }')).error.extensions.field, 'urns[0]')
  })

  await t.test('lists within lists end before they fill the memory', async (t) => {
    const domain = await createDomain({ name: 'Wide' })
    const urns = Array.from({ length: 80 }, (_, index) => toUrn(dataset(`wide${index}`)))
    await makeAssets(server, urns)
    for (const urn of urns) await setDomain(urn, domain)
    const nested = (levels: number): string =>
      levels === 0
        ? 'urn'
        : `urn ... on Dataset { domain { domain { entities(input: { count: 80 }) { searchResults { entity { ${nested(levels - 1)} } } } } } }`
    t.equal((await read(`{ entity(urn: "${urns[0]}") { ${nested(2)} } }`)).reason, undefined, '80 x 80')
    const { error } = await read(`{ entity(urn: "${urns[0]}") { ${nested(3)} } }`)
    t.strictSame(
      [error.extensions.reason, error.extensions.limit],
      ['QUERY_TOO_COMPLEX', 'graphqlMaxReads'],
      '80 x 80 x 80'
    )
  })

  await t.test('many entities are read with as many statements as one', async (t) => {
    const urns = Array.from({ length: 60 }, (_, index) => dataset(`many${index}`))
    const domain = await createDomain({ name: 'Many' })
    for (const urn of urns) await propose(urn, 'datasetProperties', { name: `Many ${urn}` })
    for (const urn of urns) await setDomain(urn, domain)
    const statements = async (asked: string[]): Promise<number> => {
      let count = 0
      // The query for the caller's token is cached for a second, so it may or may not be counted.
      const counted = ({ sql }: { sql: string }) => {
        if (!sql.includes('access_token')) count += 1
      }
      server.db.on('query', counted)
      const { data } = await read(
        'query ($urns: [String!]!) { entities(urns: $urns) { urn exists ... on Dataset { status { removed } properties { name } domain { domain { properties { name } parentDomains { count } entities(input: { count: 1 }) { total } } } } } }',
        { urns: asked }
      )
      server.db.removeListener('query', counted)
      t.ok(
        data.entities.every(
          (entity: { domain: { domain: { entities: { total: number } } } }) =>
            entity.domain.domain.entities.total === 60
        )
      )
      return count
    }
    t.equal(await statements(urns), await statements(urns.slice(0, 1)))
  })
})

t.test('a cycle in what is stored ends every read', async (t) => {
  // Rows that are inserted without the change log are not in the graph in memory.
  const server = await withServer(t, { memory: false })
  const { read, createDomain, setDomain } = clientOf(server)
  const [one, two] = [
    await createDomain({ id: 'c-one', name: 'C one' }),
    await createDomain({ id: 'c-two', name: 'C two' })
  ]
  // No interface creates such a row, so it is inserted directly.
  await server.db.raw(
    'update domain set parent_id = (select id from entity where urn = ?) where entity_id = (select id from entity where urn = ?)',
    [one, two]
  )
  await server.db.raw(
    'update domain set parent_id = (select id from entity where urn = ?) where entity_id = (select id from entity where urn = ?)',
    [two, one]
  )
  await makeAssets(server, [toUrn(dataset('up')), toUrn(dataset('in_cycle'))])
  await setDomain(dataset('in_cycle'), two)
  await server.graphql('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', {
    input: { edgesToAdd: [{ upstreamUrn: dataset('up'), downstreamUrn: dataset('in_cycle') }] }
  })
  t.strictSame(
    (await read(`{ domain(urn: "${one}") { parentDomains { domains { urn } } } }`)).data.domain.parentDomains
      .domains,
    [{ urn: two }]
  )
  for (const condition of ['DESCENDANTS_INCL', 'ANCESTORS_INCL', 'RELATED_INCL']) {
    const input = {
      urn: dataset('up'),
      orFilters: [{ and: [{ field: 'domains', condition, values: [one] }] }]
    }
    t.equal(
      (
        await read(
          'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { total } }',
          { input }
        )
      ).data.scrollAcrossLineage.total,
      1,
      condition
    )
  }
  await server.db.raw(
    'update domain set parent_id = entity_id where entity_id = (select id from entity where urn = ?)',
    [one]
  )
  t.strictSame(
    (await read(`{ domain(urn: "${one}") { parentDomains { count } } }`)).data.domain.parentDomains.count,
    0,
    'its own parent'
  )
  await server.db.raw(
    'update domain set parent_id = null where entity_id in (select id from entity where urn in (?, ?))',
    [one, two]
  )
})

t.test('domains', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const { read, propose, createDomain, setDomain } = clientOf(server)

  await t.test('parentDomains are nearest first, for any depth', async (t) => {
    const top = await createDomain({ id: 'p-top', name: 'P top' })
    const middle = await createDomain({ id: 'p-middle', name: 'P middle', parentDomain: top })
    const below = await createDomain({
      id: 'p-below',
      name: 'P below',
      parentDomain: middle,
      description: 'the last'
    })
    const { data } = await read(
      `{ domain(urn: "${below}") { urn type id exists properties { name description createdOn { actor { username } } customProperties { key } } parentDomains { count domains { urn type ... on Domain { properties { name } parentDomains { count } } } } } }`
    )
    t.strictSame(data.domain, {
      urn: below,
      type: 'DOMAIN',
      id: 'p-below',
      exists: true,
      properties: {
        name: 'P below',
        description: 'the last',
        createdOn: { actor: { username: 'test-admin' } },
        customProperties: []
      },
      parentDomains: {
        count: 2,
        domains: [
          { urn: middle, type: 'DOMAIN', properties: { name: 'P middle' }, parentDomains: { count: 1 } },
          { urn: top, type: 'DOMAIN', properties: { name: 'P top' }, parentDomains: { count: 0 } }
        ]
      }
    })
  })

  await t.test('a level lists its own domains only, newest first, a page at a time', async (t) => {
    const parent = await createDomain({ id: 'l-parent', name: 'L parent' })
    const urns: string[] = []
    for (const name of ['L one', 'L two', 'L three'])
      urns.unshift(await createDomain({ name, parentDomain: parent, description: `number ${name}` }))
    await createDomain({ name: 'L below', parentDomain: urns[0] ?? '' })
    const list = async (input: JsonObject) =>
      (
        await read(
          'query ($input: ListDomainsInput!) { listDomains(input: $input) { start count total domains { urn } } }',
          { input }
        )
      ).data.listDomains
    t.strictSame(await list({ parentDomain: parent }), {
      start: 0,
      count: 3,
      total: 3,
      domains: urns.map((urn) => ({ urn }))
    })
    t.strictSame(await list({ parentDomain: parent, start: 1, count: 1 }), {
      start: 1,
      count: 1,
      total: 3,
      domains: [{ urn: urns[1] }]
    })
    t.strictSame((await list({ parentDomain: parent, query: 'TWO' })).domains, [{ urn: urns[1] }])
    const roots: { domains: { urn: string }[]; total: number } = await list({ count: 100 })
    t.ok(roots.domains.some(({ urn }) => urn === parent))
    t.notOk(
      roots.domains.some(({ urn }) => urns.includes(urn)),
      'no children among the top-level domains'
    )
    const failing = async (input: JsonObject) =>
      (await read('query ($input: ListDomainsInput!) { listDomains(input: $input) { total } }', { input }))
        .reason
    t.strictSame(
      [
        await failing({ parentDomain: 'urn:li:domain:nowhere' }),
        await failing({ parentDomain: dataset('a') }),
        await failing({ count: -1 }),
        await failing({ count: 10_001 }),
        await failing({ start: -1 })
      ],
      ['NOT_FOUND', 'INVALID_URN', 'BAD_REQUEST', 'LIMIT_EXCEEDED', 'BAD_REQUEST']
    )
  })

  await t.test(
    'entities with descendants lists those of all domains below, each once, and total counts them',
    async (t) => {
      const top = await createDomain({ id: 'd-top', name: 'D top' })
      const middle = await createDomain({ id: 'd-middle', name: 'D middle', parentDomain: top })
      const low = await createDomain({ id: 'd-low', name: 'D low', parentDomain: middle })
      const empty = await createDomain({ id: 'd-empty', name: 'D empty', parentDomain: top })
      const places = { [top]: 3, [middle]: 4, [low]: 5 }
      const records = Object.entries(places).flatMap(([domainUrn, count]) =>
        Array.from({ length: count }, (_, index) => dataset(`${domainUrn.slice(-5)}${index}`)).flatMap(
          (urn) => [
            { op: 'upsertEntity', urn, name: 'thing' },
            { op: 'setDomain', entityUrn: urn, domainUrn }
          ]
        )
      )
      await loadLines(server, records)
      await propose(dataset('d-low0'), 'status', { removed: true })
      const of = async (urn: string, input: JsonObject) =>
        (
          await read(
            'query ($urn: String!, $input: DomainEntitiesInput) { domain(urn: $urn) { childCount entities(input: $input) { total searchResults { entity { urn } } } } }',
            { urn, input: { count: 100, ...input } }
          )
        ).data.domain
      for (const [urn, direct, whole, childCount] of [
        [top, 3, 11, 2],
        [middle, 4, 8, 1],
        [low, 4, 4, 0],
        [empty, 0, 0, 0]
      ] as const) {
        const all = await of(urn, { includeDescendants: true })
        t.strictSame(
          [all.childCount, (await of(urn, {})).entities.total, all.entities.total],
          [childCount, direct, whole]
        )
        t.equal(
          new Set(all.entities.searchResults.map((each: { entity: { urn: string } }) => each.entity.urn))
            .size,
          whole
        )
        t.equal((await of(urn, { includeDescendants: true, count: 0 })).entities.total, whole)
        t.equal((await of(urn, { includeDescendants: true, query: 'thing', count: 2 })).entities.total, whole)
      }
      const both = await read(
        'query ($urns: [String!]!) { entities(urns: $urns) { ... on Domain { entities(input: { includeDescendants: true, count: 20, query: "thing" }) { total } } } }',
        { urns: [top, low, middle] }
      )
      t.strictSame(
        both.data.entities.map(({ entities }: { entities: { total: number } }) => entities.total),
        [11, 4, 8],
        'domains inside each other, read together'
      )
      await propose(empty, 'status', { removed: true })
      t.equal((await of(top, {})).childCount, 1, 'as many as a level lists')
    }
  )

  await t.test('entities lists the direct members, filtered and paged', async (t) => {
    const domain = await createDomain({ id: 'm-top', name: 'M top' })
    const below = await createDomain({ id: 'm-below', name: 'M below', parentDomain: domain })
    await loadLines(server, [
      ...Array.from({ length: 30 }, (_, index) => ({
        op: 'upsertEntity',
        urn: dataset(`m${index}`),
        name: index % 2 === 0 ? 'even' : 'odd'
      })),
      ...Array.from({ length: 30 }, (_, index) => ({
        op: 'setDomain',
        entityUrn: dataset(`m${index}`),
        domainUrn: index < 25 ? domain : below
      }))
    ])
    await propose(dataset('m0'), 'status', { removed: true })
    const members = async (input: JsonObject) =>
      (
        await read(
          'query ($urn: String!, $input: DomainEntitiesInput) { domain(urn: $urn) { entities(input: $input) { start count total searchResults { entity { urn } matchedFields { name value } } } } }',
          { urn: domain, input }
        )
      ).data.domain.entities
    t.strictSame(
      [(await members({})).count, (await members({})).total],
      [20, 24],
      'without the soft-deleted one'
    )
    t.strictSame([(await members({ start: 20 })).count, (await members({ start: 20 })).total], [4, 24])
    const pages = [
      ...(await members({ count: 15 })).searchResults,
      ...(await members({ start: 15, count: 15 })).searchResults
    ]
    t.equal(new Set(pages.map((result: { entity: { urn: string } }) => result.entity.urn)).size, 24)
    const even = await members({ query: 'EVEN', count: 2 })
    t.strictSame(
      [even.count, even.total, even.searchResults[0].matchedFields],
      [2, 12, [{ name: 'name', value: 'even' }]]
    )
    t.equal(
      (
        await members({
          filters: [
            { field: 'name', values: ['odd'] },
            { field: 'platform', values: ['hive'] }
          ]
        })
      ).total,
      12
    )
    t.equal((await members({ filters: [{ field: 'removed', values: ['true'] }] })).total, 1)
  })

  await t.test(
    'an asset shows its domain by name, and none after it is taken out or the domain is deleted',
    async (t) => {
      const domain = await createDomain({ name: 'A name' })
      await makeAssets(server, [toUrn(dataset('housed'))])
      const query = `{ dataset(urn: "${dataset('housed')}") { domain { associatedUrn domain { urn type properties { name } } } } }`
      await setDomain(dataset('housed'), domain)
      t.strictSame((await read(query)).data.dataset.domain, {
        associatedUrn: dataset('housed'),
        domain: { urn: domain, type: 'DOMAIN', properties: { name: 'A name' } }
      })
      await server.graphql('mutation ($urn: String!) { deleteDomain(urn: $urn) }', { urn: domain })
      t.equal((await read(query)).data.dataset.domain, null)
      t.equal((await read(`{ domain(urn: "${domain}") { urn } }`)).reason, 'NOT_FOUND')
    }
  )

  await t.test('owners are users and groups', async (t) => {
    const domain = await createDomain({
      name: 'Owned',
      owners: [
        { ownerUrn: 'urn:li:corpuser:jo', ownerEntityType: 'CORP_USER', type: 'TECHNICAL_OWNER' },
        { ownerUrn: 'urn:li:corpGroup:team', ownerEntityType: 'CORP_GROUP' }
      ]
    })
    const { data } = await read(
      `{ domain(urn: "${domain}") { ownership { owners { type associatedUrn owner { __typename ... on CorpUser { username } ... on CorpGroup { name } } } } } }`
    )
    t.strictSame(data.domain.ownership.owners, [
      { type: 'TECHNICAL_OWNER', associatedUrn: domain, owner: { __typename: 'CorpUser', username: 'jo' } },
      { type: 'NONE', associatedUrn: domain, owner: { __typename: 'CorpGroup', name: 'team' } }
    ])
  })
})

onBothEngines('one hop of lineage', async (t, server) => {
  const { read, propose } = clientOf(server)
  const urn = (name: string) => urnOfName(name, 'hop')
  await doors[0]?.write(
    server,
    urnEdges(edgesOf('a -> b -> c; a -> job:x -> b; b -> chart:y -> dash:z; b -> b; b#p -> c#q'), 'hop')
  )
  const lineage = async (name: string, input: JsonObject) =>
    (
      await read(
        'query ($urn: String!, $input: LineageInput!) { entity(urn: $urn) { ... on EntityWithRelationships { lineage(input: $input) { start count total filtered relationships { type degree isManual createdOn createdActor { urn } updatedOn updatedActor { urn } entity { urn } } } } } }',
        { urn: urn(name), input }
      )
    ).data.entity.lineage
  const named = (result: { relationships: { type: string; entity: { urn: string } }[] }): string[] =>
    result.relationships.map(({ type, entity }) => `${type} ${entity.urn}`).sort()

  await t.test('names the relationship, both ways, without the entity itself', async (t) => {
    t.strictSame(
      named(await lineage('b', { direction: 'UPSTREAM' })),
      [`DownstreamOf ${urn('a')}`, `Produces ${urn('job:x')}`].sort()
    )
    t.strictSame(
      named(await lineage('b', { direction: 'DOWNSTREAM' })),
      [`Consumes ${urn('chart:y')}`, `DownstreamOf ${urn('c')}`].sort()
    )
    t.strictSame(named(await lineage('dash:z', { direction: 'UPSTREAM' })), [`Contains ${urn('chart:y')}`])
    t.strictSame(
      named(await lineage('b#p', { direction: 'DOWNSTREAM' })),
      [`DownstreamOf ${urn('c#q')}`],
      'columns from a column'
    )
  })

  await t.test('says when and by whom the edge was stated', async (t) => {
    const [manual] = (await lineage('c', { direction: 'UPSTREAM' })).relationships
    t.strictSame([manual.degree, manual.isManual, manual.createdOn, manual.updatedOn], [1, true, null, null])
    await propose(urn('c'), 'upstreamLineage', {
      upstreams: [
        {
          dataset: urn('a'),
          type: 'COPY',
          auditStamp: { time: 7, actor: 'urn:li:corpuser:jo' },
          created: { time: 5, actor: 'urn:li:corpuser:kim' }
        },
        { dataset: urn('b'), type: 'COPY' }
      ]
    })
    const relationships: {
      entity: { urn: string }
      isManual: boolean
      createdOn: number
      createdActor: { urn: string } | null
      updatedOn: number
      updatedActor: { urn: string } | null
    }[] = (await lineage('c', { direction: 'UPSTREAM' })).relationships
    const proposed = relationships.find(({ entity }) => entity.urn === urn('a'))
    t.strictSame(
      [
        proposed?.isManual,
        proposed?.createdOn,
        proposed?.createdActor,
        proposed?.updatedOn,
        proposed?.updatedActor
      ],
      [false, 5, { urn: 'urn:li:corpuser:kim' }, 7, { urn: 'urn:li:corpuser:jo' }]
    )
  })

  await t.test('has an entity once for each relationship to it', async (t) => {
    const [model, run] = [urn('model:m'), 'urn:li:dataProcessInstance:hop']
    await propose(run, 'dataProcessInstanceProperties', {
      name: 'hop',
      created: { time: 0, actor: 'urn:li:corpuser:jo' }
    })
    await propose(model, 'mlModelProperties', { trainingJobs: [run] })
    await propose(run, 'dataProcessInstanceOutput', { outputs: [], outputEdges: [{ destinationUrn: model }] })
    const found = await lineage('model:m', { direction: 'UPSTREAM', includeGhostEntities: true })
    t.strictSame([found.total, named(found)], [2, [`DataProcessInstanceProduces ${run}`, `TrainedBy ${run}`]])
  })

  await t.test(
    "leads to every neighbour that DataHub's model calls lineage, from every aspect that may state it",
    async (t) => {
      for (const { aspectName, listName, shape, entryIs, entryTypes } of lineageFields) {
        if (shape === 'columns' || shape === 'inputField') continue
        for (const ownerType of typesOfAspect(aspectName)) {
          for (const entryType of entryTypes) {
            const [owner, other] = [
              madeUrn(ownerType, `${listName}-to-${entryType}`),
              madeUrn(entryType, `${ownerType}-${aspectName}-${listName}`)
            ]
            const value = { ...requiredBeside[aspectName], [listName]: linkIn(shape, other) }
            for (const each of [owner, other]) await propose(each, 'status', { removed: false })
            await propose(owner, aspectName, value)
            const input = {
              urn: owner,
              direction: entryIs === 'upstream' ? 'UPSTREAM' : 'DOWNSTREAM',
              query: '*'
            }
            const { data } = await read(
              'query ($input: SearchAcrossLineageInput!) { searchAcrossLineage(input: $input) { searchResults { degree entity { urn } } } }',
              { input }
            )
            t.strictSame(
              data.searchAcrossLineage.searchResults,
              [{ degree: 1, entity: { urn: other } }],
              `${ownerType}.${aspectName}.${listName} to ${entryType}`
            )
            const answer = await server.rest({
              url: `/aspects/${encodeURIComponent(owner)}?aspect=${aspectName}`
            })
            t.strictSame(
              Object.values<JsonObject>(answer.body.aspect)[0]?.[listName],
              value[listName],
              `${aspectName}.${listName} is read back`
            )
          }
        }
      }
    }
  )

  await t.test('counts what it leaves out, and shows it when asked', async (t) => {
    await propose(urn('c'), 'status', { removed: true })
    const plain = await lineage('b', { direction: 'DOWNSTREAM' })
    t.strictSame([plain.total, plain.filtered, plain.count], [1, 1, 1])
    const all = await lineage('b', { direction: 'DOWNSTREAM', includeGhostEntities: true, count: 1 })
    t.strictSame([all.total, all.filtered, all.count], [2, 0, 1])
  })
})

t.test('the interface', async (t) => {
  await t.test('describes every type, field, value and input', async (t) => {
    const schema = buildSchema(readFileSync(packagePath('api/graphql/schema.graphql'), 'utf8'))
    const builtIn = new Set(['String', 'Int', 'Float', 'Boolean', 'ID'])
    const undescribed = Object.values(schema.getTypeMap())
      .filter(({ name }) => !name.startsWith('__') && !builtIn.has(name))
      .flatMap((type) => {
        const parts: { name: string; description?: string | null | undefined }[] = isEnumType(type)
          ? [...type.getValues()]
          : isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
            ? Object.values(type.getFields())
            : []
        return [
          ...(type.description ? [] : [type.name]),
          ...parts.filter((part) => !part.description).map((part) => `${type.name}.${part.name}`)
        ]
      })
    t.strictSame(undescribed, [])
  })

  await t.test('answers what the lineage client of DataHub asks', async (t) => {
    const server = await withServer(t)
    await doors[0]?.write(server, urnEdges(edgesOf('a -> job:x -> b'), 'sdk'))
    const query = `query scrollAcrossLineage($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { nextScrollId searchResults { degree entity { urn type
      ... on Dataset { name platform { name } properties { description } }
      ... on DataJob { jobId dataPlatformInstance { platform { name } } properties { name description } } }
      paths { path { urn type } } } } }`
    const removed = { field: 'removed', condition: 'EQUAL', values: ['true'], negated: true }
    const input = {
      query: '*',
      urn: urnOfName('a', 'sdk'),
      count: 500,
      direction: 'DOWNSTREAM',
      orFilters: [{ and: [{ field: 'degree', condition: 'EQUAL', values: ['1', '2', '3+'] }, removed] }]
    }
    const { body } = await server.graphql(query, { input })
    const [a, x, b] = ['a', 'job:x', 'b'].map((name): JsonObject => ({
      urn: urnOfName(name, 'sdk'),
      type: name === 'job:x' ? 'DATA_JOB' : 'DATASET'
    }))
    t.strictSame(body.data.scrollAcrossLineage, {
      nextScrollId: null,
      searchResults: [
        {
          degree: 1,
          entity: {
            ...x,
            jobId: 'x',
            dataPlatformInstance: { platform: { name: 'airflow' } },
            properties: null
          },
          paths: [{ path: [a, x] }]
        },
        {
          degree: 2,
          entity: { ...b, name: 'sdk.b', platform: { name: 'hive' }, properties: null },
          paths: [{ path: [a, x, b] }]
        }
      ]
    })
  })
})
