/** The setting in which histories are played: one database, with every lineage reader and GraphQL. */
import { buildServer } from '../../api/server.ts'
import { createToken } from '../../shared/catalog/access/create-token.ts'
import { heldResultsBounds, holdResults } from '../../shared/catalog/lineage/held-results.ts'
import type { LineageReader } from '../../shared/catalog/lineage/lineage-reader.ts'
import type { LineageMemory } from '../../shared/catalog/lineage/lineage-memory.ts'
import { sqlLineageReader } from '../../shared/catalog/lineage/sql-lineage-reader.ts'
import type { LineageSources } from '../../shared/catalog/lineage/with-lineage.ts'
import type { Db } from '../../shared/db/database.ts'
import { inTransaction } from '../../shared/db/transaction.ts'
import { readConfig } from '../../shared/platform/config.ts'
import { createLog } from '../../shared/platform/log.ts'
import { openMemory } from './lineage-memory.ts'
import type { Stage } from './play-histories.ts'
import { scrollQuery, type Scroll } from './scroll-faults.ts'

/** Registers cleanups, as tap's tests do. */
export type Endings = { teardown: (end: () => Promise<void>) => void }

/** SQL is slower, so it only walks from one entity of every third history, and scrolls for every fifth. */
export async function openStage(t: Endings, db: Db, databaseUrl: string): Promise<Stage> {
  const log = createLog({ logLevel: 'silent' })
  const { token } = await createToken(db, { name: 'histories', scopes: ['admin'] })
  const memory = await openMemory(t, db, databaseUrl, log)
  return {
    db,
    figures: { looks: 0, walks: 0, reached: 0, pages: 0, results: 0 },
    readers: [
      {
        name: 'SQL',
        walksFrom: 'few',
        looks: 'all',
        open: (work) =>
          inTransaction(db, (tx) => work(sqlLineageReader(tx, null)), {
            readOnly: true,
            isolation: 'repeatable read'
          })
      },
      { name: 'memory', walksFrom: 'all', looks: 'all', open: (work) => inMemory(memory, work) },
      {
        name: 'memory loaded anew',
        walksFrom: 'all',
        looks: 'last',
        open: (work) =>
          withEndings(async (own) => inMemory(await openMemory(own, db, databaseUrl, log), work))
      }
    ],
    scrolls: [
      {
        name: 'GraphQL over SQL',
        scroll: await scrollOn(t, { db, memory: null }, databaseUrl, token),
        isFor: (index) => index % 5 === 0
      },
      {
        name: 'GraphQL over memory',
        scroll: await scrollOn(t, { db, memory, held: holdResults(heldResultsBounds) }, databaseUrl, token),
        isFor: () => true
      }
    ]
  }
}

/** Throws if memory cannot answer: SQL would agree with the oracle too, and hide that. */
async function inMemory<T>(memory: LineageMemory, work: (reader: LineageReader) => Promise<T>): Promise<T> {
  const opened = await memory.open()
  if (!opened) throw new Error('the lineage graph is not in memory')
  try {
    return await work(opened.reader)
  } finally {
    opened.release()
  }
}

/** Cleans up after the work, in reverse order. */
export async function withEndings<T>(work: (t: Endings) => Promise<T>): Promise<T> {
  const ends: (() => Promise<void>)[] = []
  try {
    return await work({
      teardown: (end) => {
        ends.unshift(end)
      }
    })
  } finally {
    for (const end of ends) await end()
  }
}

/** A separate API on the database, called without a socket. */
async function scrollOn(
  t: Endings,
  lineage: LineageSources,
  databaseUrl: string,
  token: string
): Promise<Scroll> {
  const config = readConfig({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent' })
  const queue = { nudge: async () => true, depth: async () => 0, close: async () => {} }
  const app = await buildServer(
    { db: lineage.db, lineage, queue, config, log: createLog(config) },
    { isStopping: false }
  )
  t.teardown(() => app.close())
  return async (input) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/graphql',
      headers: { authorization: `Bearer ${token}` },
      payload: { query: scrollQuery, variables: { input } }
    })
    const { data, errors } = JSON.parse(answer.body)
    return data?.scrollAcrossLineage ?? String(errors?.[0]?.extensions?.reason ?? answer.body)
  }
}
