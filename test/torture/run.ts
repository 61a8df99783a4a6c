/**
 * `npm run torture [-- --quick] [--seed N] [--backend redis|postgres|redis-cluster] [--failover] [--pgbouncer] [--without RULE|each]`: ends processes,
 * connections and servers under loads, and compares what is left with what was accepted. Prints seed and figures; ends with 1 where
 * anything is wrong. `--failover` does so on a Postgres
 * with a standby that takes over, or on a Redis with Sentinels. A Redis Cluster is only used if it is named. `--pgbouncer`
 * goes through a PgBouncer that crashes. `--without` leaves a rule out, and ends with 1 where nothing goes wrong without it.
 */
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packagePath } from '../../shared/platform/paths.ts'
import { connectTestDatabase, dropDatabase, runOnServer, urlOfDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { untilReady } from './catalog-calls.ts'
import { createAdminToken, keepRunning, runCommand } from './processes.ts'
import {
  hasRedis,
  openPostgres,
  openPostgresBehindPgBouncer,
  openPostgresWithStandby,
  queueInPostgres,
  startRedis,
  startRedisInCluster,
  startRedisWithReplica,
  type TorturedPostgres,
  type TorturedRedis
} from './servers.ts'
import { failoverSizes, pgBouncerSizes, reds, sizes, type Red } from './sizes.ts'
import { torture, type Outcome, type Size } from './torture.ts'
import { planWorkload, randomFrom } from './workload.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    seed: { type: 'string' },
    backend: { type: 'string' },
    failover: { type: 'boolean' },
    pgbouncer: { type: 'boolean' },
    without: { type: 'string' }
  }
})
const seed = values.seed ? Number(values.seed) : randomInt(2 ** 31)
const log = (line: string) => console.log(line)

/** `worker` is a built file and its arguments, in place of `tributary work`. */
type Part = { title: string; size: Size; worker?: { file: string; args: string[] }; isRed: boolean }

/** A rule that is left out, after the same run with all rules: what goes wrong is then its lack. */
function redParts(name: string, { size, freezeShare }: Red): Part[] {
  const worker = (...rules: string[]) => ({
    file: packagePath('dist/test/torture/worker-without.js'),
    args: ['--freeze-share', String(freezeShare), ...rules]
  })
  return [
    { title: `with ${name}`, size, worker: worker(), isRed: false },
    { title: `without ${name}`, size, worker: worker(name), isRed: true }
  ]
}

function chosenParts(): Part[] {
  const { without, quick } = values
  const size = quick ? 'quick' : 'full'
  if (values.failover) return [{ title: `${size} with failovers`, size: failoverSizes[size], isRed: false }]
  if (values.pgbouncer)
    return [{ title: `${size} through PgBouncer`, size: pgBouncerSizes[size], isRed: false }]
  if (without === undefined) return [{ title: size, size: sizes[size], isRed: false }]
  const chosen = Object.entries(reds).filter(
    ([name]) => without === 'each' || without.split(',').includes(name)
  )
  if (chosen.length === 0) throw new Error(`--without takes ${Object.keys(reds).join(', ')} or each`)
  return chosen.flatMap(([name, red]) => redParts(name, red))
}

const backends = ['redis', 'postgres', 'redis-cluster']
if (values.backend !== undefined && !backends.includes(values.backend))
  throw new Error(`--backend takes ${backends.join(', ')}`)
const inCluster = values.backend === 'redis-cluster'

const backendOf = (redis: TorturedRedis | null): string =>
  redis === null ? 'postgres' : inCluster ? 'redis-cluster' : 'redis'

function startChosenRedis(): Promise<TorturedRedis> {
  if (inCluster) return startRedisInCluster()
  return values.failover ? startRedisWithReplica() : startRedis()
}

async function runPart(
  { title, size, worker }: Part,
  postgres: TorturedPostgres,
  redis: TorturedRedis | null
): Promise<Outcome> {
  const backend = backendOf(redis)
  const name = `torture_${backend.replace('-', '_')}_${seed}`
  await runOnServer(postgres.url, `create database ${name} template template0`)
  const folder = mkdtempSync(join(tmpdir(), 'tributary-torture-logs-'))
  const port = await freePort()
  const env = {
    DATABASE_URL: postgres.urlOf?.(name) ?? urlOfDatabase(postgres.url, name),
    ...(redis?.env ?? { REDIS_URL: '' }),
    PORT: String(port),
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    TRIBUTARY_DATA_DIR: folder
  }
  await runCommand(['migrate'], env)
  const api = { url: `http://127.0.0.1:${port}`, token: await createAdminToken(env) }
  const apiProcess = keepRunning('api', ['serve'], env, folder)
  const workers = [1, 2].map((number) =>
    keepRunning(`worker-${number}`, worker?.args ?? ['work'], env, folder, worker?.file)
  )
  const db = connectTestDatabase(urlOfDatabase(postgres.url, name), 4)
  const faults = { ...size.faults, postgres: postgres.restart ? size.faults.postgres : 0 }
  if (faults.postgres < size.faults.postgres) log('# the Postgres of DATABASE_URL is not restarted')
  let outcome: Outcome = { faults: ['the run did not end'], figures: {} }
  try {
    const random = randomFrom(seed)
    await untilReady(api)
    outcome = await torture({
      db,
      api,
      apiProcess,
      workers,
      queue: redis ?? queueInPostgres(db),
      postgres,
      failOver: async () =>
        (await redis?.failOver?.()) ?? (await postgres.failOver?.(random)) ?? 'nothing fails over',
      random,
      workload: planWorkload(randomFrom(seed), size.edges),
      size: { ...size, faults },
      log: (line) => log(`${title} on ${backend}: ${line}`)
    })
    return outcome
  } finally {
    await Promise.all([apiProcess, ...workers].map((kept) => kept.stop()))
    await db.destroy()
    if (outcome.faults.length === 0 || worker) {
      await dropDatabase(postgres.url, name)
      rmSync(folder, { recursive: true, force: true })
    } else {
      log(`the logs are kept in ${folder}`)
    }
  }
}

/** Skipped where what is to be opened is not installed. */
async function withPostgres(
  open: () => Promise<TorturedPostgres | null>,
  work: (postgres: TorturedPostgres) => Promise<void>
): Promise<void> {
  const postgres = await open()
  if (postgres === null) {
    const reason = values.pgbouncer ? 'pgbouncer is not installed' : 'a PostgreSQL server is not installed'
    if (process.env.CI === 'true') throw new Error(reason)
    log(`# skipped: ${reason}`)
    return
  }
  try {
    await work(postgres)
  } finally {
    await postgres.stop()
  }
}

async function main(): Promise<void> {
  const hasBoth = hasRedis()
  if (!hasBoth && process.env.CI === 'true') throw new Error('redis-server is not installed')
  if (!hasBoth) log('# redis: skipped, redis-server is not installed')
  log(`# seed ${seed}`)
  const results: { title: string; backend: string; isOk: boolean; figures: Outcome['figures'] }[] = []
  const run = async (part: Part, postgres: TorturedPostgres, redis: TorturedRedis | null): Promise<void> => {
    const backend = backendOf(redis)
    const { faults, figures } = await runPart(part, postgres, redis)
    const isOk = part.isRed === faults.length > 0
    for (const fault of faults) log(`${isOk ? '#' : 'not ok:'} ${part.title} on ${backend}: ${fault}`)
    if (part.isRed && !isOk) log(`not ok: ${part.title} on ${backend}: nothing went wrong`)
    results.push({ title: part.title, backend, isOk, figures })
  }
  for (const part of chosenParts()) {
    // the queue cannot live behind a pooler
    if ((values.backend ?? 'postgres') === 'postgres' && !values.pgbouncer)
      await withPostgres(values.failover ? openPostgresWithStandby : openPostgres, (postgres) =>
        run(part, postgres, null)
      )
    if (values.backend !== 'postgres' && hasBoth) {
      const redis = await startChosenRedis()
      try {
        await withPostgres(values.pgbouncer ? openPostgresBehindPgBouncer : openPostgres, (postgres) =>
          run(part, postgres, redis)
        )
      } finally {
        await redis.stop()
      }
    }
  }
  for (const { title, backend, figures } of results)
    log(`# ${title} on ${backend}: ${JSON.stringify(figures)}`)
  const failed = results.filter(({ isOk }) => !isOk).length
  log(JSON.stringify({ seed, passed: results.length - failed, failed, results }))
  log(`${results.length - failed} passed, ${failed} failed`)
  process.exitCode = failed > 0 ? 1 : 0
}

await main()
