/** A fresh, migrated database for a test: a clone of the template that test/run.ts made. */
import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Test } from 'tap'
import { connectDatabase } from '../../shared/db/connect.ts'
import type { Db } from '../../shared/db/database.ts'
import { createLog } from '../../shared/platform/log.ts'
import { postgresOptions } from '../../shared/platform/postgres-url.ts'

/** The variables that tell test files where Postgres is, which template to clone, and how. */
export const testDatabaseEnv = {
  url: 'TRIBUTARY_TEST_DATABASE_URL',
  template: 'TRIBUTARY_TEST_TEMPLATE',
  strategy: 'TRIBUTARY_TEST_CLONE_STRATEGY'
} as const

/** Knex's raw handle and the URL that other processes connect to. */
export type TestDatabase = { db: Db; url: string }

/**
 * Clones the template for this test and drops the clone at teardown. If the test fails, the clone is kept and
 * its name printed, provided that the server outlives the run.
 */
export async function withDatabase(t: Test, poolMax = 10): Promise<TestDatabase> {
  const server = fromEnv(testDatabaseEnv.url)
  const name = databaseName(t)
  await createDatabase(server, name)
  const url = urlOfDatabase(server, name)
  const db = connectTestDatabase(url, poolMax)
  t.teardown(async () => {
    await db.destroy()
    if (t.passing()) await dropDatabase(server, name)
    else if (!process.env[testDatabaseEnv.strategy]) t.comment(`the database ${name} is kept`)
  })
  return { db, url }
}

/** A pool on a database of a test, for instance a second one; the caller destroys it. */
export function connectTestDatabase(url: string, poolMax = 10): Db {
  return connectDatabase({
    url,
    poolMax,
    applicationName: 'tributary-test',
    statementTimeoutMs: 60_000,
    lockTimeoutMs: 30_000,
    acquireTimeoutMs: 10_000,
    log: createLog({ logLevel: 'silent' })
  })
}

/** An empty database, without the schema, dropped at teardown. */
export async function withEmptyDatabase(t: Test): Promise<TestDatabase> {
  const server = fromEnv(testDatabaseEnv.url)
  const name = databaseName(t)
  await runOnServer(server, `create database ${name} template template0`)
  const url = urlOfDatabase(server, name)
  const db = connectTestDatabase(url)
  t.teardown(async () => {
    await db.destroy()
    await dropDatabase(server, name)
  })
  return { db, url }
}

/** The URL with another database in its path. */
export function urlOfDatabase(url: string, name: string): string {
  return url.replace(/^(\w+:\/\/[^/?]*)(\/[^?]*)?/, `$1/${name}`)
}

/** Runs one statement that is not allowed in a transaction (create database) on the server of the URL. */
export async function runOnServer(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(await postgresOptions(url))
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query(sql)
    return rows
  } finally {
    await client.end()
  }
}

export async function dropDatabase(server: string, name: string): Promise<void> {
  await runOnServer(server, `drop database if exists ${name} with (force)`)
}

async function createDatabase(server: string, name: string): Promise<void> {
  const strategy = process.env[testDatabaseEnv.strategy]
  await runOnServer(
    server,
    `create database ${name} template ${fromEnv(testDatabaseEnv.template)}${strategy ? ` strategy ${strategy}` : ''}`
  )
}

function databaseName(t: Test): string {
  return `test_${createHash('sha1').update(t.fullname).digest('hex').slice(0, 12)}_${randomBytes(4).toString('hex')}`
}

function fromEnv(key: string): string {
  const value = process.env[key]
  if (!value)
    throw new Error(
      'Tests need a database: run them with `npm test`, or `npm test -- test/db.test.ts` for one file'
    )
  return value
}
