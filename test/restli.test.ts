/**
 * RestLi as DataHub's clients use it, besides proposals: whole entities, legacy snapshots, deletion, lists,
 * events, operations.
 */
import t from 'tap'
import { limits } from '../shared/limits.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { inDomain } from './support/changes.ts'
import { endedOrBlocked } from './support/paused-tx.ts'
import { withServer } from './support/server.ts'

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const upstreamOf = (...names: string[]) => ({
  upstreams: names.map((name) => ({ dataset: dataset(name), type: 'TRANSFORMED' }))
})

t.test('RestLi', async (t) => {
  const { rest, graphql, tokenWith, url, db } = await withServer(t, { env: { MISSING_REFERENCES: 'create' } })

  const call = (root: string, action: string, body: unknown, more: { token?: string | null } = {}) =>
    rest({ method: 'POST', url: `/${root}?action=${action}`, body, ...more })
  const put = async (entityUrn: string, aspectName: string, json: JsonObject, more: JsonObject = {}) => {
    const proposal = {
      entityType: entityUrn.split(':')[2] ?? '',
      entityUrn,
      changeType: 'UPSERT',
      aspectName,
      aspect: { json },
      ...more
    }
    t.match(await call('aspects', 'ingestProposal', { proposal }), { status: 200 })
  }
  const aspect = (urn: string, name: string) =>
    rest({ url: `/aspects/${encodeURIComponent(urn)}?aspect=${name}` })
  const whole = (urn: string, query = '') => rest({ url: `/entitiesV2/${encodeURIComponent(urn)}${query}` })

  t.test('a whole entity has each aspect with its name, type, version, value and author', async (t) => {
    await put(
      dataset('whole'),
      'datasetProperties',
      { name: 'whole' },
      { systemMetadata: { runId: 'run-1', lastObserved: 5 } }
    )
    await put(
      dataset('whole'),
      'datasetProperties',
      { name: 'whole again' },
      { systemMetadata: { runId: 'run-2', lastObserved: 6 } }
    )
    await put(dataset('whole'), 'upstreamLineage', upstreamOf('source'))
    await put(dataset('whole'), 'datasetProfile', { timestampMillis: 1, rowCount: 3 })
    const { status, body } = await whole(dataset('whole'))
    t.equal(status, 200)
    t.match(body, { entityName: 'dataset', urn: dataset('whole') })
    t.same(
      Object.keys(body.aspects).sort(),
      ['datasetKey', 'datasetProperties', 'upstreamLineage'],
      'events in time are no versioned aspects'
    )
    t.match(body.aspects.datasetProperties, {
      name: 'datasetProperties',
      type: 'VERSIONED',
      version: 0,
      value: { name: 'whole again' },
      created: { actor: /^urn:li:corpuser:/ },
      systemMetadata: { runId: 'run-2', version: '2' }
    })
    t.type(body.aspects.datasetProperties.created.time, 'number')
    t.same(
      body.aspects.upstreamLineage.value.upstreams.map((each: JsonObject) => each.dataset),
      [dataset('source')]
    )
  })

  t.test('a whole entity is read as a snapshot too, the older form', async (t) => {
    const snapshot = async (urn: string, query = '') =>
      (await rest({ url: `/entities/${encodeURIComponent(urn)}${query}` })).body
    const { value } = await snapshot(dataset('whole'))
    t.same(Object.keys(value), ['com.linkedin.metadata.snapshot.DatasetSnapshot'])
    const { urn, aspects } = value['com.linkedin.metadata.snapshot.DatasetSnapshot']
    t.equal(urn, dataset('whole'))
    t.match(aspects, [
      { 'com.linkedin.metadata.key.DatasetKey': { name: 'whole' } },
      { 'com.linkedin.dataset.DatasetProperties': { name: 'whole again' } },
      { 'com.linkedin.dataset.UpstreamLineage': { upstreams: [{ dataset: dataset('source') }] } }
    ])
    t.equal(aspects.length, 3)
    t.same(
      await snapshot('urn:li:mlModel:(urn:li:dataPlatform:mlflow,never,PROD)', '?aspects=List(status)'),
      {
        value: {
          'com.linkedin.metadata.snapshot.MLModelSnapshot': {
            urn: 'urn:li:mlModel:(urn:li:dataPlatform:mlflow,never,PROD)',
            aspects: [
              {
                'com.linkedin.metadata.key.MLModelKey': {
                  platform: 'urn:li:dataPlatform:mlflow',
                  name: 'never',
                  origin: 'PROD'
                }
              }
            ]
          }
        }
      }
    )
    t.match(await snapshot('urn:li:dataset:nonsense'), { status: 400, code: 'INVALID_URN' })
    t.equal(
      (await rest({ url: `/entities/${encodeURIComponent(dataset('whole'))}`, token: null })).status,
      401
    )
  })

  t.test('a missing part of DataHub is named by its path or its field', async (t) => {
    const path = `/openapi/v2/timeline/v1/${encodeURIComponent(dataset('whole'))}`
    t.match(await rest({ url: `${path}?categories=TAG` }), {
      status: 404,
      body: { code: 'NOT_FOUND', message: `No such route: GET ${path.slice(0, 200)}` }
    })
    t.match((await rest({ method: 'POST', url: '/openapi/v2/entity/batch/dataset', body: {} })).status, 404)
    const { body } = await graphql(
      'query ($urn: String!) { dataset(urn: $urn) { usageStats { buckets { bucket } } } }',
      { urn: dataset('whole') }
    )
    t.match(body.errors, [
      { message: 'Cannot query field "usageStats" on type "Dataset".', extensions: { code: 400 } }
    ])
  })

  t.test(
    'the URN of one proposal may be escaped twice, as the emitter does; URNs of a batch are read unchanged',
    async (t) => {
      await put(dataset('Gr\\u00f6\\u00dfe'), 'status', { removed: false })
      t.match(await aspect(dataset('Größe'), 'status'), { status: 200 })
      await put(dataset('C:\\\\u0041'), 'status', { removed: false })
      t.match(
        await aspect(dataset('C:\\\\u0041'), 'status'),
        { status: 200 },
        'what is in ASCII is no escape'
      )
      const proposal = {
        entityType: 'dataset',
        entityUrn: dataset('kept \\u00f6'),
        changeType: 'UPSERT',
        aspectName: 'status',
        aspect: { json: { removed: false } }
      }
      t.match(await call('aspects', 'ingestProposalBatch', { proposals: [proposal] }), { status: 200 })
      t.match(await aspect(dataset('kept \\u00f6'), 'status'), { status: 200 })
    }
  )

  t.test('an entity that nobody has written is answered with its key aspect only', async (t) => {
    t.match(await whole(dataset('never')), {
      status: 200,
      body: {
        aspects: {
          datasetKey: { value: { platform: 'urn:li:dataPlatform:hive', name: 'never', origin: 'PROD' } }
        }
      }
    })
    t.equal(
      (await aspect(dataset('never'), 'datasetKey')).status,
      404,
      'and does not exist by being asked for'
    )
    t.same(Object.keys((await whole('urn:li:ownType:1')).body.aspects), ['ownTypeKey'])
    t.match(await whole('urn:li:dataset:nonsense'), { status: 400, body: { code: 'INVALID_URN' } })
  })

  t.test('aspects are chosen by a RestLi list, encoded or not', async (t) => {
    const names = async (query: string) =>
      Object.keys((await whole(dataset('whole'), query)).body.aspects ?? {}).sort()
    for (const query of [
      '?aspects=List(datasetProperties,domains)',
      '?aspects=List%28datasetProperties%2Cdomains%29',
      '?aspects=List(datasetProperties%2Cdomains)',
      '?aspects=List(datasetProperties)&other=1',
      '?aspects=datasetProperties',
      '?aspects=domains&aspects=datasetProperties'
    ]) {
      t.same(await names(query), ['datasetKey', 'datasetProperties'], query)
    }
    t.same(await names('?aspects=List()'), ['datasetKey'])
    t.match(await whole(dataset('whole'), '?aspects=List(datasetProperties'), {
      status: 400,
      body: { code: 'BAD_REQUEST', field: 'aspects' }
    })
    t.match(await whole(dataset('whole'), '?aspects=List(%zz)'), { status: 400 })
  })

  t.test('URNs are read raw and encoded, alone and in lists', async (t) => {
    const odd = dataset('odd%2Cname/with é')
    await put(odd, 'status', { removed: false })
    t.match((await whole(odd)).body, { urn: odd, aspects: { status: { value: { removed: false } } } })
    const raw = await fetch(`${url}/entitiesV2/${dataset('whole')}`, {
      headers: { authorization: `Bearer ${await tokenWith(['read'])}` }
    })
    t.match(await raw.json(), { urn: dataset('whole'), aspects: { datasetProperties: {} } })
    const [a, b] = [dataset('whole'), odd]
    const lists = [
      `ids=List(${encodeURIComponent(a)},${encodeURIComponent(b)})`,
      `ids=${encodeURIComponent(`List(${encodeURIComponent(a)},${encodeURIComponent(b)})`)}`,
      `ids=List(${a},${encodeURIComponent(b)})`,
      `ids=${encodeURIComponent(`List(${a},${b})`)}`
    ]
    for (const list of lists) {
      const { status, body } = await rest({ url: `/entitiesV2?${list}&aspects=List(status)` })
      t.equal(status, 200, list)
      t.same(Object.keys(body.results).sort(), [a, b].sort(), list)
      t.same(body.errors, {})
    }
    t.match(await rest({ url: '/entitiesV2' }), { status: 400, body: { field: 'ids' } })
    t.match(await rest({ url: `/entitiesV2?ids=List(${encodeURIComponent(a)},rubbish)` }), {
      status: 400,
      body: { code: 'INVALID_URN', field: 'ids[1]' }
    })
  })

  t.test('a legacy snapshot writes its aspects, alone and in a batch, all or nothing', async (t) => {
    const snapshot = (name: string, ...aspects: JsonObject[]) => ({
      value: { 'com.linkedin.metadata.snapshot.DatasetSnapshot': { urn: dataset(name), aspects } }
    })
    const properties = (description: string) => ({
      'com.linkedin.dataset.DatasetProperties': { description }
    })
    const answer = await call('entities', 'ingest', {
      entity: snapshot('legacy', properties('old way'), {
        'com.linkedin.dataset.UpstreamLineage': upstreamOf('whole')
      }),
      systemMetadata: { runId: 'r', lastObserved: 1 }
    })
    t.same([answer.status, answer.text], [200, ''])
    t.match((await whole(dataset('legacy'))).body.aspects, {
      datasetProperties: { value: { description: 'old way' }, systemMetadata: { runId: 'r' } },
      upstreamLineage: {}
    })
    t.equal(
      (
        await call('entities', 'batchIngest', {
          entities: [snapshot('legacy1', properties('1')), snapshot('legacy2', properties('2'))]
        })
      ).status,
      200
    )
    t.match(
      (await aspect(dataset('legacy2'), 'datasetProperties')).body.aspect[
        'com.linkedin.dataset.DatasetProperties'
      ],
      { description: '2' }
    )
    const bad = await call('entities', 'batchIngest', {
      entities: [
        snapshot('legacy3', properties('3')),
        snapshot('legacy4', { 'com.linkedin.dataset.UpstreamLineage': {} })
      ]
    })
    t.match(bad, {
      status: 422,
      headers: { 'x-restli-error-response': 'true' },
      body: { message: /UpstreamLineage/ }
    })
    t.equal((await aspect(dataset('legacy3'), 'datasetKey')).status, 404)
    for (const body of [
      {},
      { entity: {} },
      { entity: { value: {} } },
      { entity: { value: { a: { urn: 'x' } } } }
    ]) {
      t.match(
        await call('entities', 'ingest', body),
        { status: 400, body: { field: /^entity\.value/ } },
        JSON.stringify(body)
      )
    }
  })

  t.test('a hard deletion deletes the entity and says how much was deleted', async (t) => {
    await put(dataset('gone'), 'datasetProperties', { name: 'gone' })
    await put(dataset('gone'), 'upstreamLineage', upstreamOf('whole'))
    await put(dataset('gone'), 'datasetProfile', { timestampMillis: 1, rowCount: 3 })
    t.same((await call('entities', 'delete', { urn: dataset('gone') })).body, {
      value: { urn: dataset('gone'), rows: 3, timeseriesRows: 1 }
    })
    t.equal((await aspect(dataset('gone'), 'datasetKey')).status, 404)
    t.match(await graphql('query ($urn: String!) { entityExists(urn: $urn) }', { urn: dataset('gone') }), {
      body: { data: { entityExists: false } }
    })
    t.same(
      (await call('entities', 'delete', { urn: dataset('gone') })).body.value,
      { urn: dataset('gone'), rows: 0, timeseriesRows: 0 },
      'what is not there counts as nothing'
    )
    t.match(await call('entities', 'delete', { urn: 'rubbish' }), {
      status: 400,
      body: { code: 'INVALID_URN', field: 'urn' }
    })
    t.match(await call('entities', 'delete', {}), { status: 400, body: { field: 'urn' } })
  })

  t.test('a hard deletion of one aspect leaves the others', async (t) => {
    await put(dataset('partly'), 'datasetProperties', { name: 'partly' })
    await put(dataset('partly'), 'status', { removed: false })
    t.same((await call('entities', 'delete', { urn: dataset('partly'), aspectName: 'status' })).body.value, {
      urn: dataset('partly'),
      rows: 1,
      timeseriesRows: 0
    })
    t.same(Object.keys((await whole(dataset('partly'))).body.aspects), ['datasetKey', 'datasetProperties'])
  })

  t.test('events of one aspect are deleted, those of a time or all', async (t) => {
    for (const timestampMillis of [1, 2, 3, 4])
      await put(dataset('profiled'), 'datasetProfile', { timestampMillis, rowCount: timestampMillis })
    const remove = async (more: JsonObject) =>
      (await call('entities', 'delete', { urn: dataset('profiled'), aspectName: 'datasetProfile', ...more }))
        .body
    t.match(await remove({ startTimeMillis: 2, endTimeMillis: 3 }), { value: { rows: 0, timeseriesRows: 2 } })
    const left = await call('aspects', 'getTimeseriesAspectValues', {
      urn: dataset('profiled'),
      aspect: 'datasetProfile'
    })
    t.same(
      left.body.value.values.map(
        (each: { aspect: { value: string } }) => JSON.parse(each.aspect.value).rowCount
      ),
      [4, 1]
    )
    t.match(await remove({ aspectName: 'datasetProperties', startTimeMillis: 1 }), {
      code: 'BAD_REQUEST',
      field: 'aspectName'
    })
    t.match(await remove({ aspectName: null, startTimeMillis: 1 }), {
      code: 'BAD_REQUEST',
      field: 'aspectName'
    })
    t.match(await remove({}), { value: { timeseriesRows: 2 } })
    t.equal((await aspect(dataset('profiled'), 'datasetKey')).status, 200, 'the entity stays')
  })

  t.test(
    'an asset that is put into another domain while references are taken away stays there',
    async (t) => {
      const [asset, from, to] = [dataset('moving'), 'urn:li:domain:left', 'urn:li:domain:joined']
      for (const urn of [from, to]) await put(urn, 'domainProperties', { name: urn })
      await put(asset, 'domains', { domains: [from] })
      const holder = await db.transaction()
      await holder.raw('select 1 from entity where urn = ? for update', [asset])
      const deleting = call('entities', 'deleteReferences', { urn: from, dryRun: false })
      await endedOrBlocked(db, deleting)
      await holder.raw(
        'update domain_association set domain_id = (select id from entity where urn = ?) where entity_id = (select id from entity where urn = ?)',
        [to, asset]
      )
      await holder.commit()
      t.match(await deleting, { status: 200 })
      t.same((await whole(asset)).body.aspects.domains.value, inDomain(toUrn(to)))
    }
  )

  t.test('references to an entity are counted, and removed from every aspect that names it', async (t) => {
    const [named, owner, domain] = [dataset('named'), 'urn:li:corpuser:leaver', 'urn:li:domain:closing']
    const [job, chart, model] = [
      'urn:li:dataJob:(urn:li:dataFlow:(airflow,f,PROD),j)',
      'urn:li:chart:(looker,c)',
      'urn:li:mlModel:(urn:li:dataPlatform:mlflow,m,PROD)'
    ]
    for (const urn of [named, dataset('below'), job, chart]) await put(urn, 'status', { removed: false })
    await put(named, 'upstreamLineage', upstreamOf('whole'))
    await put(dataset('below'), 'upstreamLineage', upstreamOf('named', 'whole'))
    await put(job, 'dataJobInputOutput', {
      inputDatasets: [named],
      outputDatasets: [named, dataset('whole')],
      inputDatasetEdges: [{ destinationUrn: named }]
    })
    await put(chart, 'chartInfo', {
      title: '',
      description: '',
      lastModified: {},
      inputs: [{ string: named }, { string: dataset('whole') }]
    })
    const refer = (urn: string, dryRun: boolean) => call('entities', 'deleteReferences', { urn, dryRun })

    const dry = await refer(named, true)
    t.equal(dry.body.value.total, 5)
    t.match(
      dry.body.value.relatedAspects.find((each: JsonObject) => each.entity === chart),
      { aspect: 'chartInfo', relationship: 'Consumes' }
    )
    t.equal(
      (await aspect(dataset('below'), 'upstreamLineage')).body.aspect['com.linkedin.dataset.UpstreamLineage']
        .upstreams.length,
      2,
      'a dry run changes nothing'
    )
    t.match(await refer(named, false), { status: 200, body: { value: { total: 5 } } })
    t.same((await refer(named, true)).body.value, { total: 0, relatedAspects: [] })
    t.same(
      (await whole(dataset('below'))).body.aspects.upstreamLineage.value.upstreams.map(
        (each: JsonObject) => each.dataset
      ),
      [dataset('whole')]
    )
    t.match((await whole(job)).body.aspects.dataJobInputOutput.value, {
      inputDatasets: { length: 0 },
      outputDatasets: [dataset('whole')],
      inputDatasetEdges: { length: 0 }
    })
    t.same((await whole(chart)).body.aspects.chartInfo.value.inputs, [{ string: dataset('whole') }])
    t.equal(
      (await whole(named)).body.aspects.upstreamLineage.value.upstreams.length,
      1,
      'what it says itself stays'
    )

    await put(domain, 'domainProperties', { name: 'Closing' })
    await put('urn:li:domain:within', 'domainProperties', {
      name: 'Within',
      description: 'kept',
      parentDomain: domain
    })
    await put(named, 'domains', { domains: [domain] })
    await put(named, 'ownership', {
      owners: [
        { owner, type: 'DATAOWNER' },
        { owner: 'urn:li:corpuser:stays', type: 'DATAOWNER' }
      ]
    })
    await put(named, 'container', { container: 'urn:li:container:box' })
    await put(named, 'globalTags', { tags: [{ tag: 'urn:li:tag:old' }, { tag: 'urn:li:tag:new' }] })
    await put(model, 'ownership', { owners: [{ owner, type: 'DATAOWNER' }] })
    for (const [urn, total] of [
      [domain, 2],
      [owner, 2],
      ['urn:li:container:box', 1],
      ['urn:li:tag:old', 1]
    ] as const) {
      t.equal((await refer(urn, true)).body.value.total, total, urn)
      t.equal((await refer(urn, false)).body.value.total, total, urn)
      t.equal((await refer(urn, true)).body.value.total, 0, urn)
    }
    const left = (await whole(named)).body.aspects
    t.same(Object.keys(left).sort(), [
      'datasetKey',
      'domains',
      'globalTags',
      'ownership',
      'status',
      'upstreamLineage'
    ])
    t.same(left.domains.value, inDomain(null))
    t.same(
      [left.ownership.value.owners.map((each: JsonObject) => each.owner), left.globalTags.value.tags],
      [['urn:li:corpuser:stays'], [{ tag: 'urn:li:tag:new' }]]
    )
    t.match((await whole('urn:li:domain:within')).body.aspects.domainProperties.value, {
      name: 'Within',
      description: 'kept',
      parentDomain: undefined
    })
    t.match(await refer('rubbish', true), { status: 400, body: { field: 'urn' } })
    t.match(await call('entities', 'deleteReferences', { urn: named, dryRun: 'maybe' }), {
      status: 400,
      body: { field: 'dryRun' }
    })
  })

  t.test(
    'references within columns, within edges and in single fields are removed, and the records around them stay',
    async (t) => {
      const refer = (urn: string, dryRun: boolean) => call('entities', 'deleteReferences', { urn, dryRun })
      const [table, tag, term, stamp] = [
        dataset('columns'),
        'urn:li:tag:within',
        'urn:li:glossaryTerm:within',
        { time: 0, actor: 'urn:li:corpuser:a' }
      ]
      const [model, repository, deployment] = [
        'urn:li:mlModel:(urn:li:dataPlatform:mlflow,deployed,PROD)',
        'urn:li:repository:shop',
        'urn:li:mlModelDeployment:(urn:li:dataPlatform:mlflow,live,PROD)'
      ]
      const said = (globalTags: string[], terms: string[]) => ({
        globalTags: { tags: globalTags.map((each) => ({ tag: each })) },
        glossaryTerms: { terms: terms.map((urn) => ({ urn })), auditStamp: stamp }
      })
      const field = (fieldPath: string, more: JsonObject) => ({
        fieldPath,
        nullable: false,
        recursive: false,
        isPartOfKey: false,
        nativeDataType: 'int',
        type: { type: { 'com.linkedin.schema.NumberType': {} } },
        ...more
      })
      const schema = {
        schemaName: 's',
        platform: 'urn:li:dataPlatform:hive',
        version: 0,
        hash: '',
        platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
        created: stamp,
        lastModified: stamp
      }
      await put(table, 'schemaMetadata', {
        ...schema,
        fields: [field('a', said([tag, 'urn:li:tag:stays'], [term])), field('b', {})]
      })
      await put(table, 'editableSchemaMetadata', {
        editableSchemaFieldInfo: [{ fieldPath: 'a', ...said(['urn:li:tag:stays', tag], [term]) }]
      })
      await put(table, 'logicalParent', { parent: { destinationUrn: dataset('logical') } })
      await put(model, 'mlModelProperties', {
        customProperties: {},
        deployments: [deployment],
        groups: ['urn:li:mlModelGroup:(urn:li:dataPlatform:mlflow,g,PROD)']
      })
      await put('urn:li:api:orders', 'apiProperties', { name: 'orders', sourceRepository: repository })
      for (const [urn, total] of [
        [tag, 2],
        [term, 2],
        [dataset('logical'), 1],
        [deployment, 1],
        [repository, 1]
      ] as const) {
        t.equal((await refer(urn, true)).body.value.total, total, urn)
        t.match(await refer(urn, false), { status: 200, body: { value: { total } } }, urn)
        t.equal((await refer(urn, true)).body.value.total, 0, urn)
      }
      const left = (await whole(table)).body.aspects
      t.same(left.schemaMetadata.value, {
        ...schema,
        fields: [field('a', said(['urn:li:tag:stays'], [])), field('b', {})]
      })
      t.same(left.editableSchemaMetadata.value, {
        editableSchemaFieldInfo: [{ fieldPath: 'a', ...said(['urn:li:tag:stays'], []) }]
      })
      t.same(left.logicalParent.value, {})
      t.same((await whole(model)).body.aspects.mlModelProperties.value, {
        customProperties: {},
        deployments: [],
        groups: ['urn:li:mlModelGroup:(urn:li:dataPlatform:mlflow,g,PROD)']
      })
      t.same((await whole('urn:li:api:orders')).body.aspects.apiProperties.value, { name: 'orders' })
    }
  )

  t.test('a soft-deleted entity still exists', async (t) => {
    await put(dataset('soft'), 'status', { removed: true })
    t.same((await call('entities', 'exists', { urn: dataset('soft') })).body, { value: true })
    t.same((await call('entities', 'exists', { urn: dataset('never') })).body, { value: false })
  })

  t.test('the entities of a type are listed a page at a time', async (t) => {
    for (const id of ['a', 'b', 'c']) await put(`urn:li:tag:${id}`, 'tagProperties', { name: id })
    t.same((await call('entities', 'listUrns', { entity: 'tag', start: 1, count: 5 })).body.value, {
      entities: ['urn:li:tag:b', 'urn:li:tag:c'],
      start: 1,
      count: 2,
      total: 3
    })
    t.same((await call('entities', 'listUrns', { entity: 'unheardOf', start: 0, count: 5 })).body.value, {
      entities: [],
      start: 0,
      count: 0,
      total: 0
    })
    t.match(await call('entities', 'listUrns', { entity: 'tag', start: -1 }), {
      status: 400,
      body: { field: 'start' }
    })
    t.match(await call('entities', 'listUrns', { entity: 'tag', count: limits.pageMaxCount + 1 }), {
      status: 400,
      body: { code: 'LIMIT_EXCEEDED' }
    })
    t.match(await call('entities', 'listUrns', { count: 'x', entity: 'tag' }), {
      status: 400,
      body: { field: 'count' }
    })
  })

  t.test('entities of a type are found by words and by name, as the SDK finds a domain', async (t) => {
    await put('urn:li:domain:north', 'domainProperties', {
      name: 'Sales North',
      description: 'all the north'
    })
    await put('urn:li:domain:south', 'domainProperties', { name: 'Sales South' })
    await put(dataset('sales_north'), 'datasetProperties', { name: 'sales north' })
    const search = async (body: JsonObject, action = 'search') =>
      (await call('entities', action, { entity: 'domain', start: 0, count: 10, ...body })).body
    const byName = (name: string) => ({
      or: [{ and: [{ field: 'name', values: [name], condition: 'EQUAL' }] }]
    })
    t.match(await search({ input: '*', filter: byName('Sales North') }), {
      value: { numEntities: 1, from: 0, pageSize: 1, entities: [{ entity: 'urn:li:domain:north' }] }
    })
    t.match(await search({ input: '*', filter: byName('Sales') }), {
      value: { numEntities: 0, entities: { length: 0 } }
    })
    t.match(await search({ input: 'north' }), {
      value: { numEntities: 1, entities: [{ entity: 'urn:li:domain:north' }] }
    })
    t.match(await search({ input: 'sales', start: 1, count: 1 }), {
      value: { numEntities: 2, from: 1, pageSize: 1 }
    })
    t.match(
      await search({ filter: { or: [{ and: [{ field: 'name', value: 'Sales South' }] }] } }, 'filter'),
      { value: { entities: [{ entity: 'urn:li:domain:south' }] } }
    )
    t.match(await search({ input: '*', entity: 'unheardOf' }), {
      value: { numEntities: 0, entities: { length: 0 } }
    })
    t.match(await search({ input: '*', filter: 'x' }), { code: 'BAD_REQUEST', field: 'filter' })
    t.match(await search({ input: '*', filter: { or: [{ and: [{ field: 'nonsense', values: ['x'] }] }] } }), {
      code: 'BAD_REQUEST',
      field: /^filter\.or\[0\]\.and\[0\]/,
      message: /filter\.or/
    })
    t.match(await search({ input: '*', count: limits.pageMaxCount + 1 }), {
      code: 'LIMIT_EXCEEDED',
      field: 'count'
    })
    t.match(await search({ input: 7 }), { code: 'BAD_REQUEST', field: 'input' })
  })

  t.test('events in time are read newest first, by time and by equal fields', async (t) => {
    const events = [
      { timestampMillis: 10, rowCount: 1, partitionSpec: { partition: 'a' } },
      { timestampMillis: 30, rowCount: 3 },
      { timestampMillis: 20, rowCount: 2 }
    ]
    for (const event of events) await put(dataset('events'), 'datasetProfile', event)
    const read = async (more: JsonObject) => {
      const { status, body } = await call('aspects', 'getTimeseriesAspectValues', {
        urn: dataset('events'),
        entity: 'dataset',
        aspect: 'datasetProfile',
        ...more
      })
      return status === 200
        ? body.value.values.map(
            (each: { aspect: { value: string } }) => JSON.parse(each.aspect.value).rowCount
          )
        : body.field
    }
    const equal = (field: string, value: string) => ({
      filter: { or: [{ and: [{ field, values: [value], condition: 'EQUAL' }] }] }
    })
    t.same(await read({}), [3, 2, 1])
    t.same(await read({ latestValue: true }), [3])
    t.same(await read({ limit: 2 }), [3, 2])
    t.same(await read({ startTimeMillis: 15, endTimeMillis: 20 }), [2])
    t.same(await read(equal('rowCount', '2')), [2])
    t.same(await read(equal('partitionSpec.partition', 'a')), [1])
    t.same(await read({ urn: dataset('never') }), [])
    t.same(await read({ filter: { or: [] } }), [3, 2, 1])
    t.same(await read({ limit: 0 }), 'limit')
    t.same(await read({ filter: 7 }), 'filter')
    t.same(
      await read({
        filter: { or: [{ and: [{ field: 'rowCount', values: ['1'], condition: 'GREATER_THAN' }] }] }
      }),
      'filter.or[0].and[0].condition'
    )
  })

  t.test('entities with an aspect are counted', async (t) => {
    t.same((await call('aspects', 'getCount', { aspect: 'tagProperties' })).body, { value: 3 })
    t.same((await call('aspects', 'getCount', { aspect: 'tagProperties', urnLike: 'urn:li:tag:a%' })).body, {
      value: 1
    })
    t.match(await call('aspects', 'getCount', {}), { status: 400, body: { field: 'aspect' } })
  })

  t.test('an unknown name is refused, with the known ones', async (t) => {
    t.match(await call('entities', 'setWritable', { value: true }), {
      status: 400,
      body: { code: 'UNSUPPORTED', field: 'action', allowed: ['ingest'] }
    })
    t.match(await call('entities', 'constructor', {}), { status: 400, body: { code: 'UNSUPPORTED' } })
    t.match(await rest({ method: 'POST', url: '/entities', body: {} }), {
      status: 400,
      body: { code: 'UNSUPPORTED' }
    })
    t.match(await rest({ method: 'POST', url: '/entities?action=exists&action=delete', body: {} }), {
      status: 400,
      body: { code: 'UNSUPPORTED' }
    })
    t.match(await call('runs', 'rollback', { runId: 'r' }), {
      status: 400,
      body: { code: 'UNSUPPORTED', message: /undo/ }
    })
    t.match(await call('operations', 'restoreIndices', { urn: dataset('whole') }), {
      status: 200,
      body: { value: /Nothing/ }
    })
  })

  t.test('no body and no parameter makes the server fail', async (t) => {
    const odd = [
      null,
      true,
      -1,
      1e300,
      0.5,
      '',
      ' ',
      'urn:li:',
      'a\u0000b',
      '\ud800',
      '%',
      'x'.repeat(5_000),
      [],
      [[]],
      [null],
      {},
      { or: 7 },
      { or: [7] },
      { or: [{ and: [7] }] },
      { or: [{ and: [{ field: 'a\u0000', values: ['\u0000'] }] }] },
      { value: [] },
      '__proto__'
    ]
    const usual: { [field: string]: unknown } = {
      urn: dataset('whole'),
      entity: 'dataset',
      aspect: 'datasetProfile',
      input: '*'
    }
    const actions: { [action: string]: readonly string[] } = {
      'aspects ingestProposal': ['proposal', 'async'],
      'aspects ingestProposalBatch': ['proposals', 'async'],
      'aspects getTimeseriesAspectValues': [
        'urn',
        'entity',
        'aspect',
        'filter',
        'limit',
        'latestValue',
        'startTimeMillis',
        'endTimeMillis'
      ],
      'aspects getCount': ['aspect', 'urnLike'],
      'entities ingest': ['entity', 'systemMetadata'],
      'entities batchIngest': ['entities', 'systemMetadata'],
      'entities delete': ['urn', 'aspectName', 'startTimeMillis', 'endTimeMillis'],
      'entities deleteReferences': ['urn', 'dryRun'],
      'entities exists': ['urn'],
      'entities search': ['entity', 'input', 'filter', 'start', 'count'],
      'entities listUrns': ['entity', 'start', 'count']
    }
    const isTheirs = (answer: { status: number; text: string }, what: string) => {
      if (answer.status >= 500 || answer.status === 429) t.fail(`${what}: ${answer.status} ${answer.text}`)
    }
    for (const [action, fields] of Object.entries(actions)) {
      const [root = '', name = ''] = action.split(' ')
      // Not tried with the usual value, which would delete something.
      const sound = name === 'delete' ? { ...usual, urn: dataset('never') } : usual
      for (const body of [[], null, 7, 'text'])
        isTheirs(await call(root, name, body), `${action} ${JSON.stringify(body)}`)
      for (const field of fields)
        for (const value of odd)
          isTheirs(
            await call(root, name, { ...sound, [field]: value }),
            `${action} ${field} ${JSON.stringify(value).slice(0, 60)}`
          )
    }
    const texts = odd.filter((value) => typeof value === 'string')
    const paths = [
      '/aspects/*?aspect=status',
      '/aspects/urn:li:tag:a?aspect=*',
      '/aspects/urn:li:tag:a?aspect=status&version=*',
      '/entitiesV2/*',
      '/entitiesV2?ids=*',
      '/entitiesV2?ids=List(*)',
      '/entitiesV2/urn:li:tag:a?aspects=List(*)',
      '/relationships?urn=urn:li:tag:a&direction=INCOMING&types=List(*)',
      '/relationships?urn=*&direction=INCOMING',
      '/openapi/relationships/v1/?urn=urn:li:tag:a&direction=*',
      '/openapi/relationships/v1/?urn=urn:li:tag:a&direction=INCOMING&relationshipTypes=*',
      '/openapi/relationships/v1/?urn=urn:li:tag:a&direction=INCOMING&start=*',
      '/openapi/v3/relationship/*',
      '/openapi/v3/relationship/tag/*',
      '/openapi/v3/relationship/OwnedBy?scrollId=*',
      '/openapi/v3/relationship/OwnedBy?count=*'
    ]
    for (const path of paths)
      for (const value of [
        ...texts.filter((each) => each.isWellFormed()).map(encodeURIComponent),
        '%',
        '%zz',
        '%00',
        '%ff'
      ])
        isTheirs(await rest({ url: path.replace('*', value) }), `${path} ${value.slice(0, 60)}`)
    t.pass('all of them were answered')
  })

  t.test('an action needs its own scope, whatever the body', async (t) => {
    const reader = await tokenWith(['read'])
    for (const [root, action] of [
      ['aspects', 'ingestProposal'],
      ['entities', 'delete'],
      ['entities', 'ingest'],
      ['runs', 'rollback']
    ] as const) {
      t.match(
        await call(root, action, 'rubbish', { token: reader }),
        { status: 403, body: { code: 'FORBIDDEN' } },
        action
      )
      t.match(
        await call(root, action, 'rubbish', { token: null }),
        { status: 401, body: { code: 'UNAUTHENTICATED' } },
        action
      )
    }
    t.match(await call('entities', 'exists', { urn: dataset('whole') }, { token: reader }), { status: 200 })
    t.match(await call('entities', 'exists', {}, { token: null }), { status: 401 })
    t.match(await rest({ url: `/entitiesV2/${dataset('whole')}`, token: null }), { status: 401 })
  })

  t.test('a token limited to a domain deletes and writes only within it', async (t) => {
    await put('urn:li:domain:own', 'domainProperties', { name: 'Own' })
    await put(dataset('inside'), 'status', { removed: false })
    await put(dataset('inside'), 'domains', { domains: ['urn:li:domain:own'] })
    const limited = await tokenWith(['write'], { domainUrn: 'urn:li:domain:own' })
    t.match(await call('entities', 'delete', { urn: dataset('whole') }, { token: limited }), { status: 403 })
    t.match(
      await call('entities', 'delete', { urn: dataset('whole'), aspectName: 'status' }, { token: limited }),
      { status: 403 }
    )
    await put(dataset('outside'), 'upstreamLineage', upstreamOf('inside'))
    t.match(await call('entities', 'deleteReferences', { urn: dataset('inside') }, { token: limited }), {
      status: 403
    })
    t.match(
      (await call('entities', 'deleteReferences', { urn: dataset('inside'), dryRun: true })).body,
      { value: { total: 1 } },
      'nothing was taken away'
    )
    t.match(
      await call(
        'entities',
        'ingest',
        { entity: { value: { Snapshot: { urn: dataset('whole'), aspects: [] } } } },
        { token: limited }
      ),
      { status: 403 }
    )
    t.match(await call('entities', 'delete', { urn: dataset('inside') }, { token: limited }), {
      status: 200,
      body: { value: { rows: 3 } }
    })
  })

  t.test("the paths of DataHub's frontend lead to the same endpoints", async (t) => {
    t.match((await rest({ url: '/api/gms/config', token: null })).body, { noCode: 'true' })
    t.match(await rest({ url: `/api/gms/entitiesV2/${encodeURIComponent(dataset('whole'))}` }), {
      status: 200,
      body: { entityName: 'dataset' }
    })
    t.match(await rest({ url: `/api/gms/entitiesV2/${encodeURIComponent(dataset('whole'))}`, token: null }), {
      status: 401
    })
    t.match(
      await rest({ method: 'POST', url: '/api/gms/entities?action=exists', body: { urn: dataset('whole') } }),
      { body: { value: true } }
    )
    t.match(await rest({ method: 'POST', url: '/api/v2/graphql', body: { query: '{ __typename }' } }), {
      status: 200,
      body: { data: { __typename: 'Query' } }
    })
    t.match(await rest({ url: '/api/gmsx', token: null }), { status: 401 })
    t.equal((await rest({ url: '/health/detailed', token: null })).status, 200)
  })

  t.test(
    'odd patterns, distant pages and deep filters are refused or find nothing, and do not make the server fail',
    async (t) => {
      t.match(await call('aspects', 'getCount', { aspect: 'status', urnLike: '\\' }), {
        status: 400,
        body: { field: 'urnLike' }
      })
      t.match(
        await call('aspects', 'getCount', { aspect: 'status', urnLike: '%\\\\' }),
        { status: 200, body: { value: 0 } },
        'an escaped backslash is one'
      )
      t.match(await call('entities', 'listUrns', { entity: 'dataset', start: 3_000_000_000, count: 1 }), {
        status: 200,
        body: { value: { entities: { length: 0 }, count: 0 } }
      })
      const events = (criteria: unknown[]) =>
        call('aspects', 'getTimeseriesAspectValues', {
          urn: dataset('whole'),
          entity: 'dataset',
          aspect: 'datasetProfile',
          filter: { or: [{ and: criteria }] }
        })
      t.match(await events([{ field: Array(100_000).fill('a').join('.'), values: ['1'] }]), {
        status: 400,
        body: { limit: 'jsonMaxDepth', field: 'filter.or[0].and[0].field' }
      })
      t.match(
        await events(
          Array.from({ length: limits.filtersPerGroupMaxCount + 1 }, () => ({ field: 'a', values: ['1'] }))
        ),
        { status: 400, body: { limit: 'filtersPerGroupMaxCount' } }
      )
      t.match(await events([{ field: 'a', values: Array(limits.filterValuesMaxCount + 1).fill('1') }]), {
        status: 400,
        body: { limit: 'filterValuesMaxCount' }
      })
    }
  )
})
