/** Inputs of search, lists and counts: odd texts, orders, counts of nothing, and the filter hasUpstreams. */
import t from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { toUrn } from '../shared/urn/urn.ts'
import {
  addEdge,
  apply,
  asCall,
  create,
  createDomain,
  dataset,
  domain,
  record,
  setDomain,
  upsert
} from './support/changes.ts'
import { onBothEngines } from './support/engines.ts'
import { withServer, type TestServer } from './support/server.ts'

const searchQuery =
  'query ($input: SearchAcrossEntitiesInput!) { searchAcrossEntities(input: $input) { total searchResults { entity { urn } } } }'
const scrollQuery =
  'query ($input: ScrollAcrossEntitiesInput!) { scrollAcrossEntities(input: $input) { total } }'

const searching =
  ({ graphql }: TestServer) =>
  async (input: JsonObject) => {
    const { body } = await graphql(searchQuery, { input: { query: '*', ...input } })
    return {
      error: body.errors?.[0],
      total: body.data?.searchAcrossEntities?.total,
      urns: body.data?.searchAcrossEntities?.searchResults.map(
        (result: { entity: { urn: string } }) => result.entity.urn
      )
    }
  }
const where = (field: string, value: string, more: JsonObject = {}): JsonObject => ({
  orFilters: [{ and: [{ field, values: [value], ...more }] }]
})

t.test('texts and filters are only data, whatever characters they contain', async (t) => {
  const server = await withServer(t)
  const search = searching(server)
  const odd = dataset('fct_ordersÜbersicht.v1')
  await apply(server.db, upsert(odd, 'globalTags', { tags: [{ tag: 'urn:li:tag:pii' }] }))
  const texts = [
    '--',
    '"',
    '""',
    '& | ! <-> ( ) :*',
    "'",
    '\\',
    '*:*',
    'a & b',
    '!(x)',
    '<->',
    ':A',
    'x:*',
    '\u0301',
    '\ufdfa'.repeat(100),
    '漢'.repeat(400),
    'x'.repeat(1_000),
    `${'aB'.repeat(400)}`,
    '"unbalanced',
    'or AND',
    '/q',
    '/q --',
    '%_'
  ]
  for (const text of texts) {
    for (const filters of [
      {},
      where('platform', 'hive'),
      where('tags', 'urn:li:tag:pii'),
      where('name', 'x', { negated: true }),
      { types: ['DATASET'] }
    ]) {
      const { error } = await search({ query: text, ...filters })
      t.equal(error, undefined, `${text.slice(0, 20)} ${JSON.stringify(filters)} ${JSON.stringify(error)}`)
      const completed = await server.graphql(
        'query ($input: AutoCompleteInput!) { autoComplete(input: $input) { suggestions } }',
        { input: { query: text, ...('types' in filters ? { type: 'DATASET' } : filters) } }
      )
      t.equal(completed.body.errors, undefined, `${text.slice(0, 20)} is completed`)
    }
  }
  t.same((await search({ query: 'FCT übersicht v1', ...where('tags', 'urn:li:tag:pii') })).urns, [odd])
  t.match((await search({ query: 'x'.repeat(1_001) })).error, {
    extensions: { reason: 'LIMIT_EXCEEDED', field: 'input.query' }
  })
})

t.test('results are sorted as requested, or the request is refused', async (t) => {
  const server = await withServer(t)
  const search = searching(server)
  const [a, b, c] = [dataset('a'), dataset('b'), dataset('c')]
  await applyCall(
    server.db,
    [
      record(0, upsert(c, 'datasetProperties', { name: 'Same' })),
      record(1, upsert(a, 'datasetProperties', { name: 'same' })),
      record(2, upsert(b, 'datasetProperties', { name: 'other' }))
    ],
    asCall()
  )
  const by = (...sortCriteria: JsonObject[]): JsonObject => ({ sortInput: { sortCriteria } })
  t.same(
    (await search(by({ field: 'name', sortOrder: 'DESCENDING' }, { field: 'urn', sortOrder: 'ASCENDING' })))
      .urns,
    [a, c, b]
  )
  t.same((await search({ ...by({ field: 'urn', sortOrder: 'DESCENDING' }), start: 1, count: 1 })).urns, [b])
  t.same((await search({ sortInput: { sortCriterion: { field: 'urn', sortOrder: 'ASCENDING' } } })).urns, [
    a,
    b,
    c
  ])
  t.match((await search(by({ field: 'lastModified', sortOrder: 'ASCENDING' }))).error, {
    extensions: { reason: 'BAD_REQUEST', field: 'input.sortInput', allowed: ['name', 'urn'] }
  })
  const { body } = await server.graphql(scrollQuery, {
    input: { query: '*', ...by({ field: 'urn', sortOrder: 'ASCENDING' }) }
  })
  t.match(body.errors[0].extensions, { reason: 'BAD_REQUEST', field: 'input.sortInput' })
  t.equal(
    (await server.graphql(scrollQuery, { input: { query: '*', sortInput: null } })).body.data
      .scrollAcrossEntities.total,
    3
  )
})

t.test('names of a rare type are completed among many of another', async (t) => {
  const server = await withServer(t)
  await applyCall(
    server.db,
    Array.from({ length: 1_100 }, (_, index) => record(index, ...create(dataset(`order${index}`)))),
    asCall()
  )
  await apply(server.db, createDomain(domain('d'), 'Orders and more'))
  const { body } = await server.graphql(
    '{ autoComplete(input: { type: DOMAIN, query: "ord" }) { suggestions } autoCompleteForMultiple(input: { types: [DOMAIN, DATASET], query: "rder", limit: 2 }) { suggestions { type suggestions } } }'
  )
  t.same(body.data.autoComplete.suggestions, ['Orders and more'])
  t.same(
    body.data.autoCompleteForMultiple.suggestions.map(({ type }: { type: string }) => type),
    ['DOMAIN', 'DATASET']
  )
})

t.test('the total is returned even if no results are requested', async (t) => {
  const server = await withServer(t)
  const [a, b, top] = [dataset('a'), dataset('b'), domain('top')]
  await applyCall(server.db, [record(0, ...create(a, b)), record(1, createDomain(top, 'Top'))], asCall())
  await applyCall(
    server.db,
    [
      record(0, addEdge(a, b)),
      record(1, setDomain(a, top)),
      record(2, createDomain(domain('below'), 'Below', top))
    ],
    asCall()
  )
  const { body } = await server.graphql(
    `query ($top: String!, $a: String!) {
    domain(urn: $top) {
      entities(input: { start: 0, count: 0 }) { total searchResults { entity { urn } } }
      products: entities(input: { start: 0, count: 0, filters: [{ field: "_entityType", values: "DATA_PRODUCT" }] }) { total }
      children: relationships(input: { types: ["IsPartOf"], direction: INCOMING, start: 0, count: 0 }) { total relationships { type } }
    }
    dataset(urn: $a) { downstream: lineage(input: { direction: DOWNSTREAM, start: 0, count: 0 }) { total relationships { type } } }
    listDomains(input: { count: 0 }) { total domains { urn } }
    searchAcrossLineage(input: { urn: $a, direction: DOWNSTREAM, count: 0 }) { total searchResults { degree } }
  }`,
    { top, a }
  )
  t.strictSame(
    body.data,
    {
      domain: {
        entities: { total: 1, searchResults: [] },
        products: { total: 0 },
        children: { total: 1, relationships: [] }
      },
      dataset: { downstream: { total: 1, relationships: [] } },
      listDomains: { total: 1, domains: [] },
      searchAcrossLineage: { total: 1, searchResults: [] }
    },
    JSON.stringify(body.errors)
  )
})

t.test('a type without entities does not match entities of other types', async (t) => {
  const server = await withServer(t)
  const [custom, a, b] = [toUrn('urn:li:someType:x'), dataset('a'), dataset('b')]
  await apply(server.db, ...create(custom, a, b))
  await apply(server.db, addEdge(a, b))
  const search = searching(server)
  t.same(
    [
      (await search({ types: ['OTHER'] })).urns,
      (await search({ types: ['VERSION_SET'] })).urns,
      (await search({ types: ['VERSION_SET', 'OTHER'], query: 'x' })).urns
    ],
    [[custom], [], [custom]]
  )
})

t.test('an invalid URN in an aspect is left out of answers', async (t) => {
  const server = await withServer(t)
  const urn = dataset('a')
  await apply(
    server.db,
    upsert(urn, 'globalTags', { tags: [{ tag: 'no URN' }, { tag: 'urn:li:tag:pii' }] }),
    upsert(urn, 'container', { container: 'no URN' }),
    upsert(urn, 'dataPlatformInstance', { platform: 'no URN', instance: 'neither' })
  )
  const { body } = await server.graphql(
    'query ($urn: String!) { dataset(urn: $urn) { tags { tags { tag { urn } } } container { urn } dataPlatformInstance { urn platform { name } } } }',
    { urn }
  )
  t.strictSame(
    body.data?.dataset,
    {
      tags: { tags: [{ tag: { urn: 'urn:li:tag:pii' } }] },
      container: null,
      dataPlatformInstance: { urn: null, platform: { name: 'hive' } }
    },
    JSON.stringify(body.errors)
  )
})

onBothEngines('hasUpstreams keeps what is derived from something', async (t, server) => {
  const [a, b, c, top] = [dataset('a'), dataset('b'), dataset('c'), domain('top')]
  await applyCall(server.db, [record(0, ...create(a, b, c)), record(1, createDomain(top, 'Top'))], asCall())
  await applyCall(
    server.db,
    [
      record(0, addEdge(a, b)),
      record(1, addEdge(a, a)),
      record(2, addEdge(b, c)),
      record(3, setDomain(a, top)),
      record(4, setDomain(b, top))
    ],
    asCall()
  )
  const search = searching(server)
  t.same(
    (
      await search({
        types: ['DATASET'],
        ...where('hasUpstreams', 'true'),
        sortInput: { sortCriterion: { field: 'urn', sortOrder: 'ASCENDING' } }
      })
    ).urns,
    [b, c]
  )
  t.same((await search({ types: ['DATASET'], ...where('hasUpstreams', 'false') })).urns, [a])
  t.same(
    (await search({ types: ['DATASET'], query: 'hive', ...where('hasUpstreams', 'true', { negated: true }) }))
      .urns,
    [a]
  )
  t.match((await search(where('hasUpstreams', 'maybe'))).error, {
    extensions: { reason: 'BAD_REQUEST', allowed: ['true', 'false'] }
  })
  const { body } = await server.graphql(
    'query ($top: String!, $c: String!) { domain(urn: $top) { entities(input: { filters: [{ field: "hasUpstreams", values: "true" }] }) { total searchResults { entity { urn } } } } searchAcrossLineage(input: { urn: $c, direction: UPSTREAM, filters: [{ field: "hasUpstreams", values: "true" }] }) { searchResults { entity { urn } } } }',
    { top, c }
  )
  t.same(
    body.data,
    {
      domain: { entities: { total: 1, searchResults: [{ entity: { urn: b } }] } },
      searchAcrossLineage: { searchResults: [{ entity: { urn: b } }] }
    },
    JSON.stringify(body.errors)
  )
})

onBothEngines('a filter by browse path finds what is in a container now, however deep', async (t, server) => {
  const [a, b, c, top] = [dataset('a'), dataset('b'), dataset('c'), domain('top')]
  const [outer, inner, other] = ['outer', 'inner', 'other'].map((name) => toUrn(`urn:li:container:${name}`))
  if (!outer || !inner || !other) throw new Error('three containers')
  const within = (container: string) => upsert(toUrn(inner), 'container', { container })
  await apply(
    server.db,
    ...create(a, b, c),
    createDomain(top, 'Top'),
    setDomain(a, top),
    addEdge(a, b),
    upsert(a, 'container', { container: inner }),
    upsert(b, 'container', { container: outer }),
    within(outer)
  )
  await apply(
    server.db,
    upsert(c, 'container', { container: outer }),
    upsert(c, 'browsePathsV2', { path: [{ id: 'elsewhere' }] })
  )
  const search = searching(server)
  const found = async (container: string): Promise<string[]> =>
    (
      await search({
        types: ['DATASET', 'CONTAINER'],
        ...where('browsePathV2', container, { condition: 'CONTAIN' })
      })
    ).urns.toSorted()
  t.same(
    [await found(outer), await found(inner), await found('elsewhere')],
    [[inner, a, b].toSorted(), [a], [c]],
    'a path of its own counts before that of containers'
  )
  t.same(
    (await search({ types: ['DATASET'], ...where('browsePathV2', `\u241f${outer}\u241f${inner}`) })).urns,
    [a],
    'the outermost first'
  )
  const { body } = await server.graphql(
    'query ($top: String!, $b: String!, $filters: [FacetFilterInput!]) { domain(urn: $top) { entities(input: { filters: $filters }) { total } } searchAcrossLineage(input: { urn: $b, direction: UPSTREAM, filters: $filters }) { total } }',
    { top, b, filters: [{ field: 'browsePathV2', condition: 'CONTAIN', values: [outer] }] }
  )
  t.same(
    body.data,
    { domain: { entities: { total: 1 } }, searchAcrossLineage: { total: 1 } },
    JSON.stringify(body.errors)
  )
  await apply(server.db, within(other))
  t.same(
    [await found(outer), await found(other)],
    [[b], [inner, a].toSorted()],
    'what is in a container that is put elsewhere goes along'
  )
  await apply(server.db, within(inner))
  t.same(await found(inner), [a], 'a container within itself ends the path')
})
