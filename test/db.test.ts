/** Access to Postgres: schema, transactions, lost connections, the meaning of errors. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { migrations } from '../migrations/index.ts'
import { reportBacklog } from '../shared/catalog/loads/report-backlog.ts'
import { CatalogError } from '../shared/errors.ts'
import { connectDatabase } from '../shared/db/connect.ts'
import { copyIn } from '../shared/db/copy-in.ts'
import type { Db } from '../shared/db/database.ts'
import { limitStatements } from '../shared/db/end-silent.ts'
import { migrate, pendingMigrations, UnknownSchemaError } from '../shared/db/migrate.ts'
import { query } from '../shared/db/query.ts'
import { runAlone } from '../shared/db/run-alone.ts'
import { sqlErrorKind, toCatalogError } from '../shared/db/sql-errors.ts'
import { inTransaction, transactionMaxAttempts } from '../shared/db/transaction.ts'
import { createLog } from '../shared/platform/log.ts'
import { renderMetrics } from '../shared/platform/metrics.ts'
import { postgresOptions } from '../shared/platform/postgres-url.ts'
import { connectTestDatabase, withDatabase, withEmptyDatabase } from './support/database.ts'
import { withFreezingProxy } from './support/freezing-proxy.ts'
import { freePort } from './support/free-port.ts'
import { dumpSchema } from './support/schema-dump.ts'
import { testCertificateFile, withTlsFront } from './support/tls-front.ts'

t.test('migrations', async (t) => {
  t.test('many starters at once apply each migration once', async (t) => {
    const { db, url } = await withEmptyDatabase(t)
    const names = migrations.map(({ name }) => name)
    t.same(await pendingMigrations(db), names)
    const others = [1, 2, 3].map(() => connectTestDatabase(url))
    const applied = await Promise.all([db, ...others].map((starter) => migrate(starter)))
    await Promise.all(others.map((other) => other.destroy()))
    t.same(applied.flat().toSorted(), names)
    t.same(await pendingMigrations(db), [])
  })

  t.test('a database of a newer version is refused', async (t) => {
    const { db } = await withDatabase(t)
    await query(db, `insert into schema_migration (name) values ('9999-from-the-future')`)
    await t.rejects(migrate(db), UnknownSchemaError)
    await t.rejects(pendingMigrations(db), /9999-from-the-future/)
  })

  t.test(
    'a database from before the first release is refused, and the error says to use a new one',
    async (t) => {
      const { db } = await withEmptyDatabase(t)
      await query(db, 'create table schema_migration (name text, applied_at timestamptz)')
      await query(db, `insert into schema_migration (name) values ('0001-entities'), ('0022-openlineage')`)
      await t.rejects(migrate(db), { name: 'UnknownSchemaError', message: /Use a new, empty database/ })
      await t.rejects(pendingMigrations(db), UnknownSchemaError)
      t.notMatch(await dumpSchema(db), /create table entity /)
    }
  )
})

t.test('the pool', async (t) => {
  t.test(
    'has no statement compiled, whatever the server is set to and the planner thinks it costs',
    async (t) => {
      const { db, url } = await withDatabase(t)
      const [{ name } = { name: '' }] = await query<{ name: string }>(db, 'select current_database() as name')
      await query(db, `alter database "${name}" set jit = on`)
      await query(db, `alter database "${name}" set jit_above_cost = 0`)
      const other = connectTestDatabase(url)
      t.teardown(() => other.destroy())
      const plan = await query<{ 'QUERY PLAN': string }>(
        other,
        'explain (analyze) select count(*) from generate_series(1, 10)'
      )
      t.notMatch(plan.map((row) => row['QUERY PLAN']).join('\n'), /JIT/)
      // Not every server supports compilation.
      t.same(await query(other, 'show jit'), [{ jit: 'off' }])
    }
  )

  t.test('int8 arrives as a number, and arrays and JSON go both ways', async (t) => {
    const { db } = await withDatabase(t)
    t.same(await query(db, `select 9007199254740991::int8 as big, count(*) as none from entity`), [
      { big: Number.MAX_SAFE_INTEGER, none: 0 }
    ])
    t.same(await query(db, 'select ?::text[] as words, ?::jsonb as document', [['a,b', '"'], '{"a":[1]}']), [
      { words: ['a,b', '"'], document: { a: [1] } }
    ])
  })

  t.test('a statement has timeouts, so that a dead or slow client does not hold up others', async (t) => {
    const db = await withOneConnection(t, 'tributary-api')
    const [session] = await query<Record<string, string>>(
      db,
      `
      select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
        current_setting('idle_in_transaction_session_timeout') as idle,
        current_setting('client_connection_check_interval', true) as check, current_setting('application_name') as name`
    )
    t.same(session, { statement: '1s', lock: '500ms', idle: '15s', check: '1s', name: 'tributary-api' })
    t.match(
      (await renderMetrics()).text,
      /tributary_db_pool_connections\{pool="tributary-api",state="free"\} 1/
    )
    const error = await query(db, 'select pg_sleep(5)').catch((thrown: unknown) => thrown)
    t.equal(sqlErrorKind(error), 'transient')
    t.equal(toCatalogError(error).code, 'DEADLINE_EXCEEDED')
  })

  t.test(
    'a transaction has the settings of its pool, and leaves none of them in the session of the server',
    async (t) => {
      const { url } = await withDatabase(t)
      const db = connectDatabase({
        url,
        poolMax: 1,
        applicationName: 'tributary-api',
        statementTimeoutMs: 1_000,
        lockTimeoutMs: 500,
        usesIndexes: true,
        log: createLog({ logLevel: 'silent' })
      })
      t.teardown(() => db.destroy())
      const ours = {
        statement_timeout: '1s',
        lock_timeout: '500ms',
        idle_in_transaction_session_timeout: '15s',
        client_connection_check_interval: '1s',
        enable_seqscan: 'off',
        jit: 'off'
      }
      const now = `select json_object_agg(name, current_setting(name)) as settings from unnest(array['${Object.keys(ours).join("','")}']) as name`
      for (const isolation of ['read committed', 'repeatable read', 'serializable'] as const) {
        await inTransaction(
          db,
          async (tx) => {
            t.same(await query(tx, now), [{ settings: ours }], isolation)
            await tx.transaction(async (inner) => {
              await query(inner, "set local statement_timeout = '7s'")
            })
            t.match(await query(tx, now), [{ settings: { statement_timeout: '7s' } }])
            await query(tx, "set local statement_timeout = '100ms'")
            await t.rejects(
              tx.transaction((inner) => query(inner, 'select pg_sleep(5)')),
              { code: '57014' }
            )
            t.match(await query(tx, now), [{ settings: { lock_timeout: '500ms' } }], 'after a failure too')
          },
          { isolation }
        )
      }
      t.same(await query(db, now), [{ settings: ours }])
      t.same(await query(db, `${now} where ?::int = 1`, [1]), [{ settings: ours }])
      const connection: pg.Client = await db.client.acquireConnection()
      const left = await new Promise((resolve, reject) => {
        // sent as it is: without settings
        connection.query(new pg.Query(now, (error, { rows }) => (error ? reject(error) : resolve(rows))))
      })
      await db.client.releaseConnection(connection)
      t.match(left, [
        {
          settings: {
            statement_timeout: '0',
            lock_timeout: '0',
            client_connection_check_interval: '0',
            enable_seqscan: 'on'
          }
        }
      ])
    }
  )

  t.test(
    'a statement that must not be in a transaction has no time limit, and leaves none behind',
    async (t) => {
      const { db } = await withDatabase(t, 1)
      await runAlone(db, ['vacuum entity'])
      await t.rejects(runAlone(db, ['select pg_sleep(0)', 'vacuum nothing']), { code: '42P01' })
      t.match(await query(db, 'show statement_timeout'), [{ statement_timeout: '1min' }], 'the pool goes on')
    }
  )

  t.test(
    'a server that is silent for longer than a statement may take is given up, unless it may take longer',
    async (t) => {
      const { url } = await withDatabase(t)
      const { host, port, user, password = '', database } = await postgresOptions(url)
      const proxy = await withFreezingProxy(
        t,
        host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
      )
      const db = connectDatabase({
        url: `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${proxy.port}/${database}`,
        poolMax: 4,
        applicationName: 'silent',
        statementTimeoutMs: 500,
        lockTimeoutMs: 500,
        // A full pool stays full; on a busy machine a new connection takes seconds.
        acquireTimeoutMs: 30_000,
        log: createLog({ logLevel: 'silent' })
      })
      t.teardown(() => db.destroy())
      const longMs = 8_000
      const sleeping = `select 1 as one from pg_sleep(${longMs / 1_000})`
      const long = inTransaction(db, async (tx) => {
        const reset = await limitStatements(tx, 2 * longMs)
        t.same(await query(tx, sleeping), [{ one: 1 }])
        await reset()
        return query(tx, 'show statement_timeout')
      })
      const alone = runAlone(db, [sleeping, 'select 1'])
      t.same(await long, [{ statement_timeout: '500ms' }])
      await t.resolves(alone)

      const inTx = await db.transaction()
      await query(inTx, 'select 1')
      await Promise.all([query(db, 'select 1'), query(db, 'select 1')])
      proxy.freeze()
      const startedAt = Date.now()
      const outcomes = await Promise.race([
        Promise.allSettled([query(db, 'select 1'), query(db, 'select 1'), query(inTx, 'select 1')]),
        sleep(30_000, [])
      ])
      t.match(
        outcomes.map((outcome) => outcome.status === 'rejected' && toCatalogError(outcome.reason).code),
        ['UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE'],
        `after ${Date.now() - startedAt} ms`
      )
      await inTx.rollback().catch(() => {})
      t.same(await query(db, 'select 1 as one'), [{ one: 1 }], 'there is room for a new connection')
    }
  )

  t.test('a terminated backend fails only the transaction that ran on it', async (t) => {
    const { db, url } = await withDatabase(t)
    const admin = connectTestDatabase(url, 1)
    t.teardown(() => admin.destroy())
    const error = await inTransaction(db, async (tx) => {
      const [own] = await query<{ pid: number }>(tx, 'select pg_backend_pid() as pid')
      await query(admin, 'select pg_terminate_backend(?::int)', [own?.pid ?? 0])
      // the socket closes while the transaction is checked out and idle
      await new Promise((resolve) => {
        setTimeout(resolve, 50)
      })
      await query(tx, 'select 1')
    }).catch((thrown: unknown) => thrown)
    t.equal(sqlErrorKind(error), 'transient')
    t.equal(toCatalogError(error).code, 'UNAVAILABLE')
    t.same(await query(db, 'select 1 as one'), [{ one: 1 }], 'the next statement has a new connection')
    const busy = query(db, 'select pg_sleep(20)').catch((thrown: unknown) => thrown)
    await endStatement(admin, 'select pg_sleep(20)')
    t.equal(sqlErrorKind(await busy), 'transient', 'so does a statement that was running')
    t.same(await query(db, 'select 1 as one'), [{ one: 1 }])
  })

  t.test('a server that does not answer is UNAVAILABLE, at once', async (t) => {
    const db = connectTestDatabase(`postgres://postgres@127.0.0.1:${await freePort()}/x`)
    t.teardown(() => db.destroy())
    const error: unknown = await query(db, 'select 1').catch((thrown: unknown) => thrown)
    t.equal(toCatalogError(error).code, 'UNAVAILABLE')
    t.match(error, { code: 'ECONNREFUSED' }, 'it did not wait until it gave a connection up')
  })

  t.test('a pool without a free connection is OVERLOADED, and works again once one is free', async (t) => {
    const db = await withOneConnection(t)
    await inTransaction(db, async () => {
      t.equal(
        toCatalogError(await query(db, 'select 1').catch((thrown: unknown) => thrown)).code,
        'OVERLOADED'
      )
    })
    t.same(await query(db, 'select 1 as one'), [{ one: 1 }])
  })

  t.test('a connection that is returned inside a transaction is replaced', async (t) => {
    const db = await withOneConnection(t)
    for (const statements of [['begin'], ['begin', 'select 1 / 0']]) {
      const connection: pg.Client = await db.client.acquireConnection()
      for (const statement of statements) await connection.query(statement).catch(() => {})
      await db.client.releaseConnection(connection)
      await query(db, 'create temporary table kept_after_return ()')
      t.same(await query(db, 'select 1 as one'), [{ one: 1 }])
      t.same(await query(db, 'select pg_current_xact_id_if_assigned() as xid'), [{ xid: null }])
    }
  })

  t.test('everything behind a BEGIN in the same text is run', async (t) => {
    const db = await withOneConnection(t)
    await query(db, 'begin; create table written_behind_begin (); commit; begin; rollback')
    t.same(await query(db, 'select from written_behind_begin'), [])
  })

  t.test('a connection answers by promise and by callback, and refuses what it cannot send', async (t) => {
    const db = await withOneConnection(t)
    const connection: pg.Client = await db.client.acquireConnection()
    const one = { rows: [{ one: 1 }] }
    t.match(await connection.query('select 1 as one'), one)
    await t.rejects(connection.query('select 1 / 0'), { code: '22012' })
    await t.rejects(connection.query({ name: 'named', text: 'select 1 as one' }), /named statements/)
    t.match(await connection.query('select $1::int as one', [1]), one)
    t.match(
      await new Promise((resolve, reject) => {
        connection.query('select 1 as one', (error: Error | null, result) => {
          if (error) reject(error)
          else resolve(result)
        })
      }),
      one
    )
    await db.client.releaseConnection(connection)
  })
})

/** A pool of one connection, so that whoever comes next gets the same. */
async function withOneConnection(t: Test, applicationName = 'one'): Promise<Db> {
  const { url } = await withDatabase(t)
  const db = connectDatabase({
    url,
    poolMax: 1,
    applicationName,
    statementTimeoutMs: 1_000,
    lockTimeoutMs: 500,
    log: createLog({ logLevel: 'silent' })
  })
  t.teardown(() => db.destroy())
  return db
}

t.test('a server behind TLS with a self-signed certificate', async (t) => {
  const { url } = await withDatabase(t)
  const direct = await postgresOptions(url)
  const target = direct.host.startsWith('/')
    ? { path: `${direct.host}/.s.PGSQL.${direct.port}` }
    : { host: direct.host, port: direct.port }
  const front = await withTlsFront(t, { protocol: 'postgres', target })
  const { user, password = '', database } = direct

  /** null if a statement succeeded, encrypted as requested; otherwise the error */
  async function reach(host: string, parameters: string): Promise<unknown> {
    const db = connectTestDatabase(
      `postgres://${user}:${encodeURIComponent(password)}@${host}:${front.port}/${database}?${parameters}`,
      1
    )
    try {
      await query(db, 'select 1 as one')
      return null
    } catch (error) {
      return error
    } finally {
      await db.destroy()
    }
  }

  const reachable: [string, string, number][] = [
    ['0.0.0.0', '', 1],
    ['0.0.0.0', 'sslmode=prefer', 1],
    ['localhost', 'sslmode=require', 1],
    ['localhost', 'sslmode=no-verify', 1],
    ['127.0.0.1', `sslmode=verify-ca&sslrootcert=${testCertificateFile}`, 1],
    ['localhost', `sslmode=verify-full&sslrootcert=${testCertificateFile}`, 1],
    ['localhost', 'sslmode=disable', 0],
    ['127.0.0.1', '', 0]
  ]
  for (const [host, parameters, encrypted] of reachable) {
    const before = front.encrypted()
    t.equal(await reach(host, parameters), null, `${host} ${parameters} connects`)
    t.equal(
      front.encrypted() - before,
      encrypted,
      `${host} ${parameters} is ${encrypted === 1 ? '' : 'not '}encrypted`
    )
  }
  t.match(
    await reach('localhost', 'sslmode=verify-ca'),
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    'verify-ca refuses a certificate that nobody vouches for'
  )
  t.match(
    await reach('127.0.0.1', `sslmode=verify-full&sslrootcert=${testCertificateFile}`),
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    'verify-full refuses a certificate of another host'
  )
})

t.test('transactions', async (t) => {
  const { db } = await withDatabase(t)
  await db.raw('create table account (id int primary key, amount int not null)')
  await db.raw('insert into account select id, 0 from generate_series(1, 2) as id')

  t.test('a failed transaction leaves nothing', async (t) => {
    await t.rejects(
      inTransaction(db, async (tx) => {
        await query(tx, 'update account set amount = 7 where id = 1')
        throw new CatalogError('CONFLICT', 'no')
      }),
      { code: 'CONFLICT' }
    )
    t.same(await query(db, 'select amount from account where id = 1'), [{ amount: 0 }])
  })

  t.test('two transactions that lock in opposite order both commit', async (t) => {
    let met = 0
    let meet = (): void => {}
    const bothHaveOne = new Promise<void>((resolve) => {
      meet = resolve
    })
    async function move(first: number, second: number): Promise<void> {
      await inTransaction(db, async (tx) => {
        await query(tx, 'update account set amount = amount + 1 where id = ?', [first])
        met += 1
        if (met === 2) meet()
        await bothHaveOne
        await query(tx, 'update account set amount = amount + 1 where id = ?', [second])
      })
    }
    await Promise.all([move(1, 2), move(2, 1)])
    t.same(await query(db, 'select amount from account order by id'), [{ amount: 2 }, { amount: 2 }])
    t.match((await renderMetrics()).text, /tributary_db_retries_total\{sqlstate="40P01"\} 1/)
  })

  t.test('a conflict without end is thrown after a bounded number of attempts', async (t) => {
    let attempts = 0
    await t.rejects(
      inTransaction(db, async (tx) => {
        attempts += 1
        await query(tx, `do $$ begin raise exception 'conflict' using errcode = '40001'; end $$`)
      }),
      { code: '40001' }
    )
    t.equal(attempts, transactionMaxAttempts)
  })

  t.test('work that has committed is never run again', async (t) => {
    let attempts = 0
    await t.rejects(
      inTransaction(db, async (tx) => {
        attempts += 1
        await query(tx, 'update account set amount = 100 where id = 1')
        await tx.commit()
        throw Object.assign(new Error('conflict'), { code: '40001' })
      })
    )
    t.equal(attempts, 1)
    t.same(await query(db, 'select amount from account where id = 1'), [{ amount: 100 }])
  })

  t.test('a read-only transaction refuses to write, and the isolation asked for is given', async (t) => {
    await t.rejects(
      inTransaction(db, (tx) => query(tx, 'delete from account'), { readOnly: true }),
      { code: '25006' }
    )
    const level = await inTransaction(db, (tx) => query(tx, 'show transaction_isolation'), {
      isolation: 'repeatable read'
    })
    t.same(level, [{ transaction_isolation: 'repeatable read' }])
  })
})

t.test('rows sent by COPY', async (t) => {
  const { db } = await withDatabase(t, 1)
  await query(db, 'create table number (value int primary key)')
  const rowsOf = (values: readonly number[]): Buffer =>
    Buffer.concat(
      values.map((value) => {
        const row = Buffer.alloc(10)
        row.writeInt16BE(1, 0)
        row.writeInt32BE(4, 2)
        row.writeInt32BE(value, 6)
        return row
      })
    )
  const many = Array.from({ length: 500_000 }, (_, value) => value)
  const send = (rows: Buffer): Promise<void> =>
    inTransaction(db, (tx) => copyIn(tx, 'copy number (value) from stdin (format binary)', rows))
  const state = async (): Promise<unknown> =>
    query(db, 'select count(*)::int as count, coalesce(sum(value), 0)::bigint as sum from number')

  t.test('are there when the transaction is committed', async (t) => {
    await send(rowsOf([-1, 0, 2 ** 31 - 1]))
    t.same(await query(db, 'select value from number order by value'), [
      { value: -1 },
      { value: 0 },
      { value: 2 ** 31 - 1 }
    ])
  })

  t.test(
    'are not stored if one is refused, and the connection serves the next statement, however many were still to be sent',
    async (t) => {
      await query(db, 'truncate number')
      await t.rejects(send(rowsOf([7, ...many])), { code: '23505' })
      await t.rejects(send(Buffer.concat([Buffer.from([0, 2]), rowsOf(many)])), { code: '22P04' })
      await t.rejects(
        inTransaction(db, (tx) => copyIn(tx, 'copy nothing from stdin (format binary)', rowsOf(many))),
        { code: '42P01' }
      )
      t.same(await state(), [{ count: 0, sum: 0 }])
      await send(rowsOf(many))
      t.same(await state(), [{ count: many.length, sum: (many.length * (many.length - 1)) / 2 }])
    }
  )

  t.test('end with a temporary error if the connection is interrupted', async (t) => {
    await query(db, 'truncate number')
    const cut = inTransaction(db, async (tx) => {
      await query(tx, 'create temporary table cut (value int) on commit drop')
      await query(
        tx,
        'create function pg_temp.cut() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$'
      )
      await query(tx, 'create trigger cut before insert on cut for each row execute function pg_temp.cut()')
      await copyIn(tx, 'copy cut (value) from stdin (format binary)', rowsOf(many))
    })
    t.equal(sqlErrorKind(await cut.catch((error: unknown) => error)), 'transient')
    t.same(await state(), [{ count: 0, sum: 0 }])
  })
})

t.test('the backlog is read before each scrape', async (t) => {
  const { db } = await withDatabase(t)
  await db.raw(`
    insert into load (id, state, format, mode, source, missing_references, actor, scopes, current_pass)
    values ('00000000-0000-0000-0000-000000000001', 'applying', 'ndjson', 'merge', 'x', 'reject', 'urn:li:corpuser:a', '{}', 1)`)
  await db.raw(`
    insert into chunk (load_id, pass, first_line, record_count, state, next_at)
    select '00000000-0000-0000-0000-000000000001', pass, 1, 1, state, now() - seconds * interval '1 second'
    from (values (1, 'waiting', 60), (1, 'applying', 90), (3, 'waiting', 900), (1, 'settled', 9000)) as made (pass, state, seconds)`)
  const end = reportBacklog(db)
  const { text } = await renderMetrics()
  end()
  t.match(text, /^tributary_chunks\{state="waiting"\} 2$/m)
  t.match(text, /^tributary_chunks\{state="applying"\} 1$/m)
  t.match(
    text,
    /^tributary_oldest_waiting_chunk_seconds 6\d/m,
    'a chunk of a later pass could not be applied, so it does not count'
  )
})

t.test('what an error of the database means', async (t) => {
  const kinds: [string, ReturnType<typeof sqlErrorKind>, string][] = [
    ['22P02', 'permanent', 'INTERNAL'],
    ['22021', 'permanent', 'INTERNAL'],
    ['23502', 'permanent', 'INTERNAL'],
    ['23505', 'transient', 'UNAVAILABLE'],
    ['42P01', 'permanent', 'INTERNAL'],
    ['40001', 'transient', 'UNAVAILABLE'],
    ['40P01', 'transient', 'UNAVAILABLE'],
    ['53100', 'transient', 'UNAVAILABLE'],
    ['53300', 'transient', 'UNAVAILABLE'],
    ['55P03', 'transient', 'OVERLOADED'],
    ['57014', 'transient', 'DEADLINE_EXCEEDED'],
    ['57P01', 'transient', 'UNAVAILABLE'],
    ['57P03', 'transient', 'UNAVAILABLE'],
    ['08006', 'transient', 'UNAVAILABLE'],
    ['ECONNRESET', 'transient', 'UNAVAILABLE'],
    ['25006', 'transient', 'UNAVAILABLE'],
    ['XX000', 'unknown', 'INTERNAL']
  ]
  for (const [code, kind, heard] of kinds) {
    const error = Object.assign(new Error('secret detail'), { code })
    t.equal(sqlErrorKind(error), kind, `${code} is ${kind}`)
    t.equal(
      sqlErrorKind(new Error('wrapped', { cause: error })),
      kind,
      `${code} is ${kind} inside another error`
    )
    const catalogError = toCatalogError(error)
    t.equal(catalogError.code, heard, `${code} is heard as ${heard}`)
    t.equal(catalogError.cause, error)
    t.notMatch(catalogError.message, /secret/)
  }
  t.equal(sqlErrorKind(new TypeError('a fault of ours')), 'unknown')
  for (const [code, message] of [
    ['XX000', 'could not extend file "base/1/2": File too large'],
    ['XX000', 'could not write to file "pg_wal/3": Disk quota exceeded'],
    ['58030', 'could not write to file "base/1/2": No space left on device']
  ] as const) {
    const full = toCatalogError(Object.assign(new Error(message), { code }))
    t.match(full, { code: 'UNAVAILABLE', message: /disk .* is full/ })
    t.ok(Number(full.details.retryAfterSeconds) > 0)
  }
  const own = new CatalogError('NOT_FOUND', 'nothing there')
  t.equal(toCatalogError(own), own)
})

/** Terminates the backend that runs the statement, once it is running. */
async function endStatement(admin: Db, statement: string): Promise<void> {
  for (;;) {
    const ended = await query(
      admin,
      `
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where query = ? and state = 'active' and datname = current_database()`,
      [statement]
    )
    if (ended.length > 0) return
    await new Promise((resolve) => {
      setTimeout(resolve, 10)
    })
  }
}
