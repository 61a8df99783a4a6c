/** Search where much matches: what is found when the sample tells of more than are taken one by one, and what it takes of the database. */
import t from 'tap'
import { applyCall } from '../shared/catalog/apply-call.ts'
import { scrollEntities } from '../shared/catalog/scroll-entities.ts'
import { searchEntities } from '../shared/catalog/search-entities.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { asCall, dataset, record, upsert } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { openMemory } from './support/lineage-memory.ts'

const wishes = { facets: false, matchedFields: false }
const few = { exactMaxCount: 5 }
const log = createLog(readConfig({ LOG_LEVEL: 'silent' }))

t.test('a search with filters on documents needs one connection at a time', async (t) => {
  const { db, url } = await withDatabase(t, 1)
  const names = Array.from({ length: 30 }, (_, index) => dataset(`orders_${index}`))
  await applyCall(db, names.map((urn, index) => record(index, upsert(urn, 'datasetProperties', { description: index % 2 === 0 ? 'even' : 'odd' }))), asCall())
  const sources = { db, memory: await openMemory(t, db, url, log) }
  const input = { query: 'orders', orFilters: [{ and: [{ field: 'description', values: ['ev'], condition: 'START_WITH' }] }] }
  const scrolled = await scrollEntities(sources, { ...input, count: 100 }, wishes, few)
  t.same([scrolled.isEstimate, scrolled.results.length, scrolled.total, scrolled.nextScrollId], [true, 15, 15, null], 'a pool of one is enough, and a first page that is the last one tells the total')
  const searched = await searchEntities(sources, { ...input, count: 100 }, wishes, few)
  t.same([searched.results.length, searched.total], [15, 15], 'a page that is not full tells the total')
  const none = { query: 'orders', orFilters: [{ and: [{ field: 'description', values: ['neither'], condition: 'START_WITH' }] }] }
  t.same([(await searchEntities(sources, none, wishes, few)).total, (await scrollEntities(sources, none, wishes, few)).total], [0, 0], 'nothing is told where nothing is found')
})
