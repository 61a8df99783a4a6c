/**
 * `npm run interop [-- --only WORD] [--backend postgres|redis] [--transport restli|openapi] [--bench]`: runs
 * DataHub's unmodified Python clients against a new catalog, on each queue backend and over each of their two
 * transports.
 *
 * OpenLineage's clients for Python and Java send their events to the same catalog; `--only openlineage` runs
 * these alone. sqlglot gives its opinion on the cases of the SQL reader; `--only sqlglot` runs it alone. It
 * also compares a project that dbt builds with a load of it; `--only dbt` runs that alone. Exits with 1 if a call failed. Without a usable Python it says so; under CI=true that is a failure.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { generateModel } from '../../dev/model/generate.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { hasRedis, openPostgres, startRedis } from '../torture/servers.ts'
import { startCatalog, type Catalog } from './catalog.ts'
import { runJavaClient } from './java-client.ts'
import { compareProjects } from './dbt-columns.ts'
import { compareWithSqlglot } from './sql-opinion.ts'
import { NoPython, openPythonEnvironment } from '../../dev/python-environment.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    backend: { type: 'string' },
    transport: { type: 'string' },
    bench: { type: 'boolean' },
    'write-table': { type: 'boolean' }
  }
})
const isCi = process.env.CI === 'true'
const transports = ['restli', 'openapi'].filter(
  (name) => values.transport === undefined || name === values.transport
)

type Outcome = { passed: number; failed: number; skipped: number }

/** Producers of OpenLineage are only run by their own `--only`. */
const isForProducer = values.only === 'openlineage'

/** The last lines that the clients' suite prints. */
const closing = /^(\d+) passed, (\d+) failed, (\d+) skipped$/

/** Runs the suite once, and shows its output except the last line. */
function runClients(
  bin: string,
  { url, strictUrl, token }: Catalog,
  transport: string,
  folder: string,
  isFirst: boolean,
  args: readonly string[]
): Promise<Outcome> {
  const child = spawn(join(bin, 'python'), args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
      // The clients keep settings in the home folder, so each run has its own.
      HOME: folder,
      PYTHONDONTWRITEBYTECODE: '1',
      DATAHUB_TELEMETRY_ENABLED: 'false',
      DATAHUB_GMS_URL: url,
      DATAHUB_GMS_TOKEN: token,
      DATAHUB_REST_EMITTER_DEFAULT_ENDPOINT: transport,
      INTEROP_STRICT_URL: strictUrl,
      INTEROP_IS_FIRST: String(isFirst),
      INTEROP_DATA: process.env.TRIBUTARY_TEST_DATA ?? packagePath('../shared/data')
    }
  })
  let outcome: Outcome | null = null
  createInterface(child.stdout).on('line', (line) => {
    const [, passed, failed, skipped] = closing.exec(line) ?? []
    if (passed === undefined) console.log(line)
    else outcome = { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) }
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code) => {
      if (outcome === null) console.log(`not ok: the clients' suite ended with ${code} before it was done`)
      resolve(outcome ?? { passed: 0, failed: 1, skipped: 0 })
    })
  })
}

/** Runs the suite over each transport on one queue backend. */
async function runBackend(
  bin: string,
  serverUrl: string,
  backend: string,
  redisUrl: string | null
): Promise<Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-interop-'))
  const catalog = await startCatalog({
    serverUrl,
    redisUrl,
    name: `interop_${randomBytes(4).toString('hex')}`,
    folder
  })
  const outcomes: Outcome[] = []
  try {
    for (const transport of isForProducer ? [] : transports) {
      console.log(`# ${transport}, queue on ${backend}`)
      outcomes.push(
        await runClients(
          bin,
          catalog,
          transport,
          folder,
          backend === 'Postgres' || values.backend === 'redis',
          [
            packagePath('test/interop/clients/run.py'),
            ...(values.bench ? ['--bench'] : []),
            ...(values.only === undefined ? [] : ['--only', values.only])
          ]
        )
      )
    }
    // The API applies events, so the queue backend does not matter.
    if (backend === 'Postgres' && isWanted('openlineage')) {
      console.log('# OpenLineage')
      const script = packagePath('test/interop/clients/openlineage_client.py')
      outcomes.push(
        await runClients(bin, catalog, 'restli', folder, true, [script]),
        await runJavaClient(catalog)
      )
    }
  } finally {
    await catalog.stop()
    if (outcomes.some(({ failed }) => failed > 0)) console.log(`# the logs are kept in ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
  return outcomes
}

async function main(): Promise<void> {
  const bin = await openPythonEnvironment()
  if (values['write-table']) return writeTable(bin)
  const outcomes: Outcome[] = isWanted('sqlglot') ? [compareWithSqlglot(bin)] : []
  if (isWanted('dbt')) outcomes.push(await compareProjects(bin))
  if (values.only !== 'sqlglot' && values.only !== 'dbt') outcomes.push(...(await runAllClients(bin)))
  const sum = (key: keyof Outcome): number => outcomes.reduce((total, outcome) => total + outcome[key], 0)
  const hasForbiddenSkip = isCi && sum('skipped') > 0
  if (hasForbiddenSkip) console.log('Nothing may be skipped under CI=true.')
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  process.exitCode = sum('failed') > 0 || hasForbiddenSkip ? 1 : 0
}

/** Runs the clients on each queue backend. */
async function runAllClients(bin: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = isForProducer ? [] : [isModelCurrent(bin)]
  const postgres = await openPostgres()
  try {
    if (values.backend !== 'redis') {
      outcomes.push(...(await runBackend(bin, postgres.url, 'Postgres', null)))
    }
    if (values.backend !== 'postgres' && !isForProducer)
      outcomes.push(...(await onRedis((redisUrl) => runBackend(bin, postgres.url, 'Redis', redisUrl))))
  } finally {
    await postgres.stop()
  }
  return outcomes
}

/** Without --only, everything runs. */
const isWanted = (word: string): boolean => values.only === undefined || word.includes(values.only)

/** Whether the model in the sources matches the client's schema. */
function isModelCurrent(bin: string): Outcome {
  const outdated = generateModel(bin).filter(({ path, text }) => text !== readFileSync(path, 'utf8'))
  for (const { path } of outdated) console.log(`not ok: ${path} is not what npm run generate-model makes`)
  return { passed: outdated.length === 0 ? 1 : 0, failed: outdated.length, skipped: 0 }
}

/** On the server of REDIS_URL, or a new one; skipped if neither is available. */
async function onRedis(work: (redisUrl: string) => Promise<Outcome[]>): Promise<Outcome[]> {
  if (process.env.REDIS_URL) return work(process.env.REDIS_URL)
  if (!hasRedis()) {
    if (isCi) throw new Error('redis-server is not installed')
    console.log('# redis: skipped, redis-server is not installed')
    return []
  }
  const redis = await startRedis()
  try {
    return await work(redis.env.REDIS_URL ?? '')
  } finally {
    await redis.stop()
  }
}

/** Writes the table of calls for docs/datahub.md. */
function writeTable(bin: string): Promise<void> {
  const child = spawn(join(bin, 'python'), [packagePath('test/interop/clients/run.py'), '--write-table'], {
    stdio: 'inherit',
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  })
  return new Promise((resolve, reject) => {
    child
      .on('error', reject)
      .on('close', (code) =>
        code === 0 ? resolve() : reject(new Error(`the table was not written: ${code}`))
      )
  })
}

try {
  await main()
} catch (error) {
  if (!(error instanceof NoPython)) throw error
  console.log(`${isCi ? 'not ok' : 'skipped'}: ${error.message}`)
  console.log(`0 passed, ${isCi ? 1 : 0} failed`)
  process.exitCode = isCi ? 1 : 0
}
