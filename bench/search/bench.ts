/**
 * `npm run bench -- search [--assets=1000000]`: search in a catalog of a million assets: the slowest of a
 * hundred answers, and the plan by which Postgres finds the results.
 */
import { loadavg } from 'node:os'
import { createLineageMemory } from '../../shared/catalog/lineage/lineage-memory.ts'
import { completeNames } from '../../shared/catalog/search/complete-names.ts'
import { resolveReference } from '../../shared/catalog/search/resolve-reference.ts'
import { scrollEntities } from '../../shared/catalog/search/scroll-entities.ts'
import { searchEntities } from '../../shared/catalog/search/search-entities.ts'
import { checkEntityQuestion, type EntitySearchInput } from '../../shared/catalog/search/search-question.ts'
import type { LineageSources } from '../../shared/catalog/lineage/with-lineage.ts'
import { connectDatabase } from '../../shared/db/connect.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { createLog } from '../../shared/platform/log.ts'
import { startBenchPostgres } from '../lineage/bench-database.ts'
import { fillSearchCatalog, urnOfAsset, words } from './catalog.ts'

const assetsDefaultCount = 1_000_000
const runsCount = 200
const maxBytes = 2 * 1024 ** 3

type Row = { question: string; total: number; isEstimate: boolean; medianMs: number; p99Ms: number }

export async function benchSearch(args: readonly string[]): Promise<object> {
  const count = Number(
    args.find((arg) => arg.startsWith('--assets='))?.slice('--assets='.length) ?? assetsDefaultCount
  )
  const postgres = await startBenchPostgres()
  try {
    const { db, url } = await postgres.newDatabase('search')
    const begun = performance.now()
    const { domains } = await fillSearchCatalog(db, count)
    console.log(`${count} assets in ${Math.round((performance.now() - begun) / 1_000)} s; ${await sizes(db)}`)
    const result = await benchOn(db, url, domains, count)
    await db.destroy()
    return result
  } finally {
    await postgres.stop()
  }
}

export async function benchOn(
  db: Db,
  url: string,
  domains: readonly string[],
  count: number
): Promise<object> {
  const log = createLog({ logLevel: 'warn' })
  const graphDb = connectDatabase({
    url,
    poolMax: 1,
    applicationName: 'tributary-bench-graph',
    statementTimeoutMs: 60_000,
    lockTimeoutMs: 5_000,
    usesIndexes: true,
    log
  })
  const memory = createLineageMemory({ db, graphDb, maxBytes, log })
  memory.start()
  await memory.settled()
  try {
    const sources: LineageSources = { db, memory }
    // The writes that remain after filling the tables, and the slow start of every program, are not part of
    // the measurement.
    await query(db, 'checkpoint')
    for (const { input } of questions(domains))
      await timesOf(async () => {
        await searchEntities(sources, input, { facets: true, matchedFields: false })
      }, runsCount / 10)
    const rows: Row[] = []
    for (const { name, input } of questions(domains)) rows.push(await timedSearch(sources, name, input))
    rows.push(...(await timedOthers(sources, count)))
    for (const { question, total, isEstimate, medianMs, p99Ms } of rows)
      console.log(
        `${question.padEnd(52)} ${String(total).padStart(8)}${isEstimate ? '~' : ' '} ${medianMs.toFixed(1).padStart(8)} ms ${p99Ms.toFixed(1).padStart(8)} ms p99`
      )
    const plans = await plansOf(db)
    for (const [name, lines] of Object.entries(plans)) console.log(`\n${name}\n${lines.join('\n')}`)
    console.log(`\nload average ${(loadavg()[0] ?? 0).toFixed(1)}`)
    return {
      at: new Date().toISOString(),
      assets: count,
      runs: runsCount,
      loadAverage: loadavg()[0],
      rows,
      plans
    }
  } finally {
    await memory.stop()
    await graphDb.destroy()
  }
}

type Question = { name: string; input: EntitySearchInput }

function questions(domains: readonly string[]): Question[] {
  const only = (field: string, values: readonly string[], condition?: string) => [
    { and: [{ field, values, ...(condition ? { condition } : {}) }] }
  ]
  return [
    { name: 'a word in 0.1 %', input: { query: words.narrow.word } },
    { name: 'a word in 20 %', input: { query: words.wide.word } },
    { name: 'two words, both frequent', input: { query: `${words.wide.word} w2` } },
    { name: 'a prefix of ten words (w123*)', input: { query: 'w123*' } },
    { name: 'a prefix of many words (w1*)', input: { query: 'w1*' } },
    { name: 'a phrase of a frequent word', input: { query: `"${words.wide.word} total"` } },
    {
      name: 'a word in 20 %, one platform',
      input: { query: words.wide.word, orFilters: only('platform', ['kafka']) }
    },
    {
      name: 'a word in 20 %, one domain',
      input: { query: words.wide.word, orFilters: only('domains', domains.slice(1, 2)) }
    },
    { name: 'everything', input: { query: '*' } },
    { name: 'everything on one platform', input: { query: '*', orFilters: only('platform', ['kafka']) } },
    {
      name: 'everything in a domain and below',
      input: { query: '*', orFilters: only('domains', domains.slice(0, 1), 'DESCENDANTS_INCL') }
    },
    {
      name: 'everything with a tag (2 %)',
      input: { query: '*', orFilters: only('tags', ['urn:li:tag:pii']) }
    }
  ]
}

async function timedSearch(
  sources: LineageSources,
  question: string,
  input: EntitySearchInput
): Promise<Row> {
  let found = { total: 0, isEstimate: false }
  const times = await timesOf(async () => {
    found = await searchEntities(sources, input, { facets: true, matchedFields: false })
  })
  return { question, total: found.total, isEstimate: found.isEstimate, ...times }
}

async function timedOthers(sources: LineageSources, count: number): Promise<Row[]> {
  const wishes = { facets: false, matchedFields: false }
  const row = async (question: string, total: number, work: () => Promise<unknown>): Promise<Row> => ({
    question,
    total,
    isEstimate: false,
    ...(await timesOf(work))
  })
  const first = await scrollEntities(sources, { query: words.wide.word, count: 1_000 }, wishes)
  const all = await scrollEntities(sources, { query: '*', count: 1_000 }, wishes)
  const name = urnOfAsset(Math.floor(count / 2)).split(',')[1] ?? ''
  return [
    await row('second page of 1,000 of a word in 20 %', 1_000, () =>
      scrollEntities(sources, { query: words.wide.word, count: 1_000, scrollId: first.nextScrollId }, wishes)
    ),
    await row('second page of 1,000 of everything', 1_000, () =>
      scrollEntities(sources, { query: '*', count: 1_000, scrollId: all.nextScrollId }, wishes)
    ),
    await row('completion of db1', 10, () => completeNames(sources, { query: 'db1' })),
    await row('completion of w12', 10, () => completeNames(sources, { query: 'w12' })),
    await row('completion of d', 10, () => completeNames(sources, { query: 'd' })),
    await row('a short reference', 1, () => resolveReference(sources, name.split('.').slice(1).join('.'))),
    await row('a short reference nearly right', 0, () =>
      resolveReference(sources, `${name.slice(0, -1)}x`).catch(() => {})
    )
  ]
}

async function timesOf(
  work: () => Promise<unknown>,
  count = runsCount
): Promise<{ medianMs: number; p99Ms: number }> {
  const times: number[] = []
  for (let run = 0; run < count; run += 1) {
    const begun = performance.now()
    await work()
    if (run >= count / 20) times.push(performance.now() - begun)
    // What takes seconds is known after a few.
    if (times.reduce((sum, time) => sum + time, 0) > 8_000 && times.length >= 3) break
  }
  times.sort((a, b) => a - b)
  return {
    medianMs: times[times.length >> 1] ?? 0,
    p99Ms: times[Math.min(times.length - 1, Math.ceil(times.length * 0.99) - 1)] ?? 0
  }
}

async function plansOf(db: Db): Promise<Record<string, string[]>> {
  const plans: Record<string, string[]> = {}
  for (const text of [words.narrow.word, words.wide.word, 'w123*']) {
    const asked = checkEntityQuestion({ query: text }).words ?? ''
    plans[`the first 5,001 of ${text}, looked up`] = await explained(
      db,
      'select entity_id, name from search_document where words @@ ?::tsquery limit 5001',
      asked
    )
    plans[`the sample of ${text}`] = await explained(
      db,
      'select entity_id from search_document where words @@ ?::tsquery and hashint4(entity_id) & 63 = 0',
      asked
    )
  }
  return plans
}

async function explained(db: Db, sql: string, words: string): Promise<string[]> {
  return db.transaction(async (tx) => {
    await query(tx, 'set local enable_seqscan = off')
    const rows = await query<{ 'QUERY PLAN': string }>(tx, `explain (analyze, buffers, timing off) ${sql}`, [
      words
    ])
    return rows.map((row) => row['QUERY PLAN'])
  })
}

async function sizes(db: Db): Promise<string> {
  const rows = await query<{ name: string; size: string }>(
    db,
    `
    select relname as name, pg_size_pretty(pg_relation_size(oid) + coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0)) as size
    from pg_class
    where relname like 'search_document%' and relkind in ('r', 'i')
    order by relname`
  )
  return rows.map(({ name, size }) => `${name} ${size}`).join(', ')
}
