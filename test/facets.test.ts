/**
 * Facets: every count is what a search with the filter by that value finds, whether a URN or an aspect tells the value.
 */
import t from 'tap'
import { aggregateEntities } from '../shared/catalog/search/aggregate-entities.ts'
import { countLineage } from '../shared/catalog/lineage/count-lineage.ts'
import { scrollAcrossLineage } from '../shared/catalog/lineage/scroll-across-lineage.ts'
import { searchEntities } from '../shared/catalog/search/search-entities.ts'
import type { FilterGroupInput } from '../shared/catalog/lineage/lineage-filters.ts'
import type { LineageSources } from '../shared/catalog/lineage/with-lineage.ts'
import type { Change, JsonObject } from '../shared/model/changes.ts'
import { datasetUrn } from '../shared/urn/kinds.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import {
  addEdge,
  apply,
  chart,
  create,
  createDomain,
  dataset,
  domain,
  feature,
  setDomain,
  upsert
} from './support/changes.ts'
import { onBothEngines } from './support/engines.ts'
import { casesOf, fc } from './support/fast-check.ts'
import { withServer } from './support/server.ts'

const platformUrn = (name: string): Urn => toUrn(`urn:li:dataPlatform:${name}`)
const domains = [domain('sales'), domain('stock')]
const wishes = { facets: true, matchedFields: false }

/** One entity: its URN, and the aspects that only its type has. */
const kinds: readonly ((
  index: number,
  env: string | null,
  platform: string | null
) => [Urn, [string, JsonObject][]])[] = [
  (index) => [datasetUrn(index % 2 ? 'hive' : 'kafka', `orders_${index}`, 'DEV'), []],
  (index) => [toUrn(`urn:li:chart:(looker,orders_${index})`), []],
  (index, env, platform) => [
    toUrn(`urn:li:container:c${index}`),
    [
      ['containerProperties', { name: `orders ${index}`, ...(env === null ? {} : { env }) }],
      ...(platform === null
        ? []
        : ([['dataPlatformInstance', { platform, instance: `${platform}_1` }]] satisfies [
            string,
            JsonObject
          ][]))
    ]
  ],
  (index, env) => [
    toUrn(`urn:li:dataFlow:(airflow,orders_${index},${index % 2 ? 'PROD' : 'main'})`),
    [['dataFlowInfo', { name: `orders ${index}`, ...(env === null ? {} : { env }) }]]
  ],
  (index, env) => [
    toUrn(`urn:li:dataJob:(urn:li:dataFlow:(spark,flow_${index},main),orders)`),
    [['dataJobInfo', { name: `orders ${index}`, type: 'SPARK', ...(env === null ? {} : { env }) }]]
  ],
  (index, _env, platform) => [
    toUrn(`urn:li:dataProcessInstance:r${index}`),
    [
      [
        'dataProcessInstanceProperties',
        { name: `orders ${index}`, created: { time: 1, actor: 'urn:li:corpuser:a' } }
      ],
      platform === null
        ? [
            'dataProcessInstanceRelationships',
            { parentTemplate: 'urn:li:dataJob:(urn:li:dataFlow:(dagster,f,main),j)', upstreamInstances: [] }
          ]
        : ['dataPlatformInstance', { platform }]
    ]
  ]
]

const anEntity = fc.record({
  kind: fc.nat(kinds.length - 1),
  env: fc.constantFrom(null, 'PROD', 'DEV', 'QA'),
  platform: fc.constantFrom(null, platformUrn('hive'), platformUrn('postgres')),
  tags: fc.subarray(['urn:li:tag:pii', 'urn:li:tag:gold']),
  owners: fc.subarray(['urn:li:corpuser:ada', 'urn:li:corpGroup:finance']),
  terms: fc.subarray(['urn:li:glossaryTerm:Revenue']),
  domain: fc.option(fc.constantFrom(...domains)),
  isRemoved: fc.constantFrom(false, false, false, true)
})

const stamp = { time: 1, actor: 'urn:li:corpuser:ada' }

function changesOf(
  drawn: typeof anEntity extends fc.Arbitrary<infer Value> ? Value : never,
  index: number
): Change[] {
  const [urn, own] = kinds[drawn.kind]?.(index, drawn.env, drawn.platform) ?? [dataset('none'), []]
  return [
    ...own.map(([name, value]) => upsert(urn, name, value)),
    upsert(urn, 'status', { removed: drawn.isRemoved }),
    upsert(urn, 'globalTags', { tags: drawn.tags.map((tag) => ({ tag })) }),
    upsert(urn, 'ownership', {
      owners: drawn.owners.map((owner) => ({ owner, type: 'DATAOWNER' })),
      lastModified: stamp
    }),
    upsert(urn, 'glossaryTerms', { terms: drawn.terms.map((term) => ({ urn: term })), auditStamp: stamp }),
    ...(drawn.domain === null || urn.includes(':dataProcessInstance:') ? [] : [setDomain(urn, drawn.domain)])
  ]
}

const types = [
  null,
  ['CONTAINER'],
  ['DATA_FLOW'],
  ['DATA_JOB', 'DATASET'],
  ['DATA_PROCESS_INSTANCE'],
  ['CHART']
]
const aFilter = fc.constantFrom(
  { field: 'platform', values: [platformUrn('hive')] },
  { field: 'platform', values: ['hive'], negated: true },
  { field: 'env', values: ['PROD', 'DEV'] },
  { field: 'tags', values: ['urn:li:tag:pii'] },
  { field: 'owners', values: ['urn:li:corpuser:ada'] },
  { field: 'domains', values: [], condition: 'EXISTS', negated: true },
  { field: '_entityType', values: ['CONTAINER', 'DATA_JOB'] }
)

onBothEngines('a facet counts what the filter by each of its values finds', async (t, server) => {
  await apply(server.db, ...domains.map((urn) => createDomain(urn, urn)))
  const [drawn = []] = fc.sample(fc.array(anEntity, { minLength: 80, maxLength: 80 }), {
    numRuns: 1,
    seed: 3
  })
  for (const [index, each] of drawn.entries()) await apply(server.db, ...changesOf(each, index))
  const sources: LineageSources = { db: server.db, memory: server.memory }
  const totalOf = async (input: object, orFilters: FilterGroupInput[]): Promise<number> =>
    (await searchEntities(sources, { ...input, count: 0, orFilters }, { ...wishes, facets: false })).total

  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...types),
      fc.constantFrom('*', 'orders'),
      fc.array(aFilter, { maxLength: 2 }),
      async (types, query, filters) => {
        const input = { types, query }
        const page = await searchEntities(
          sources,
          { ...input, orFilters: [{ and: filters }], count: 0 },
          wishes
        )
        for (const { field, aggregations } of page.facets ?? [])
          for (const { value, count } of aggregations) {
            const total = await totalOf(input, [{ and: [...filters, { field, values: [value] }] }])
            if (total !== count) throw new Error(`${field}=${value}: counted ${count}, found ${total}`)
          }
        const kept = await aggregateEntities(sources, { ...input, orFilters: [{ and: filters }] })
        for (const { field, aggregations, isEstimate } of kept) {
          if (isEstimate) throw new Error(`${field} is estimated`)
          const others = filters.filter(
            (filter) => (filter.field === 'env' ? 'origin' : filter.field) !== field
          )
          for (const { value, count } of aggregations) {
            seen.add(field)
            const total = await totalOf(input, [{ and: [...others, { field, values: [value] }] }])
            if (total !== count) throw new Error(`${field}=${value} of all: counted ${count}, found ${total}`)
          }
        }
      }
    ),
    { numRuns: casesOf(40) }
  )
  t.same(
    [...seen].sort(),
    ['_entityType', 'domains', 'glossaryTerms', 'origin', 'owners', 'platform', 'platformInstance', 'tags'],
    'each facet has had values'
  )
})

t.test('facets over GraphQL', async (t) => {
  const server = await withServer(t)
  const [hive, kafka, lone] = [dataset('orders'), datasetUrn('kafka', 'orders'), chart('orders')]
  await apply(server.db, createDomain(domains[0] ?? hive, 'Sales'))
  await apply(
    server.db,
    upsert(hive, 'globalTags', { tags: [{ tag: 'urn:li:tag:pii' }] }),
    upsert(kafka, 'status', { removed: false }),
    upsert(lone, 'status', { removed: false }),
    addEdge(kafka, hive),
    setDomain(hive, domains[0] ?? hive)
  )
  const asked = async (input: object) => {
    const { body } = await server.graphql(
      'query ($input: AggregateAcrossEntitiesInput!) { aggregateAcrossEntities(input: $input) { facets { field isEstimate aggregations { value count entity { urn } } } } }',
      { input: { query: 'orders', ...input } }
    )
    return body
  }
  const platforms = (body: Awaited<ReturnType<typeof asked>>): string[] =>
    body.data.aggregateAcrossEntities.facets[0].aggregations.map(
      ({ value, count }: { value: string; count: number }) => `${value} ${count}`
    )
  const chosen = { and: [{ field: 'platform', values: ['kafka'] }] }
  t.same(
    platforms(await asked({ facets: ['platform'], orFilters: [chosen] })),
    ['urn:li:dataPlatform:hive 1', 'urn:li:dataPlatform:kafka 1', 'urn:li:dataPlatform:looker 1'],
    'the values beside the chosen one stay'
  )
  t.same(
    platforms(
      await asked({
        facets: ['platform'],
        orFilters: [{ and: [...chosen.and, { field: 'tags', values: ['urn:li:tag:pii'] }] }]
      })
    ),
    ['urn:li:dataPlatform:hive 1'],
    'and obey the other filters'
  )
  const all = (await asked({})).data.aggregateAcrossEntities.facets
  t.same(
    all.map(({ field }: { field: string }) => field),
    [
      'platform',
      '_entityType',
      'origin',
      'domains',
      'owners',
      'tags',
      'glossaryTerms',
      'typeNames',
      'container',
      'platformInstance'
    ]
  )
  const refused = await asked({ facets: ['platform', 'colour'] })
  t.match(refused.errors[0], {
    message: /input\.facets\[1\]/,
    extensions: { type: 'BAD_REQUEST', field: 'input.facets[1]' }
  })
  t.match((await asked({ orFilters: [{ and: [{ field: 'colour', values: ['x'] }] }] })).errors[0], {
    message: /input\.orFilters\[0\]\.and\[0\]\.field/
  })

  const found = async (field: string, values: string[], more: object = {}): Promise<string[]> =>
    (
      await searchEntities(
        { db: server.db, memory: server.memory },
        { query: '*', types: ['DATASET', 'CHART'], orFilters: [{ and: [{ field, values, ...more }] }] },
        { facets: false, matchedFields: false }
      )
    ).results
      .map(({ entity }) => entity.urn)
      .sort()
  t.same(await found('hasLineage', ['true']), [hive, kafka].sort(), 'either end of an edge has lineage')
  t.same(await found('hasLineage', ['false']), [lone])
  t.same(await found('hasLineage', ['true'], { negated: true }), [lone])
  t.same(await found('domains', [], { condition: 'EXISTS', negated: true }), [kafka, lone].sort())
})

t.test('results are sorted by their last change', async (t) => {
  const server = await withServer(t)
  const [first, second, third] = [dataset('a'), dataset('b'), dataset('c')]
  for (const urn of [first, second, third]) await apply(server.db, upsert(urn, 'status', { removed: false }))
  await apply(server.db, upsert(first, 'globalTags', { tags: [] }))
  await apply(server.db, createDomain(domains[0] ?? first, 'Sales'))
  await apply(server.db, setDomain(second, domains[0] ?? first))
  const sorted = async (sortOrder: string): Promise<string[]> =>
    (
      await searchEntities(
        { db: server.db, memory: server.memory },
        {
          query: '*',
          types: ['DATASET'],
          sortInput: { sortCriterion: { field: 'lastModifiedAt', sortOrder } }
        },
        { facets: false, matchedFields: false }
      )
    ).results.map(({ entity }) => entity.urn)
  t.same(await sorted('DESCENDING'), [second, first, third])
  t.same(await sorted('ASCENDING'), [third, first, second])
})

onBothEngines('facets and counts of lineage know the platform of an ML feature', async (t, server) => {
  const sources: LineageSources = { db: server.db, memory: server.memory }
  const features = ['a', 'b', 'c'].map(feature)
  await apply(server.db, ...create(dataset('orders')))
  for (const [index, urn] of features.entries())
    await apply(
      server.db,
      upsert(urn, 'mlFeatureProperties', { sources: [dataset('orders')] }),
      ...(index === 0 ? [] : [upsert(urn, 'dataPlatformInstance', { platform: platformUrn('feast') })])
    )
  const input = { urn: dataset('orders'), direction: 'DOWNSTREAM' as const }
  const { platforms } = await countLineage(sources, input)
  t.strictSame(platforms, [
    { platform: { urn: platformUrn('feast') }, count: 2 },
    { platform: null, count: 1 }
  ])
  const { facets, total } = await scrollAcrossLineage(
    sources,
    { ...input, orFilters: [{ and: [{ field: 'platform', values: ['feast'] }] }] },
    { facets: true, paths: false }
  )
  t.equal(total, 2)
  t.match(
    facets?.find(({ field }) => field === 'platform'),
    { aggregations: [{ value: platformUrn('feast'), count: 2 }] }
  )
})

onBothEngines('facets of more results than are read are estimates, and say so', async (t, server) => {
  const platform = platformUrn('postgres')
  await apply(
    server.db,
    ...Array.from({ length: 60 }, (_, index) =>
      upsert(toUrn(`urn:li:container:c${index}`), 'dataPlatformInstance', { platform })
    )
  )
  const counted = async (exactMaxCount: number) =>
    (
      await aggregateEntities(
        { db: server.db, memory: server.memory },
        { query: '*', facets: ['platform', '_entityType'] },
        { exactMaxCount }
      )
    ).map(({ aggregations, isEstimate }) => [aggregations[0]?.count, isEstimate])
  t.strictSame(await counted(59), [
    [60, true],
    [60, false]
  ])
  t.strictSame(await counted(7), [
    [60, true],
    [60, false]
  ])
  t.strictSame(await counted(60), [
    [60, false],
    [60, false]
  ])
})

t.test('a word finds what has a tag, a term or an owner of that name, and the answer says so', async (t) => {
  const server = await withServer(t)
  const [tagged, named, owned, plain] = ['a', 'b', 'c', 'd'].map(dataset)
  if (!tagged || !named || !owned || !plain) throw new Error('four datasets')
  await apply(
    server.db,
    upsert(tagged, 'globalTags', { tags: [{ tag: 'urn:li:tag:PII' }, { tag: 'urn:li:tag:gold' }] }),
    upsert(named, 'glossaryTerms', { terms: [{ urn: 'urn:li:glossaryTerm:Revenue' }], auditStamp: stamp }),
    upsert(owned, 'ownership', {
      owners: [{ owner: 'urn:li:corpuser:ada', type: 'DATAOWNER' }],
      lastModified: stamp
    }),
    upsert(plain, 'datasetProperties', { description: 'about gold, not tagged' })
  )
  const found = async (query: string): Promise<[Urn, string[]][]> =>
    (
      await searchEntities(
        { db: server.db, memory: server.memory },
        { query, types: ['DATASET'] },
        { facets: false, matchedFields: true }
      )
    ).results.map(({ entity, matchedFields }) => [
      entity.urn,
      matchedFields.map(({ name, value }) => `${name} ${value}`)
    ])
  t.strictSame(await found('pii'), [[tagged, ['tags urn:li:tag:PII']]])
  t.strictSame(await found('gol*'), [
    [tagged, ['tags urn:li:tag:gold']],
    [plain, ['description about gold, not tagged']]
  ])
  t.strictSame(await found('revenue hive'), [
    [named, ['glossaryTerms urn:li:glossaryTerm:Revenue', `urn ${named}`]]
  ])
  t.strictSame(await found('ADA'), [[owned, ['owners urn:li:corpuser:ada']]])
  t.strictSame(await found('"pii"'), [], 'a phrase is in a text')
  t.strictSame(await found('silver'), [])
})
