/**
 * Searches with many matches: the results when the sample estimates more than are counted exactly, and their
 * cost in the database.
 */
import t from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { scrollEntities } from '../shared/catalog/search/scroll-entities.ts'
import { searchEntities } from '../shared/catalog/search/search-entities.ts'
import { query } from '../shared/db/query.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { termsQuery } from '../shared/model/search-vector.ts'
import { findAllMatches, findMatches } from '../shared/store/search-documents.ts'
import { datasetUrn } from '../shared/urn/kinds.ts'
import { asCall, dataset, record, upsert } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { openMemory } from './support/lineage-memory.ts'

const wishes = { facets: false, matchedFields: false }
const few = { exactMaxCount: 5 }
const log = createLog(readConfig({ LOG_LEVEL: 'silent' }))

t.test('a search with filters on documents needs one connection at a time', async (t) => {
  const { db, url } = await withDatabase(t, 1)
  const names = Array.from({ length: 30 }, (_, index) => dataset(`orders_${index}`))
  await applyCall(
    db,
    names.map((urn, index) =>
      record(index, upsert(urn, 'datasetProperties', { description: index % 2 === 0 ? 'even' : 'odd' }))
    ),
    asCall()
  )
  const sources = { db, memory: await openMemory(t, db, url, log) }
  const input = {
    query: 'orders',
    orFilters: [{ and: [{ field: 'description', values: ['ev'], condition: 'START_WITH' }] }]
  }
  const scrolled = await scrollEntities(sources, { ...input, count: 100 }, wishes, few)
  t.same(
    [scrolled.isEstimate, scrolled.results.length, scrolled.total, scrolled.nextScrollId],
    [true, 15, 15, null],
    'a pool of one is enough, and a first page that is the last one tells the total'
  )
  const searched = await searchEntities(sources, { ...input, count: 100 }, wishes, few)
  t.same([searched.results.length, searched.total], [15, 15], 'a page that is not full tells the total')
  const none = {
    query: 'orders',
    orFilters: [{ and: [{ field: 'description', values: ['neither'], condition: 'START_WITH' }] }]
  }
  t.same(
    [
      (await searchEntities(sources, none, wishes, few)).total,
      (await scrollEntities(sources, none, wishes, few)).total
    ],
    [0, 0],
    'nothing is told where nothing is found'
  )
})

t.test('an estimate is that of the sample, and its facets make up the whole', async (t) => {
  const { db, url } = await withDatabase(t)
  const count = 8_000
  const urns = Array.from({ length: count }, (_, index) =>
    datasetUrn(index % 100 === 0 ? 'kafka' : 'hive', `orders_${index}`)
  )
  for (let begin = 0; begin < count; begin += 1_000) {
    await applyCall(
      db,
      urns
        .slice(begin, begin + 1_000)
        .map((urn, index) =>
          record(begin + index, upsert(urn, 'datasetProperties', { description: 'sold' }))
        ),
      asCall()
    )
  }
  const [inSample] = await query<{ all: number; kafka: number }>(
    db,
    `
    select
      count(*)::int as "all",
      (count(*) filter (where entity.urn like '%kafka%'))::int as kafka
    from search_document
    join entity on entity.id = search_document.entity_id
    where hashint4(search_document.entity_id) & 63 = 0`
  )
  const { all, kafka } = inSample ?? { all: 0, kafka: 0 }
  t.ok(kafka > 0)
  const sources = { db, memory: await openMemory(t, db, url, log) }
  const search = (input: object, withFacets = false) =>
    searchEntities(sources, { query: 'sold', count: 3, ...input }, { ...wishes, facets: withFacets }, few)
  t.match(await search({}), { total: all * 64, isEstimate: true })
  t.equal((await search({ count: 0 })).total, all * 64)
  const { facets, total } = await search({}, true)
  const platforms =
    facets?.find(({ field }) => field === 'platform')?.aggregations.map((each) => each.count) ?? []
  t.equal(total, all * 64)
  t.equal(
    platforms.reduce((sum, each) => sum + each, 0),
    all * 64,
    'the parts make up the whole'
  )
  const filtered = await search({ orFilters: [{ and: [{ field: 'platform', values: ['kafka'] }] }] })
  t.same([filtered.total, filtered.results.length], [Math.max(3, kafka * 64), 3])
})

t.test('a distant match is found behind many nearer entities that do not match', async (t) => {
  const { db, url } = await withDatabase(t)
  const last = Array.from({ length: 40 }, (_, index) => dataset(`late_${index}`))
  const first = Array.from({ length: 21_000 }, (_, index) => dataset(`early_${index}`))
  await query(
    db,
    `insert into search_document (entity_id, name, words) select n, 'early', 'early:1'::tsvector from generate_series(1, ${first.length}) as n`
  )
  await query(db, `select setval(pg_get_serial_sequence('entity', 'id'), ${first.length})`)
  await applyCall(
    db,
    last.map((urn, index) => record(index, upsert(urn, 'datasetProperties', { description: 'rare' }))),
    asCall()
  )
  const sources = { db, memory: await openMemory(t, db, url, log) }
  const { results } = await scrollEntities(sources, { query: 'rare', count: 10 }, wishes, few)
  const inOrder = await query<{ urn: string }>(
    db,
    'select urn from entity where urn = any(?::text[]) order by id limit 10',
    [last]
  )
  t.same(
    results.map(({ entity }) => entity.urn),
    inOrder.map(({ urn }) => urn)
  )
})

t.test('a search sends few statements, however far apart its matches are', async (t) => {
  const { db, url } = await withDatabase(t)
  const others = Array.from({ length: 9_000 }, (_, index) => dataset(`stock_${index}`))
  const matches = Array.from({ length: 400 }, (_, index) => dataset(`orders_${index}`))
  for (const urns of [others, matches])
    await applyCall(
      db,
      urns.map((urn, index) => record(index, upsert(urn, 'datasetProperties', { description: 'a table' }))),
      asCall()
    )
  const sources = { db, memory: await openMemory(t, db, url, log) }
  const statements = async (search: () => Promise<{ results: unknown[] }>): Promise<number> => {
    let count = 0
    const counted = (): void => {
      count += 1
    }
    db.on('query', counted)
    const { results } = await search()
    db.removeListener('query', counted)
    t.equal(results.length, 10)
    return count
  }
  // Each is a round trip, which waits for a turn of the event loop and of the server.
  const page = { query: 'orders', count: 10 }
  t.ok((await statements(() => searchEntities(sources, page, wishes))) <= 6, 'counted exactly')
  t.ok((await statements(() => searchEntities(sources, page, wishes, few))) <= 15, 'estimated')
  t.ok((await statements(() => scrollEntities(sources, page, wishes))) <= 6, 'scrolled')
  t.ok((await statements(() => scrollEntities(sources, page, wishes, few))) <= 15, 'scrolled, estimated')
})

t.test('all matches of a search are those that are ranked, up to the number that is ranked', async (t) => {
  const { db } = await withDatabase(t)
  const names = ['orders', 'shop.orders', 'orders_by_day', 'all_orders', 'reorders', 'lines']
  await applyCall(
    db,
    names.map((name, index) =>
      record(index, upsert(dataset(name), 'datasetProperties', { name, description: 'of orders' }))
    ),
    asCall()
  )
  for (const text of ['orders', 'of', null])
    for (let maxCount = 1; maxCount <= names.length + 1; maxCount += 1) {
      const all = await findAllMatches(db, "'orders':*", text, maxCount)
      const ranked = await findMatches(db, "'orders':*", text, names.length)
      t.equal(ranked.length, names.length)
      t.strictSame(all, maxCount < names.length ? null : ranked, `${text}, ${maxCount}`)
    }
  t.strictSame(await findAllMatches(db, "'absent'", 'absent', 1), new Int32Array(0))
})

t.test('a search looks for tags, terms and owners by each word, up to eight', async (t) => {
  const keysFor = (count: number): number =>
    termsQuery(
      Array.from({ length: count }, (_, at) => ({ kind: 'word' as const, whole: `word${at}`, parts: [] }))
    ).split('|').length - 1
  t.equal(keysFor(8), 8 * 12)
  t.equal(keysFor(9), 0)
})
