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
import { runAlone } from '../../shared/db/run-alone.ts'
import { postgresOptions } from '../../shared/platform/postgres-url.ts'
import { untilReady } from './catalog-calls.ts'
import { poolMax, untilQuiet, type Catalog } from './freshness-catalog.ts'
import { readAndJudge, send, writeAndRead, type Figures, type Run } from './freshness-run.ts'
import { assets, layers, randomWrite, type Place } from './freshness-workload.ts'
import { pick } from './workload.ts'

const burntXids = 400
/** Sent as soon as Postgres is back. */
const firstWrites = 8
const readyMaxMs = 180_000
const retryMs = 5
const anyWalk: Place = { urn: layers[0]?.[0] ?? '', direction: 'DOWNSTREAM' }
const writers = 4
const readers = 1

type Kill = 'postgres' | 'backend' | 'api'

export type CrashFigures = {
  kills: Record<Kill, number>
  xidsDrawnTwice: number
  settledUnknown: number
  /** The walks after a crash, once every API had its graph in memory again. */
  reloaded: Pick<Figures, 'walks' | 'fromMemory'>
}

/** Otherwise what is thrown away gets into the log on disk within 200 ms, and its ids are not given out again. */
async function keepLogInMemory({ db }: Catalog): Promise<void> {
  await runAlone(db, ["alter system set wal_writer_delay = '10s'"])
  await query(db, 'select pg_reload_conf()')
}

/** `isQuiet`: while writers pause. */
export type CrashPlan = readonly { kill: Kill; isQuiet: boolean }[]

/** Each once while writers write, and each of Postgres once while they pause. */
export const allKills: CrashPlan = [
  { kill: 'postgres', isQuiet: true },
  { kill: 'backend', isQuiet: true },
  { kill: 'api', isQuiet: false },
  { kill: 'postgres', isQuiet: false },
  { kill: 'backend', isQuiet: false }
]

/** Of a Postgres whose standby then takes its place. */
export const failovers: CrashPlan = [
  { kill: 'postgres', isQuiet: true },
  { kill: 'postgres', isQuiet: false }
]

/** What kills a Postgres so that it answers again. */
export type CrashablePostgres = { crash: () => Promise<unknown> }

/** Kills by the plan, again and again; writes and reads after each. */
export async function crashAndWrite(
  run: Run,
  catalog: Catalog,
  postgres: CrashablePostgres,
  { rounds, writesPerRound, plan }: { rounds: number; writesPerRound: number; plan: CrashPlan }
): Promise<CrashFigures> {
  const figures: CrashFigures = {
    kills: { postgres: 0, backend: 0, api: 0 },
    xidsDrawnTwice: 0,
    settledUnknown: 0,
    reloaded: { walks: 0, fromMemory: 0 }
  }
  await keepLogInMemory(catalog)
  for (let round = 0; round < rounds; round += 1) {
    const { kill, isQuiet } = plan[round % plan.length] ?? { kill: 'api', isQuiet: false }
    if (isQuiet)
      figures.xidsDrawnTwice += await killInSilence(run, catalog, () => kills[kill](catalog, postgres, run))
    else await killWhileWriting(run, catalog, () => kills[kill](catalog, postgres, run))
    figures.kills[kill] += 1
    await untilQuiet(catalog.db)
    figures.settledUnknown += run.history.settle()
    await untilInMemory(run, catalog)
    const { walks, fromMemory } = run.figures
    await writeAndRead(run, { count: writesPerRound, writers, readers })
    figures.reloaded.walks += run.figures.walks - walks
    figures.reloaded.fromMemory += run.figures.fromMemory - fromMemory
  }
  return figures
}

async function killWhileWriting(run: Run, catalog: Catalog, kill: () => Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const meanwhile = writeAndRead(run, { count: Infinity, writers, readers, signal: over.signal })
  await sleep(200 + run.random() * 300)
  await kill()
  await untilAnswers(catalog)
  await untilAllReady(catalog)
  over.abort()
  await meanwhile
}

/**
 * Every graph has seen the ids that are thrown away when the crash comes, and after it writes are there before a graph has
 * looked again. Gives how many ids were given out twice.
 */
async function killInSilence(run: Run, catalog: Catalog, kill: () => Promise<unknown>): Promise<number> {
  await query(catalog.db, 'begin; select pg_current_xact_id(); rollback;'.repeat(burntXids))
  const lookEverywhere = async (place: Place): Promise<void> => {
    for (const api of catalog.apis) while (!(await readAndJudge(run, api, place))) await sleep(retryMs)
  }
  await lookEverywhere(anyWalk)
  const before = await nextXid(catalog)
  await kill()
  await untilAnswers(catalog)
  const firstAfter = await nextXid(catalog)
  const writes = Array.from({ length: firstWrites }, () => randomWrite(run.random, false))
  for (const write of writes) await send(run, write, run.own)
  await untilAllReady(catalog)
  for (const { shows } of writes) await lookEverywhere(shows)
  return Math.max(0, before - firstAfter)
}

/**
 * Waits until each API answers a walk from memory. A graph that crashes soon after it was loaded waits before it is
 * loaded again. An asset may be deleted whose creation the crash has prevented, so any is walked from.
 */
async function untilInMemory(run: Run, { apis }: Catalog): Promise<void> {
  const deadline = performance.now() + readyMaxMs
  for (const api of apis) {
    const { fromMemory } = run.figures
    while (run.figures.fromMemory === fromMemory) {
      if (performance.now() > deadline) throw new Error(`${api.url} does not load its graph again`)
      await readAndJudge(run, api, { urn: pick(run.random, assets) })
      await sleep(retryMs)
    }
  }
}

const untilAllReady = (catalog: Catalog): Promise<unknown> =>
  Promise.all(catalog.apis.map((api) => untilReady(api, readyMaxMs)))

const kills: Record<Kill, (catalog: Catalog, postgres: CrashablePostgres, run: Run) => Promise<unknown>> = {
  postgres: (_, postgres) => postgres.crash(),
  backend: (catalog) => killBackend(catalog),
  api: (catalog, _, run) => pick(run.random, catalog.processes).kill()
}

async function nextXid({ db }: Catalog): Promise<number> {
  const [row] = await query<{ xid: number }>(
    db,
    'select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xid'
  )
  return row?.xid ?? 0
}

/** On every connection of the pool: one that the crash has cut may not know it yet. */
async function untilAnswers({ db }: Catalog): Promise<void> {
  const all = { length: poolMax }
  for (;;) {
    const answers = await Promise.all(
      Array.from(all, () => query(db, 'select pg_sleep(0.01)').catch(() => null))
    )
    if (answers.every((answer) => answer !== null)) return
    await sleep(retryMs)
  }
}

/** Postgres ends all sessions when one has died, and recovers. Resolves when that has begun. */
async function killBackend({ databaseUrl }: Catalog): Promise<void> {
  const witness = new pg.Client(await postgresOptions(databaseUrl))
  const hasCrashed = new Promise((resolve) => witness.on('error', resolve))
  await witness.connect()
  const {
    rows: [victim]
  } = await witness.query<{ pid: number }>(
    "select pid from pg_stat_activity where application_name = 'tributary-api' and datname = current_database() order by random() limit 1"
  )
  if (!victim) throw new Error('no API is connected')
  process.kill(victim.pid, 'SIGKILL')
  await hasCrashed
}
