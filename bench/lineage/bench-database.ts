/** The Postgres of a benchmark: embedded, durable, with a migrated database for each graph. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../../dev/embedded-postgres/start-embedded-postgres.ts'
import { connectDatabase } from '../../shared/db/connect.ts'
import type { Db } from '../../shared/db/database.ts'
import { migrate } from '../../shared/db/migrate.ts'
import { runAlone } from '../../shared/db/run-alone.ts'
import { createLog } from '../../shared/platform/log.ts'

export type BenchPostgres = {
  /** A new, migrated database, and its URL for other processes. The caller destroys the pool. */
  newDatabase: (name: string) => Promise<{ db: Db; url: string }>
  stop: () => Promise<void>
}

export async function startBenchPostgres(): Promise<BenchPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
  // The server of root runs as another user. Files in a folder that this user cannot enter would be kept
  // elsewhere, and left there.
  chmodSync(folder, 0o755)
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'pg'),
    throwaway: false,
    log: () => {}
  })
  return {
    async newDatabase(name) {
      const server = connectBenchDatabase(postgres.url())
      await runAlone(server, [`create database ${name}`])
      await server.destroy()
      const url = postgres.url(name)
      const db = connectBenchDatabase(url)
      await migrate(db)
      return { db, url }
    },
    async stop() {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** A pool that lets statements run for minutes; measured statements set their own limit. */
export const connectBenchDatabase = (url: string): Db =>
  connectDatabase({
    url,
    poolMax: 4,
    applicationName: 'tributary-bench',
    statementTimeoutMs: 600_000,
    lockTimeoutMs: 30_000,
    acquireTimeoutMs: 30_000,
    log: createLog({ logLevel: 'warn' })
  })
