/** Migrating a database that is in use: who else waits, what is kept, and which processes may go on. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { migrations, type Migration } from '../migrations/index.ts'
import { checkReadiness } from '../shared/catalog/access/check-readiness.ts'
import { createToken } from '../shared/catalog/access/create-token.ts'
import { listTokens } from '../shared/catalog/access/list-tokens.ts'
import { migrate, MigrationBlockedError, pendingMigrations } from '../shared/db/migrate.ts'
import { query } from '../shared/db/query.ts'
import { runAlone } from '../shared/db/run-alone.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { findLoad, insertLoad, type NewLoad } from '../shared/store/loads.ts'
import { findPerson, lockPerson, updatePerson } from '../shared/store/people.ts'
import { urnKey } from '../shared/urn/urn-key.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import { runOnServer, withDatabase, withEmptyDatabase } from './support/database.ts'

const needs = '0001-baseline'
const addsColumn: Migration = { name: '9998-column', needs, up: 'alter table entity add column extra int' }
const aLoad: Omit<NewLoad, 'id' | 'domainUrns'> = {
  format: 'ndjson',
  header: null,
  mode: 'merge',
  source: 'x',
  missingReferences: 'reject',
  actor: 'urn:li:corpuser:x',
  tokenId: null,
  scopes: ['write'],
  requestId: null,
  isAtomic: false,
  isDryRun: false,
  idempotencyKey: null
}
const addsIndex: Migration = {
  name: '9999-index',
  needs,
  indexes: [{ name: 'audit_actor_idx', on: 'audit (actor)' }]
}

t.test('a process works with a newer schema that only adds to its own', async (t) => {
  const { db } = await withDatabase(t)
  t.same(await migrate(db, { known: [...migrations, addsColumn] }), ['9998-column'])
  t.same(await pendingMigrations(db), [])
  t.match(await checkReadiness(db), { database: 'up', schema: 'current' })
  t.same(await migrate(db), [], 'also when the older version migrates, after a way back')

  await t.test('but not with one that removes what it uses', async (t) => {
    await migrate(db, {
      known: [
        ...migrations,
        addsColumn,
        { name: '9999-removes', needs: '9998-column', up: 'alter table entity drop column extra' }
      ]
    })
    t.match(await checkReadiness(db), { database: 'up', schema: 'newer' })
  })
})

t.test(
  'the schema that the search_path names first is migrated, with the extension in another',
  async (t) => {
    const { db, url } = await withEmptyDatabase(t)
    const name = new URL(url).pathname.slice(1)
    for (const sql of [
      'create schema "The catalog"',
      'create extension pg_trgm schema public',
      `alter database ${name} set search_path = "The catalog", public`
    ])
      await runOnServer(url, sql)
    t.same(
      await migrate(db),
      migrations.map((each) => each.name)
    )
    t.same(await pendingMigrations(db), [])
    t.same(await migrate(db), [], 'found again')
    t.same(
      await query(
        db,
        `select distinct schemaname as schema from pg_tables where tablename in ('entity', 'schema_migration')`
      ),
      [{ schema: 'The catalog' }]
    )
  }
)

t.test('a database from before migrations stated their needs is migrated further', async (t) => {
  const { db } = await withEmptyDatabase(t)
  await migrate(db, { known: migrations.slice(0, 1) })
  await query(db, 'alter table schema_migration drop column needs')
  t.same(
    await pendingMigrations(db),
    migrations.slice(1).map(({ name }) => name)
  )
  // A backup reads the table of migrations for as long as it lasts.
  const backup = await db.transaction()
  await query(backup, 'select from schema_migration')
  await t.rejects(migrate(db, { lockMaxAttempts: 1 }), MigrationBlockedError)
  await backup.commit()
  await migrate(db)
  t.same(await pendingMigrations(db), [])
})

t.test('a migration that waits for a lock gives way to others, and is applied afterwards', async (t) => {
  const { db } = await withDatabase(t)
  const reader = await db.transaction()
  await query(reader, 'select count(*) from entity')
  const known = [...migrations, addsColumn]
  const migrating = migrate(db, { known })
  const waits = `select from pg_locks where relation = 'entity'::regclass and mode = 'AccessExclusiveLock' and not granted`
  while ((await query(db, waits)).length === 0) await sleep(10)
  // Queued behind the migration, whose lock nobody gets before the reader has ended.
  t.match(await query(db, 'select count(*)::int as count from entity'), [{ count: 0 }])
  await reader.commit()
  t.same(await migrating, ['9998-column'])

  await t.test('and gives up if the lock is never free, with nothing applied', async (t) => {
    const holder = await db.transaction()
    await query(holder, 'select count(*) from load')
    const blocked = {
      name: '9999-blocked',
      needs,
      up: 'create table extra (x int); alter table load add column extra int'
    }
    await t.rejects(migrate(db, { known: [...known, blocked], lockMaxAttempts: 1 }), MigrationBlockedError)
    t.match(await query(db, `select to_regclass('extra') as found`), [{ found: null }])
    await holder.commit()
    t.same(await migrate(db, { known: [...known, blocked] }), ['9999-blocked'])
  })
})

t.test('an index is created while others write to its table', async (t) => {
  const { db } = await withDatabase(t)
  const insert = `insert into audit (actor, operation) values ('urn:li:corpuser:a', 'test')`
  const writer = await db.transaction()
  await query(writer, insert)
  const migrating = migrate(db, { known: [...migrations, addsIndex] })
  while ((await query(db, `select where to_regclass('audit_actor_idx') is not null`)).length === 0)
    await sleep(10)
  // The index waits for the first writer; this one does not wait for the index.
  await query(db, insert)
  await writer.commit()
  t.same(await migrating, ['9999-index'])

  await t.test('and what a broken attempt has left of it is replaced', async (t) => {
    await query(db, 'drop index audit_actor_idx')
    await t.rejects(runAlone(db, ['create unique index concurrently audit_actor_idx on audit (actor)']))
    await query(db, `delete from schema_migration where name = '9999-index'`)
    t.same(await migrate(db, { known: [...migrations, addsIndex] }), ['9999-index'])
    t.match(
      await query(
        db,
        `select indisvalid as valid, indisunique as unique from pg_index where indexrelid = 'audit_actor_idx'::regclass`
      ),
      [{ valid: true, unique: false }]
    )
  })
})

t.test('0008 keeps what was refused to people, and when their sessions end', async (t) => {
  const { db } = await withEmptyDatabase(t)
  const before = migrations.findIndex(({ name }) => name === '0008-refused-people')
  await migrate(db, { known: migrations.slice(0, before) })
  // Every fourth token is a person's for browsers, every fourth a person's for bearer tokens; a third is revoked.
  await query(
    db,
    `
    insert into access_token (id, name, token_hash, hint, scopes, actor, expires_at, revoked_at, issuer, subject, used_by)
    select gen_random_uuid(), 'token ' || n, sha256(n::text::bytea), 'x', '{read}', 'urn:li:corpuser:p' || n,
      case when n % 5 > 0 then '2030-01-01'::timestamptz + n * interval '1 s' end,
      case when n % 3 = 0 then '2026-01-01'::timestamptz + n * interval '1 s' end,
      case when n % 4 < 2 then 'https://id.example.com' end,
      case when n % 4 < 2 then 'subject ' || n end,
      case n % 4 when 0 then 'browser' when 1 then 'bearer' end
    from generate_series(1, 20000) as n`
  )
  await query(
    db,
    `insert into web_session (session_hash, token_id) select sha256(token_hash || each::text::bytea), id from access_token, generate_series(1, 3) as each`
  )
  t.ok((await migrate(db)).includes('0008-refused-people'))
  const [counts] = await query(
    db,
    `
    select
      (select count(*)::int from access_token where refused_before is not null) as refused,
      (select count(*)::int from access_token where refused_before is distinct from case when issuer is not null then revoked_at end) as "refusedWrongly",
      (select count(*)::int from web_session where expires_at is not null) as "ending",
      (select count(*)::int from web_session join access_token on access_token.id = token_id
        where web_session.expires_at is distinct from case when used_by = 'browser' then access_token.expires_at end) as "endingWrongly"`
  )
  t.match(counts, { refusedWrongly: 0, endingWrongly: 0, refused: 3_332, ending: 12_000 })
})

t.test(
  '0010 keeps what tokens and loads were limited to, beside processes of the version before',
  async (t) => {
    const { db } = await withEmptyDatabase(t)
    const before = migrations.findIndex(({ name }) => name === '0010-several-domains')
    await migrate(db, { known: migrations.slice(0, before) })
    const [a, b] = ['a', 'b'].map((id) => toUrn(`urn:li:domain:${id}`)) as [Urn, Urn]
    const ids: number[] = []
    for (const urn of [a, b]) {
      const [row] = await query<{ id: number }>(
        db,
        `insert into entity (urn, urn_key, entity_type, is_present) values (?, ?::uuid, 'domain', true) returning id`,
        [urn, urnKey(urn)]
      )
      ids.push(row?.id ?? 0)
    }
    const [first, second] = ids as [number, number]
    const insertOldToken = `
    insert into access_token (id, name, token_hash, hint, scopes, domain_id, actor)
    values (gen_random_uuid(), ?, sha256(?::bytea), 'x', '{write}', ?::int, 'urn:li:corpuser:x')`
    const insertOldLoad = `
    insert into load (id, state, format, mode, source, missing_references, actor, scopes, domain_urn)
    values (?::uuid, 'done', 'ndjson', 'merge', 'x', 'reject', 'urn:li:corpuser:x', '{write}', ?)`
    const loadIds = { one: randomUUID(), none: randomUUID(), late: randomUUID(), several: randomUUID() }
    await query(db, insertOldToken, ['one', 'one', second])
    await query(db, insertOldToken, ['none', 'none', null])
    await query(db, insertOldLoad, [loadIds.one, b])
    await query(db, insertOldLoad, [loadIds.none, null])

    t.ok((await migrate(db)).includes('0010-several-domains'))
    await query(db, insertOldToken, ['late', 'late', second])
    await query(db, insertOldLoad, [loadIds.late, b])
    const tokenOf = async (name: string) => (await listTokens(db)).tokens.find((token) => token.name === name)
    const domainsOf = async (name: string) => (await tokenOf(name))?.domainUrns
    t.strictSame(await domainsOf('one'), [b])
    t.strictSame(await domainsOf('none'), null)
    t.strictSame(await domainsOf('late'), [b], 'made by a process of the version before')
    for (const [id, expected] of [
      [loadIds.one, [b]],
      [loadIds.none, null],
      [loadIds.late, [b]]
    ] as const)
      t.strictSame((await findLoad(db, id))?.domainUrns, expected)

    await t.test('the older version knows the first of several domains', async (t) => {
      await createToken(db, { name: 'several', scopes: ['write'], domainUrns: [b, a] })
      await inTransaction(db, (tx) => insertLoad(tx, { ...aLoad, id: loadIds.several, domainUrns: [b, a] }))
      await t.rejects(
        inTransaction(db, (tx) => insertLoad(tx, { ...aLoad, id: randomUUID(), domainUrns: [] })),
        /limited to no domain/,
        'the version before would take it for no limit'
      )
      t.match(await query(db, `select domain_id as id from access_token where name = 'several'`), [
        { id: second }
      ])
      t.match(await query(db, 'select domain_urn as urn from load where id = ?::uuid', [loadIds.several]), [
        { urn: b }
      ])
      t.strictSame(await domainsOf('several'), [b, a])
      t.strictSame((await findLoad(db, loadIds.several))?.domainUrns, [b, a])
    })

    await t.test('and what the older version writes about a person wins if it is newer', async (t) => {
      const person = { issuer: 'https://id.example', subject: 'x', usedBy: 'browser' as const }
      const facts = {
        name: 'person',
        scopes: ['write' as const],
        domainUrns: [a, b],
        actorUrn: toUrn('urn:li:corpuser:x'),
        expiresAt: new Date(Date.now() + 60_000)
      }
      const owning = () =>
        inTransaction(db, async (tx) => {
          await lockPerson(tx, person, randomUUID(), facts)
          const row = await findPerson(tx, person)
          if (row) await updatePerson(tx, row.id, facts, [first, second])
        })
      const said = async (set: string, ...values: (string | number | Date | null)[]) => {
        await owning()
        t.strictSame(await domainsOf('person'), [a, b])
        await query(db, `update access_token set ${set} where subject = 'x'`, values)
        return domainsOf('person')
      }
      t.strictSame(await said('domain_id = ?::int', second), [b], 'another domain')
      t.strictSame(await said('domain_id = null'), null, 'no limit')
      t.strictSame(
        await said('domain_id = ?::int, expires_at = ?::timestamptz', first, new Date(Date.now() + 120_000)),
        [a],
        'the first domain alone'
      )
    })
  }
)
