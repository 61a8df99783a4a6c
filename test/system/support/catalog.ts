/** A whole catalog of processes: one API and some workers, started as in the Procfile, on a new database. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { createToken } from '../../../shared/catalog/access/create-token.ts'
import type { Db } from '../../../shared/db/database.ts'
import { catalogClient, type CatalogClient } from '../../support/catalog-client.ts'
import { withDatabase, type TestDatabase } from '../../support/database.ts'
import { freePort } from '../../support/free-port.ts'
import { runLine, type RunningProcess } from './processes.ts'

export type Catalog = {
  /** The environment of its processes, which also lets the command line find it. */
  env: Record<string, string>
  db: Db
  client: CatalogClient
  web: RunningProcess
  workers: RunningProcess[]
  startWorker(): RunningProcess
}

export type CatalogOptions = {
  workers: number
  /** If absent, the queue is in Postgres. */
  redisUrl?: string | undefined
  env?: Record<string, string>
  /** If absent, a migrated clone. */
  database?: TestDatabase | undefined
}

const readyMaxMs = 180_000

/** Ready when it resolves; stopped at teardown, before the database is dropped. */
export async function withCatalog(t: Test, options: CatalogOptions): Promise<Catalog> {
  const { db, url } = options.database ?? (await withDatabase(t))
  const { token } = await createToken(db, { name: 'system test', scopes: ['admin'] })
  const port = await freePort()
  const serverUrl = `http://127.0.0.1:${port}`
  const env: Record<string, string> = {
    DATABASE_URL: url,
    PORT: String(port),
    HOST: '127.0.0.1',
    TRIBUTARY_URL: serverUrl,
    TRIBUTARY_TOKEN: token,
    ...(options.redisUrl === undefined ? {} : { REDIS_URL: options.redisUrl }),
    ...options.env
  }
  const web = runLine(t, 'web', env)
  const startWorker = (): RunningProcess => runLine(t, 'worker', env)
  const workers = Array.from({ length: options.workers }, startWorker)
  await untilReady(serverUrl, web)
  await Promise.all(workers.map((worker) => worker.says(/worker started/)))
  return { env, db, client: catalogClient(serverUrl, token), web, workers, startWorker }
}

/** Resolves once the server reports that it is ready. Throws if its process ends, or takes too long. */
export async function untilReady(url: string, server: RunningProcess): Promise<void> {
  const giveUpAt = Date.now() + readyMaxMs
  for (;;) {
    const isReady = await fetch(`${url}/health/ready`).then(
      ({ status }) => status === 200,
      () => false
    )
    if (isReady) return
    if (server.hasEnded() || Date.now() > giveUpAt)
      throw new Error(`${url} did not get ready:\n${server.said()}`)
    await sleep(50)
  }
}
