/** The pages about deploying and operating run as they stand, as far as they need no other machine. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { runOnServer } from '../support/database.ts'
import { hasPgBouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { withRedis } from '../support/redis.ts'
import { skipUnless } from '../support/skip.ts'
import { runPage } from './run-page.ts'
import { withCatalogOn, withCheckout, withMigrated, withPostgres } from './settings.ts'

t.setTimeout(1_800_000)

const postgres = await withPostgres(t)
const redisUrl = await withRedis(t)
if (postgres !== null && redisUrl !== null) {
  const address = `127.0.0.1:${postgres.env.PGPORT ?? ''}`
  const path = [postgres.programs]

  t.test('deploy', async (t) => {
    const { env, url } = await withMigrated(t, postgres)
    await runPage(t, 'docs/how-to/deploy.md', {
      folder: withCheckout(t),
      env,
      blanks: { 'postgres://…': url, 'redis://…': redisUrl }
    })
  })

  t.test('back up and restore', async (t) => {
    const { env, db } = await withMigrated(t, postgres, 'catalog')
    await db.destroy()
    await runPage(t, 'docs/how-to/back-up.md', {
      env,
      path,
      before: 'createuser --superuser tributary; createuser tributary_owner; createuser tributary_app'
    })
    await runOnServer(postgres.cluster.url(), 'drop database replaced')
  })

  t.test('separate the roles of the database', async (t) => {
    const { env } = await withMigrated(t, postgres)
    await runOnServer(postgres.cluster.url(), 'drop role if exists tributary_owner, tributary_app')
    await runPage(t, 'docs/how-to/separate-database-roles.md', {
      env,
      path,
      blanks: { 'db.internal': address, 'redis://…': redisUrl }
    })
  })

  t.test('tune Postgres', async (t) => {
    const { env } = await withMigrated(t, postgres)
    const { outputs } = await runPage(t, 'docs/how-to/tune-postgres.md', { env, path })
    t.match(outputs[0], /shared_buffers/, 'the settings')
  })

  t.test('use PgBouncer', async (t) => {
    if (skipUnless(t, hasPgBouncer(), 'pgbouncer is not installed')) return
    const bouncer = await startPgBouncer(postgres.cluster.url(), { poolSize: 20 })
    t.teardown(() => bouncer.stop())
    const { env } = await withCatalogOn(t, postgres)
    const database = new URL(env.DATABASE_URL ?? '').pathname.slice(1)
    const { outputs } = await runPage(t, 'docs/how-to/use-pgbouncer.md', {
      env,
      blanks: {
        'postgres://tributary:…@pgbouncer.internal:6432/catalog': bouncer.url(database),
        'redis://…': redisUrl
      }
    })
    t.match(outputs[0], /^note {3}pooler: gives each transaction whichever session .*\(transaction mode\)/m)
  })

  t.test('observe', async (t) => {
    const { env } = await withMigrated(t, postgres)
    await runPage(t, 'docs/how-to/observe.md', {
      env,
      files: { 'alerts.yaml': readFileSync(packagePath('deploy/prometheus/alerts.yaml'), 'utf8') }
    })
  })

  t.test('the settings of a client of DataHub', async (t) => {
    const { env } = await withMigrated(t, postgres)
    await runPage(t, 'docs/datahub.md', { env, files: { '.data/token': env.TRIBUTARY_TOKEN ?? '' } })
  })
}
