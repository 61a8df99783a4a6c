/**
 * `npm run fuzz [-- --count 100000] [--seed N] [--only INDEX]`: random requests to an API process and a
 * worker process, on a new database. Prints the seed; exits with 1 if an answer shows a bug of the server or
 * a process ended.
 */
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { buildSchema } from 'graphql'
import { buildServer } from '../../api/server.ts'
import { heldResultsBounds, holdResults } from '../../shared/catalog/lineage/held-results.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { readConfig } from '../../shared/platform/config.ts'
import { createLog } from '../../shared/platform/log.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { loadLines } from '../support/load-lines.ts'
import { routesOf } from './route-requests.ts'
import { seedRecords } from './seed-records.ts'
import { sendRequests, type Finding, type Service } from './send-requests.ts'
import { withFuzzedService, type Fuzzed } from './service.ts'

const { values } = parseArgs({
  options: { count: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } }
})
const seed = Number(values.seed ?? process.env.SEED ?? randomInt(2 ** 31))
const only = values.only === undefined ? null : Number(values.only)
const count = only === null ? Number(values.count ?? 100_000) : 1
const concurrency = 24
const partCount = 10_000
const shownFindings = 20

/** Whether everything succeeded. */
async function fuzz({ service, db, databaseUrl, hasEnded, printLogs }: Fuzzed): Promise<boolean> {
  await loadLines(service, [...seedRecords])
  const { findings, statuses } = await sendAll(service, await routesOfServer(databaseUrl, db))
  const rejects = await query(
    db,
    "select load_id, line, message, record from reject where code = 'INTERNAL' limit 20"
  )
  console.log(
    `answers by status: ${[...statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, times]) => `${status}: ${times}`)
      .join(', ')}`
  )
  for (const { index, request, status, text } of findings.slice(0, shownFindings))
    console.log(
      `request ${index} of seed ${seed}: ${status} ${text.slice(0, 1_000)}\n  ${JSON.stringify(request).slice(0, 4_000)}`
    )
  for (const reject of rejects) console.log(`a record ended with INTERNAL: ${JSON.stringify(reject)}`)
  if (hasEnded()) console.log('a process ended')
  const isWell = findings.length === 0 && rejects.length === 0 && !hasEnded()
  if (!isWell) printLogs()
  console.log(
    `${count} requests of seed ${seed}: ${findings.length} faults, ${rejects.length} records that ended with INTERNAL`
  )
  // For the summary of a CI run.
  console.log(`${isWell ? 1 : 0} passed, ${isWell ? 0 : 1} failed`)
  return isWell
}

async function sendAll(
  service: Service,
  routes: Awaited<ReturnType<typeof routesOf>>
): Promise<{ findings: Finding[]; statuses: Map<number, number> }> {
  const schema = buildSchema(readFileSync(packagePath('api/graphql/schema.graphql'), 'utf8'))
  const findings: Finding[] = []
  const statuses = new Map<number, number>()
  console.log(
    `# ${count} random requests, seed ${seed}, ${new Set(routes.map(({ url }) => url)).size} routes`
  )
  for (let first = only ?? 0; first < (only ?? 0) + count; first += partCount) {
    const part = await sendRequests(service, {
      seed,
      first,
      count: Math.min(partCount, (only ?? 0) + count - first),
      concurrency,
      schema,
      routes
    })
    findings.push(...part.findings)
    for (const [status, times] of part.statuses) statuses.set(status, (statuses.get(status) ?? 0) + times)
    console.log(
      `${first - (only ?? 0) + Math.min(partCount, count)} sent after ${Math.round(process.uptime())} s, ${findings.length} faults`
    )
  }
  return { findings, statuses }
}

/** The routes of a server that is built only for this and never listens. */
const routesOfServer = (databaseUrl: string, db: Db): ReturnType<typeof routesOf> =>
  routesOf(async () => {
    const config = readConfig({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent' })
    const queue = { nudge: async () => true, depth: async () => 0, close: async () => {} }
    await buildServer({
      db,
      lineage: { db, memory: null, held: holdResults(heldResultsBounds) },
      queue,
      config,
      log: createLog(config)
    })
  })

await withFuzzedService(fuzz)
