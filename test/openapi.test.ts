/**
 * OpenAPI v3: entities written and read as DataHub's SDK does, and the same stored aspect whichever transport
 * wrote it.
 */
import t from 'tap'
import { limits } from '../shared/limits.ts'
import { withServer } from './support/server.ts'

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const encoded = encodeURIComponent

type Json = { [name: string]: unknown }

t.test('entities over OpenAPI v3', async (t) => {
  const { rest, graphql, tokenWith } = await withServer(t, { env: { MISSING_REFERENCES: 'create' } })
  const post = (name: string, body: unknown, more = '') =>
    rest({ method: 'POST', url: `/openapi/v3/entity/${name}?async=false${more}`, body })
  const patch = (name: string, body: unknown, more = '') =>
    rest({ method: 'PATCH', url: `/openapi/v3/entity/${name}?async=false${more}`, body })
  const get = (urn: string, more = '') =>
    rest({ url: `/openapi/v3/entity/${urn.split(':')[2]}/${encoded(urn)}${more}` })
  const restli = (proposal: Json) =>
    rest({ method: 'POST', url: '/aspects?action=ingestProposal', body: { proposal } })

  t.test(
    'a write is answered with its content, and read back by entity, by aspect and in a batch',
    async (t) => {
      const urn = dataset('written')
      const value = { name: 'orders', customProperties: { a: '1' }, tags: [] }
      const written = await post('dataset', [
        {
          urn,
          datasetProperties: { value },
          status: { value: { removed: false }, systemMetadata: { runId: 'r1' }, headers: {} }
        }
      ])
      t.match(written, {
        status: 200,
        body: [{ urn, datasetProperties: { value }, status: { value: { removed: false } } }]
      })
      t.match(written.headers, { traceparent: /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/ })
      t.same((await get(urn)).body, {
        urn,
        datasetKey: { value: { platform: 'urn:li:dataPlatform:hive', name: 'written', origin: 'PROD' } },
        datasetProperties: { value },
        status: { value: { removed: false } }
      })
      t.same((await get(urn, '?aspects=status,datasetKey')).body, {
        urn,
        datasetKey: { value: { platform: 'urn:li:dataPlatform:hive', name: 'written', origin: 'PROD' } },
        status: { value: { removed: false } }
      })
      t.match((await get(urn, '/DatasetProperties?systemMetadata=true')).body, {
        value,
        systemMetadata: { version: '1' },
        auditStamp: { time: Number, actor: /^urn:li:corpuser:/ }
      })
      t.match((await get(urn, '/status?systemMetadata=true')).body, {
        systemMetadata: { runId: 'r1', version: '1' }
      })
      const batch = await rest({
        method: 'POST',
        url: '/openapi/v3/entity/dataset/batchGet',
        body: [
          { urn, status: {} },
          { urn: dataset('absent'), status: {} }
        ]
      })
      t.same(batch.body, [{ urn, status: { value: { removed: false } } }])
      const map = await rest({
        method: 'POST',
        url: '/openapi/v3/entity/generic/batchGet',
        body: { dataset: [{ urn, status: {} }], domain: [] }
      })
      t.same(map.body, { dataset: [{ urn, status: { value: { removed: false } } }], domain: [] })
    }
  )

  t.test('a path takes a URN encoded or raw, with slashes in it, and an aspect after it', async (t) => {
    for (const urn of [
      dataset('a/b (c)'.replaceAll(/[()]/g, '')),
      'urn:li:domain:north/south',
      'urn:li:dataFlow:(airflow,dag/one,prod)'
    ]) {
      const name = urn.split(':')[2] ?? ''
      t.equal((await post(name, [{ urn }])).status, 200)
      for (const path of [
        encoded(urn),
        encoded(urn)
          .replaceAll('%2F', '/')
          .replace(/^urn%3A/, 'urn:'),
        urn.replaceAll(' ', '%20')
      ]) {
        t.match(
          await rest({ url: `/openapi/v3/entity/${name}/${path}` }),
          { status: 200, body: { urn } },
          path
        )
        t.match(
          await rest({ url: `/openapi/v3/entity/${name}/${path}/${name}Key` }),
          { status: 200 },
          `${path}/${name}Key`
        )
        t.equal(
          (await rest({ method: 'HEAD', url: `/openapi/v3/entity/${name.toLowerCase()}/${path}` })).status,
          204
        )
      }
    }
  })

  t.test('an entity exists or not, and a soft-deleted one exists only on request', async (t) => {
    const urn = dataset('headed')
    t.match(await get(urn), {
      status: 404,
      headers: { 'not-found-reason': 'ENTITY' },
      body: { error: 'Not Found' }
    })
    await post('dataset', [{ urn, status: { value: { removed: true } } }])
    const head = (more: string) =>
      rest({ method: 'HEAD', url: `/openapi/v3/entity/dataset/${encoded(urn)}${more}` })
    t.equal((await head('')).status, 404)
    t.equal((await head('?includeSoftDelete=true')).status, 204)
    t.equal((await head('/status?includeSoftDelete=true')).status, 204)
    t.match(await head('/ownership?includeSoftDelete=true'), {
      status: 404,
      headers: { 'not-found-reason': 'ASPECT' }
    })
  })

  t.test('one aspect is created, replaced and deleted by its path', async (t) => {
    const urn = dataset('single')
    const at = (more = '') => `/openapi/v3/entity/dataset/${encoded(urn)}/datasetProperties${more}`
    const write = (description: string, more = '') =>
      rest({ method: 'POST', url: at(more), body: { value: { description } } })
    t.match(await write('first'), {
      status: 200,
      body: { urn, datasetProperties: { value: { description: 'first' } } }
    })
    t.match(await write('second'), {
      status: 400,
      body: { error: 'Validation Error', message: 'Cannot perform CREATE since the aspect already exists.' }
    })
    t.match(await write('second', '?createIfEntityNotExists=true'), {
      status: 400,
      body: { message: /CREATE_ENTITY/ }
    })
    t.match(await write('second', '?createIfNotExists=false'), { status: 200 })
    t.match(
      await rest({
        method: 'PATCH',
        url: at(),
        body: { patch: [{ op: 'add', path: '/customProperties/k', value: 'v' }] }
      }),
      {
        status: 200,
        body: { datasetProperties: { value: { description: 'second', customProperties: { k: 'v' } } } }
      }
    )
    t.match(await rest({ url: at('?version=1') }), { body: { value: { description: 'first' } } })
    t.equal((await rest({ method: 'DELETE', url: at() })).status, 200)
    t.match(await rest({ url: at() }), { status: 404, headers: { 'not-found-reason': 'ASPECT' } })
    t.equal((await rest({ method: 'DELETE', url: `/openapi/v3/entity/dataset/${encoded(urn)}` })).status, 200)
    t.equal((await get(urn)).status, 404)
  })

  t.test(
    'a time-series aspect is read up to a time, and deleted event by event in its path, or whole by name',
    async (t) => {
      const urn = dataset('profiled')
      const at = (more = '') => `/openapi/v3/entity/dataset/${encoded(urn)}${more}`
      const write = (timestampMillis: number) =>
        post('dataset', [{ urn, datasetProfile: { value: { timestampMillis, rowCount: timestampMillis } } }])
      const rowCount = async (more = '') =>
        (await rest({ url: at(`/datasetProfile${more}`) })).body.value?.rowCount
      for (const time of [100, 200, 300]) t.equal((await write(time)).status, 200)
      t.equal(await rowCount(), 300)
      t.equal(await rowCount('?version=150'), 100)
      for (const left of [200, 100, undefined]) {
        t.equal((await rest({ method: 'DELETE', url: at('/datasetProfile') })).status, 200)
        t.equal(await rowCount(), left)
      }
      t.equal(
        (await rest({ method: 'DELETE', url: at('/datasetProfile') })).status,
        200,
        'nothing is left to delete'
      )
      for (const more of ['?aspects=datasetProfile', '?clear=true']) {
        for (const time of [100, 200]) await write(time)
        t.equal((await rest({ method: 'DELETE', url: at(more) })).status, 200)
        t.equal(await rowCount(), undefined, more)
        t.equal((await rest({ url: at() })).status, 200, 'the entity stays')
      }
      const refused = {
        status: 422,
        body: {
          field: 'proposal.changeType',
          message: 'ChangeType not supported: DELETE for the timeseries aspect datasetProfile'
        }
      }
      t.match(
        await restli({
          entityType: 'dataset',
          entityUrn: urn,
          changeType: 'DELETE',
          aspectName: 'datasetProfile'
        }),
        refused,
        'a proposal that would do nothing is refused'
      )
    }
  )

  t.test('the generic path takes a URN of any type', async (t) => {
    for (const [urn, aspectName] of [
      [dataset('any'), 'datasetKey'],
      ['urn:li:chart:(looker,any)', 'chartKey']
    ] as const) {
      const url = `/openapi/v3/entity/generic/${encoded(urn)}`
      await post(urn.split(':')[2] ?? '', [{ urn, status: { value: { removed: false } } }])
      t.same((await rest({ url: `${url}?aspects=status` })).body, {
        urn,
        status: { value: { removed: false } }
      })
      t.match(await rest({ url: `${url}/${aspectName}` }), { status: 200, body: { value: {} } })
      t.equal((await rest({ method: 'DELETE', url })).status, 200)
      t.match(await rest({ url }), { status: 404, headers: { 'not-found-reason': 'ENTITY' } })
    }
    t.match(await rest({ url: '/openapi/v3/entity/generic/orders' }), { status: 400, body: { field: 'urn' } })
  })

  t.test('a map writes entities of several types, and patches them', async (t) => {
    const written = await rest({
      method: 'POST',
      url: '/openapi/v3/entity/generic?async=false',
      body: {
        dataset: [{ urn: dataset('mapped') }],
        domain: [{ urn: 'urn:li:domain:mapped', domainProperties: { value: { name: 'Mapped' } } }]
      }
    })
    t.match(written, {
      status: 200,
      body: {
        dataset: [{ urn: dataset('mapped'), datasetKey: { value: {} } }],
        domain: [{ domainProperties: { value: { name: 'Mapped' } } }]
      }
    })
    const patched = await rest({
      method: 'PATCH',
      url: '/openapi/v3/entity/generic?async=false',
      body: {
        dataset: [
          {
            urn: dataset('mapped'),
            domains: {
              value: {
                patch: [{ op: 'add', path: '/domains/urn:li:domain:mapped', value: 'urn:li:domain:mapped' }]
              }
            }
          }
        ]
      }
    })
    t.match(patched, {
      status: 200,
      body: { dataset: [{ domains: { value: { domains: ['urn:li:domain:mapped'] } } }] }
    })
  })

  t.test('both transports store the same aspect for the same write', async (t) => {
    const lineage = { upstreams: [{ dataset: dataset('up'), type: 'COPY' }] }
    const operations = [
      {
        op: 'add',
        path: `/upstreams/${dataset('up2')}`,
        value: { dataset: dataset('up2'), type: 'TRANSFORMED' }
      }
    ]
    const cases: { aspectName: string; value: Json; patch: unknown[] }[] = [
      { aspectName: 'upstreamLineage', value: lineage, patch: operations },
      {
        aspectName: 'datasetProperties',
        value: { name: 'n', tags: ['x'] },
        patch: [
          { op: 'add', path: '/tags/y', value: 'y' },
          { op: 'remove', path: '/tags/x' }
        ]
      },
      {
        aspectName: 'globalTags',
        value: { tags: [{ tag: 'urn:li:tag:a' }] },
        patch: [{ op: 'add', path: '/tags/urn:li:tag:b', value: { tag: 'urn:li:tag:b' } }]
      }
    ]
    for (const { aspectName, value, patch: operations } of cases) {
      const [one, two] = [dataset(`restli.${aspectName}`), dataset(`v3.${aspectName}`)]
      t.equal(
        (
          await restli({
            entityType: 'dataset',
            entityUrn: one,
            changeType: 'UPSERT',
            aspectName,
            aspect: { value: JSON.stringify(value), contentType: 'application/json' }
          })
        ).status,
        200
      )
      t.equal((await post('dataset', [{ urn: two, [aspectName]: { value } }])).status, 200)
      const read = async (urn: string) => (await get(urn, `/${aspectName}`)).body.value
      t.same(await read(one), await read(two))
      t.equal(
        (
          await restli({
            entityType: 'dataset',
            entityUrn: one,
            changeType: 'PATCH',
            aspectName,
            aspect: { value: JSON.stringify(operations), contentType: 'application/json-patch+json' }
          })
        ).status,
        200
      )
      const patched = await patch('dataset', [{ urn: two, [aspectName]: { value: { patch: operations } } }])
      t.same(patched.body, [{ urn: two, [aspectName]: { value: await read(one) } }])
    }
  })

  t.test('a condition that does not hold is answered with 412, and nothing is written', async (t) => {
    const urn = dataset('conditional')
    const write = (description: string, headers: Json) =>
      post('dataset', [{ urn, datasetProperties: { value: { description }, headers } }])
    const description = async () => (await get(urn, '/datasetProperties')).body.value.description
    t.match(await write('x', { 'If-Version-Match': '1' }), {
      status: 412,
      body: { error: 'Precondition Error', message: 'Expected version 1, actual version -1.' }
    })
    t.match(
      await write('x', { 'If-Version-Match': '-10000' }),
      { status: 412, body: { message: 'Expected version -10000, actual version -1.' } },
      'no version of any aspect'
    )
    t.match(await write('x', { 'If-Modified-Since': '0' }), { status: 412 })
    t.equal((await write('first', { 'If-Version-Match': '-1' })).status, 200)
    t.match(await write('x', { 'If-Version-Match': -1 }), { status: 412 })
    t.match(await write('x', { 'If-Unmodified-Since': 'Mon, 14 Oct 2024 00:00:00 GMT' }), {
      status: 412,
      body: { message: /last modified/ }
    })
    t.match(await write('x', { 'if-modified-since': '2124-10-14T00:00:00Z' }), { status: 412 })
    t.equal((await write('x', { 'If-None-Match': '*' })).status, 200, 'dropped without a word')
    t.equal(await description(), 'first')
    t.equal(
      (
        await write('second', {
          'if-version-match': '1',
          'If-Modified-Since': 'Mon, 14 Oct 2024 00:00:00 GMT',
          'If-Unmodified-Since': '2124-10-14T00:00:00Z'
        })
      ).status,
      200
    )
    t.equal(await description(), 'second')
    const old = await rest({
      method: 'POST',
      url: '/openapi/v3/entity/dataset/batchGet?systemMetadata=true',
      body: [{ urn, datasetProperties: { headers: { 'If-Version-Match': '1' } } }]
    })
    t.match(old.body, [
      { urn, datasetProperties: { value: { description: 'first' }, systemMetadata: { version: '1' } } }
    ])
    for (const version of ['-10000', '-999999999999999', '7', '999999999999999']) {
      const none = await rest({
        method: 'POST',
        url: '/openapi/v3/entity/dataset/batchGet',
        body: [{ urn, datasetProperties: { headers: { 'If-Version-Match': version } } }]
      })
      t.match(none, { status: 200, body: [{ urn, datasetProperties: undefined }] }, version)
    }
  })

  t.test('a fault of the client is answered with 4xx and its place', async (t) => {
    const urn = dataset('faulty')
    const faults: [
      string,
      { method?: 'POST' | 'PATCH' | 'GET' | 'DELETE'; url: string; body?: unknown },
      number,
      Json
    ][] = [
      [
        'no list',
        { method: 'POST', url: '/openapi/v3/entity/dataset?async=false', body: {} },
        400,
        { error: /^Malformed request body/ }
      ],
      ['no JSON', { method: 'POST', url: '/openapi/v3/entity/dataset', body: Buffer.from('{') }, 415, {}],
      [
        'no entity',
        { method: 'POST', url: '/openapi/v3/entity/dataset', body: [null] },
        400,
        { field: '[0]' }
      ],
      [
        'no urn',
        { method: 'POST', url: '/openapi/v3/entity/dataset', body: [{ status: { value: {} } }] },
        400,
        { field: '[0].urn' }
      ],
      [
        'a bad urn',
        {
          method: 'POST',
          url: '/openapi/v3/entity/dataset',
          body: [{ urn: 'urn:li:dataset:(x', status: { value: {} } }]
        },
        400,
        { error: /^Invalid urn!: / }
      ],
      [
        'a urn of another type',
        {
          method: 'POST',
          url: '/openapi/v3/entity/dataset',
          body: [{ urn: 'urn:li:domain:x', status: { value: {} } }]
        },
        400,
        { field: '[0].status.entityType' }
      ],
      [
        'no value',
        { method: 'POST', url: '/openapi/v3/entity/dataset', body: [{ urn, status: {} }] },
        400,
        { field: '[0].status.value' }
      ],
      [
        'a value that does not fit',
        {
          method: 'POST',
          url: '/openapi/v3/entity/dataset',
          body: [
            { urn },
            { urn, upstreamLineage: { value: { upstreams: [{ dataset: 'x', type: 'COPY' }] } } }
          ]
        },
        400,
        { field: '[1].upstreamLineage.value.upstreams[0].dataset' }
      ],
      [
        'a value that fits no aspect',
        {
          method: 'POST',
          url: '/openapi/v3/entity/dataset',
          body: [{ urn, upstreamLineage: { value: {} } }]
        },
        400,
        { error: 'Validation Error', message: /com\.linkedin\.dataset\.UpstreamLineage/ }
      ],
      [
        'an aspect of another type',
        {
          method: 'POST',
          url: '/openapi/v3/entity/dataset',
          body: [{ urn, domainProperties: { value: { name: 'x' } } }]
        },
        400,
        { error: 'Validation Error' }
      ],
      [
        'a patch without operations',
        { method: 'PATCH', url: '/openapi/v3/entity/dataset', body: [{ urn, status: { value: {} } }] },
        400,
        { message: 'Missing `patch` field.' }
      ],
      [
        'a patch of the key',
        {
          method: 'PATCH',
          url: '/openapi/v3/entity/dataset',
          body: [{ urn, datasetKey: { value: { patch: [] } } }]
        },
        400,
        { message: /Patch not supported/ }
      ],
      [
        'a bad flag',
        { method: 'POST', url: '/openapi/v3/entity/dataset?async=perhaps', body: [] },
        400,
        { field: 'async' }
      ],
      [
        'a bad condition',
        {
          method: 'POST',
          url: '/openapi/v3/entity/dataset',
          body: [{ urn, status: { value: { removed: false }, headers: { 'If-Version-Match': 'x' } } }]
        },
        400,
        { field: '[0].status.headers.If-Version-Match' }
      ],
      [
        'a path without an aspect',
        { method: 'POST', url: `/openapi/v3/entity/dataset/${encoded(urn)}`, body: { value: {} } },
        404,
        {}
      ],
      ['a path with half an escape', { url: '/openapi/v3/entity/dataset/urn%3Ali%' }, 400, {}],
      [
        'a path of another type',
        { url: '/openapi/v3/entity/chart/' + encoded(urn) },
        400,
        { error: /^Invalid urn!/ }
      ],
      [
        'a bad version',
        { url: `/openapi/v3/entity/dataset/${encoded(urn)}/status?version=-1` },
        400,
        { field: 'version' }
      ],
      [
        'a trace id that is none',
        { method: 'POST', url: '/openapi/v1/trace/write/xyz', body: {} },
        400,
        { field: 'traceId' }
      ],
      [
        'a trace of no list',
        { method: 'POST', url: `/openapi/v1/trace/write/${'0'.repeat(32)}`, body: { [urn]: 'status' } },
        400,
        {}
      ],
      [
        'too many at once',
        {
          method: 'POST',
          url: '/openapi/v3/entity/dataset',
          body: Array.from({ length: 1001 }, () => ({ urn, status: { value: { removed: false } } }))
        },
        400,
        { limit: 'proposalsPerBatchMaxCount' }
      ]
    ]
    for (const [name, request, status, body] of faults) t.match(await rest(request), { status, body }, name)
    t.equal((await get(urn)).status, 404, 'nothing was written')
  })

  t.test('an error about a URN shows an example of the kind that is wanted, at every door', async (t) => {
    const aDataset = /urn:li:dataset:\(urn:li:dataPlatform:/
    const aDomain = /urn:li:domain:\w/
    const refused = async (mutation: string) =>
      (await graphql(`mutation { ${mutation} }`)).body.errors[0].message
    t.match(
      await refused(`updateLineage(input: { edgesToAdd: [{ downstreamUrn: "", upstreamUrn: "orders" }] })`),
      aDataset
    )
    t.match(
      await refused(
        `updateLineage(input: { edgesToAdd: [{ downstreamUrn: "${dataset('a')}", upstreamUrn: "orders" }] })`
      ),
      aDataset
    )
    t.match(await refused(`setDomain(entityUrn: "orders", domainUrn: "urn:li:domain:x")`), aDataset)
    t.match(await refused(`setDomain(entityUrn: "${dataset('a')}", domainUrn: "finance")`), aDomain)
    t.match(await refused(`moveDomain(input: { resourceUrn: "" })`), aDomain)
    const write = async (aspectName: string, json: Json) =>
      (
        await restli({
          entityType: 'dataset',
          entityUrn: dataset('a'),
          changeType: 'UPSERT',
          aspectName,
          aspect: { json }
        })
      ).body.message
    t.match(await write('upstreamLineage', { upstreams: [{ dataset: 1, type: 'COPY' }] }), aDataset)
    t.match(
      await write('upstreamLineage', {
        upstreams: [],
        fineGrainedLineages: [
          {
            upstreamType: 'FIELD_SET',
            upstreams: ['amount'],
            downstreamType: 'FIELD',
            downstreams: ['amount']
          }
        ]
      }),
      /urn:li:schemaField:\(/
    )
    t.match(await write('domains', { domains: [''] }), aDomain)
    t.match(
      (
        await restli({
          entityType: 'chart',
          entityUrn: '',
          changeType: 'UPSERT',
          aspectName: 'status',
          aspect: { json: {} }
        })
      ).body.message,
      /urn:li:chart:\(/
    )
    t.match((await rest({ url: '/openapi/v3/entity/dataJob/load' })).body.message, /urn:li:dataJob:\(/)
    t.match(
      (await rest({ method: 'POST', url: '/openapi/v3/entity/chart/batchGet', body: [{ urn: 1 }] })).body
        .message,
      /urn:li:chart:\(/
    )
  })

  t.test(
    'every route asks for a token before it looks at anything, and for the scope to write',
    async (t) => {
      const reader = await tokenWith(['read'])
      const path = `/openapi/v3/entity/dataset/${encoded(dataset('x'))}`
      const writes = [
        ['POST', '/openapi/v3/entity/dataset'],
        ['PATCH', '/openapi/v3/entity/dataset'],
        ['POST', '/openapi/v3/entity/generic'],
        ['PATCH', '/openapi/v3/entity/generic'],
        ['POST', `${path}/status`],
        ['PATCH', `${path}/status`],
        ['DELETE', path]
      ] as const
      const reads = [
        ['GET', path],
        ['GET', '/openapi/v3/entity/dataset'],
        ['POST', '/openapi/v3/entity/scroll'],
        ['HEAD', path],
        ['POST', '/openapi/v3/entity/dataset/batchGet'],
        ['POST', '/openapi/v3/entity/generic/batchGet'],
        ['POST', '/openapi/v1/trace/write/x'],
        ['GET', '/openapi/v1/registry/models/entity/specifications']
      ] as const
      for (const [method, url] of [...writes, ...reads])
        t.equal(
          (
            await rest({
              method,
              url,
              token: null,
              ...(method === 'GET' || method === 'HEAD'
                ? {}
                : { body: Buffer.from('{'), headers: { 'content-type': 'application/json' } })
            })
          ).status,
          401,
          `${method} ${url}`
        )
      for (const [method, url] of writes)
        t.match(
          await rest({ method, url, token: reader, body: [] }),
          { status: 403, body: { error: 'Authorization Error' } },
          `${method} ${url}`
        )
      for (const [method, url] of reads)
        t.not(
          (await rest({ method, url, token: reader, ...(method === 'POST' ? { body: [] } : {}) })).status,
          403,
          `${method} ${url}`
        )
    }
  )

  t.test(
    'entities of a type are listed a page at a time, each once, and a scroll takes filters',
    async (t) => {
      const urns = Array.from({ length: 5 }, (_, index) => `urn:li:dataFlow:(airflow,listed${index},prod)`)
      await post(
        'dataFlow',
        urns.map((urn, index) => ({
          urn,
          dataFlowInfo: { value: { name: `listed ${index}` } },
          status: { value: { removed: index === 4 } }
        }))
      )
      const seen: string[] = []
      for (let scrollId: string | undefined = ''; scrollId !== undefined;) {
        const { status, body } = await rest({
          url: `/openapi/v3/entity/dataflow?count=2&query=listed*&aspects=status${scrollId === '' ? '' : `&scrollId=${scrollId}`}`
        })
        t.equal(status, 200)
        for (const entity of body.entities) {
          t.match(entity, { status: { value: { removed: false } }, dataFlowInfo: undefined })
          seen.push(entity.urn)
        }
        scrollId = body.scrollId
      }
      t.same(seen.toSorted(), urns.slice(0, 4))
      const scroll = (body: unknown, more = '') =>
        rest({ method: 'POST', url: `/openapi/v3/entity/scroll?count=10${more}`, body })
      t.match(
        (
          await scroll(
            {
              entities: ['dataflow'],
              filter: {
                and: [
                  { criteria: [{ field: 'urn', values: [urns[1]] }] },
                  { criteria: [{ field: 'urn', values: [urns[2]], condition: 'EQUAL' }] }
                ]
              }
            },
            '&skipAggregation=false'
          )
        ).body,
        { entities: [{ urn: urns[1] }, { urn: urns[2] }], totalCount: 2, facets: Array }
      )
      t.match(await scroll({ entities: ['dataFlow'] }, '&includeSoftDelete=true&query=listed*'), {
        body: { totalCount: 5 }
      })
      const one = {
        entities: ['dataFlow'],
        filter: { and: [{ criteria: [{ field: 'urn', values: [urns[1]] }] }] }
      }
      const named = async (more: Json) =>
        Object.keys((await scroll({ ...one, ...more })).body.entities[0]).sort()
      t.same(await named({}), ['urn'], 'nothing said of aspects: the URN alone')
      t.same(
        await named({ aspects: [] }),
        ['dataFlowInfo', 'dataFlowKey', 'status', 'urn'],
        'none named: all'
      )
      t.same(await named({ aspects: ['status'] }), ['status', 'urn'])
      t.match(await scroll({ filter: { and: [{ criteria: [{ field: 'nothing', values: ['x'] }] }] } }), {
        status: 400,
        body: { code: 'BAD_REQUEST' }
      })
      t.match(await scroll({ filter: { and: 'x' } }), { status: 400, body: { field: 'filter.and' } })
      t.match(await scroll({ entities: [1] }), { status: 400, body: { field: 'entities[0]' } })
      t.match(await scroll([]), { status: 400 })
      t.match(await scroll({}, '&scrollId=abc'), { status: 400, body: { field: 'scrollId' } })
    }
  )

  t.test('slices of a scroll hold every entity exactly once between them', async (t) => {
    const urns = Array.from({ length: 40 }, (_, index) => `urn:li:chart:(superset,sliced${index})`).sort()
    await post(
      'chart',
      urns.map((urn) => ({ urn, status: { value: { removed: false } } }))
    )
    async function scrolled(query: string, more = ''): Promise<{ urns: string[]; total: number }> {
      const found: string[] = []
      let [place, total] = ['', 0]
      for (;;) {
        const url = `/openapi/v3/entity/scroll?count=3&query=${query}${more}${place}`
        const { status, body } = await rest({
          method: 'POST',
          url,
          body: {
            entities: ['chart'],
            filter: { and: [{ criteria: [{ field: 'platform', values: ['urn:li:dataPlatform:superset'] }] }] }
          }
        })
        t.equal(status, 200)
        found.push(...body.entities.map(({ urn }: { urn: string }) => urn))
        total ||= body.totalCount
        if (body.scrollId === undefined) return { urns: found, total }
        place = `&scrollId=${body.scrollId}`
      }
    }
    for (const query of ['*', 'superset']) {
      t.same((await scrolled(query)).urns.toSorted(), urns)
      for (const max of [1, 2, 7, 1_000_000_000_000]) {
        const slices = await Promise.all(
          Array.from({ length: Math.min(max, 7) }, (_, id) =>
            scrolled(query, `&sliceId=${id}&sliceMax=${max}`)
          )
        )
        for (const slice of slices) t.equal(slice.total, slice.urns.length)
        if (max > 7) continue
        t.same(slices.flatMap((slice) => slice.urns).toSorted(), urns, `${max} slices of ${query}`)
        if (max > 1) t.ok(slices.every((slice) => slice.urns.length < urns.length))
      }
    }
    const listed = await Promise.all(
      [0, 1].map(
        async (id) =>
          (
            await rest({
              url: `/openapi/v3/entity/chart?count=100&query=superset&aspects=status&sliceId=${id}&sliceMax=2`
            })
          ).body.entities
      )
    )
    t.same(
      listed
        .flat()
        .map(({ urn }: { urn: string }) => urn)
        .toSorted(),
      urns,
      'also where one type is listed'
    )
    const first = await rest({ url: '/openapi/v3/entity/chart?count=1&query=superset&sliceId=0&sliceMax=2' })
    t.match(
      await rest({
        url: `/openapi/v3/entity/chart?count=1&query=superset&sliceId=1&sliceMax=2&scrollId=${first.body.scrollId}`
      }),
      { status: 400, body: { field: 'scrollId' } },
      'a scroll stays in its slice'
    )
    for (const [more, field] of [
      ['sliceId=0', 'sliceMax'],
      ['sliceMax=2', 'sliceId'],
      ['sliceId=2&sliceMax=2', 'sliceId'],
      ['sliceId=-1&sliceMax=2', 'sliceId'],
      ['sliceId=x&sliceMax=2', 'sliceId'],
      ['sliceId=0&sliceMax=0', 'sliceMax'],
      ['sliceId=0&sliceId=1&sliceMax=2', 'sliceId']
    ] as const) {
      t.match(
        await rest({ method: 'POST', url: `/openapi/v3/entity/scroll?${more}`, body: {} }),
        { status: 400, body: { field } },
        more
      )
      t.match(await rest({ url: `/openapi/v3/entity/chart?${more}` }), { status: 400, body: { field } }, more)
    }
  })

  t.test('the registry lists every entity type with its aspects, a page at a time', async (t) => {
    const page = await rest({ url: '/openapi/v1/registry/models/entity/specifications?start=1&count=2' })
    t.match(page.body, { start: 1, count: 2, total: Number })
    t.match(page.body.elements[0], { name: 'dataset', keyAspectName: 'datasetKey' })
    const names = page.body.elements[0].aspectSpecs.map(
      (spec: { aspectAnnotation: Json }) => spec.aspectAnnotation.name
    )
    t.ok(
      names.includes('upstreamLineage') && names.includes('domains') && !names.includes('domainProperties')
    )
  })

  t.test('an entity type may be called as every object calls a field of its own', async (t) => {
    const urn = 'urn:li:constructor:a'
    t.match(await post('generic', { constructor: [{ urn, status: { value: { removed: false } } }] }), {
      status: 200,
      body: { constructor: [{ urn }] }
    })
  })

  t.test(
    'two spellings of one type are one list of the answer, each entity with its own aspects',
    async (t) => {
      const [a, b] = [dataset('spelled'), dataset('spelled otherwise')]
      const expected = {
        status: 200,
        body: {
          dataset: [
            { urn: a, status: { value: { removed: false } } },
            { urn: b, subTypes: { value: { typeNames: ['View'] } } }
          ]
        }
      }
      t.match(
        await post('generic', {
          dataset: [{ urn: a, status: { value: { removed: false } } }],
          DATASET: [{ urn: b, subTypes: { value: { typeNames: ['View'] } } }]
        }),
        expected
      )
      t.match(
        await rest({
          method: 'POST',
          url: '/openapi/v3/entity/generic/batchGet',
          body: { dataset: [{ urn: a, status: {} }], DATASET: [{ urn: b, subTypes: {} }] }
        }),
        expected
      )
    }
  )

  t.test('a read is limited in entities, aspects and versions, whatever its lists are called', async (t) => {
    const batchGet = (name: string, body: unknown) =>
      rest({ method: 'POST', url: `/openapi/v3/entity/${name}/batchGet`, body })
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ urn: dataset(`many${index}`) }))
    t.match(await batchGet('generic', { dataset: many(600), DATASET: many(600) }), {
      status: 400,
      body: { limit: 'entitiesPerReadMaxCount', actual: 1_200 }
    })
    t.match(await batchGet('dataset', many(1_001)), {
      status: 400,
      body: { limit: 'entitiesPerReadMaxCount' }
    })
    const names = Array.from({ length: limits.aspectsPerReadMaxCount + 1 }, (_, index) => `a${index}`)
    t.match(
      await batchGet('dataset', [
        { urn: dataset('a'), ...Object.fromEntries(names.map((name) => [name, {}])) }
      ]),
      { status: 400, body: { limit: 'aspectsPerReadMaxCount' } }
    )
    t.match(await get(dataset('a'), `?aspects=${names.join()}`), {
      status: 400,
      body: { limit: 'aspectsPerReadMaxCount' }
    })
    t.match(await rest({ url: `/entitiesV2/${encoded(dataset('a'))}?aspects=List(${names.join()})` }), {
      status: 400,
      body: { limit: 'aspectsPerReadMaxCount' }
    })
    t.match(await rest({ url: '/openapi/v3/entity/dataset?count=1001' }), {
      status: 400,
      body: { limit: 'entitiesPerReadMaxCount', field: 'count' }
    })
    t.match(
      await rest({ method: 'POST', url: '/openapi/v3/entity/scroll?count=1001', body: {} }),
      { status: 200 },
      'URNs alone are small'
    )
  })

  t.test('errors of a scroll use the words of its request', async (t) => {
    const scroll = (criterion: Json) =>
      rest({
        method: 'POST',
        url: '/openapi/v3/entity/scroll',
        body: { filter: { and: [{ criteria: [criterion] }] } }
      })
    t.match(await scroll({ field: 'nothing', values: ['x'] }), {
      status: 400,
      body: { field: 'filter.and[0].criteria[0].field', message: /^filter\.and\[0\]\.criteria\[0\]\.field / }
    })
    t.match(await rest({ url: '/openapi/v3/entity/dataset?scrollId=x' }), {
      status: 400,
      body: { field: 'scrollId', message: /^scrollId / }
    })
  })

  t.test('the name of an aspect that cannot be stored is refused by name', async (t) => {
    const urn = dataset('a')
    for (const url of [
      `/openapi/v3/entity/dataset/${encoded(urn)}/a%00`,
      `/openapi/v3/entity/dataset/${encoded(urn)}?aspects=a%00`,
      `/openapi/v3/entity/dataset?aspects=a%00`
    ]) {
      t.match(
        await rest({ url }),
        { status: 400, body: { code: 'INVALID_CHARACTER', field: /^(?:aspects|path)$/ } },
        url
      )
    }
    t.equal(
      (await rest({ method: 'HEAD', url: `/openapi/v3/entity/dataset/${encoded(urn)}/a%00` })).status,
      400
    )
    t.match(
      await rest({ method: 'POST', url: '/openapi/v3/entity/dataset/batchGet', body: [{ urn, 'a\0': {} }] }),
      { status: 400, body: { code: 'INVALID_CHARACTER' } }
    )
    t.match(await rest({ method: 'POST', url: '/openapi/v3/entity/scroll', body: { aspects: ['a\0'] } }), {
      status: 400,
      body: { code: 'INVALID_CHARACTER' }
    })
  })
})
