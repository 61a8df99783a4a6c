/** Postgres behind PgBouncer in transaction mode, with fewer sessions than the processes have connections. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { limits } from '../../shared/limits.ts'
import { postgresOptions } from '../../shared/platform/postgres-url.ts'
import { findSessions } from '../../shared/db/sessions.ts'
import { query } from '../../shared/db/query.ts'
import { catalogClient, type CatalogClient } from '../support/catalog-client.ts'
import { withDatabase, withEmptyDatabase } from '../support/database.ts'
import { valueAt } from '../support/json-answer.ts'
import { eventAt } from '../support/openlineage.ts'
import { withPgBouncer } from '../support/pgbouncer.ts'
import { freePort } from '../support/free-port.ts'
import { withRedis } from '../support/redis.ts'
import { sendLoad } from '../torture/catalog-calls.ts'
import { untilReady, withCatalog, type Catalog } from './support/catalog.ts'
import { chain, chainCounts, lines, untilDone } from './support/loads.ts'
import { runCli, runLine } from './support/processes.ts'

/** Two APIs and two workers have up to 24 connections. */
const poolSize = 4
const chainLength = 3_000
const table = (name: string, index: number): string => String(chain(name, index + 1)[index]?.urn)

/** Both APIs, the first of which is that of the catalog. */
async function withSecondApi(t: Test, { client, env }: Catalog): Promise<[CatalogClient, CatalogClient]> {
  const port = await freePort()
  const second = runLine(t, 'web', { ...env, PORT: String(port) })
  const url = `http://127.0.0.1:${port}`
  await untilReady(url, second)
  return [client, catalogClient(url, client.token)]
}

t.test('PgBouncer in transaction mode', async (t) => {
  const database = await withEmptyDatabase(t)
  const bouncer = await withPgBouncer(t, database.url, { poolSize })
  const redisUrl = await withRedis(t)
  if (bouncer === null || redisUrl === null) return
  const [{ name } = { name: '' }] = await query<{ name: string }>(
    database.db,
    'select current_database() as name'
  )
  const url = bouncer.url(name)
  t.equal(await findSessions(url), 'shared')
  t.equal(await findSessions(database.url), 'own')

  const release = runLine(t, 'release', { DATABASE_URL: url })
  t.equal(await release.ended, 0, release.said())
  const [invalid] = await query<{ count: number }>(
    database.db,
    'select count(*)::int as count from pg_index where not indisvalid'
  )
  t.equal(invalid?.count, 0, 'its indexes were created concurrently')
  const catalog = await withCatalog(t, { workers: 2, redisUrl, database, env: { DATABASE_URL: url } })
  const apis = await withSecondApi(t, catalog)
  const [first, second] = apis

  await t.test('loads through two APIs end, complete, while others write and read', async (t) => {
    const isOver = new AbortController()
    const pressing = Promise.all(
      apis.map((api, index) => writeAndRead(t, api, apis[1 - index] ?? api, index, isOver.signal))
    )
    const ids = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name, index) =>
        sendLoad(apis[index % 2] ?? first, lines(chain(name, chainLength)), { source: name })
      )
    )
    const events = await fetch(`${second.url}/loads/${ids[0]}/events`, {
      headers: { authorization: `Bearer ${second.token}` }
    })
    t.match(await events.text(), /"state":"done"/, 'the stream of events ends with the load')
    for (const id of ids) t.same((await untilDone(t, second, id)).counts, chainCounts(chainLength))
    isOver.abort()
    const written = await pressing
    t.ok(
      written.every((count) => count > 0),
      `${written.join(' and ')} writes were read on the other API`
    )
  })

  await t.test('an event of OpenLineage is read on the other API', async (t) => {
    const { status } = await first.send(
      'POST',
      '/api/v1/lineage',
      eventAt(0, {
        eventType: 'COMPLETE',
        run: { runId: '01890000-0000-7000-8000-000000000001' },
        job: { namespace: 'etl', name: 'copy' },
        inputs: [{ namespace: 'postgres://db:5432', name: 'shop.public.orders' }],
        outputs: [{ namespace: 'postgres://db:5432', name: 'shop.public.report' }]
      })
    )
    t.equal(status, 201)
    t.equal(
      (await second.walk('urn:li:dataset:(urn:li:dataPlatform:postgres,shop.public.orders,PROD)')).filter(
        (line) => line.includes('report')
      ).length,
      1
    )
  })

  await t.test(
    'an export has every asset within the hops of a walk, and an undo takes a load back',
    async (t) => {
      const exported = async (api: CatalogClient): Promise<number> => {
        const answer = await fetch(
          `${api.url}/lineage/export?${new URLSearchParams({ format: 'ndjson', urn: table('d', 0), direction: 'DOWNSTREAM' }).toString()}`,
          { headers: { authorization: `Bearer ${api.token}` } }
        )
        const text = await answer.text()
        t.equal(answer.status, 200, text.slice(0, 500))
        return text.split('\n').filter(Boolean).length
      }
      t.equal(await exported(second), limits.walkMaxHops)
      const { json } = await first.send('GET', '/loads?source=d')
      const id = String(valueAt(json, 'loads.0.id'))
      const undone = await first.send('POST', `/loads/${id}/undo`)
      t.equal((await untilDone(t, second, String(valueAt(undone.json, 'id')))).counts.rejected, 0)
      t.same(await second.walk(table('d', 0)), [])
    }
  )

  await t.test('when it crashes during loads, they end, and nothing is lost', async (t) => {
    const ids = await Promise.all(
      ['crash1', 'crash2'].map((name) => sendLoad(first, lines(chain(name, chainLength)), {}))
    )
    for (let crash = 0; crash < 4; crash += 1) {
      await sleep(150)
      await bouncer.kill()
      await bouncer.start()
    }
    for (const id of ids) t.same((await untilDone(t, second, id)).counts, chainCounts(chainLength))
    const [edges] = await query<{ count: number }>(
      database.db,
      `select count(*)::int as count from statement join entity on entity.id = upstream_id where entity.urn like '%crash_.t%'`
    )
    t.equal(edges?.count, 2 * (chainLength - 1))
    t.equal((await first.walk(table('crash1', 0), 'DOWNSTREAM', { count: 10 })).length, 10)
  })

  await t.test('no setting of a process is left in a session of the server', async (t) => {
    const clients = await Promise.all(
      Array.from({ length: poolSize }, async () => {
        const client = new pg.Client(await postgresOptions(url))
        client.on('error', () => {})
        await client.connect()
        await client.query('begin')
        return client
      })
    )
    // In a transaction each has a session of its own, so these are all.
    const found = await Promise.all(
      clients.map(async (client) => {
        const { rows } = await client.query<{ pid: number; changed: string[] }>(
          `select pg_backend_pid() as pid, array(select name from pg_settings where source = 'session' and name not in ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings'))::text[] as changed`
        )
        return rows[0]
      })
    )
    await Promise.all(clients.map((client) => client.query('rollback').then(() => client.end())))
    t.equal(new Set(found.map((each) => each?.pid)).size, poolSize)
    t.same(
      found.map((each) => each?.changed),
      Array.from({ length: poolSize }, () => [])
    )
  })

  await t.test('the doctor says that it is there, and finds nothing wrong', async (t) => {
    const { said } = await runCli(t, ['doctor'], catalog.env)
    // a Postgres that is thrown away after the tests is not durable
    t.notMatch(said.replace(/^WRONG {2}durability.*$/m, ''), /WRONG/)
    t.match(said, /note {3}pooler: .*transaction mode/)
  })

  t.notOk(
    catalog.web.hasEnded() || catalog.workers.some((worker) => worker.hasEnded()),
    'no process has ended'
  )
})

/** Until the signal: each edge that one API acknowledges is at once read on the other. Returns how many were. */
async function writeAndRead(
  t: Test,
  writer: CatalogClient,
  reader: CatalogClient,
  place: number,
  signal: AbortSignal
): Promise<number> {
  const [from, to] = [table(`write${place}`, 0), table(`write${place}`, 1)]
  await writer.make(from, to)
  let count = 0
  while (!signal.aborted) {
    const isAdding = count % 2 === 0
    const answer = await writer.updateLineage(isAdding ? [[from, to]] : [], isAdding ? [] : [[from, to]])
    // full: the client is told so, and tries again
    if (answer.reason === 'UNAVAILABLE') continue
    if (answer.reason !== null) t.fail(JSON.stringify(answer.json))
    const read = await reader.walk(from)
    if (!read[0]?.includes('UNAVAILABLE')) t.same(read, isAdding ? [`1 ${to}`] : [])
    count += 1
  }
  return count
}

t.test('the queue in Postgres is refused behind a pooler that does not keep its sessions', async (t) => {
  const { url } = await withDatabase(t)
  const refusal = /pooler.*set REDIS_URL/
  for (const mode of ['transaction', 'session'] as const) {
    const bouncer = await withPgBouncer(t, url, {
      poolSize: 8,
      mode,
      settings: { ignore_startup_parameters: mode === 'session' ? 'options' : '' }
    })
    if (bouncer === null) return
    const env = { DATABASE_URL: bouncer.url(new URL(url.replace('@/', '@socket/')).pathname.slice(1)) }
    for (const command of ['serve', 'work']) {
      const { code, said } = await runCli(t, [command], env)
      t.equal(code, 78, said)
      t.match(said, refusal, `${command}, ${mode} mode`)
    }
    const { code, said } = await runCli(t, ['doctor'], env)
    t.equal(code, 1)
    t.match(said, /WRONG {2}queue: .*pooler/)
  }
})
