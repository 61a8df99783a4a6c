/** The roles of docs/how-to/separate-database-roles.md: one migrates, and the processes work as one that cannot. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import t, { type Test } from 'tap'
import { postgresOptions } from '../../shared/platform/postgres-url.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import {
  connectTestDatabase,
  dropDatabase,
  runOnServer,
  testDatabaseEnv,
  urlOfDatabase
} from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { findPostgresPrograms, openClusterHome } from '../support/postgres-cluster.ts'
import { withRedis } from '../support/redis.ts'
import { skipUnless } from '../support/skip.ts'
import { sendLoad } from '../torture/catalog-calls.ts'
import { withCatalog } from './support/catalog.ts'
import { chain, chainCounts, lines, untilDone } from './support/loads.ts'
import { runCli, runLine } from './support/processes.ts'

const page = readFileSync(packagePath('docs/how-to/separate-database-roles.md'), 'utf8')
const blocks = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, sql = '']) => sql)
const [create = '', grant = '', narrow = '', queueInPostgres = '', takeOver = ''] = blocks

type Roles = {
  /** The same for everybody: an administrator, the owner, and the role of the processes. */
  admin: string
  owner: string
  app: string
  /** Runs a block of the page, with the names of this test, statement by statement: each ends with its line. */
  run(url: string, sql: string): Promise<void>
}

/** Names of this test instead of those of the page; roles and database are dropped at teardown. Null without the right. */
async function withRoles(t: Test): Promise<Roles | null> {
  const server = process.env[testDatabaseEnv.url] ?? ''
  const [may] = (await runOnServer(
    server,
    'select rolsuper as "may" from pg_roles where rolname = current_user'
  )) as { may: boolean }[]
  if (skipUnless(t, may?.may === true, 'the role of DATABASE_URL is not a superuser')) return null
  const prefix = `roles_${randomBytes(4).toString('hex')}`
  const named = (sql: string): string =>
    sql
      .replaceAll(
        /\btributary(_owner|_app)?\b/g,
        (_, role: string | undefined) => `${prefix}${role ?? '_former'}`
      )
      .replaceAll(/\bdatabase catalog\b/g, `database ${prefix}`)
      .replaceAll(/(OWNER|APP)-PASSWORD/g, 'secret')
  t.teardown(async () => {
    await dropDatabase(server, prefix)
    for (const role of ['owner', 'app', 'former'])
      await runOnServer(server, `drop role if exists ${prefix}_${role}`)
  })
  const urlOf = (role: string): string =>
    urlOfDatabase(server, prefix).replace(/^(\w+:\/\/)[^@/]*@/, `$1${prefix}_${role}:secret@`)
  return {
    admin: urlOfDatabase(server, prefix),
    owner: urlOf('owner'),
    app: urlOf('app'),
    async run(url, sql) {
      for (const statement of named(sql).split(/;$/m))
        if (statement.trim() !== '') await runOnServer(url, statement)
    }
  }
}

const ddl = [
  'create table extra (x int)',
  'alter table entity add column extra int',
  'drop table audit',
  'truncate statement',
  'create index entity_extra_idx on entity (urn)',
  'create function extra() returns int language sql as $$ select 1 $$',
  'alter sequence change_seq restart',
  `create trigger extra before insert on audit for each row execute function suppress_redundant_updates_trigger()`
]

async function refusesSchemaChanges(t: Test, url: string): Promise<void> {
  const client = new pg.Client(await postgresOptions(url))
  await client.connect()
  for (const statement of ddl)
    await t.rejects(client.query(statement), { code: '42501' }, `refused: ${statement}`)
  for (const statement of [
    'delete from audit',
    `update audit set actor = 'x'`,
    `insert into schema_migration (name) values ('9999-x')`
  ])
    await t.rejects(client.query(statement), { code: '42501' }, `refused: ${statement}`)
  await client.end()
}

/**
 * A schema with the name of the owner is first in its search_path by default. This one has a list of migrations whose
 * trigger, run by the owner, opens the audit trail to the role of the processes.
 */
const lure = `
create schema tributary_owner;
grant all on schema tributary_owner to tributary_owner;
create table tributary_owner.schema_migration (name text primary key, applied_at timestamptz, needs text);
grant all on tributary_owner.schema_migration to tributary_owner;
create function tributary_owner.take() returns trigger language plpgsql as $$
  begin execute 'grant update, delete on public.audit to tributary_app'; return new; end
$$;
create trigger take before insert on tributary_owner.schema_migration for each row execute function tributary_owner.take();
`

async function cannotLureTheOwner(t: Test, roles: Roles): Promise<void> {
  await roles.run(roles.app, lure)
  t.same(
    await runOnServer(roles.owner, 'show search_path'),
    [{ search_path: 'public' }],
    'as the page sets it'
  )
  t.match(await runCli(t, ['migrate'], { DATABASE_URL: roles.owner }), { code: 0, said: /current/ })
  await roles.run(roles.admin, 'alter role tributary_owner in database catalog reset search_path')
  const migrated = await runCli(t, ['migrate'], { DATABASE_URL: roles.owner })
  await t.rejects(runOnServer(roles.app, 'delete from audit'), { code: '42501' }, 'the audit trail is closed')
  t.match(migrated, { code: 0, said: /current/ }, 'nor without a search_path of its own')
}

/** Loads, mutations, reads, an undo, sign-in links: everything that reads or writes a table of its own. */
async function works(t: Test, roles: Roles, redisUrl: string | undefined): Promise<void> {
  const db = connectTestDatabase(roles.app)
  t.teardown(() => db.destroy())
  const catalog = await withCatalog(t, { workers: 1, redisUrl, database: { db, url: roles.app } })
  const { client, env } = catalog
  const records = chain('roles', 50)
  const id = await sendLoad(client, lines(records), { source: 'roles' })
  t.same((await untilDone(t, client, id)).counts, chainCounts(50))
  const [first = '', second = ''] = records.map(({ urn }) => String(urn))
  t.equal((await client.walk(first)).length > 0, true, 'lineage is read')

  const domain = await client.createDomain({ id: 'roles', name: 'Roles' })
  t.same((await client.setDomain(first, domain)).data, { setDomain: true })
  t.equal((await client.updateLineage([], [[first, second]])).reason, null)
  t.equal((await client.updateLineage([[first, second]], [])).reason, null)
  const snapshot = await sendLoad(client, lines(records.slice(0, 60)), {
    source: 'roles',
    mode: 'snapshot',
    force: 'true'
  })
  await untilDone(t, client, snapshot)
  const { status, json } = await client.send('POST', `/loads/${snapshot}/undo`)
  t.equal(status, 202, JSON.stringify(json))
  await untilDone(t, client, String((json as { id?: unknown }).id))

  t.match(await runCli(t, ['token', 'create', '--name', 'x', '--domain', 'Roles'], env), { code: 0 })
  t.match(await runCli(t, ['sign-in'], env), { code: 0 })
  const doctor = await runCli(t, ['doctor'], env)
  // a Postgres that is thrown away after the tests is not durable
  t.notMatch(doctor.said.replace(/^WRONG {2}durability.*$/m, ''), /WRONG|permission denied/)
  await refusesSchemaChanges(t, roles.app)
  for (const process of [catalog.web, ...catalog.workers]) {
    t.notOk(process.hasEnded())
    t.notMatch(process.said(), /permission denied|must be owner/)
  }
}

t.test('the page has a block for each step', (t) => {
  t.equal(blocks.length, 5)
  t.end()
})

for (const queue of ['Redis', 'Postgres'] as const)
  t.test(`the processes work as a role that changes no table, with a queue in ${queue}`, async (t) => {
    const redisUrl = queue === 'Redis' ? await withRedis(t) : undefined
    if (redisUrl === null) return
    const roles = await withRoles(t)
    if (roles === null) return
    await roles.run(process.env[testDatabaseEnv.url] ?? '', create)
    await roles.run(roles.admin, grant)
    const refused = await runCli(t, ['migrate'], { DATABASE_URL: roles.app })
    t.match(
      refused,
      { code: 78, said: /may not create tables in the schema public: as the owner of the database/ },
      'the role of the processes cannot migrate'
    )
    const release = runLine(t, 'release', { DATABASE_URL: roles.owner })
    t.equal(await release.ended, 0, release.said())
    await roles.run(roles.owner, narrow)
    if (queue === 'Postgres') await roles.run(roles.admin, queueInPostgres)
    await works(t, roles, redisUrl)
    if (queue === 'Postgres') await cannotLureTheOwner(t, roles)
  })

t.test('a catalog of one role is handed over to two', async (t) => {
  const roles = await withRoles(t)
  if (roles === null) return
  const server = process.env[testDatabaseEnv.url] ?? ''
  await roles.run(
    server,
    `create role tributary login password 'APP-PASSWORD';\ncreate database catalog owner tributary`
  )
  await roles.run(roles.admin, 'grant create on schema public to tributary')
  const former = roles.app.replace('_app:', '_former:')
  t.match(await runCli(t, ['migrate'], { DATABASE_URL: former }), { code: 0 })
  t.match(page, /Do steps 1 and 2 [^.]*, without `create database`; then this; then steps 3 to 5\./)
  await roles.run(server, create.replace(/create database.*$/m, ''))
  await roles.run(roles.admin, grant)
  await roles.run(roles.admin, takeOver)
  t.match(await runCli(t, ['migrate'], { DATABASE_URL: roles.owner }), { code: 0, said: /current/ })
  await roles.run(roles.owner, narrow)
  t.match(await runCli(t, ['token', 'create', '--name', 'x'], { DATABASE_URL: roles.app }), { code: 0 })
  await refusesSchemaChanges(t, roles.app)
})

t.test('on a standby the schema is current, and what writes is told to use the primary', async (t) => {
  const programs = findPostgresPrograms()
  if (skipUnless(t, programs !== null, 'the programs of a PostgreSQL server are not installed')) return
  const home = openClusterHome(programs ?? '')
  t.teardown(() => home.remove())
  const primary = await home.create('primary')
  await primary.start(await freePort())
  await runOnServer(primary.url(), 'create database catalog')
  t.match(await runCli(t, ['migrate'], { DATABASE_URL: primary.url('catalog') }), { code: 0 })
  const folder = home.folder('standby')
  await home.run('pg_basebackup', [
    `--dbname=${primary.url()}`,
    `--pgdata=${folder}`,
    '--checkpoint=fast',
    '--no-sync'
  ])
  const standby = home.open(folder)
  standby.configure({ primary_conninfo: primary.url() })
  standby.signal('standby.signal')
  await standby.start(await freePort())
  const env = { DATABASE_URL: standby.url('catalog') }
  t.match(await runCli(t, ['migrate'], env), { code: 0, said: /The schema is current/ })
  t.match(await runCli(t, ['token', 'list'], env), { code: 0 })
  const usePrimary =
    /^The database of DATABASE_URL is a standby, which accepts no writes: use the address of the primary\.\n$/
  t.match(await runCli(t, ['token', 'create', '--name', 'x'], env), { code: 78, said: usePrimary })
  await runOnServer(primary.url(), 'create database empty')
  const empty = { DATABASE_URL: standby.url('empty') }
  // it arrives when the standby has applied it
  for (;;) {
    const { code, said } = await runCli(t, ['migrate'], empty)
    if (/does not exist/.test(said)) continue
    t.match({ code, said }, { code: 78, said: usePrimary })
    break
  }
})
