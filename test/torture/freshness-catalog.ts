/** The catalog that the freshness torture runs on: three API processes on a Postgres that can be killed, perhaps a worker. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { connectTestDatabase, dropDatabase, runOnServer, urlOfDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { untilReady, type Api } from './catalog-calls.ts'
import { createAdminToken, keepRunning, runCommand, type Kept } from './processes.ts'

const apiCount = 3
/** Connections of the catalog of a part. */
export const poolMax = 8
/** The machine may have much else to do. */
const readyMaxMs = 180_000

export type Catalog = { apis: Api[]; processes: Kept[]; db: Db; databaseUrl: string }

export type CatalogOptions = {
  name: string
  hasWorker: boolean
  /** What the APIs run by in place of `tributary serve`: a built file and its arguments. */
  api?: { file: string; args: string[] }
}

/** Runs `work` on a catalog in a database of its own. Says where the logs are kept when it throws or `work` says that it failed. */
export async function withCatalog(
  postgres: { url: string },
  options: CatalogOptions,
  work: (catalog: Catalog) => Promise<boolean>
): Promise<void> {
  await runOnServer(postgres.url, `create database ${options.name} template template0`)
  const databaseUrl = urlOfDatabase(postgres.url, options.name)
  const folder = mkdtempSync(join(tmpdir(), 'tributary-freshness-logs-'))
  const env = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: '',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    TRIBUTARY_DATA_DIR: folder
  }
  await runCommand(['migrate'], env)
  const token = await createAdminToken(env)
  const ports = await Promise.all(Array.from({ length: apiCount }, freePort))
  const { file, args } = options.api ?? { file: undefined, args: ['serve'] }
  const processes = ports.map((port, index) =>
    keepRunning(
      `api-${index}`,
      args,
      { ...env, PORT: String(port) },
      folder,
      file === undefined ? undefined : packagePath(file)
    )
  )
  const worker = options.hasWorker ? keepRunning('worker', ['work'], env, folder) : null
  const db = connectTestDatabase(databaseUrl, poolMax)
  let isGood = false
  try {
    const apis = ports.map((port) => ({ url: `http://127.0.0.1:${port}`, token }))
    await Promise.all(apis.map((api) => untilReady(api, readyMaxMs)))
    isGood = await work({ apis, processes, db, databaseUrl })
  } finally {
    await Promise.all([...processes, ...(worker ? [worker] : [])].map((kept) => kept.stop()))
    await db.destroy()
    if (isGood) {
      await dropDatabase(postgres.url, options.name)
      rmSync(folder, { recursive: true, force: true })
    } else {
      console.log(`the logs are kept in ${folder}`)
    }
  }
}

/** Waits until every transaction that runs now has ended: what a dead client sent can then change nothing any more. */
export async function untilQuiet(db: Db): Promise<void> {
  const [now] = await query<{ xmax: string }>(
    db,
    'select pg_snapshot_xmax(pg_current_snapshot())::text as xmax'
  )
  for (;;) {
    const [row] = await query<{ isOver: boolean }>(
      db,
      'select pg_snapshot_xmin(pg_current_snapshot()) >= ?::xid8 as "isOver"',
      [now?.xmax ?? '0']
    )
    if (row?.isOver) return
    await sleep(5)
  }
}
