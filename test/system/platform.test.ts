/**
 * The catalog on a hosting platform: the lines of the Procfile, few connections and little memory, and
 * services that restart around it.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres
} from '../../dev/embedded-postgres/start-embedded-postgres.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { readConfig } from '../../shared/platform/config.ts'
import { connectTestDatabase, withEmptyDatabase } from '../support/database.ts'
import { parsed, valueAt } from '../support/json-answer.ts'
import { freePort } from '../support/free-port.ts'
import { withRedis, withRedisServer } from '../support/redis.ts'
import { skipUnless } from '../support/skip.ts'
import { readLoad, sendLoad } from '../torture/catalog-calls.ts'
import { untilReady, withCatalog, type Catalog } from './support/catalog.ts'
import { chain, chainCounts, lines, untilDone } from './support/loads.ts'
import { peakMegabytes, runLine, type RunningProcess } from './support/processes.ts'

/** The barriers of the lineage graph have connections of their own. */
const graphPoolMax = 2
const memoryMaxMegabytes = 512
const drainMaxMs = 20_000
/** Less than the lease of a chunk, and less than the sweeper's waiting time. */
const handedOnMaxMs = 8_000

/** Counts the connections of the catalog repeatedly until `work` has ended; returns the maximum. */
async function mostConnections(db: Db, work: () => Promise<void>): Promise<number> {
  let most = 0
  const isOver = new AbortController()
  const counting = (async () => {
    while (!isOver.signal.aborted) {
      const [row] = await query<{ count: number }>(
        db,
        `
        select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name <> 'tributary-test'`
      )
      most = Math.max(most, row?.count ?? 0)
      await sleep(20)
    }
  })()
  await work().finally(() => {
    isOver.abort()
  })
  await counting
  return most
}

/** Reads in parallel, as a user interface would, until `work` has ended. */
async function whileReading({ client }: Catalog, work: () => Promise<void>): Promise<void> {
  const isOver = new AbortController()
  const readers = Array.from({ length: 12 }, async () => {
    while (!isOver.signal.aborted) {
      await client.graphql('{ listDomains(input: {}) { total } }')
      await sleep(5)
    }
  })
  await work().finally(() => {
    isOver.abort()
  })
  await Promise.all(readers)
}

const chainLength = 6_000
const shortLength = 4_000

t.test('row 11: the lines of the Procfile with 1, 2 and 4 workers', async (t) => {
  const redisUrl = await withRedis(t)
  if (redisUrl === null) return
  const database = await withEmptyDatabase(t)
  const release = runLine(t, 'release', { DATABASE_URL: database.url, REDIS_URL: redisUrl })
  t.equal(await release.ended, 0, release.said())
  const catalog = await withCatalog(t, { workers: 1, redisUrl, database })

  for (const count of [1, 2, 4]) {
    await t.test(
      `stay within the connections of their keys and ${memoryMaxMegabytes} MB a process: ${count}`,
      async (t) => {
        const { databasePoolApi, databasePoolWorker } = readConfig({})
        const connectionsMax = databasePoolApi + graphPoolMax + count * databasePoolWorker
        while (catalog.workers.length < count) catalog.workers.push(catalog.startWorker())
        const most = await mostConnections(catalog.db, () =>
          whileReading(catalog, async () => {
            const ids = await Promise.all(
              ['a', 'b'].map((name) =>
                sendLoad(catalog.client, lines(chain(`${name}${count}`, chainLength)), {})
              )
            )
            for (const id of ids)
              t.same((await untilDone(t, catalog.client, id)).counts, chainCounts(chainLength))
          })
        )
        const megabytes = [catalog.web, ...catalog.workers].map(({ pid }) => peakMegabytes(pid))
        t.ok(most <= connectionsMax, `${most} connections of ${connectionsMax}`)
        for (const peak of megabytes) t.ok(peak === null || peak < memoryMaxMegabytes, `${peak} MB`)
        t.comment(
          `${count} workers: at most ${most} connections; at most ${megabytes.join(', ')} MB (web, workers)`
        )
      }
    )
  }

  await t.test('end within 20 s of SIGTERM, with 0', async (t) => {
    await endsSoon(t, [catalog.web, ...catalog.workers])
  })
})

/** Asks the processes to end, and checks that they end in time with 0. */
async function endsSoon(t: Test, processes: readonly RunningProcess[]): Promise<void> {
  const startedAt = Date.now()
  for (const each of processes) each.signal('SIGTERM')
  for (const each of processes) t.equal(await each.ended, 0, each.said().slice(-2_000))
  t.ok(Date.now() - startedAt < drainMaxMs, `${Date.now() - startedAt} ms`)
}

t.test('row 11: a Redis with a certificate that it signed itself', async (t) => {
  if (skipUnless(t, spawnSync('openssl', ['version']).status === 0, 'openssl is not installed')) return
  const folder = mkdtempSync(join(tmpdir(), 'tributary-tls-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const made = spawnSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=redis.internal',
      '-keyout',
      join(folder, 'key.pem'),
      '-out',
      join(folder, 'certificate.pem')
    ],
    { encoding: 'utf8' }
  )
  t.equal(made.status, 0, made.stderr)
  const tlsPort = await freePort()
  const server = await withRedisServer(t, {
    args: [
      '--tls-port',
      String(tlsPort),
      '--tls-cert-file',
      join(folder, 'certificate.pem'),
      '--tls-key-file',
      join(folder, 'key.pem'),
      '--tls-auth-clients',
      'no'
    ]
  })
  if (server === null) return
  const catalog = await withCatalog(t, { workers: 1, redisUrl: `rediss://127.0.0.1:${tlsPort}` })
  t.same(
    (await untilDone(t, catalog.client, await sendLoad(catalog.client, lines(chain('tls', 50)), {}))).counts,
    chainCounts(50)
  )
  t.same(valueAt((await catalog.client.send('GET', '/health/ready')).json, 'status'), 'ready')

  const redis = new Redis(server.url)
  const clients = String(await redis.call('client', 'list')).split('\n')
  await redis.quit()
  t.ok(
    clients.filter((line) => line.includes(`laddr=127.0.0.1:${tlsPort} `)).length >= 2,
    'both processes speak TLS'
  )
})

for (const queue of ['Postgres', 'Redis'] as const) {
  t.test(
    `row 11: SIGTERM in the middle of work hands the chunk to another worker at once, and nothing is lost: ${queue}`,
    async (t) => {
      const redisUrl = queue === 'Redis' ? await withRedis(t) : undefined
      if (redisUrl === null) return
      const { client, db, workers } = await withCatalog(t, { workers: 2, redisUrl })
      const table = String(chain('drain', 1)[0]?.urn)
      await client.make(table)
      const tx = await db.transaction()
      // the worker that takes the chunk with this table waits in the middle of it
      await query(tx, 'select 1 from entity where urn = ? for update', [table])
      const id = await sendLoad(client, lines(chain('drain', shortLength)), {})
      const held = await heldChunk(db)
      const holder = workers.find(({ pid }) => held.holder.endsWith(`:${pid}`))
      if (holder === undefined) throw new Error(`no worker of ours holds a chunk: ${held.holder}`)

      const startedAt = Date.now()
      await endsSoon(t, [holder])
      const endedMs = Date.now() - startedAt
      const next = await heldChunk(db, held)
      const heldAgainMs = Date.now() - startedAt
      t.comment(
        `${queue}: the worker ended after ${endedMs} ms; another had its chunk after ${heldAgainMs} ms`
      )
      t.ok(heldAgainMs - endedMs < handedOnMaxMs, 'nobody waited for the lease, or for the sweeper')
      t.match(next, { attempts: 0, crashes: 0 }, "it is nobody's fault")
      await tx.commit()
      t.match((await untilDone(t, client, id)).counts, { received: 2 * shortLength - 1, rejected: 0 })
      const [row] = await query<{ edges: number }>(db, 'select count(*)::int as edges from statement')
      t.equal(row?.edges, shortLength - 1)
    }
  )
}

t.test('row 11: SIGTERM lets an upload come to its end', async (t) => {
  const catalog = await withCatalog(t, { workers: 1 })
  const { client } = catalog
  const upload = startUpload(client)
  const [head = '', ...tail] = lines(chain('upload', 200))
  upload.request.write(head)
  const isReceived = "select from load where state = 'receiving'"
  while ((await query(catalog.db, isReceived)).length === 0) await sleep(10)
  const startedAt = Date.now()
  catalog.web.signal('SIGTERM')
  await sleep(700)
  upload.request.end(tail.join(''))
  const { status, text } = await upload.answered
  t.equal(status, 202, text)
  t.equal(await catalog.web.ended, 0)
  t.ok(Date.now() - startedAt < drainMaxMs, `${Date.now() - startedAt} ms`)
  const web = runLine(t, 'web', catalog.env)
  await untilReady(client.url, web)
  t.same((await untilDone(t, client, String(valueAt(parsed(text), 'id')))).counts, chainCounts(200))
})

type HeldChunk = { id: number; fence: number; holder: string; attempts: number; crashes: number }

/** A chunk whose worker waits for a lock; if `before` is given, the same chunk under a newer fence. */
async function heldChunk(db: Db, before?: HeldChunk): Promise<HeldChunk> {
  for (const giveUpAt = Date.now() + 30_000; Date.now() < giveUpAt; await sleep(10)) {
    const [row] = await query<HeldChunk>(
      db,
      `
      select id, fence, claimed_by as holder, attempts, crashes
      from chunk
      where state = 'applying'
        and (?::bigint is null or (id = ?::bigint and fence > ?::int))
        and exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and application_name = 'tributary-worker')
      order by id
      limit 1`,
      [before?.id ?? null, before?.id ?? null, before?.fence ?? null]
    )
    if (row) return row
  }
  throw new Error('no worker holds the chunk')
}

function startUpload({ url, token }: Catalog['client']): {
  request: ClientRequest
  answered: Promise<{ status: number; text: string }>
} {
  const outgoing = request(`${url}/loads?format=ndjson`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
  })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
  }).then(async (response) => {
    const parts: string[] = []
    for await (const part of response) parts.push(String(part))
    return { status: response.statusCode ?? 0, text: parts.join('') }
  })
  return { request: outgoing, answered }
}

t.test('row 11: Redis is away', async (t) => {
  const server = await withRedisServer(t)
  if (server === null) return
  await server.signal('SIGKILL')

  const catalog = await withCatalog(t, { workers: 0, redisUrl: server.url })
  catalog.workers.push(catalog.startWorker())
  const { client } = catalog
  const health = async (): Promise<unknown> =>
    valueAt((await client.send('GET', '/health/ready')).json, 'status')

  await t.test('at the start: loads are accepted, and applied when it is there', async (t) => {
    t.equal(await health(), 'degraded')
    const id = await sendLoad(client, lines(chain('away', 3_000)), {})
    t.match(await readLoad(client, id), { state: 'accepted' })
    await server.start()
    t.same((await untilDone(t, client, id)).counts, chainCounts(3_000))
  })

  await t.test('later: loads are accepted, and applied when it is back, empty', async (t) => {
    await server.signal('SIGKILL')
    const id = await sendLoad(client, lines(chain('later', 3_000)), {})
    t.notMatch(await readLoad(client, id), { state: 'done' })
    t.equal(await health(), 'degraded')
    await server.start()
    t.same((await untilDone(t, client, id)).counts, chainCounts(3_000))
    // Another process may have found the queue again first.
    while ((await health()) !== 'ready') await sleep(100)
  })

  t.notOk(
    catalog.web.hasEnded() || catalog.workers.some((worker) => worker.hasEnded()),
    'the processes are those of the start'
  )
})

t.test('row 11: Postgres is restarted', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-restart-'))
  chmodSync(folder, 0o755)
  let postgres: EmbeddedPostgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'pg'),
    throwaway: true
  })
  const url = postgres.url()
  const db = connectTestDatabase(url)
  t.teardown(async () => {
    await db.destroy()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const release = runLine(t, 'release', { DATABASE_URL: url })
  t.equal(await release.ended, 0, release.said())
  const catalog = await withCatalog(t, { workers: 2, database: { db, url } })
  const id = await sendLoad(catalog.client, lines(chain('restart', shortLength)), {})
  await sleep(700)

  await postgres.stop()
  t.equal(
    (await catalog.client.graphql('{ listDomains(input: {}) { total } }')).status >= 500,
    true,
    'a read says that it cannot'
  )
  await sleep(1_500)
  postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'pg'), throwaway: true })
  t.equal(postgres.url(), url)

  t.same((await untilDone(t, catalog.client, id)).counts, chainCounts(shortLength))
  t.equal((await catalog.client.graphql('{ listDomains(input: {}) { total } }')).status, 200)
  t.notOk(
    catalog.web.hasEnded() || catalog.workers.some((worker) => worker.hasEnded()),
    'all processes have survived'
  )
})
