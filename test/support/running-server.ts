/**
 * The whole service as its users see it: an API that listens on a port, a worker, and the queue in Postgres.
 */
import type { Test } from 'tap'
import { buildServer } from '../../api/server.ts'
import { createToken } from '../../shared/catalog/access/create-token.ts'
import { heldResultsBounds, holdResults } from '../../shared/catalog/lineage/held-results.ts'
import type { Db } from '../../shared/db/database.ts'
import { readConfig } from '../../shared/platform/config.ts'
import { createLog } from '../../shared/platform/log.ts'
import { openQueue } from '../../shared/queue/chunk-queue.ts'
import { startWorker } from '../../worker/start.ts'
import { withDatabase } from './database.ts'
import { openMemory } from './lineage-memory.ts'

export type RunningServer = {
  /** Its address, for example `http://127.0.0.1:41234`. */
  url: string
  /** An administrator's token. */
  token: string
  db: Db
}

/** Stopped at teardown, before the database is dropped. */
export async function withRunningServer(t: Test): Promise<RunningServer> {
  const { db, url: databaseUrl } = await withDatabase(t)
  const config = readConfig({ DATABASE_URL: databaseUrl, LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent' })
  const log = createLog(config)
  const queue = await openQueue(config, log)
  const worker = startWorker(config, log)
  const app = await buildServer({
    db,
    lineage: { db, memory: await openMemory(t, db, databaseUrl, log), held: holdResults(heldResultsBounds) },
    queue,
    config,
    log
  })
  t.teardown(async () => {
    await app.close()
    await worker.stop()
    await queue.close()
  })
  await worker.start()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const { token } = await createToken(db, { name: 'test admin', scopes: ['admin'] })
  return { url, token, db }
}
