/** Relationships in every interface that shows them: those of lineage, of domains, and of other aspects. */
import t from 'tap'
import { limits } from '../shared/limits.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { documentRelationships } from '../shared/model/relationships.ts'
import { withServer } from './support/server.ts'

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const column = (name: string, path: string) => `urn:li:schemaField:(${dataset(name)},${path})`
const flow = 'urn:li:dataFlow:(airflow,nightly,PROD)'
const job = (id: string) => `urn:li:dataJob:(${flow},${id})`
const chart = 'urn:li:chart:(looker,revenue)'
const dashboard = 'urn:li:dashboard:(looker,board)'

type Scrolled = {
  relationshipType: string
  source: { urn: string }
  destination: { urn: string }
  upstream?: string
  downstream?: string
}
type Found = { type: string; urn: string; via?: string }

t.test('relationships', async (t) => {
  const { rest, graphql, tokenWith, db } = await withServer(t, { env: { MISSING_REFERENCES: 'create' } })
  const put = async (entityUrn: string, aspectName: string, json: JsonObject) => {
    const proposal = {
      entityType: entityUrn.split(':')[2] ?? '',
      entityUrn,
      changeType: 'UPSERT',
      aspectName,
      aspect: { json }
    }
    t.match(await rest({ method: 'POST', url: '/aspects?action=ingestProposal', body: { proposal } }), {
      status: 200
    })
  }

  for (const urn of [
    dataset('a'),
    dataset('b'),
    dataset('c'),
    job('load'),
    job('copy'),
    flow,
    chart,
    dashboard
  ])
    await put(urn, 'status', { removed: false })
  await put('urn:li:domain:parent', 'domainProperties', { name: 'Parent' })
  await put('urn:li:domain:child', 'domainProperties', {
    name: 'Child',
    parentDomain: 'urn:li:domain:parent'
  })
  for (const urn of [dataset('a'), dataset('b'), chart])
    await put(urn, 'domains', { domains: ['urn:li:domain:child'] })
  await put(dataset('b'), 'upstreamLineage', {
    upstreams: [{ dataset: dataset('a'), type: 'TRANSFORMED', query: 'urn:li:query:q1' }],
    fineGrainedLineages: [
      {
        upstreamType: 'FIELD_SET',
        upstreams: [column('a', 'x'), column('a', 'y')],
        downstreamType: 'FIELD',
        downstreams: [column('b', 'z')],
        query: 'urn:li:query:q1'
      }
    ]
  })
  await put(job('load'), 'dataJobInputOutput', {
    inputDatasets: [dataset('b')],
    outputDatasets: [],
    outputDatasetEdges: [{ destinationUrn: dataset('c') }],
    inputDatajobEdges: [{ destinationUrn: job('copy') }],
    fineGrainedLineages: [
      {
        upstreamType: 'FIELD_SET',
        upstreams: [column('b', 'z')],
        downstreamType: 'FIELD',
        downstreams: [column('c', 'w')]
      }
    ]
  })
  await put(chart, 'chartInfo', {
    title: 'Revenue',
    description: '',
    lastModified: {},
    inputs: [{ string: dataset('c') }]
  })
  await put(chart, 'inputFields', {
    fields: [
      {
        schemaFieldUrn: column('c', 'w'),
        schemaField: {
          fieldPath: 'total',
          nativeDataType: 'int',
          type: { type: { 'com.linkedin.schema.NumberType': {} } }
        }
      }
    ]
  })
  await put(dashboard, 'dashboardInfo', {
    title: 'Board',
    description: '',
    lastModified: {},
    charts: [chart],
    datasets: [dataset('c')]
  })
  await put(dataset('a'), 'ownership', {
    owners: [
      { owner: 'urn:li:corpuser:ann', type: 'DATAOWNER' },
      { owner: 'urn:li:corpGroup:team', type: 'DATAOWNER' }
    ]
  })
  await put(dataset('c'), 'ownership', { owners: [{ owner: 'urn:li:corpuser:ann', type: 'DATAOWNER' }] })
  await put(dataset('a'), 'container', { container: 'urn:li:container:shop' })
  await put(dataset('a'), 'globalTags', { tags: [{ tag: 'urn:li:tag:pii' }] })
  await put('urn:li:mlFeatureTable:(urn:li:dataPlatform:feast,users)', 'mlFeatureTableProperties', {
    mlFeatures: ['urn:li:mlFeature:(users,age)'],
    mlPrimaryKeys: ['urn:li:mlPrimaryKey:(users,id)']
  })

  /**
   * The relationships of one entity by OpenAPI v1, compared with RestLi, GraphQL and the scroll of the
   * entity.
   */
  async function related(
    urn: string,
    direction: 'INCOMING' | 'OUTGOING',
    ...types: string[]
  ): Promise<Found[]> {
    const parameters = types.map((type) => `&relationshipTypes=${type}`).join('')
    const openapi = await rest({
      url: `/openapi/relationships/v1/?urn=${encodeURIComponent(urn)}&direction=${direction}${parameters}`
    })
    t.equal(openapi.status, 200)
    t.equal(openapi.body.total, openapi.body.entities.length)
    const found: Found[] = openapi.body.entities.map(
      ({ relationshipType, ...other }: { relationshipType: string; urn: string }) => ({
        type: relationshipType,
        ...other
      })
    )
    const bare = found.map(({ type, urn: other }) => `${type} ${other}`)

    const restli = await rest({
      url: `/relationships?urn=${encodeURIComponent(urn)}&direction=${direction}&types=List(${types.join(',')})`
    })
    t.same(
      restli.body.relationships.map(
        ({ type, entity }: { type: string; entity: string }) => `${type} ${entity}`
      ),
      bare,
      'RestLi says the same'
    )

    const scroll = await rest({
      url: `/openapi/v3/relationship/${urn.split(':')[2]}/${encodeURIComponent(urn)}?direction=${direction}&count=1000&includeSoftDelete=true${types.map((type) => `&relationshipType=${type}`).join('')}`
    })
    const far = direction === 'OUTGOING' ? 'destination' : 'source'
    t.same(
      scroll.body.results.map(
        (each: Record<string, { urn: string }> & { relationshipType: string }) =>
          `${each.relationshipType} ${each[far]?.urn}`
      ),
      bare,
      'the scroll says the same'
    )

    const fields = [
      'Dataset',
      'DataJob',
      'DataFlow',
      'Chart',
      'Dashboard',
      'Domain',
      'Container',
      'MLFeatureTable',
      'MLFeature',
      'MLPrimaryKey',
      'SchemaFieldEntity',
      'CorpUser',
      'CorpGroup',
      'Tag'
    ]
      .map(
        (name) =>
          `... on ${name} { relationships(input: $input) { start count total relationships { type direction entity { urn } } } }`
      )
      .join(' ')
    const answer = await graphql(
      `query ($urn: String!, $input: RelationshipsInput!) { entities(urns: [$urn]) { ${fields} } }`,
      { urn, input: { types, direction, count: 1000 } }
    )
    t.same(
      answer.body.data?.entities[0].relationships,
      {
        start: 0,
        count: bare.length,
        total: bare.length,
        relationships: found.map(({ type, urn: other }) => ({ type, direction, entity: { urn: other } }))
      },
      'GraphQL says the same'
    )
    return found
  }
  const named = async (...question: Parameters<typeof related>) =>
    (await related(...question)).map(({ type, urn }) => `${type} ${urn}`).sort()

  t.test(
    'lineage leads from the downstream end, and for outputs of a job from the upstream end',
    async (t) => {
      t.same(await related(dataset('b'), 'OUTGOING', 'DownstreamOf'), [
        { type: 'DownstreamOf', urn: dataset('a'), via: 'urn:li:query:q1' }
      ])
      t.same(await related(dataset('a'), 'INCOMING', 'DownstreamOf'), [
        { type: 'DownstreamOf', urn: dataset('b'), via: 'urn:li:query:q1' }
      ])
      t.same(await related(dataset('a'), 'OUTGOING', 'DownstreamOf'), [])
      t.same(await named(job('load'), 'OUTGOING', 'Consumes', 'Produces', 'DownstreamOf'), [
        `Consumes ${dataset('b')}`,
        `DownstreamOf ${job('copy')}`,
        `Produces ${dataset('c')}`
      ])
      t.same(await named(dataset('c'), 'INCOMING', 'Produces'), [`Produces ${job('load')}`])
      t.same(await named(dataset('c'), 'INCOMING', 'Consumes'), [
        `Consumes ${chart}`,
        `Consumes ${dashboard}`
      ])
      t.same(await named(dashboard, 'OUTGOING', 'Contains'), [`Contains ${chart}`])
    }
  )

  t.test('columns are related by column records, by jobs and by input fields', async (t) => {
    const up = await related(column('b', 'z'), 'OUTGOING', 'DownstreamOf')
    t.same(up.map(({ urn }) => urn).sort(), [column('a', 'x'), column('a', 'y')])
    t.same(
      up.map(({ via }) => via),
      ['urn:li:query:q1', 'urn:li:query:q1']
    )
    t.same(await related(column('c', 'w'), 'OUTGOING', 'DownstreamOf'), [
      { type: 'DownstreamOf', urn: column('b', 'z'), via: job('load') }
    ])
    t.same(await named(column('c', 'w'), 'INCOMING'), [`DownstreamOf urn:li:schemaField:(${chart},total)`])
  })

  t.test('domains are related to their parents and their assets', async (t) => {
    t.same(await named('urn:li:domain:child', 'OUTGOING'), ['IsPartOf urn:li:domain:parent'])
    t.same(await named('urn:li:domain:parent', 'INCOMING', 'IsPartOf'), ['IsPartOf urn:li:domain:child'])
    t.same(
      await named('urn:li:domain:child', 'INCOMING', 'AssociatedWith'),
      [dataset('a'), dataset('b'), chart].map((urn) => `AssociatedWith ${urn}`).sort()
    )
    t.same(await named(chart, 'OUTGOING', 'AssociatedWith'), ['AssociatedWith urn:li:domain:child'])
  })

  t.test('a job is part of the flow that its URN names, and no lineage', async (t) => {
    await put('urn:li:dataFlow:(airflow,nightly,PROD2)', 'status', { removed: false })
    await put('urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,PROD2),load)', 'status', { removed: false })
    t.same(await named(job('load'), 'OUTGOING', 'IsPartOf'), [`IsPartOf ${flow}`])
    t.same(await named(flow, 'INCOMING'), [`IsPartOf ${job('copy')}`, `IsPartOf ${job('load')}`].sort())
  })

  t.test(
    'other aspects relate an entity to owners, containers, tags and features, seen from both ends',
    async (t) => {
      t.same(await named(dataset('a'), 'OUTGOING', 'OwnedBy', 'IsPartOf', 'TaggedWith'), [
        'IsPartOf urn:li:container:shop',
        'OwnedBy urn:li:corpGroup:team',
        'OwnedBy urn:li:corpuser:ann',
        'TaggedWith urn:li:tag:pii'
      ])
      t.same(await named('urn:li:mlFeatureTable:(urn:li:dataPlatform:feast,users)', 'OUTGOING'), [
        'Contains urn:li:mlFeature:(users,age)',
        'KeyedBy urn:li:mlPrimaryKey:(users,id)'
      ])
      for (const [urn, expected] of [
        ['urn:li:corpuser:ann', [`OwnedBy ${dataset('a')}`, `OwnedBy ${dataset('c')}`]],
        ['urn:li:container:shop', [`IsPartOf ${dataset('a')}`]],
        ['urn:li:tag:pii', [`TaggedWith ${dataset('a')}`]]
      ] as const) {
        const { body } = await rest({
          url: `/openapi/relationships/v1?urn=${encodeURIComponent(urn)}&direction=INCOMING`
        })
        t.same(
          body.entities.map(
            (each: { relationshipType: string; urn: string }) => `${each.relationshipType} ${each.urn}`
          ),
          expected
        )
      }
    }
  )

  t.test('the indexes of references to an entity cover every aspect that can have them', async (t) => {
    const { rows }: { rows: { definition: string }[] } = await db.raw(
      `select indexdef as definition from pg_indexes where indexname in ('aspect_value_idx', 'aspect_column_reference_idx')`
    )
    const known = new Set(
      rows.flatMap(({ definition }) =>
        [...definition.slice(definition.indexOf(' WHERE ')).matchAll(/'(\w+)'/g)].map(([, name = '']) => name)
      )
    )
    t.same(
      documentRelationships.filter(({ aspectName }) => !known.has(aspectName)),
      []
    )
    const paths = documentRelationships
      .filter(({ aspectName }) => aspectName === 'schemaMetadata')
      .map(({ path }) => `$${path.map((step) => (step === '*' ? '[*]' : `."${step}"`)).join('')}`)
    for (const path of paths)
      t.ok(
        rows.some(({ definition }) => definition.includes(path)),
        path
      )
  })

  t.test('without types all relationships are listed, and pages of any size add up to all', async (t) => {
    const all = await named(dataset('a'), 'OUTGOING')
    t.equal(all.length, 5)
    const gathered: string[] = []
    for (let start = 0; ; start += 2) {
      const { body } = await rest({
        url: `/openapi/relationships/v1/?urn=${encodeURIComponent(dataset('a'))}&direction=OUTGOING&start=${start}&count=2`
      })
      t.match(body, { start, total: 5, count: Math.max(0, Math.min(2, 5 - start)) })
      if (body.count === 0) break
      gathered.push(
        ...body.entities.map(
          (each: { relationshipType: string; urn: string }) => `${each.relationshipType} ${each.urn}`
        )
      )
    }
    t.same(gathered.sort(), all)
  })

  t.test('a relationship that is stated twice is one', async (t) => {
    await put(dashboard, 'dashboardInfo', {
      title: 'Board',
      description: '',
      lastModified: {},
      charts: [chart],
      chartEdges: [{ destinationUrn: chart }],
      datasets: [dataset('c')]
    })
    t.same(await named(dashboard, 'OUTGOING', 'Contains'), [`Contains ${chart}`])
    await put(dataset('owned'), 'ownership', {
      owners: [
        { owner: 'urn:li:corpuser:ben', type: 'DATAOWNER' },
        { owner: 'urn:li:corpuser:cy', type: 'DATAOWNER' },
        { owner: 'urn:li:corpuser:ben', type: 'TECHNICAL_OWNER' }
      ]
    })
    t.same(
      await named(dataset('owned'), 'OUTGOING', 'OwnedBy'),
      ['OwnedBy urn:li:corpuser:ben', 'OwnedBy urn:li:corpuser:cy'],
      'also where one aspect states it twice'
    )
    t.same(await named('urn:li:corpuser:ben', 'INCOMING', 'OwnedBy'), [`OwnedBy ${dataset('owned')}`])
    await rest({ method: 'POST', url: '/entities?action=delete', body: { urn: dataset('owned') } })
  })

  async function scrollAll(path: string, body: JsonObject = {}, count = 2): Promise<Scrolled[]> {
    const results: Scrolled[] = []
    let scrollId: string | undefined
    for (let pages = 0; pages < 100; pages += 1) {
      const answer = await rest({
        method: 'POST',
        url: `${path}${path.includes('?') ? '&' : '?'}count=${count}${scrollId ? `&scrollId=${scrollId}` : ''}`,
        body
      })
      t.equal(answer.status, 200, answer.text)
      t.ok(answer.body.results.length <= count)
      results.push(...answer.body.results)
      scrollId = answer.body.scrollId
      if (scrollId === undefined) return results
    }
    throw new Error('the scroll does not end')
  }
  const lineageOf = async (urns: string[] | null, direction?: string) =>
    (
      await scrollAll(
        `/openapi/v3/lineage/scroll${direction ? `?direction=${direction}` : ''}`,
        urns ? { urns } : {}
      )
    )
      .map(({ upstream, downstream }) => `${upstream} > ${downstream}`)
      .sort()

  t.test('one hop of lineage is scrolled, up, down and both, with its ends distinguished', async (t) => {
    t.same(await lineageOf([dataset('b')]), [
      `${dataset('a')} > ${dataset('b')}`,
      `${dataset('b')} > ${job('load')}`
    ])
    t.same(await lineageOf([dataset('b')], 'UPSTREAM'), [`${dataset('a')} > ${dataset('b')}`])
    t.same(await lineageOf([dataset('b')], 'DOWNSTREAM'), [`${dataset('b')} > ${job('load')}`])
    t.same(
      await lineageOf([dataset('c')], 'UPSTREAM'),
      [`${job('load')} > ${dataset('c')}`],
      'what a job produces has it upstream'
    )
    t.same(
      await lineageOf([column('b', 'z')]),
      [
        `${column('a', 'x')} > ${column('b', 'z')}`,
        `${column('a', 'y')} > ${column('b', 'z')}`,
        `${column('b', 'z')} > ${column('c', 'w')}`
      ],
      'columns too'
    )
    t.same(await lineageOf([dataset('nowhere')]), [])
    const all = await lineageOf(null)
    t.equal(all.length, new Set(all).size)
    t.ok(all.length >= 11)
    t.notOk(all.some((edge) => edge.includes('urn:li:domain')))
    const [produced] = await scrollAll('/openapi/v3/lineage/scroll?relationshipTypes=Produces')
    t.same(produced, {
      relationshipType: 'Produces',
      source: { urn: job('load'), entityType: 'dataJob' },
      destination: { urn: dataset('c'), entityType: 'dataset' },
      upstream: job('load'),
      downstream: dataset('c')
    })
  })

  t.test('relationships are scrolled by type, by the types of both ends, and by their URNs', async (t) => {
    const scroll = async (query: string, body: JsonObject = {}) =>
      (await scrollAll(`/openapi/v3/relationship/scroll${query}`, body))
        .map(
          ({ relationshipType, source, destination }) =>
            `${source.urn} ${relationshipType} ${destination.urn}`
        )
        .sort()
    const byUrn = (...urns: string[]) => ({
      and: [{ criteria: [{ field: 'urn', values: urns, condition: 'EQUAL' }] }]
    })
    t.same(await scroll('?relationshipTypes=OwnedBy'), [
      `${dataset('a')} OwnedBy urn:li:corpGroup:team`,
      `${dataset('a')} OwnedBy urn:li:corpuser:ann`,
      `${dataset('c')} OwnedBy urn:li:corpuser:ann`
    ])
    t.same(await scroll('?relationshipTypes=OwnedBy&destinationTypes=corpGroup'), [
      `${dataset('a')} OwnedBy urn:li:corpGroup:team`
    ])
    t.same(await scroll('?sourceTypes=dataJob&relationshipTypes=Consumes&relationshipTypes=Produces'), [
      `${job('load')} Consumes ${dataset('b')}`,
      `${job('load')} Produces ${dataset('c')}`
    ])
    t.same(
      await scroll('?relationshipTypes=IsPartOf&destinationTypes=dataFlow', {
        sourceFilter: byUrn(job('load'))
      }),
      [`${job('load')} IsPartOf ${flow}`]
    )
    t.same(
      await scroll('?relationshipTypes=IsPartOf', {
        destinationFilter: byUrn(flow, 'urn:li:domain:parent', 'urn:li:container:shop')
      }),
      [
        `${job('copy')} IsPartOf ${flow}`,
        `${job('load')} IsPartOf ${flow}`,
        `${dataset('a')} IsPartOf urn:li:container:shop`,
        'urn:li:domain:child IsPartOf urn:li:domain:parent'
      ].sort()
    )
    t.same(
      await scroll('?direction=INCOMING&relationshipTypes=DownstreamOf&destinationTypes=dataset', {
        sourceFilter: byUrn(dataset('a'))
      }),
      [`${dataset('b')} DownstreamOf ${dataset('a')}`],
      'INCOMING turns both ends around'
    )
    t.same(
      await scroll('?relationshipTypes=*&destinationTypes=corpGroup'),
      [`${dataset('a')} OwnedBy urn:li:corpGroup:team`],
      'a star is every type'
    )
    t.same(
      (await rest({ url: '/openapi/v3/relationship/TaggedWith' })).body.results.map(
        (each: { destination: { urn: string } }) => each.destination.urn
      ),
      ['urn:li:tag:pii']
    )
    const [everything, atOnce] = [
      await scroll(''),
      await scrollAll('/openapi/v3/relationship/scroll', {}, 1000)
    ]
    t.equal(everything.length, atOnce.length, 'small pages and one large page hold the same')
    t.equal(new Set(everything).size, everything.length)
  })

  t.test('slices of a scroll hold every relationship exactly once between them', async (t) => {
    for (const path of ['/openapi/v3/relationship/scroll', '/openapi/v3/lineage/scroll']) {
      const printed = async (query: string) =>
        (await scrollAll(`${path}${query}`, {}, 3)).map((result) => JSON.stringify(result))
      const all = (await printed('')).sort()
      const slices = await Promise.all([0, 1, 2].map((id) => printed(`?sliceId=${id}&sliceMax=3`)))
      t.same(slices.flat().sort(), all)
      t.ok(slices.every((slice) => slice.length < all.length))
    }
  })

  t.test(
    'relationships with a soft-deleted end are left out of scrolls by default, and of other reads on request',
    async (t) => {
      await put(dataset('gone'), 'upstreamLineage', { upstreams: [{ dataset: dataset('c'), type: 'COPY' }] })
      await put(dataset('gone'), 'status', { removed: true })
      t.same(await lineageOf([dataset('gone')]), [])
      t.same(
        (await scrollAll('/openapi/v3/lineage/scroll?includeSoftDelete=true', { urns: [dataset('gone')] }))
          .length,
        1
      )
      t.same(await named(dataset('c'), 'INCOMING', 'DownstreamOf'), [`DownstreamOf ${dataset('gone')}`])
      const { body } = await graphql(
        'query ($urn: String!) { dataset(urn: $urn) { relationships(input: { types: [], direction: INCOMING, includeSoftDelete: false }) { relationships { type } } } }',
        { urn: dataset('c') }
      )
      t.notMatch(body.data.dataset.relationships.relationships, [{ type: 'DownstreamOf' }])
      await rest({ method: 'POST', url: '/entities?action=delete', body: { urn: dataset('gone') } })
      t.same(await named(dataset('c'), 'INCOMING', 'DownstreamOf'), [])
    }
  )

  t.test('bad input is refused by name', async (t) => {
    const v1 = (query: string) => rest({ url: `/openapi/relationships/v1/?${query}` })
    const urn = `urn=${encodeURIComponent(dataset('a'))}`
    for (const [query, field] of [
      ['direction=INCOMING', 'urn'],
      ['urn=x&direction=INCOMING', 'urn'],
      [urn, 'direction'],
      [`${urn}&direction=SIDEWAYS`, 'direction'],
      [`${urn}&direction=INCOMING&count=-1`, 'count'],
      [`${urn}&direction=INCOMING&count=x`, 'count'],
      [`${urn}&direction=INCOMING&start=-1`, 'start'],
      [`${urn}&${urn}&direction=INCOMING`, 'urn'],
      [`${urn}&direction=INCOMING&count=${limits.pageMaxCount + 1}`, 'count']
    ] as const)
      t.match(await v1(query), { status: 400, body: { field } }, query)
    const post = (path: string, body: unknown) => rest({ method: 'POST', url: path, body })
    for (const [path, body, field] of [
      ['/openapi/v3/lineage/scroll?direction=SIDEWAYS', {}, 'direction'],
      ['/openapi/v3/lineage/scroll', { urns: 'x' }, 'urns'],
      ['/openapi/v3/lineage/scroll', { urns: [7] }, 'urns'],
      ['/openapi/v3/lineage/scroll', { urns: ['rubbish'] }, 'urns[0]'],
      ['/openapi/v3/lineage/scroll?scrollId=abc', {}, 'scrollId'],
      ['/openapi/v3/lineage/scroll?sliceMax=4', {}, 'sliceId'],
      ['/openapi/v3/relationship/scroll?sliceId=4&sliceMax=4', {}, 'sliceId'],
      [
        '/openapi/v3/lineage/scroll',
        {
          urns: Array.from({ length: limits.filterValuesMaxCount + 1 }, (_, index) => dataset(String(index)))
        },
        'urns'
      ],
      ['/openapi/v3/relationship/scroll', { edgeFilter: { and: [] } }, 'edgeFilter'],
      ['/openapi/v3/relationship/scroll', { sourceFilter: 7 }, 'sourceFilter'],
      [
        '/openapi/v3/relationship/scroll',
        { sourceFilter: { and: [{ criteria: [{ field: 'name', values: ['x'] }] }] } },
        'sourceFilter.and[0].criteria[0]'
      ],
      ['/openapi/v3/relationship/scroll', { sourceFilter: { and: [{ criteria: [] }] } }, 'sourceFilter'],
      ['/openapi/v3/relationship/scroll?includeSoftDelete=maybe', {}, 'includeSoftDelete'],
      ['/openapi/v3/relationship/scroll?sourceTypes=a%00', {}, 'sourceTypes'],
      [
        '/openapi/v3/relationship/scroll',
        {
          sourceFilter: {
            and: [{ criteria: [{ field: 'urn', values: Array(limits.filterValuesMaxCount + 1).fill('x') }] }]
          }
        },
        'sourceFilter.and[0].criteria[0]'
      ],
      [
        '/openapi/v3/relationship/scroll',
        {
          sourceFilter: {
            and: [
              { criteria: Array(limits.filtersPerGroupMaxCount + 1).fill({ field: 'urn', values: ['x'] }) }
            ]
          }
        },
        'sourceFilter.and[0].criteria'
      ],
      [
        '/openapi/v3/relationship/scroll',
        {
          sourceFilter: {
            and: Array(limits.filterGroupsMaxCount + 1).fill({ criteria: [{ field: 'urn', values: ['x'] }] })
          }
        },
        'sourceFilter'
      ]
    ] as const)
      t.match(
        await post(path, body),
        { status: 400, body: { field } },
        `${path} ${JSON.stringify(body).slice(0, 80)}`
      )
    t.match(await rest({ url: `/openapi/v3/relationship/chart/${encodeURIComponent(dataset('a'))}` }), {
      status: 400,
      body: { field: 'entityName' }
    })
    t.match(
      await graphql(
        'query ($urn: String!) { dataset(urn: $urn) { relationships(input: { types: [], direction: INCOMING, count: -1 }) { total } } }',
        { urn: dataset('a') }
      ),
      { body: { errors: [{ extensions: { field: 'input.count' } }] } }
    )
  })

  t.test('a request that asks for the relationships of too many entities is refused', async (t) => {
    const urns = Array.from({ length: 1_001 }, (_, index) => dataset(`many${index}`))
    const { body } = await graphql(
      'query ($urns: [String!]!) { entities(urns: $urns) { ... on Dataset { relationships(input: { types: ["OwnedBy"], direction: OUTGOING }) { total } } } }',
      { urns }
    )
    t.match(body, { errors: [{ extensions: { limit: 'graphqlMaxReads' } }] })
  })

  t.test('a cursor continues only its own question', async (t) => {
    const { body } = await rest({ method: 'POST', url: '/openapi/v3/lineage/scroll?count=1', body: {} })
    t.match(
      await rest({
        method: 'POST',
        url: `/openapi/v3/lineage/scroll?count=5&scrollId=${body.scrollId}`,
        body: {}
      }),
      { status: 200 },
      'with a page of another size'
    )
    t.match(
      await rest({
        method: 'POST',
        url: `/openapi/v3/lineage/scroll?count=1&scrollId=${body.scrollId}`,
        body: { urns: [dataset('a')] }
      }),
      { status: 400, body: { field: 'scrollId' } }
    )
    t.match(
      await rest({
        method: 'POST',
        url: `/openapi/v3/relationship/scroll?count=1&scrollId=${body.scrollId}`,
        body: {}
      }),
      { status: 400, body: { field: 'scrollId' } }
    )
  })

  t.test('reading needs a token, and no more than reading', async (t) => {
    const reader = await tokenWith(['read'])
    for (const token of [reader, null]) {
      const status = token === null ? 401 : 200
      t.equal(
        (
          await rest({
            url: `/openapi/relationships/v1/?urn=${encodeURIComponent(dataset('a'))}&direction=INCOMING`,
            token
          })
        ).status,
        status
      )
      t.equal(
        (
          await rest({
            url: `/relationships?urn=${encodeURIComponent(dataset('a'))}&direction=INCOMING`,
            token
          })
        ).status,
        status
      )
      t.equal(
        (await rest({ method: 'POST', url: '/openapi/v3/lineage/scroll', body: {}, token })).status,
        status
      )
      t.equal(
        (await rest({ method: 'POST', url: '/openapi/v3/relationship/scroll', body: {}, token })).status,
        status
      )
    }
  })
})
