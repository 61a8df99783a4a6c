/** Search: what is written is found by its words at once, filtered, counted, and paged through, whichever way it is asked for. */
import t from 'tap'
import { searchEntities, type EntityWishes } from '../shared/catalog/search-entities.ts'
import { scrollEntities } from '../shared/catalog/scroll-entities.ts'
import { withServer } from './support/server.ts'

const wishes: EntityWishes = { facets: true, matchedFields: true }

t.test('an asset is found by each of its words in the moment it is written', async (t) => {
  const server = await withServer(t)
  const urn = 'urn:li:dataset:(urn:li:dataPlatform:snowflake,shop.public.fct_orders,PROD)'
  const answer = await server.rest({ method: 'POST', url: '/aspects?action=ingestProposal', body: { proposal: { entityType: 'dataset', entityUrn: urn, changeType: 'UPSERT', aspectName: 'datasetProperties', aspect: { contentType: 'application/json', value: JSON.stringify({ name: 'OrderFacts', description: 'All the bookings', customProperties: { team: 'north' } }) } } } })
  t.equal(answer.status, 200)
  const sources = { db: server.db, memory: server.memory }
  for (const query of ['fct_orders', 'order', 'orderfacts', 'BOOKINGS', 'north', 'snowflake', 'ord*', '"the bookings"', '*', urn, 'team orders']) {
    const page = await searchEntities(sources, { query }, wishes)
    t.same(page.results.map(({ entity }) => entity.urn), [urn], query)
    t.equal(page.total, 1)
  }
  for (const query of ['orde', '"bookings the"', 'nothing', '--', 'order nothing']) t.equal((await searchEntities(sources, { query }, wishes)).total, 0, query)
  t.same((await scrollEntities(sources, { query: 'orders', count: 1 }, wishes)).nextScrollId, null)
})
