/** What the readers of several pages have: a Postgres with its programs, a catalog with some content, and what they fill in. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createToken } from '../../shared/catalog/access/create-token.ts'
import { migrate } from '../../shared/db/migrate.ts'
import { packagePath, packageRoot } from '../../shared/platform/paths.ts'
import {
  connectTestDatabase,
  dropDatabase,
  runOnServer,
  urlOfDatabase,
  type TestDatabase
} from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { findPostgresPrograms, openClusterHome, type Cluster } from '../support/postgres-cluster.ts'
import { withFolder } from '../support/program.ts'
import { skipUnless } from '../support/skip.ts'
import { withCatalog, type Catalog } from '../system/support/catalog.ts'
import { runCli } from '../system/support/processes.ts'

/** The id of the newest load, in words of the shell. */
export const newestLoad = `"$(tributary load list --limit 1 --json | sed -E 's/^.*"id":"([^"]+)".*$/\\1/')"`

const dataset = (platform: string, name: string): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`

/** The tables that the examples of the pages name, as the records of a load. */
export const shopRecords = [
  { op: 'upsertEntity', urn: dataset('hive', 'shop.orders'), name: 'orders' },
  { op: 'upsertEntity', urn: dataset('hive', 'shop.revenue'), name: 'revenue' },
  { op: 'upsertEntity', urn: dataset('hive', 'shop.order_items'), name: 'order_items' },
  { op: 'upsertEntity', urn: dataset('snowflake', 'shop.public.customers'), name: 'customers' },
  {
    upstreamUrn: dataset('snowflake', 'shop.public.customers'),
    downstreamUrn: dataset('hive', 'shop.orders')
  },
  { upstreamUrn: dataset('hive', 'shop.orders'), downstreamUrn: dataset('hive', 'shop.revenue') }
]
  .map((record) => `${JSON.stringify(record)}\n`)
  .join('')

/** One event of OpenLineage, as a file of them. */
export const events = `${JSON.stringify({
  eventType: 'COMPLETE',
  eventTime: '2026-01-01T00:00:00Z',
  producer: 'https://example.org/nightly',
  schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json',
  run: { runId: '0193f2a4-8f0e-7000-8000-000000000001' },
  job: { namespace: 'nightly', name: 'shop.revenue' },
  inputs: [{ namespace: 'postgres://db:5432', name: 'shop.public.orders' }],
  outputs: [{ namespace: 'postgres://db:5432', name: 'shop.public.revenue' }]
})}\n`

export type Postgres = {
  cluster: Cluster
  /** Where its programs find it. */
  env: Readonly<Record<string, string>>
  /** The folder of its programs. */
  programs: string
}

/**
 * A PostgreSQL of the machine, durable as in production, with all its programs; everyone may sign in as anyone.
 * Null (skipped) if none is installed.
 */
export async function withPostgres(t: Test): Promise<Postgres | null> {
  const programs = findPostgresPrograms()
  if (programs === null) {
    skipUnless(t, false, 'the programs of a PostgreSQL server are not installed')
    return null
  }
  const home = openClusterHome(programs)
  t.teardown(() => home.remove())
  const cluster = await home.create('main')
  const port = await freePort()
  await cluster.start(port)
  return {
    cluster,
    programs,
    env: { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres' }
  }
}

export type Migrated = TestDatabase & { env: Readonly<Record<string, string>> }

/** A migrated database, dropped at teardown, and the environment in which the processes of a page run on it. */
export async function withMigrated(
  t: Test,
  { cluster, env }: Postgres,
  name = `catalog_${Math.random().toString(36).slice(2)}`
): Promise<Migrated> {
  await runOnServer(cluster.url(), `create database ${name}`)
  const url = urlOfDatabase(cluster.url(), name)
  const db = connectTestDatabase(url)
  t.teardown(async () => {
    await db.destroy()
    await dropDatabase(cluster.url(), name)
  })
  await migrate(db)
  const { token } = await createToken(db, { name: 'page', scopes: ['admin'] })
  const port = String(await freePort())
  return {
    db,
    url,
    env: {
      ...env,
      DATABASE_URL: url,
      HOST: '127.0.0.1',
      PORT: port,
      TRIBUTARY_URL: `http://127.0.0.1:${port}`,
      TRIBUTARY_TOKEN: token
    }
  }
}

/** A catalog on a database of its own. `load` is a file or folder that is in it. */
export async function withCatalogOn(t: Test, postgres: Postgres, load?: string): Promise<Catalog> {
  const database = await withMigrated(t, postgres)
  const catalog = await withCatalog(t, { workers: 1, database, env: { ...postgres.env } })
  if (load !== undefined) {
    const { code, said } = await runCli(t, ['load', load, '--quiet'], catalog.env)
    if (code !== 0) throw new Error(`${load} was not loaded: ${said}`)
  }
  return catalog
}

/** A checkout before \`npm ci\`, built. */
export function withCheckout(t: Test): string {
  const folder = withFolder(t)
  const copying = `git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --target-directory='${folder}'; cp -a dist '${folder}'`
  const { status, stderr } = spawnSync('bash', ['-c', copying], { cwd: packageRoot, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return folder
}

/** A catalog with the tables of the examples. */
export function withShop(t: Test, postgres: Postgres): Promise<Catalog> {
  const file = join(withFolder(t), 'shop.ndjson')
  writeFileSync(file, shopRecords)
  return withCatalogOn(t, postgres, file)
}

/** A catalog with the sample of `npm start`. */
export const withSample = (t: Test, postgres: Postgres): Promise<Catalog> =>
  withCatalogOn(t, postgres, packagePath('dev/sample'))
