/** Checks the database: version, durability, schema, clock, connections, loads that make no progress. */
import type { Db } from '../../shared/db/database.ts'
import { UnknownSchemaError, pendingMigrations } from '../../shared/db/migrate.ts'
import { query } from '../../shared/db/query.ts'
import { whyItCannotWork, whyItCannotWrite } from '../../shared/db/rights.ts'
import { limits } from '../../shared/limits.ts'
import { findLiveWorkers, type WorkerRow } from '../../shared/store/workers.ts'
import { askDatabase } from '../reach.ts'
import { fine, note, wrong, type Finding } from './finding.ts'

const minVersion = 140_000
const clockSkewMaxMs = 5_000
const connectionsShareMax = 0.9

/** Throws what the database throws if it stops answering. `queueInPostgres`: it also carries the queue. */
export async function examineDatabase(
  db: Db,
  url: string,
  { queueInPostgres }: { queueInPostgres: boolean }
): Promise<Finding[]> {
  const server = await examineServer(url)
  // An older Postgres does not know the settings that a pool sends with each statement.
  if (server.some(({ check, verdict }) => check === 'database' && verdict === 'wrong')) return server
  // Without them the questions below would fail, or find no schema.
  const lacks = await whyItCannotWork(db, { queueInPostgres })
  if (lacks !== null) return [...server, wrong('rights', lacks)]
  const readOnly = await whyItCannotWrite(db)
  if (readOnly !== null) server.push(wrong('database', readOnly))
  const schema = await examineSchema(db)
  return [...server, schema, ...(schema.verdict === 'fine' ? await examineLoads(db) : [])]
}

type Facts = {
  version: string
  versionNumber: number
  encoding: string
  isStandby: boolean
  now: Date
  connectionsMax: number
  connectionsUsed: number
  loose: string[]
}

const factsQuery = `
  select
    current_setting('server_version') as version,
    current_setting('server_version_num')::int as "versionNumber",
    current_setting('server_encoding') as encoding,
    pg_is_in_recovery() as "isStandby",
    clock_timestamp() as now,
    current_setting('max_connections')::int as "connectionsMax",
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as "connectionsUsed",
    array(
      select loose.name
      from pg_settings loose
      where loose.name in ('fsync', 'full_page_writes', 'synchronous_commit')
        and loose.setting = 'off'
      order by loose.name
    )::text[] as loose`

async function examineServer(url: string): Promise<Finding[]> {
  const askedAt = Date.now()
  const [facts] = await askDatabase(url, async (client) => (await client.query<Facts>(factsQuery)).rows)
  const answeredAt = Date.now()
  if (facts === undefined) return [wrong('database', 'gave no answer')]
  const { version, versionNumber, encoding, isStandby, loose } = facts
  return [
    versionNumber >= minVersion
      ? fine('database', `answers, PostgreSQL ${version}`)
      : wrong('database', `is PostgreSQL ${version}; 14 or newer is needed`),
    ...(isStandby ? [wrong('database', 'is a standby that accepts no writes')] : []),
    ...(encoding === 'UTF8' ? [] : [wrong('encoding', `of the database is ${encoding}; it must be UTF8`)]),
    loose.length === 0
      ? fine('durability', 'fsync, full_page_writes and synchronous_commit are on')
      : wrong('durability', `${loose.join(', ')} off: a crash can lose acknowledged data`),
    examineClock(facts.now, askedAt, answeredAt),
    examineConnections(facts)
  ]
}

function examineClock(theirs: Date, askedAt: number, answeredAt: number): Finding {
  const at = theirs.getTime()
  const skewMs = at < askedAt ? at - askedAt : Math.max(0, at - answeredAt)
  if (Math.abs(skewMs) <= clockSkewMaxMs) return fine('clock', 'agrees with the database')
  return wrong(
    'clock',
    `of the database is ${(Math.abs(skewMs) / 1_000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'} ours: tokens expire earlier or later than people expect`
  )
}

function examineConnections({ connectionsUsed, connectionsMax }: Facts): Finding {
  const text = `${connectionsUsed} of ${connectionsMax} are in use`
  return connectionsUsed > connectionsMax * connectionsShareMax
    ? wrong('connections', text)
    : fine('connections', text)
}

async function examineSchema(db: Db): Promise<Finding> {
  try {
    const pending = await pendingMigrations(db)
    if (pending.length === 0) return fine('schema', 'is current')
    return wrong('schema', 'has not been migrated to this version: run tributary migrate')
  } catch (error) {
    if (error instanceof UnknownSchemaError) return wrong('schema', error.message)
    throw error
  }
}

type LoadFacts = {
  failed: number
  failedWhole: number
  stuck: number
  waitingChunks: number
  tokens: number
}

/** A load that makes progress updates its row; ten minutes is many times the longest chunk. */
const loadsQuery = `
  select
    (select count(*)::int from load where state = 'failed' and not is_atomic and not is_dry_run) as failed,
    (select count(*)::int from load where state = 'failed' and is_atomic and not is_dry_run) as "failedWhole",
    (
      select count(*)::int
      from load
      where state in ('receiving', 'accepted', 'applying')
        and touched_at < now() - interval '10 minutes'
    ) as stuck,
    (select count(*)::int from chunk where state in ('waiting', 'applying')) as "waitingChunks",
    (
      select count(*)::int
      from access_token
      where revoked_at is null
        and (expires_at is null or expires_at > now())
    ) as tokens`

async function examineLoads(db: Db): Promise<Finding[]> {
  const [facts] = await query<LoadFacts>(db, loadsQuery)
  if (facts === undefined) return []
  const { failed, failedWhole, stuck, waitingChunks, tokens } = facts
  return [
    ...examineWorkers(
      await findLiveWorkers(db, limits.workerSilentMaxSeconds, limits.workersListedMaxCount),
      waitingChunks
    ),
    stuck > 0
      ? wrong('loads', `${stuck} have made no progress for ten minutes`)
      : fine('loads', `${waitingChunks} chunks wait, none longer than ten minutes`),
    ...(failed > 0
      ? [note('loads', `${failed} failed: tributary load retry ID continues one where it stopped`)]
      : []),
    ...(failedWhole > 0
      ? [
          note(
            'loads',
            `${failedWhole} atomic loads failed and changed nothing: they cannot be retried, so fix the file and send it again`
          )
        ]
      : []),
    ...(tokens > 0 ? [] : [note('tokens', 'no valid token; create one with tributary token create')])
  ]
}

const workersNamedMaxCount = 5

function examineWorkers(workers: readonly WorkerRow[], waitingChunks: number): Finding[] {
  if (workers.length === 0)
    return [
      waitingChunks > 0
        ? wrong(
            'worker',
            `no worker is running, and chunks wait (${waitingChunks}): tributary work starts one`
          )
        : note('worker', 'no worker is running, so no load would be applied: tributary work starts one')
    ]
  const named = workers
    .slice(0, workersNamedMaxCount)
    .map(({ name, version, startedAt }) => `${name} (${version}, since ${startedAt.toISOString()})`)
  const more = workers.length - named.length
  const versions = new Set(workers.map(({ version }) => version))
  return [
    fine('worker', `${workers.length} live: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`),
    ...(versions.size > 1
      ? [note('worker', `they run different versions: ${[...versions].sort().join(', ')}`)]
      : [])
  ]
}
