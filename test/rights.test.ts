/** A role of Postgres that lacks a right is told in one sentence which, and the SQL of that sentence grants it. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { exitCodes } from '../bin/failure.ts'
import { migrate } from '../shared/db/migrate.ts'
import { query } from '../shared/db/query.ts'
import { sequences, tableRights } from '../shared/db/rights.ts'
import { packagePath } from '../shared/platform/paths.ts'
import {
  connectTestDatabase,
  dropDatabase,
  runOnServer,
  testDatabaseEnv,
  urlOfDatabase
} from './support/database.ts'
import { runCommand, type Outcome } from './support/run-command.ts'
import { skipUnless } from './support/skip.ts'

const server = process.env[testDatabaseEnv.url] ?? ''

type Roles = {
  app: string
  /** Runs statements as the administrator, in which ADMIN, OWNER, APP and CATALOG are names. */
  admin(sql: string): Promise<void>
  /** Runs a command of the command line with the role, by default that of the processes. */
  command(line: string, role?: 'owner' | 'app'): Promise<Outcome>
  /** The SQL in the sentence that the command prints, after a look at its form; runs it as the administrator. */
  obey(t: Test, outcome: Outcome, expected: RegExp): Promise<void>
}

/** An owner with a database, and another role that has nothing; both are dropped at teardown. Null without the right. */
async function withRoles(t: Test): Promise<Roles | null> {
  const [may] = (await runOnServer(
    server,
    'select rolsuper as "may" from pg_roles where rolname = current_user'
  )) as { may: boolean }[]
  if (skipUnless(t, may?.may === true, 'the role of DATABASE_URL is not a superuser')) return null
  const prefix = `rights_${randomBytes(4).toString('hex')}`
  const [owner, app] = [`${prefix}_owner`, `${prefix}_app`]
  for (const role of [owner, app]) await runOnServer(server, `create role ${role} login password 'secret'`)
  await runOnServer(server, `create database ${prefix} owner ${owner} template template0`)
  t.teardown(async () => {
    await dropDatabase(server, prefix)
    for (const role of [owner, app]) await runOnServer(server, `drop role ${role}`)
  })
  const adminUrl = urlOfDatabase(server, prefix)
  const urlOf = (role: string): string => adminUrl.replace(/^(\w+:\/\/)[^@/]*@/, `$1${role}:secret@`)
  async function admin(sql: string): Promise<void> {
    await runOnServer(
      adminUrl,
      sql.replaceAll('OWNER', owner).replaceAll('APP', app).replaceAll('CATALOG', prefix)
    )
  }
  await admin('revoke all on schema public from public; grant usage, create on schema public to OWNER')
  return {
    app: urlOf(app),
    admin,
    command: (line, role = 'app') =>
      runCommand(line.split(' '), { env: { DATABASE_URL: urlOf(role === 'app' ? app : owner) } }),
    async obey(t, outcome, expected) {
      t.equal(outcome.code, exitCodes.config)
      t.equal(outcome.err.length, 1, 'one line')
      const [said = ''] = outcome.err.length > 0 ? outcome.err : outcome.out
      const readable = said.replaceAll(owner, 'OWNER').replaceAll(app, 'APP').replaceAll(prefix, 'CATALOG')
      t.match(readable, expected)
      const sql = [...said.matchAll(/`([^`]*;)`/g)].map(([, text = '']) => text)
      t.ok(sql.length > 0, said)
      for (const text of sql) await admin(text)
    }
  }
}

const grantAll = `
  grant usage on schema public to APP;
  grant select, insert, update, delete on all tables in schema public to APP;
  grant usage, select on all sequences in schema public to APP`

t.test('a migration of an empty database says which rights its role lacks', async (t) => {
  const roles = await withRoles(t)
  if (roles === null) return
  await roles.obey(
    t,
    await roles.command('migrate'),
    /^The role APP of DATABASE_URL may not create tables in the schema public: as the owner of the database \(OWNER\) or a superuser, run `grant usage, create on schema public to APP;`\.$/
  )
  t.match(await roles.command('migrate'), { code: 0, out: [/^Applied 0001-baseline/] })
})

t.test('a migration by a role that does not own the tables names the owner', async (t) => {
  const roles = await withRoles(t)
  if (roles === null) return
  t.match(await roles.command('migrate', 'owner'), { code: 0 })
  await roles.admin(`${grantAll}; delete from schema_migration where name like '0010-%'`)
  await roles.obey(
    t,
    await roles.command('migrate'),
    /^The role APP of DATABASE_URL cannot migrate, because the tables of the schema public belong to OWNER: migrate with a DATABASE_URL of OWNER, or let a superuser hand them over with `reassign owned by OWNER to APP;`\.$/
  )
})

t.test('the schema is current for every role that can read the list of migrations', async (t) => {
  const roles = await withRoles(t)
  if (roles === null) return
  t.match(await roles.command('migrate', 'owner'), { code: 0 })
  await roles.admin('grant usage on schema public to APP; grant select on schema_migration to APP')
  t.match(await roles.command('migrate'), { code: 0, out: ['The schema is current.'] })
  await roles.admin('alter role APP set default_transaction_read_only = on')
  t.match(await roles.command('migrate'), { code: 0, out: ['The schema is current.'] })
  t.match(await roles.command('migrate --json'), { code: 0, out: ['{"applied":[]}'] })
})

t.test('commands that open the database say which rights the role lacks', async (t) => {
  const roles = await withRoles(t)
  if (roles === null) return
  t.match(await roles.command('migrate', 'owner'), { code: 0 })

  const notUsed =
    /^The role APP of DATABASE_URL may not use the schema public, nor select, insert, update, delete on 32 tables, nor select, usage on absence_seq, change_seq: as the owner of the database \(OWNER\) or a superuser, run `grant usage on schema public to APP;`; as OWNER, run `grant select, insert, update, delete on all tables in schema public to APP; revoke update, delete on public\.audit from APP; revoke insert, update, delete on public\.schema_migration from APP; grant select, usage on sequence public.absence_seq, public.change_seq to APP;`\.$/
  for (const line of [
    'token create --name x',
    'token list',
    'token revoke 1',
    'sign-in --token-id 1',
    'serve',
    'work'
  ]) {
    const { code, err } = await roles.command(line)
    t.equal(code, exitCodes.config, line)
    t.match(err.join('\n'), /may not use the schema public, nor select/, line)
  }
  await roles.obey(t, await roles.command('token create --name x'), notUsed)
  t.match(await roles.command('token create --name x'), { code: 0 })
  await t.rejects(runOnServer(roles.app, 'delete from audit'), { code: '42501' }, 'no more than is needed')

  await roles.admin(
    'revoke insert, delete on access_token from APP; revoke usage on sequence change_seq from APP'
  )
  const doctor = await roles.command('doctor')
  t.equal(doctor.code, 1)
  t.match(
    doctor.out.find((line) => line.startsWith('WRONG  rights')),
    /may not insert, delete on access_token, nor usage on change_seq, nor make the tables of a queue in Postgres: as \w+, run `grant insert, delete on table public.access_token to \w+; grant usage on sequence public.change_seq to \w+;`; as the owner of the database \(\w+\), run `grant create on database \w+ to \w+;`/
  )
  await roles.obey(t, await roles.command('token create --name y'), /may not insert, delete on access_token/)
  await roles.obey(
    t,
    await roles.command('serve'),
    /^The role APP of DATABASE_URL may not make the tables of a queue in Postgres: as the owner of the database \(OWNER\), run `grant create on database CATALOG to APP;`\.$/
  )
  await roles.admin(
    'revoke update, delete on audit from APP; revoke insert, update, delete on schema_migration from APP'
  )
  t.notMatch((await roles.command('doctor')).out.join('\n'), /rights/, 'what no process needs is not missed')

  await roles.admin('alter role APP set default_transaction_read_only = on')
  t.match((await roles.command('doctor')).out.join('\n'), /WRONG {2}database: .*only transactions that read/)
  t.match(await roles.command('token list'), { code: 0 }, 'reading needs no write')
  await roles.obey(
    t,
    await roles.command('token create --name z'),
    /^The role APP of DATABASE_URL has only transactions that read: as APP, run `alter role APP set default_transaction_read_only = off;`\.$/
  )
  t.match(await roles.command('token create --name z'), { code: 0 })
})

t.test('a connection that Postgres refuses is not called silent', async (t) => {
  const roles = await withRoles(t)
  if (roles === null) return
  await roles.admin('revoke connect on database CATALOG from public')
  await roles.obey(
    t,
    await roles.command('token list'),
    /^Postgres refuses the connection of DATABASE_URL: .*`grant connect on database CATALOG to APP;`\.$/
  )
  const missing = urlOfDatabase(roles.app, 'No-Such')
  t.match(await runCommand(['migrate'], { env: { DATABASE_URL: missing } }), {
    code: exitCodes.config,
    err: [/refuses the connection .*`create database "No-Such" owner \w+;`/]
  })
})

t.test('the rights are those of every table and sequence of the schema', async (t) => {
  const schema = readFileSync(packagePath('migrations/schema.sql'), 'utf8')
  const named = (kind: string): string[] =>
    [...schema.matchAll(new RegExp(`^create ${kind} (\\w+)`, 'gm'))].map(([, name = '']) => name)
  t.same(Object.keys(tableRights).sort(), named('table').sort())
  t.same([...sequences].sort(), named('sequence').sort())
})

t.test('a migration that lacks a right has applied nothing', async (t) => {
  const roles = await withRoles(t)
  if (roles === null) return
  const db = connectTestDatabase(roles.app)
  await roles.admin('grant usage on schema public to APP')
  await t.rejects(migrate(db), { name: 'MigrationForbiddenError', message: /may not create tables/ })
  t.same(await query(db, `select from pg_class where relname = 'schema_migration'`), [])
  await db.destroy()
})
