/** Change proposals over REST, and reading aspects back, as DataHub's emitters and graph client do. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { limits } from '../shared/limits.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { withServer } from './support/server.ts'

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const column = (name: string, path: string) => `urn:li:schemaField:(${dataset(name)},${path})`
const upstreamLineageClass = 'com.linkedin.dataset.UpstreamLineage'

t.test('proposals', async (t) => {
  const { rest, graphql, db } = await withServer(t)
  type Aspect = { [field: string]: unknown }

  const propose = (proposal: Aspect, headers: { [name: string]: string } = {}) =>
    rest({ method: 'POST', url: '/aspects?action=ingestProposal', body: { proposal }, headers })
  const proposeMany = (proposals: unknown, more = {}) =>
    rest({ method: 'POST', url: '/aspects?action=ingestProposalBatch', body: { proposals, ...more } })
  const upsert = (entityUrn: string, aspectName: string, json: Aspect, changeType = 'UPSERT') => ({
    entityType: entityUrn.split(':')[2],
    entityUrn,
    changeType,
    aspectName,
    aspect: { json }
  })
  const read = (urn: string, aspect: string, version?: number) =>
    rest({
      url: `/aspects/${encodeURIComponent(urn)}?aspect=${aspect}${version === undefined ? '' : `&version=${version}`}`
    })
  const make = async (...urns: string[]) => {
    for (const urn of urns) await propose(upsert(urn, 'status', { removed: false }))
  }

  t.test('the server tells clients to write in a way that it supports', async (t) => {
    t.match((await rest({ url: '/config', token: null })).body, {
      noCode: 'true',
      patchCapable: true,
      versions: { 'acryldata/datahub': { version: '1.7.0' } },
      datahub: { serverEnv: 'core' }
    })
    const [, tested] =
      /^acryl-datahub==(\S+)$/m.exec(readFileSync(packagePath('test/interop/requirements.txt'), 'utf8')) ?? []
    t.same(
      (await rest({ url: '/config', token: null })).body.managedIngestion,
      { enabled: false, defaultCliVersion: tested },
      'the client that is tested is the one to use'
    )
  })

  t.test('an aspect is written in each of its envelopes and read back under its class', async (t) => {
    const value = { name: 'orders', description: 'päid' }
    const envelopes = [
      { value: JSON.stringify(value), contentType: 'application/json' },
      { json: value },
      value
    ]
    for (const [index, aspect] of envelopes.entries()) {
      const urn = dataset(`envelope${index}`)
      t.match(
        await propose({
          entityType: 'dataset',
          entityUrn: urn,
          changeType: 'UPSERT',
          aspectName: 'datasetProperties',
          aspect
        }),
        { status: 200, body: { value: 'success' } }
      )
      const { status, body, headers } = await read(urn, 'datasetProperties')
      t.equal(status, 200)
      t.match(body, { version: 0, aspect: { 'com.linkedin.dataset.DatasetProperties': value } })
      t.equal(headers.etag, '"1"')
    }
  })

  t.test('the path is taken with a slash before the question mark, queued or not', async (t) => {
    for (const url of [
      '/aspects?action=ingestProposal',
      '/aspects/?action=ingestProposal',
      '//aspects?action=ingestProposal'
    ]) {
      for (const async of ['true', 'false', undefined]) {
        t.match(
          await rest({
            method: 'POST',
            url,
            body: { proposal: upsert(dataset('slashes'), 'status', { removed: false }), async }
          }),
          { status: 200, body: { value: 'success' } }
        )
      }
    }
    t.equal((await read(dataset('slashes'), 'status')).status, 200)
  })

  t.test('the key aspect says that an entity exists', async (t) => {
    t.equal((await read(dataset('keyed'), 'datasetKey')).status, 404)
    await make(dataset('keyed'))
    t.same((await read(dataset('keyed'), 'datasetKey')).body.aspect, {
      'com.linkedin.metadata.key.DatasetKey': {
        platform: 'urn:li:dataPlatform:hive',
        name: 'keyed',
        origin: 'PROD'
      }
    })
  })

  t.test('a column exists when its asset does, named or not', async (t) => {
    const columnKey = 'com.linkedin.metadata.key.SchemaFieldKey'
    t.equal((await read(column('columned', 'a'), 'schemaFieldKey')).status, 404)
    await make(dataset('columned'))
    t.same((await read(column('columned', 'sum(a)'), 'schemaFieldKey')).body.aspect, {
      [columnKey]: { parent: dataset('columned'), fieldPath: 'sum(a)' }
    })
    await propose(
      upsert(dataset('columned'), 'upstreamLineage', {
        upstreams: [],
        fineGrainedLineages: [
          {
            upstreamType: 'FIELD_SET',
            upstreams: [column('absent', 'x')],
            downstreamType: 'FIELD',
            downstreams: [column('columned', 'a')]
          }
        ]
      }),
      { 'x-missing-references': 'create' }
    )
    t.equal((await read(column('columned', 'a'), 'schemaFieldKey')).status, 200)
    t.equal(
      (await read(column('absent', 'x'), 'schemaFieldKey')).status,
      404,
      'a placeholder has no columns that exist'
    )
  })

  t.test('lineage reads back in the shape of the specification', async (t) => {
    await make(dataset('up'), dataset('down'))
    const sent = {
      upstreams: [{ dataset: dataset('up'), type: 'TRANSFORMED' }],
      fineGrainedLineages: [
        {
          upstreamType: 'FIELD_SET',
          upstreams: [column('up', 'a'), column('up', 'sum(b)')],
          downstreamType: 'FIELD',
          downstreams: [column('down', 'c')]
        }
      ]
    }
    t.equal((await propose(upsert(dataset('down'), 'upstreamLineage', sent))).status, 200)
    t.same((await read(dataset('down'), 'upstreamLineage')).body, {
      version: 0,
      aspect: {
        [upstreamLineageClass]: {
          upstreams: [
            {
              auditStamp: { time: 0, actor: 'urn:li:corpuser:unknown' },
              dataset: dataset('up'),
              type: 'TRANSFORMED'
            }
          ],
          fineGrainedLineages: [{ ...sent.fineGrainedLineages[0], confidenceScore: 1 }]
        }
      }
    })
  })

  t.test('a patch takes an asset from one domain to another, and leaves one it does not name', async (t) => {
    const asset = dataset('patched.domain')
    const [from, to] = ['urn:li:domain:from', 'urn:li:domain:to']
    await proposeMany([
      upsert(from, 'domainProperties', { name: 'From' }),
      upsert(to, 'domainProperties', { name: 'To' }),
      upsert(asset, 'status', { removed: false }),
      upsert(asset, 'domains', { domains: [from] })
    ])
    const patch = (...operations: unknown[]) =>
      propose({
        entityType: 'dataset',
        entityUrn: asset,
        changeType: 'PATCH',
        aspectName: 'domains',
        aspect: { value: JSON.stringify(operations), contentType: 'application/json-patch+json' }
      })
    const domains = async () =>
      (await read(asset, 'domains')).body.aspect['com.linkedin.domain.Domains'].domains
    t.equal((await patch({ op: 'remove', path: `/domains/${to}` })).status, 200)
    t.same(await domains(), [from])
    t.match(
      await patch({ op: 'add', path: `/domains/${to}`, value: to }),
      { status: 422, body: { code: 'VALIDATION_FAILED' } },
      'an asset is in one at most'
    )
    t.equal(
      (
        await patch(
          { op: 'remove', path: `/domains/${from}` },
          { op: 'add', path: `/domains/${to}`, value: to }
        )
      ).status,
      200
    )
    t.same(await domains(), [to])
    t.equal((await patch({ op: 'remove', path: `/domains/${to}` })).status, 200)
    t.same(await domains(), [])
  })

  t.test('an absent reference is refused in the words of RestLi, and changes nothing', async (t) => {
    await make(dataset('lonely'))
    const refused = await propose(
      upsert(dataset('lonely'), 'upstreamLineage', {
        upstreams: [{ dataset: dataset('absent'), type: 'COPY' }]
      })
    )
    t.equal(refused.status, 422)
    t.equal(refused.headers['x-restli-error-response'], 'true')
    t.match(refused.body, {
      exceptionClass: 'com.linkedin.restli.server.RestLiServiceException',
      status: 422,
      message: new RegExp('absent'),
      code: 'MISSING_REFERENCE',
      urn: dataset('absent'),
      requestId: /./
    })
    t.notOk('stackTrace' in refused.body)
    t.equal((await read(dataset('lonely'), 'upstreamLineage')).status, 404)
    t.match(await propose(upsert(dataset('never'), 'upstreamLineage', { upstreams: [] })), {
      status: 422,
      body: { urn: dataset('never') }
    })
  })

  t.test('placeholders are made if the header asks for them', async (t) => {
    await make(dataset('lonely'))
    const proposal = upsert(dataset('lonely'), 'upstreamLineage', {
      upstreams: [{ dataset: dataset('placeholder'), type: 'COPY' }]
    })
    t.match(await propose(proposal, { 'x-missing-references': 'perhaps' }), {
      status: 400,
      body: { code: 'BAD_REQUEST', field: 'X-Missing-References' }
    })
    t.equal((await propose(proposal, { 'x-missing-references': 'create' })).status, 200)
    t.same(
      (
        await graphql('query ($urn: String!) { dataset(urn: $urn) { exists } }', {
          urn: dataset('placeholder')
        })
      ).body.data,
      { dataset: { exists: false } }
    )
    t.equal((await read(dataset('placeholder'), 'datasetKey')).status, 404)
    const link = (list: string) =>
      graphql('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', {
        input: { [list]: [{ upstreamUrn: dataset('placeholder'), downstreamUrn: dataset('lonely') }] }
      })
    t.match(
      (await link('edgesToAdd')).body.errors[0].extensions,
      { reason: 'MISSING_REFERENCE', urn: dataset('placeholder') },
      'it may not be linked anew'
    )
    t.same((await link('edgesToRemove')).body.data, { updateLineage: true }, 'it may be unlinked')
  })

  t.test('whose aspect is written exists, if placeholders are requested', async (t) => {
    const create = { 'x-missing-references': 'create' }
    const written: readonly [name: string, proposal: ReturnType<typeof upsert>][] = [
      [
        'lineage',
        upsert(dataset('by.lineage'), 'upstreamLineage', {
          upstreams: [{ dataset: dataset('its.upstream'), type: 'COPY' }]
        })
      ],
      ['domains', upsert(dataset('by.domain'), 'domains', { domains: ['urn:li:domain:unheard'] })],
      [
        'job',
        upsert('urn:li:dataJob:(urn:li:dataFlow:(airflow,unheard,prod),by.job)', 'dataJobInputOutput', {
          inputDatasets: [dataset('its.upstream')],
          outputDatasets: []
        })
      ]
    ]
    for (const [name, proposal] of written) {
      t.equal((await propose(proposal, create)).status, 200, name)
      t.equal(
        (await read(proposal.entityUrn, name === 'job' ? 'dataJobKey' : 'datasetKey')).status,
        200,
        `${name}: its entity exists`
      )
    }
    t.equal(
      (await read(dataset('its.upstream'), 'datasetKey')).status,
      404,
      'what it only refers to does not'
    )
  })

  t.test('one refused proposal makes its batch be refused, and is named', async (t) => {
    const good = (name: string) => upsert(dataset(name), 'status', { removed: false })
    const bad = upsert(dataset('batch1'), 'upstreamLineage', {
      upstreams: [{ dataset: dataset('absent'), type: 'COPY' }]
    })
    t.match(await proposeMany([good('batch1'), bad, good('batch2')]), {
      status: 422,
      body: { code: 'MISSING_REFERENCE', urn: dataset('absent'), field: /^proposals\[1\]/ }
    })
    t.match(
      await proposeMany([
        good('batch1'),
        upsert(dataset('batch2'), 'upstreamLineage', { upstreams: 7 } as Aspect)
      ]),
      { status: 422, body: { code: 'VALIDATION_FAILED', field: /^proposals\[1\]\.aspect/ } }
    )
    t.match(
      await proposeMany([
        good('batch1'),
        { ...good('batch2'), changeType: 'CREATE' },
        { ...good('batch2'), changeType: 'CREATE' }
      ]),
      { status: 422, body: { field: /^proposals\[2\]/ } }
    )
    t.equal((await read(dataset('batch1'), 'status')).status, 404)
    t.match(
      await proposeMany([bad, good('batch1'), good('absent')], { async: 'false' }),
      { status: 200, body: { value: 'success' } },
      'references hold in any order'
    )
    t.same(
      (await read(dataset('batch1'), 'upstreamLineage')).body.aspect[upstreamLineageClass].upstreams[0]
        .dataset,
      dataset('absent')
    )
    t.match(await proposeMany([]), { status: 200 })
    t.match(
      await proposeMany(Array.from({ length: limits.proposalsPerBatchMaxCount + 1 }, () => good('x'))),
      { status: 400, body: { code: 'LIMIT_EXCEEDED', limit: 'proposalsPerBatchMaxCount', actual: 1_001 } }
    )
  })

  t.test('malformed requests are refused by name', async (t) => {
    const post = (url: string, body: unknown) => rest({ method: 'POST', url, body })
    t.match(await post('/aspects?action=explode', {}), {
      status: 400,
      headers: { 'x-restli-error-response': 'true' },
      body: { code: 'UNSUPPORTED', allowed: ['ingestProposal', 'ingestProposalBatch'] }
    })
    t.match(await post('/aspects', {}), { status: 400, body: { code: 'UNSUPPORTED' } })
    t.match(await post('/aspects?action=ingestProposal', {}), {
      status: 400,
      body: { code: 'BAD_REQUEST', field: 'proposal' }
    })
    t.match(await post('/aspects?action=ingestProposal', []), { status: 400, body: { code: 'BAD_REQUEST' } })
    t.match(await post('/aspects?action=ingestProposalBatch', { proposals: {} }), {
      status: 400,
      body: { code: 'BAD_REQUEST', field: 'proposals' }
    })
    t.match(await propose({ ...upsert(dataset('x'), 'status', {}), entityType: 'domain' }), {
      status: 400,
      body: { code: 'BAD_REQUEST' }
    })
    t.match(await propose({ ...upsert(dataset('x'), 'status', { removed: false }), changeType: 'MERGE' }), {
      status: 422,
      body: { code: 'VALIDATION_FAILED' }
    })
    t.match(await propose(upsert(dataset('x'), 'datasetProperties', { description: 'a\0b' })), {
      status: 400,
      body: { code: 'INVALID_CHARACTER', field: 'proposal.aspect.description' }
    })
    t.match(
      await post('/aspects?action=ingestProposal', {
        proposal: { x: 'x'.repeat(limits.proposalBodyMaxBytes) }
      }),
      { status: 413, body: { code: 'BODY_TOO_LARGE', status: 413 } }
    )
  })

  t.test('older versions are read by their number', async (t) => {
    for (const description of ['one', 'two', 'two', 'three'])
      await propose(upsert(dataset('versions'), 'datasetProperties', { description }))
    const described = async (version?: number) =>
      (await read(dataset('versions'), 'datasetProperties', version)).body.aspect?.[
        'com.linkedin.dataset.DatasetProperties'
      ].description
    t.same(
      [await described(), await described(0), await described(1), await described(2), await described(3)],
      ['three', 'three', 'one', 'two', 'three']
    )
    t.match(await read(dataset('versions'), 'datasetProperties', 4), { status: 404 })
    t.match(
      await propose({
        ...upsert(dataset('versions'), 'datasetProperties', { description: 'late' }),
        headers: { 'If-Version-Match': '1' }
      }),
      { status: 412, body: { code: 'PRECONDITION_FAILED' } }
    )
  })

  t.test('an absent aspect and malformed requests are refused', async (t) => {
    t.match(await read(dataset('nowhere'), 'upstreamLineage'), {
      status: 404,
      body: { code: 'NOT_FOUND', urn: dataset('nowhere'), exceptionClass: /RestLi/, status: 404 }
    })
    t.match(await rest({ url: `/aspects/${encodeURIComponent(dataset('versions'))}` }), {
      status: 400,
      body: { field: 'aspect' }
    })
    for (const version of ['first', '-1', '1.5', ''])
      t.match(
        await rest({
          url: `/aspects/${encodeURIComponent(dataset('versions'))}?aspect=status&version=${version}`
        }),
        { status: 400, body: { field: 'version' } }
      )
    t.match(await rest({ url: '/aspects/orders?aspect=status' }), {
      status: 400,
      body: { code: 'INVALID_URN' }
    })
  })

  t.test('URNs in paths may be raw or encoded, up to the longest', async (t) => {
    const names = [
      's3://bucket/a//b',
      'with blank',
      'ünïcode',
      'a,b(c)',
      'per%2Ccent',
      'x'.repeat(limits.urnMaxBytes - dataset('').length)
    ]
    for (const name of names) {
      await make(dataset(name))
      t.equal((await read(dataset(name), 'datasetKey')).status, 200, `encoded: ${name.slice(0, 20)}`)
      t.equal(
        (await rest({ url: `/aspects/${encodeURI(dataset(name))}?aspect=datasetKey` })).status,
        200,
        `raw: ${name.slice(0, 20)}`
      )
    }
    t.equal((await rest({ url: `/aspects/${dataset('s3://bucket/a//b')}?aspect=datasetKey` })).status, 200)
    t.equal((await read(dataset('per,cent'), 'datasetKey')).status, 404, 'what is encoded in a name stays so')
    const longest = column('up', 'f'.repeat(limits.schemaFieldUrnMaxBytes - column('up', '').length))
    t.equal((await propose(upsert(longest, 'schemafieldInfo', { name: 'f' }))).status, 200)
    t.equal((await read(longest, 'schemafieldInfo')).status, 200)
  })

  t.test(
    'an aspect that is not modelled is kept as sent, and of time-series events the newest is read',
    async (t) => {
      const urn = 'urn:li:query:q1'
      await propose(
        upsert(urn, 'queryProperties', {
          statement: { value: 'select 1', language: 'SQL' },
          ours: [1, { two: null }]
        })
      )
      t.match((await read(urn, 'queryProperties')).body.aspect, {
        'com.linkedin.query.QueryProperties': {
          statement: { value: 'select 1', language: 'SQL' },
          ours: [1, { two: null }]
        }
      })
      for (const [timestampMillis, rowCount] of [
        [2_000, 20],
        [3_000, 30],
        [1_000, 10]
      ])
        await propose(upsert(dataset('profiled'), 'datasetProfile', { timestampMillis, rowCount }))
      t.match((await read(dataset('profiled'), 'datasetProfile')).body.aspect, {
        'com.linkedin.dataset.DatasetProfile': { timestampMillis: 3_000, rowCount: 30 }
      })
    }
  )

  t.test('lineage that was written by a proposal can be changed by a mutation', async (t) => {
    await make(dataset('p'), dataset('q'), dataset('r'))
    await propose(
      upsert(dataset('r'), 'upstreamLineage', { upstreams: [{ dataset: dataset('p'), type: 'COPY' }] })
    )
    const input = {
      edgesToAdd: [{ upstreamUrn: dataset('q'), downstreamUrn: dataset('r') }],
      edgesToRemove: [{ upstreamUrn: dataset('p'), downstreamUrn: dataset('r') }]
    }
    await graphql('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', { input })
    await propose({
      entityType: 'dataset',
      entityUrn: dataset('r'),
      changeType: 'PATCH',
      aspectName: 'upstreamLineage',
      aspect: {
        value: JSON.stringify([
          { op: 'add', path: `/upstreams/${dataset('p')}`, value: { dataset: dataset('p'), type: 'VIEW' } }
        ]),
        contentType: 'application/json-patch+json'
      }
    })
    const upstreams = (await read(dataset('r'), 'upstreamLineage')).body.aspect[upstreamLineageClass]
      .upstreams
    t.same(upstreams.map((one: { dataset: string; type: string }) => [one.dataset, one.type]).sort(), [
      [dataset('p'), 'VIEW'],
      [dataset('q'), 'TRANSFORMED']
    ])
    const walk = await graphql(
      'query ($urn: String!) { scrollAcrossLineage(input: { urn: $urn, direction: UPSTREAM }) { searchResults { degree entity { urn } } } }',
      { urn: dataset('r') }
    )
    t.same(
      walk.body.data.scrollAcrossLineage.searchResults
        .map((one: { entity: { urn: string } }) => one.entity.urn)
        .sort(),
      [dataset('p'), dataset('q')]
    )
  })

  t.test('each request leaves one line in the audit trail, with its actor and request id', async (t) => {
    await propose(upsert(dataset('audited'), 'status', { removed: false }), { 'x-request-id': 'audit-me' })
    const { rows } = await db.raw(`select operation, request_id from audit where request_id = 'audit-me'`)
    t.same(rows, [{ operation: 'ingestProposal', request_id: 'audit-me' }])
  })
})
