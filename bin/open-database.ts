/** Opens the database of a command: the one of DATABASE_URL, or the embedded one of the data directory. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { connectDatabase } from '../shared/db/connect.ts'
import type { Db } from '../shared/db/database.ts'
import { pendingMigrations } from '../shared/db/migrate.ts'
import { whyItCannotWork, whyItCannotWrite } from '../shared/db/rights.ts'
import { isForbidden, isReadOnly } from '../shared/db/sql-errors.ts'
import type { Config } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { exitCodes, Refusal } from './failure.ts'
import { requireDatabase } from './reach.ts'

const poolMax = 2
const statementTimeoutMs = 60_000
const lockTimeoutMs = 10_000

/** Throws Refusal (exit code 78) if there is no DATABASE_URL; `command` is named in the message. */
export function requireDatabaseUrl(config: Config, command: string): string {
  if (config.databaseUrl !== null) return config.databaseUrl
  throw new Refusal(
    `tributary ${command} needs DATABASE_URL, the URL of a PostgreSQL 14 or newer. To try Tributary without one, run \`tributary up\`.`,
    exitCodes.config
  )
}

/**
 * Runs `work` on a pool and closes it. Throws Refusal (exit code 78) if the database does not answer, or if the role
 * lacks a right that the API and the workers need, or cannot write; the message says what to do.
 */
export async function withDatabase<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  await requireDatabase(url)
  const db = connectDatabase({
    url,
    poolMax,
    applicationName: 'tributary-cli',
    statementTimeoutMs,
    lockTimeoutMs,
    log: createLog({ logLevel: 'silent' })
  })
  try {
    return await work(db)
  } catch (error) {
    const reason = isForbidden(error)
      ? await whyItCannotWork(db)
      : isReadOnly(error)
        ? await whyItCannotWrite(db)
        : null
    throw reason === null ? error : new Refusal(reason, exitCodes.config, { cause: error })
  } finally {
    await db.destroy()
  }
}

/** Throws Refusal (exit code 78) if the role lacks a right that the API and the workers need. */
export async function requireRights(db: Db, options: { queueInPostgres?: boolean } = {}): Promise<void> {
  const lacks = await whyItCannotWork(db, options)
  if (lacks !== null) throw new Refusal(lacks, exitCodes.config)
}

/**
 * As withDatabase, on DATABASE_URL, otherwise on the embedded database that `tributary up` created, which is
 * started temporarily if it does not run. Throws Refusal if there is neither.
 */
export async function withCatalogDatabase<T>(
  config: Config,
  work: (db: Db, url: string) => Promise<T>
): Promise<T> {
  if (config.databaseUrl !== null) {
    const url = config.databaseUrl
    return withDatabase(url, (db) => work(db, url))
  }
  if (!hasEmbeddedDatabase(config.dataDir)) {
    throw new Refusal(
      `There is no DATABASE_URL, and \`tributary up\` has made no database in ${config.dataDir}.`,
      exitCodes.config
    )
  }
  // loaded only when needed: with DATABASE_URL it is not
  const { startEmbeddedPostgres } = await import('../dev/embedded-postgres/start-embedded-postgres.ts')
  const server = await startEmbeddedPostgres({ dataDir: join(config.dataDir, 'pg') })
  try {
    return await withDatabase(server.url(), (db) => work(db, server.url()))
  } finally {
    await server.stop()
  }
}

/** As withCatalogDatabase. Throws Refusal, exit code 78, if the schema lacks migrations, and UnknownSchemaError. */
export async function withMigratedDatabase<T>(config: Config, work: (db: Db) => Promise<T>): Promise<T> {
  return withCatalogDatabase(config, async (db) => {
    const pending = await pendingMigrations(db)
    // A role that may not use the schema does not see the list of migrations.
    if (pending.length > 0) await requireRights(db)
    if (pending.length > 0)
      throw new Refusal(
        `The database has not been migrated to this version: ${config.databaseUrl === null ? '`tributary up` does it when it starts' : 'run `tributary migrate`'}.`,
        exitCodes.config
      )
    return work(db)
  })
}

/** The token file is there even if the database had to be created elsewhere. */
function hasEmbeddedDatabase(dataDir: string): boolean {
  return existsSync(join(dataDir, 'pg')) || existsSync(join(dataDir, 'token'))
}
