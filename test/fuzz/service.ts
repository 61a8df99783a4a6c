/** Starts an API process and a worker process on a new database, to send random requests to. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../shared/db/database.ts'
import {
  connectTestDatabase,
  dropDatabase,
  runOnServer,
  testDatabaseEnv,
  urlOfDatabase
} from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { startTestServices } from '../support/services.ts'
import { createAdminToken, keepRunning } from '../torture/processes.ts'
import type { Service } from './send-requests.ts'

const commands = ['serve', 'work']

export type Fuzzed = {
  service: Service
  db: Db
  databaseUrl: string
  /** Whether a process has ended since the start. */
  hasEnded: () => boolean
  printLogs: () => void
}

/**
 * Starts everything, runs `work`, and stops it again. The exit code of this process says whether everything
 * succeeded.
 */
export async function withFuzzedService(work: (fuzzed: Fuzzed) => Promise<boolean>): Promise<void> {
  const services = await startTestServices()
  const server = services.env[testDatabaseEnv.url] ?? ''
  const name = `fuzz_${randomBytes(4).toString('hex')}`
  await runOnServer(server, `create database ${name} template ${services.env[testDatabaseEnv.template]}`)
  const databaseUrl = urlOfDatabase(server, name)
  const db = connectTestDatabase(databaseUrl)
  const folder = mkdtempSync(join(tmpdir(), 'tributary-fuzz-'))
  try {
    process.exitCode = (await withProcesses({ databaseUrl, db, folder }, work)) ? 0 : 1
  } finally {
    await db.destroy()
    await dropDatabase(server, name)
    await services.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function withProcesses(
  { databaseUrl, db, folder }: { databaseUrl: string; db: Db; folder: string },
  work: (fuzzed: Fuzzed) => Promise<boolean>
): Promise<boolean> {
  const port = await freePort()
  const env = {
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    WORKER_PORT: String(await freePort()),
    LOG_LEVEL: 'error',
    REDIS_URL: ''
  }
  const service: Service = { url: `http://127.0.0.1:${port}`, token: await createAdminToken(env) }
  const processes = commands.map((command) => keepRunning(command, [command], env, folder))
  try {
    await untilReady(service)
    const began = processes.map((each) => each.pid())
    return await work({
      service,
      db,
      databaseUrl,
      hasEnded: () => processes.some((each, index) => each.pid() !== began[index]),
      printLogs() {
        for (const command of commands)
          console.log(readFileSync(join(folder, `${command}.log`), 'utf8').slice(-20_000))
      }
    })
  } finally {
    for (const each of processes) await each.stop()
  }
}

async function untilReady({ url }: Service): Promise<void> {
  for (const giveUpAt = Date.now() + 60_000; ; await sleep(100)) {
    const answer = await fetch(`${url}/health/ready`).catch(() => null)
    if (answer?.ok) return
    if (Date.now() > giveUpAt) throw new Error('the API did not become ready')
  }
}
