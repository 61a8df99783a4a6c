/**
 * Search: every write can be found by its words at once, filtered, counted and paged through, in every
 * interface.
 */
import t from 'tap'
import { searchEntities, type EntityWishes } from '../shared/catalog/search/search-entities.ts'
import { scrollEntities } from '../shared/catalog/search/scroll-entities.ts'
import { withServer } from './support/server.ts'

const wishes: EntityWishes = { facets: true, matchedFields: true }

t.test('an asset is found by each of its words as soon as it is written', async (t) => {
  const server = await withServer(t)
  const urn = 'urn:li:dataset:(urn:li:dataPlatform:snowflake,shop.public.fct_orders,PROD)'
  const answer = await server.rest({
    method: 'POST',
    url: '/aspects?action=ingestProposal',
    body: {
      proposal: {
        entityType: 'dataset',
        entityUrn: urn,
        changeType: 'UPSERT',
        aspectName: 'datasetProperties',
        aspect: {
          contentType: 'application/json',
          value: JSON.stringify({
            name: 'OrderFacts',
            description: 'All the bookings',
            customProperties: { team: 'north' }
          })
        }
      }
    }
  })
  t.equal(answer.status, 200)
  const sources = { db: server.db, memory: server.memory }
  for (const query of [
    'fct_orders',
    'order',
    'orderfacts',
    'BOOKINGS',
    'north',
    'snowflake',
    'ord*',
    '"the bookings"',
    '*',
    urn,
    'team orders'
  ]) {
    const page = await searchEntities(sources, { query }, wishes)
    t.same(
      page.results.map(({ entity }) => entity.urn),
      [urn],
      query
    )
    t.equal(page.total, 1)
  }
  for (const query of ['orde', '"bookings the"', 'nothing', '--', 'order nothing'])
    t.equal((await searchEntities(sources, { query }, wishes)).total, 0, query)
  t.same((await scrollEntities(sources, { query: 'orders', count: 1 }, wishes)).nextScrollId, null)
})

const dataset = (platform: string, name: string, environment = 'PROD'): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},${environment})`

t.test('search over GraphQL', async (t) => {
  const server = await withServer(t)
  const write = async (entityUrn: string, aspectName: string, aspect: object): Promise<void> => {
    const [, , entityType] = entityUrn.split(':')
    const { status, text } = await server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: {
        proposal: {
          entityType,
          entityUrn,
          changeType: 'UPSERT',
          aspectName,
          aspect: { contentType: 'application/json', value: JSON.stringify(aspect) }
        }
      }
    })
    t.equal(status, 200, text)
  }
  const [orders, ordersDev, customers] = [
    dataset('snowflake', 'shop.public.orders'),
    dataset('snowflake', 'shop.public.orders', 'DEV'),
    dataset('hive', 'crm.Customers')
  ]
  await write(orders, 'datasetProperties', { description: 'what was sold' })
  await write(ordersDev, 'datasetProperties', { description: 'what was sold' })
  await write(customers, 'schemaMetadata', {
    schemaName: 's',
    platform: 'urn:li:dataPlatform:hive',
    version: 0,
    hash: '',
    platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
    fields: [
      {
        fieldPath: 'loyalty_score',
        nativeDataType: 'int',
        type: { type: { 'com.linkedin.schema.NumberType': {} } }
      }
    ]
  })
  await write(customers, 'globalTags', { tags: [{ tag: 'urn:li:tag:pii' }] })

  const found = async (input: object): Promise<{ urns: string[]; total: number; facets: unknown }> => {
    const { body } = await server.graphql(
      'query ($input: SearchAcrossEntitiesInput!) { searchAcrossEntities(input: $input) { start count total isEstimate facets { field aggregations { value count } } suggestions { text } searchResults { entity { urn type } matchedFields { name value } insights { text } extraProperties { name value } } } }',
      { input: { query: '*', ...input } }
    )
    t.equal(body.errors, undefined, JSON.stringify(body.errors))
    const { total, facets, searchResults } = body.data.searchAcrossEntities
    return {
      total,
      facets,
      urns: searchResults.map((result: { entity: { urn: string } }) => result.entity.urn)
    }
  }
  const equals = (field: string, ...values: string[]): object => ({
    orFilters: [{ and: [{ field, values }] }]
  })

  t.test('finds by column, by filter and by type', async (t) => {
    t.same((await found({ query: 'loyalty' })).urns, [customers])
    t.same((await found({ query: 'sold' })).urns, [orders, ordersDev])
    t.same((await found({ query: 'sold', ...equals('origin', 'DEV') })).urns, [ordersDev])
    t.same((await found(equals('tags', 'urn:li:tag:pii'))).urns, [customers])
    t.same((await found(equals('platform', 'hive'))).urns, [customers])
    t.same((await found(equals('name', 'Customers'))).urns, [])
    t.same((await found(equals('name', 'crm.Customers'))).urns, [customers])
    t.same((await found({ types: ['CHART'] })).urns, [])
    t.same((await found({ query: 'sold', count: 0 })).total, 2)
    t.same(
      (await found({ orFilters: [{ and: [{ field: 'tags', values: ['urn:li:tag:pii'], negated: true }] }] }))
        .urns,
      [orders, ordersDev]
    )
  })

  t.test('a short reference means one entity, or says which it may mean', async (t) => {
    const resolved = async (reference: string) =>
      (
        await server.graphql('query ($reference: String!) { resolve(reference: $reference) { urn } }', {
          reference
        })
      ).body
    for (const reference of [
      'hive:crm.Customers',
      'Customers',
      'crm.Customers',
      'Customers@PROD',
      'hive:Customers@prod',
      customers
    ])
      t.equal((await resolved(reference)).data.resolve?.urn, customers, reference)
    for (const reference of ['orders@DEV', 'public.orders@DEV', 'snowflake:shop.public.orders@DEV'])
      t.equal((await resolved(reference)).data.resolve?.urn, ordersDev, reference)
    const {
      errors: [many]
    } = await resolved('orders')
    t.match(many.extensions, { code: 400, reason: 'BAD_REQUEST', candidates: [orders, ordersDev], total: 2 })
    for (const reference of [
      'customers',
      'hive:crm.customers',
      'Customers@DEV',
      'snowflake:Customers',
      'crm.Custoners',
      dataset('hive', 'crm.customers')
    ]) {
      const {
        errors: [none]
      } = await resolved(reference)
      t.match(none.extensions, { code: 404, reason: 'NOT_FOUND', candidates: [customers] }, reference)
    }
  })

  t.test('names are completed', async (t) => {
    const completed = async (query: string) =>
      (
        await server.graphql(
          'query ($query: String!) { autoComplete(input: { query: $query }) { query suggestions entities { urn } } autoCompleteForMultiple(input: { query: $query }) { suggestions { type suggestions } } }',
          { query }
        )
      ).body.data
    t.same((await completed('cr')).autoComplete.suggestions, ['crm.Customers'])
    t.same((await completed('custo')).autoComplete.entities, [{ urn: customers }])
    t.same((await completed('shop.public.ord')).autoCompleteForMultiple.suggestions, [
      { type: 'DATASET', suggestions: ['shop.public.orders'] }
    ])
    t.same((await completed('')).autoComplete.suggestions, [])
  })
})
