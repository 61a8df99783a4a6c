/**
 * A backup that is taken while loads run restores a whole catalog, under processes that were never stopped: they
 * answer nothing from what they remember of the database before, and every load ends.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { migrate } from '../../shared/db/migrate.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import { query } from '../../shared/db/query.ts'
import { inTransaction } from '../../shared/db/transaction.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import type { CatalogClient } from '../support/catalog-client.ts'
import { connectTestDatabase, runOnServer } from '../support/database.ts'
import { valueAt } from '../support/json-answer.ts'
import {
  findPostgresPrograms,
  openClusterHome,
  type Cluster,
  type ClusterHome
} from '../support/postgres-cluster.ts'
import { fencesOf } from '../support/fences.ts'
import { freePort } from '../support/free-port.ts'
import { withFolder } from '../support/program.ts'
import { skipUnless } from '../support/skip.ts'
import { tableChecksums } from '../support/table-checksums.ts'
import { sendLoad } from '../torture/catalog-calls.ts'
import { withCatalog, type Catalog } from './support/catalog.ts'
import { chain, lines, untilDone } from './support/loads.ts'
import { runShell } from './support/processes.ts'

const tableCount = 150
const loadsBeforeCount = 4
/** A process that did not reach the database tries to load its graph again every half minute. */
const endMaxMs = 180_000
const table = (name: string, index: number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,${name}.t${index},PROD)`
const edgesOf = (name: string): string[] =>
  Array.from({ length: tableCount - 1 }, (_, index) => `${table(name, index)} > ${table(name, index + 1)}`)

const load = (client: CatalogClient, name: string): Promise<string> =>
  sendLoad(client, lines(chain(name, tableCount)), { source: name })

async function withHome(t: Test): Promise<ClusterHome | null> {
  const programs = findPostgresPrograms()
  if (programs === null) {
    skipUnless(t, false, 'the programs of a PostgreSQL server are not installed')
    return null
  }
  const home = openClusterHome(programs)
  // After the processes that use it: teardowns run in the opposite order.
  t.teardown(() => home.remove())
  return home
}

async function catalogOn(t: Test, cluster: Cluster): Promise<Catalog> {
  await runOnServer(cluster.url(), 'create database catalog')
  const url = cluster.url('catalog')
  const db = connectTestDatabase(url)
  t.teardown(() => db.destroy())
  await migrate(db)
  return withCatalog(t, { workers: 1, database: { db, url } })
}

/** Sends one load after the other until it is told to stop. `acknowledged` are the names of the accepted ones. */
function sendLoads(client: CatalogClient): { acknowledged: string[]; stop(): Promise<void> } {
  const acknowledged: string[] = []
  let isOver = false
  const sending = (async () => {
    for (let number = 0; !isOver; number += 1) {
      await load(client, `steady${number}`)
      acknowledged.push(`steady${number}`)
    }
  })()
  return {
    acknowledged,
    async stop() {
      isOver = true
      await sending
    }
  }
}

async function untilSome(list: readonly string[], count: number): Promise<void> {
  while (list.length < count) await sleep(10)
}

const downstreamOfFirst = {
  query: '*',
  urn: table('first', 0),
  direction: 'DOWNSTREAM'
} as const satisfies JsonObject

/** What only the database after the backup has, and the cursor of a scroll that an API remembers from it. */
type Later = { scrollId: string; urn: string; lastId: number }

async function changeLater(t: Test, { client, db }: Catalog): Promise<Later> {
  await untilDone(t, client, await load(client, 'later'))
  await client.updateLineage(
    Array.from({ length: 20 }, (_, index): [string, string] => [table('first', 0), table('later', index)])
  )
  const { data } = await client.scroll({ ...downstreamOfFirst, count: 5 })
  const scrollId = valueAt(data, 'scrollAcrossLineage.nextScrollId')
  if (typeof scrollId !== 'string') throw new Error(`no second page: ${JSON.stringify(data)}`)
  const { json } = await client.graphql(`{ dataset(urn: "${table('later', 0)}") { urn } }`)
  t.equal(valueAt(json, 'data.dataset.urn'), table('later', 0))
  const [row] = await query<{ lastId: number }>(db, 'select max(id) as "lastId" from entity')
  return { scrollId, urn: table('later', 0), lastId: row?.lastId ?? 0 }
}

/** Asks the API, which was never stopped, from the moment of the restore on: each answer is of the restored database. */
async function knowsNothingLater(t: Test, { client }: Catalog, { scrollId, urn }: Later): Promise<void> {
  const question = `query ($urn: String!, $input: ScrollAcrossLineageInput!) {
    dataset(urn: $urn) { urn }
    scrollAcrossLineage(input: $input) { total searchResults { entity { urn } } }
  }`
  const input = { ...downstreamOfFirst, count: 500, scrollId }
  const engines = new Set<string>()
  let last = ''
  for (const giveUpAt = Date.now() + endMaxMs; !engines.has('memory'); await sleep(20)) {
    if (Date.now() > giveUpAt) throw new Error(`no answer from memory, but ${last}`)
    const answer = await client.graphql(question, { urn, input }).catch(() => null)
    last = JSON.stringify(answer?.json).slice(0, 500)
    // While the database is away the answer is an error; without `later` it is that it does not exist.
    if (answer?.reason !== 'NOT_FOUND') continue
    t.equal(valueAt(answer.data, 'dataset'), null)
    t.equal(valueAt(answer.data, 'scrollAcrossLineage.total'), tableCount - 1)
    t.notMatch(JSON.stringify(valueAt(answer.data, 'scrollAcrossLineage')), /later/)
    engines.add(String(valueAt(answer.json, 'extensions.lineage.engine')))
  }
}

/** Every load of the backup ends, the acknowledged ones were in it, and the edges are those of the loads. */
async function isWhole(
  t: Test,
  { client, db }: Catalog,
  acknowledged: readonly string[],
  { scrollId, lastId }: Later
): Promise<void> {
  // A body that was on its way is given up after a minute; the restore may have taken that long.
  await query(db, `update load set touched_at = touched_at - interval '2 min' where state = 'receiving'`)
  const open = `select id, state from load where state not in ('done', 'aborted')`
  for (const giveUpAt = Date.now() + endMaxMs; ; await sleep(50)) {
    const left = await query(db, open)
    if (left.length === 0) break
    if (Date.now() > giveUpAt) throw new Error(`loads that do not end: ${JSON.stringify(left)}`)
  }
  // The ids that the tables of `later` had are given to others; then the worker meets its URNs again.
  for (let number = 0; ; number += 1) {
    const [row] = await query<{ id: number }>(db, 'select max(id) as id from entity')
    if ((row?.id ?? 0) >= lastId) break
    await untilDone(t, client, await load(client, `instead${number}`))
  }
  const { data, json } = await client.scroll({ ...downstreamOfFirst, count: 500, scrollId })
  t.equal(valueAt(data, 'scrollAcrossLineage.total'), tableCount - 1, JSON.stringify(json).slice(0, 500))
  t.notMatch(JSON.stringify(data), /instead/)
  await untilDone(t, client, await load(client, 'later'))
  const rows = await query<{ source: string }>(db, `select source from load where state = 'done'`)
  const names = rows.map(({ source }) => source)
  t.same(
    ['first', ...acknowledged].filter((name) => !names.includes(name)),
    [],
    'each load that was acknowledged before the backup'
  )
  const edges = await query<{ edge: string }>(
    db,
    `
    select upstream.urn || ' > ' || downstream.urn as edge
    from statement
    join entity upstream on upstream.id = upstream_id
    join entity downstream on downstream.id = downstream_id`
  )
  t.same(edges.map(({ edge }) => edge).sort(), names.flatMap(edgesOf).sort())
  for (const name of ['first', 'instead0', 'later'])
    t.equal((await client.walk(table(name, 0))).length, tableCount - 1, `the lineage of ${name}`)
}

t.test('a dump that is taken while loads run', async (t) => {
  const home = await withHome(t)
  if (home === null) return
  const cluster = await home.create('dumped')
  cluster.configure({ fsync: 'off' })
  await cluster.start(await freePort())
  const catalog = await catalogOn(t, cluster)
  const { client, db } = catalog
  await untilDone(t, client, await load(client, 'first'))
  const sending = sendLoads(client)
  await untilSome(sending.acknowledged, loadsBeforeCount)

  const before = [...sending.acknowledged]
  const file = `${home.folder('dump')}/catalog.dump`
  // What pg_dump reads is held still for the comparison.
  const sums = await inTransaction(
    db,
    async (tx) => {
      const [row] = await query<{ snapshot: string }>(tx, 'select pg_export_snapshot() as snapshot')
      await home.run('pg_dump', [
        '--format=custom',
        `--snapshot=${row?.snapshot}`,
        `--file=${file}`,
        cluster.url('catalog')
      ])
      return tableChecksums(tx)
    },
    { isolation: 'repeatable read', readOnly: true }
  )
  await untilSome(sending.acknowledged, before.length + 2)
  const later = await changeLater(t, catalog)
  await sending.stop()

  await runOnServer(cluster.url(), 'create database restored template template0')
  await home.run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${cluster.url('restored')}`, file])
  const restored = connectTestDatabase(cluster.url('restored'))
  t.same(await tableChecksums(restored), sums, 'the restored tables are those of the backup')
  await restored.destroy()
  await exchange(cluster)

  await knowsNothingLater(t, catalog, later)
  await isWhole(t, catalog, before, later)
})

/** Puts the restored database where the processes look for it. */
async function exchange(cluster: Cluster): Promise<void> {
  await runOnServer(cluster.url(), 'alter database catalog allow_connections false')
  await runOnServer(
    cluster.url(),
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = 'catalog'`
  )
  for (const giveUpAt = Date.now() + endMaxMs; Date.now() < giveUpAt; await sleep(20))
    if (
      (await runOnServer(cluster.url(), `select from pg_stat_activity where datname = 'catalog'`)).length ===
      0
    )
      break
  await runOnServer(cluster.url(), 'alter database catalog rename to replaced')
  await runOnServer(cluster.url(), 'alter database restored rename to catalog')
}

const page = readFileSync(packagePath('docs/how-to/back-up.md'), 'utf8')

const fences = fencesOf('docs/how-to/back-up.md')
const secondPart = page.slice(0, page.indexOf('## A base backup')).split('\n').length
/** The blocks of a part of the page in one language. */
const blocksOf = (part: 'dump' | 'base backup', language: string): string[] =>
  fences
    .filter((fence) => fence.language === language && fence.line < secondPart === (part === 'dump'))
    .map(({ text }) => text)
const sqlOfRoles = fencesOf('docs/how-to/separate-database-roles.md')
  .filter(({ language }) => language === 'sql')
  .map(({ text }) => text)
const [
  dumpLines = '',
  createLines = '',
  grantLines = '',
  restoreLines = '',
  exchangeLines = '',
  checkLines = ''
] = blocksOf('dump', 'sh')

/** The set-ups of the page. `owner` is what the reader writes for OWNER. */
const setUps = {
  'one role': {
    owner: 'tributary',
    app: 'tributary',
    prepare: [`create role tributary login password 'x';\ncreate database catalog owner tributary`]
  },
  'separate roles': {
    owner: 'tributary_owner',
    app: 'tributary_app',
    prepare: sqlOfRoles.slice(0, 2)
  }
} as const

for (const [name, { owner, app, prepare }] of Object.entries(setUps))
  t.test(`the lines of the page restore a dump with ${name}`, async (t) => {
    const home = await withHome(t)
    if (home === null) return
    const cluster = await home.create('dumped')
    const port = await freePort()
    await cluster.start(port)
    const urlOf = (role: string, database = 'catalog'): string =>
      cluster.url(database).replace('postgres@', `${role}@`)
    const runSql = async (url: string, sql: string): Promise<void> => {
      for (const statement of sql.split(/;$/m)) if (statement.trim() !== '') await runOnServer(url, statement)
    }
    const [createRoles = '', grant = ''] = prepare
    await runSql(cluster.url(), createRoles)
    await runSql(cluster.url('catalog'), grant)
    const db = connectTestDatabase(urlOf(owner))
    t.teardown(() => db.destroy())
    await migrate(db)
    if (owner !== app) {
      const [, , narrow = '', queueInPostgres = ''] = sqlOfRoles
      await runSql(urlOf(owner), narrow)
      await runSql(cluster.url('catalog'), queueInPostgres)
    }

    const folder = withFolder(t)
    mkdirSync(join(folder, 'bin'))
    symlinkSync(packagePath('dist/bin/tributary.js'), join(folder, 'bin/tributary'))
    async function reader(text: string, env: Record<string, string> = {}): Promise<string> {
      writeFileSync(join(folder, 'lines.sh'), text)
      const shell = runShell(t, 'bash -euo pipefail lines.sh', {
        cwd: folder,
        env: {
          PATH: `${folder}/bin:${home?.programs}:${process.env.PATH}`,
          PGHOST: '127.0.0.1',
          PGPORT: String(port),
          PGUSER: 'postgres',
          ...env
        }
      })
      t.equal(await shell.ended, 0, `${text}\n${shell.said()}`)
      return shell.said()
    }

    const appDb = connectTestDatabase(urlOf(app))
    const catalog = await withCatalog(t, { workers: 1, database: { db: appDb, url: urlOf(app) } })
    await untilDone(t, catalog.client, await load(catalog.client, 'kept'))
    for (const process of [catalog.web, ...catalog.workers]) {
      process.signal('SIGTERM')
      t.equal(await process.ended, 0, process.said())
    }
    const sums = await tableChecksums(appDb)
    await appDb.destroy()
    await db.destroy()
    // either role may do it
    for (const role of new Set([app, owner])) await reader(dumpLines, { DATABASE_URL: urlOf(role) })

    t.match(createLines, /^OWNER=tributary$/m)
    await reader(
      [
        createLines.replace('OWNER=tributary', `OWNER=${owner}`),
        owner === app ? '' : grantLines,
        restoreLines,
        exchangeLines
      ].join('\n')
    )
    const doctor = await reader(
      // the processes are started below
      checkLines.replaceAll(/^tributary (serve|work)$/gm, ''),
      { DATABASE_URL: urlOf(app) }
    )
    t.match(doctor, /The schema is current\./)
    t.notMatch(doctor, /WRONG/)

    const restoredDb = connectTestDatabase(urlOf(app))
    t.same(await tableChecksums(restoredDb), sums, 'every row is restored')
    const restored = await withCatalog(t, { workers: 1, database: { db: restoredDb, url: urlOf(app) } })
    await untilDone(t, restored.client, await load(restored.client, 'later'))
    t.equal((await restored.client.walk(table('kept', 0))).length, tableCount - 1)
    if (owner !== app)
      for (const statement of [
        'delete from audit',
        'drop table statement',
        'create table extra (x int)',
        `insert into schema_migration (name) values ('9999-x')`
      ])
        await t.rejects(runOnServer(urlOf(app), statement), { code: '42501' }, `still refused: ${statement}`)
    await restoredDb.destroy()
    const ownDb = connectTestDatabase(urlOf(owner))
    t.same(await migrate(ownDb), [], 'the owner migrates')
    await query(ownDb, 'create table of_a_later_release (x int)')
    await ownDb.destroy()
    await runOnServer(urlOf(app), 'insert into of_a_later_release values (1)')
    t.pass('and what a later release adds is for the processes')
  })

/** The settings of a block of the page, with our folder for its archive. */
function settingsOf(block: string, archive: string): Record<string, string> {
  return Object.fromEntries(
    [...block.matchAll(/^(\w+) = '?(.*?)'?$/gm)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll('/archive', archive)
    ])
  )
}

t.test('a base backup and the log, restored to a moment', async (t) => {
  const home = await withHome(t)
  if (home === null) return
  const archive = home.folder('archive')
  const cluster = await home.create('primary')
  const [onceSettings = '', momentSettings = ''] = blocksOf('base backup', '')
  const [backupLine = '', signalLine = ''] = blocksOf('base backup', 'sh')
  const once = settingsOf(onceSettings, archive)
  t.same(Object.keys(once), ['archive_mode', 'archive_command'])
  cluster.configure(once)
  const port = await freePort()
  await cluster.start(port)
  const catalog = await catalogOn(t, cluster)
  const { client, db } = catalog
  await untilDone(t, client, await load(client, 'first'))
  const sending = sendLoads(client)
  await untilSome(sending.acknowledged, 2)

  const backup = home.folder('backup')
  const [program = '', ...options] = backupLine.trim().split(' ')
  await home.run(program, [
    `--dbname=${cluster.url()}`,
    '--no-sync',
    ...options.map((option) => option.replace('/backups/2026-05-01', backup))
  ])
  await untilSome(sending.acknowledged, loadsBeforeCount + sending.acknowledged.length)
  const before = [...sending.acknowledged]
  await query(db, `select pg_create_restore_point('before the mistake')`)
  const later = await changeLater(t, catalog)
  await sending.stop()
  await query(db, 'select pg_switch_wal()')
  // Waits until the log is archived.
  await cluster.end('SIGINT')

  const recovered = home.open(backup)
  const { recovery_target_time: time, ...moment } = settingsOf(momentSettings, archive)
  t.match(time, /^\d{4}-\d\d-\d\d/)
  t.same(Object.keys(moment), ['restore_command', 'recovery_target_action'])
  t.match(page, /`select pg_create_restore_point\('[^']+'\)` names a moment, for `recovery_target_name`\./)
  recovered.configure({ ...moment, archive_mode: 'off', recovery_target_name: 'before the mistake' })
  t.equal(signalLine, 'touch "$PGDATA/recovery.signal"\n')
  recovered.signal('recovery.signal')
  await recovered.start(port)
  while ((await runOnServer(recovered.url(), 'select where pg_is_in_recovery()')).length > 0) await sleep(20)

  await knowsNothingLater(t, catalog, later)
  await isWhole(t, catalog, before, later)
})
