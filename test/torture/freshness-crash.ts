/**
 * Freshness across `kill -9`: of Postgres, of one of its backends (which makes it recover without a restart), of an API.
 *
 * After a crash Postgres gives out again the transaction ids whose use had not got into its log on disk. So before some
 * of the crashes many are drawn and thrown away, and shown to every graph: one that did not notice the crash would take
 * the writes that get these ids for old ones.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { query } from '../../shared/db/query.ts'
import { postgresOptions } from '../../shared/platform/postgres-url.ts'
import { untilReady } from './catalog-calls.ts'
import { untilQuiet, type Catalog, type KillablePostgres } from './freshness-catalog.ts'
import { readAndJudge, writeAndRead, type Run } from './freshness-run.ts'
import { assets } from './freshness-workload.ts'
import { pick } from './workload.ts'

const burntXids = 400
const writers = 4
const readers = 1

type Kill = 'postgres' | 'backend' | 'api'

export type CrashFigures = { kills: Record<Kill, number>, xidsDrawnTwice: number, settledUnknown: number }

/** Otherwise what is thrown away gets into the log on disk within 200 ms, and its ids are not given out again. */
async function keepLogInMemory({ db }: Catalog): Promise<void> {
  await query(db, "alter system set wal_writer_delay = '10s'")
  await query(db, 'select pg_reload_conf()')
}

/** Kills in turn, each once while writers write and each of Postgres once while they pause; writes and reads after each. */
export async function crashAndWrite(run: Run, catalog: Catalog, postgres: KillablePostgres, { rounds, writesPerRound }: { rounds: number, writesPerRound: number }): Promise<CrashFigures> {
  const figures: CrashFigures = { kills: { postgres: 0, backend: 0, api: 0 }, xidsDrawnTwice: 0, settledUnknown: 0 }
  const plan: { kill: Kill, isQuiet: boolean }[] = [
    { kill: 'postgres', isQuiet: true }, { kill: 'backend', isQuiet: true }, { kill: 'api', isQuiet: false }, { kill: 'postgres', isQuiet: false }, { kill: 'backend', isQuiet: false }
  ]
  await keepLogInMemory(catalog)
  for (let round = 0; round < rounds; round += 1) {
    const { kill, isQuiet } = plan[round % plan.length] ?? { kill: 'api', isQuiet: false }
    const over = new AbortController()
    const meanwhile = writeAndRead(run, { count: Infinity, writers: isQuiet ? 0 : writers, readers, signal: over.signal })
    const before = isQuiet ? await burnXids(run, catalog) : 0
    if (!isQuiet) await sleep(200 + run.random() * 300)
    await kills[kill](catalog, postgres, run)
    await Promise.all(catalog.apis.map((api) => untilReady(api)))
    if (isQuiet) figures.xidsDrawnTwice += Math.max(0, before - await nextXid(catalog))
    figures.kills[kill] += 1
    over.abort()
    await meanwhile
    await untilQuiet(catalog.db)
    figures.settledUnknown += run.history.settle()
    await writeAndRead(run, { count: writesPerRound, writers, readers })
  }
  return figures
}

const kills: Record<Kill, (catalog: Catalog, postgres: KillablePostgres, run: Run) => Promise<void>> = {
  postgres: (_, postgres) => postgres.crash(),
  backend: (catalog) => killBackend(catalog),
  api: (catalog, _, run) => pick(run.random, catalog.processes).kill()
}

async function nextXid({ db }: Catalog): Promise<number> {
  const [row] = await query<{ xid: number }>(db, 'select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xid')
  return row?.xid ?? 0
}

/** Gives the id that is next afterwards. Every graph has then been made fresh with it. */
async function burnXids(run: Run, catalog: Catalog): Promise<number> {
  await query(catalog.db, 'begin; select pg_current_xact_id(); rollback;'.repeat(burntXids))
  for (const api of catalog.apis) if (!await readAndJudge(run, api, { urn: pick(run.random, assets) })) throw new Error(`${api.url} does not answer`)
  return nextXid(catalog)
}

/** Postgres ends all sessions when one has died, and recovers. Resolves when it takes connections again. */
async function killBackend({ db, databaseUrl }: Catalog): Promise<void> {
  const witness = new pg.Client(await postgresOptions(databaseUrl))
  const hasCrashed = new Promise((resolve) => witness.on('error', resolve))
  await witness.connect()
  const { rows: [victim] } = await witness.query<{ pid: number }>("select pid from pg_stat_activity where application_name = 'tributary-api' and datname = current_database() order by random() limit 1")
  if (!victim) throw new Error('no API is connected')
  process.kill(victim.pid, 'SIGKILL')
  await hasCrashed
  for (;;) {
    const answer = await query(db, 'select 1').catch(() => null)
    if (answer) return
    await sleep(20)
  }
}
