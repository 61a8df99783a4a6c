/**
 * `npm run torture [-- --quick] [--seed N] [--backend redis|postgres]`: kills workers while they hold chunks, flushes
 * Redis, and compares what is left with what was accepted. Prints seed and figures; ends with 1 where anything is wrong.
 */
import { spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbeddedPostgres } from '../../dev/embedded-postgres/start-embedded-postgres.ts'
import { connectTestDatabase, dropDatabase, runOnServer, urlOfDatabase } from '../support/database.ts'
import { freePort } from '../support/redis.ts'
import { untilReady } from './catalog-calls.ts'
import { createAdminToken, keepRunning, runCommand } from './processes.ts'
import { torture, type Outcome } from './torture.ts'
import { planWorkload, randomFrom } from './workload.ts'

const sizes = {
  quick: { edges: 10_000, loads: 3, recordsPerLoad: 100_000, kills: 20, flushes: 3 },
  full: { edges: 30_000, loads: 6, recordsPerLoad: 170_000, kills: 200, flushes: 20 }
}

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, seed: { type: 'string' }, backend: { type: 'string' } } })
const size = values.quick ? sizes.quick : sizes.full
const seed = values.seed ? Number(values.seed) : randomInt(2 ** 31)
const log = (line: string) => console.log(line)

async function withPostgres<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  if (process.env.DATABASE_URL) return work(process.env.DATABASE_URL)
  const folder = mkdtempSync(join(tmpdir(), 'tributary-torture-'))
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'pg'), throwaway: true, log: () => {} })
  try {
    return await work(postgres.url())
  } finally {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function withRedis<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const port = await freePort()
  const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--maxmemory-policy', 'noeviction'], { stdio: 'ignore' })
  try {
    return await work(`redis://127.0.0.1:${port}`)
  } finally {
    server.kill('SIGKILL')
  }
}

async function runBackend(server: string, redisUrl: string | null): Promise<Outcome> {
  const backend = redisUrl ? 'redis' : 'postgres'
  log(`# ${backend}: seed ${seed}, ${size.loads} loads of ${size.recordsPerLoad} records on ${size.edges} edges, ${size.kills} kills`)
  const name = `torture_${backend}_${seed}`
  await runOnServer(server, `create database ${name} template template0`)
  const folder = mkdtempSync(join(tmpdir(), 'tributary-torture-logs-'))
  const port = await freePort()
  const env = { DATABASE_URL: urlOfDatabase(server, name), REDIS_URL: redisUrl ?? '', PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'warn', TRIBUTARY_DATA_DIR: folder }
  runCommand(['migrate'], env)
  const token = createAdminToken(env)
  const api = keepRunning('api', ['serve'], env, folder)
  const workers = [1, 2].map((number) => keepRunning(`worker-${number}`, ['work'], env, folder))
  const db = connectTestDatabase(env.DATABASE_URL, 4)
  let outcome: Outcome = { faults: ['the run did not end'], figures: {} }
  try {
    const random = randomFrom(seed)
    const at = { url: `http://127.0.0.1:${port}`, token }
    await untilReady(at)
    outcome = await torture({ db, api: at, workers, redisUrl, random, workload: planWorkload(random, size), kills: size.kills, flushes: size.flushes, log })
    return outcome
  } finally {
    await Promise.all([api, ...workers].map((kept) => kept.stop()))
    await db.destroy()
    if (outcome.faults.length === 0) {
      await dropDatabase(server, name)
      rmSync(folder, { recursive: true, force: true })
    } else {
      log(`the logs are kept in ${folder}`)
    }
  }
}

async function main(): Promise<void> {
  const hasRedis = spawnSync('redis-server', ['--version']).status === 0
  if (!hasRedis && process.env.CI === 'true') throw new Error('redis-server is not installed')
  if (!hasRedis) log('# redis: skipped, redis-server is not installed')
  let failed = 0
  let passed = 0
  const report = (backend: string, { faults, figures }: Outcome) => {
    log(`# ${backend}: ${JSON.stringify(figures)}`)
    for (const fault of faults) log(`not ok: ${fault}`)
    if (faults.length > 0) failed += 1
    else passed += 1
  }
  await withPostgres(async (server) => {
    if (values.backend !== 'redis') report('postgres', await runBackend(server, null))
    if (values.backend !== 'postgres' && hasRedis) report('redis', await withRedis((url) => runBackend(server, url)))
  })
  log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed > 0 ? 1 : 0
}

await main()
