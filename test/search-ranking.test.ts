/** The order of results: what the text names comes first, in searches, their pages and suggestions. */
import t, { type Test } from 'tap'
import { completeNames } from '../shared/catalog/search/complete-names.ts'
import { searchEntities } from '../shared/catalog/search/search-entities.ts'
import { nameFromUrn } from '../shared/urn/kinds.ts'
import { casesOf, fc } from './support/fast-check.ts'
import { withServer, type TestServer } from './support/server.ts'

const urnOf = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:snowflake,${name},PROD)`

/** Each name in a URN, with the name that the source calls it by. */
const assets = [
  ['staging.orders_stripe', 'Stripe.orders, staged'],
  ['mart.all', 'all stripe.orders'],
  ['raw.shopify.orders', 'orders'],
  ['other.stripe.orders', 'Payments of orders'],
  ['raw.stripe.orders', 'orders'],
  ['raw.stripe.order_items', 'order_items'],
  ['raw.stripe.orders_daily', 'orders_daily'],
  ['mart.daily_orders', 'daily_orders'],
  ['mart.stripe', 'stripe.orders']
] as const

const orderOf: readonly (readonly [query: string, names: readonly string[]])[] = [
  [
    'stripe.orders',
    [
      'mart.stripe',
      'raw.stripe.orders',
      'other.stripe.orders',
      'staging.orders_stripe',
      'mart.all',
      'raw.stripe.orders_daily'
    ]
  ],
  ['RAW.Stripe.Orders', ['raw.stripe.orders', 'raw.stripe.orders_daily']],
  ['raw.shopify.orders', ['raw.shopify.orders']],
  [
    'orders',
    [
      'raw.shopify.orders',
      'raw.stripe.orders',
      'mart.stripe',
      'mart.all',
      'other.stripe.orders',
      'raw.stripe.orders_daily',
      'mart.daily_orders',
      'staging.orders_stripe'
    ]
  ]
]

async function withAssets(t: Test): Promise<TestServer> {
  const server = await withServer(t)
  for (const [name, called] of assets) {
    const { status, text } = await server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: {
        proposal: {
          entityType: 'dataset',
          entityUrn: urnOf(name),
          changeType: 'UPSERT',
          aspectName: 'datasetProperties',
          aspect: { contentType: 'application/json', value: JSON.stringify({ name: called }) }
        }
      }
    })
    t.equal(status, 200, text)
  }
  return server
}

t.test(
  'what a text names comes first, then names that begin with it, contain it, or have its words',
  async (t) => {
    const server = await withAssets(t)
    const sources = { db: server.db, memory: server.memory }
    const found = async (query: string, start: number, count: number): Promise<string[]> =>
      (
        await searchEntities(sources, { query, start, count }, { facets: false, matchedFields: false })
      ).results.map(({ entity }) => nameFromUrn(entity.urn))
    for (const [query, names] of orderOf) t.same(await found(query, 0, 100), names, query)

    t.same(
      (await completeNames(sources, { query: 'stripe.orders', limit: 3 })).entities.map(({ urn }) =>
        nameFromUrn(urn)
      ),
      ['mart.stripe', 'raw.stripe.orders', 'other.stripe.orders'],
      'suggestions begin with the same entities'
    )

    const ends = assets.flatMap(([name]) => {
      const parts = name.split('.')
      return parts.map((_, index) => parts.slice(index).join('.'))
    })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ends), fc.integer({ min: 1, max: 4 }), async (query, count) => {
        const whole = await found(query, 0, 100)
        const named = whole.map((name) => {
          const called = assets.find(([each]) => each === name)?.[1] ?? ''
          return [name, called].some((each) => `.${each}`.endsWith(`.${query}`))
        })
        t.notOk(
          named.some((isNamed, index) => isNamed && named[index - 1] === false),
          query
        )
        t.ok(named[0], query)
        const paged: string[] = []
        for (let start = 0; start < whole.length; start += count)
          paged.push(...(await found(query, start, count)))
        t.same(paged, whole, `${query} in pages of ${count}`)
      }),
      { numRuns: casesOf(30) }
    )
  }
)

t.test(
  'among equals those come first that are owned, described and used, and nothing else changes',
  async (t) => {
    const server = await withAssets(t)
    const found = async (query: string): Promise<string[]> => {
      const { body } = await server.graphql(
        'query ($query: String!) { searchAcrossEntities(input: { query: $query }) { searchResults { entity { urn } } } }',
        { query }
      )
      return body.data.searchAcrossEntities.searchResults.map(({ entity }: { entity: { urn: string } }) =>
        nameFromUrn(entity.urn as never)
      )
    }
    const put = async (name: string, aspectName: string, value: object): Promise<void> => {
      const { status, text } = await server.rest({
        method: 'POST',
        url: '/aspects?action=ingestProposal',
        body: {
          proposal: {
            entityType: 'dataset',
            entityUrn: urnOf(name),
            changeType: 'UPSERT',
            aspectName,
            aspect: { contentType: 'application/json', value: JSON.stringify(value) }
          }
        }
      })
      t.equal(status, 200, text)
    }
    const before = await found('orders')
    t.strictSame(before.slice(0, 2), ['raw.shopify.orders', 'raw.stripe.orders'])
    await put('raw.stripe.orders', 'ownership', {
      owners: [{ owner: 'urn:li:corpuser:ada', type: 'DATAOWNER' }],
      lastModified: { time: 0, actor: 'urn:li:corpuser:ada' }
    })
    // What is owned but called otherwise stays where its name puts it.
    await put('mart.daily_orders', 'ownership', {
      owners: [{ owner: 'urn:li:corpuser:ada', type: 'DATAOWNER' }],
      lastModified: { time: 0, actor: 'urn:li:corpuser:ada' }
    })
    t.strictSame(await found('orders'), ['raw.stripe.orders', 'raw.shopify.orders', ...before.slice(2)])
    await put('raw.shopify.orders', 'datasetProperties', { name: 'orders', description: 'All of them.' })
    t.strictSame(await found('orders'), before, 'one sign each: in the order of the ids')
    await put('mart.all', 'upstreamLineage', {
      upstreams: [
        {
          dataset: urnOf('raw.stripe.orders'),
          type: 'TRANSFORMED',
          auditStamp: { time: 0, actor: 'urn:li:corpuser:ada' }
        }
      ]
    })
    t.strictSame(await found('orders'), ['raw.stripe.orders', 'raw.shopify.orders', ...before.slice(2)])
  }
)
