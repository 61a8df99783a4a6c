/**
 * APIs and workers on hosts of their own, whose network is cut silently for longer than leases and locks last:
 * connections stay half open on both ends.
 */
import { request, type ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createToken } from '../../shared/catalog/access/create-token.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { limits } from '../../shared/limits.ts'
import { catalogClient, type CatalogClient } from '../support/catalog-client.ts'
import { connectTestDatabase } from '../support/database.ts'
import { parsed, valueAt } from '../support/json-answer.ts'
import { findPostgresPrograms, openClusterHome } from '../support/postgres-cluster.ts'
import { freePort } from '../support/free-port.ts'
import { withRedisServer } from '../support/redis.ts'
import { skipUnless } from '../support/skip.ts'
import { sendLoad } from '../torture/catalog-calls.ts'
import { untilReady } from './support/catalog.ts'
import { chain, chainCounts, lines, untilDone } from './support/loads.ts'
import { withNetwork, type Host } from './support/network.ts'
import { procfileLine, runLine, runShell, type RunningProcess } from './support/processes.ts'

const apiPort = 8080
const chainLength = 2_000
/** The lease of a chunk, the lock of a job and the silence of a worker all last less. */
const cutMs = 30_000
/** Less than the quarter of an hour after which the system gives a connection up. */
const answerMaxMs = 60_000

type Placed = { host: Host; process: RunningProcess }
type Api = Placed & { client: CatalogClient }
type Stage = { db: Db; apis: [Api, Api]; workers: [Placed, Placed] }

/** Two APIs and two workers, each on its host; Postgres and Redis are on this machine. Null if skipped. */
async function withHosts(t: Test): Promise<Stage | null> {
  const programs = findPostgresPrograms()
  if (programs === null) {
    skipUnless(t, false, 'a PostgreSQL server is not installed')
    return null
  }
  const network = withNetwork(t)
  if (network === null) return null
  const server = await withRedisServer(t, {
    args: ['--bind', '127.0.0.1', network.address, '--protected-mode', 'no']
  })
  if (server === null) return null
  const home = openClusterHome(programs)
  t.teardown(() => home.remove())
  const cluster = await home.create('main')
  cluster.listenOn(network.address, network.subnet)
  cluster.configure({ fsync: 'off' })
  await cluster.start(await freePort())

  const env = {
    DATABASE_URL: cluster.url().replace('127.0.0.1', network.address),
    REDIS_URL: server.url.replace('127.0.0.1', network.address),
    HOST: '0.0.0.0',
    PORT: String(apiPort)
  }
  const release = runLine(t, 'release', env)
  if ((await release.ended) !== 0) throw new Error(release.said())
  const db = connectTestDatabase(cluster.url())
  t.teardown(() => db.destroy())
  const { token } = await createToken(db, { name: 'system test', scopes: ['admin'] })

  const place = (name: string, line: string): Placed => {
    const host = network.addHost(name)
    return { host, process: runShell(t, host.run(procfileLine(line)), { env }) }
  }
  // One after the other: on a busy machine each takes its time.
  const api = async (name: string): Promise<Api> => {
    const placed = place(name, 'web')
    const client = clientOf(placed.host, token)
    await untilReady(client.url, placed.process)
    return { ...placed, client }
  }
  const worker = async (name: string): Promise<Placed> => {
    const placed = place(name, 'worker')
    await placed.process.says(/worker started/)
    return placed
  }
  const apis: [Api, Api] = [await api('api1'), await api('api2')]
  const workers: [Placed, Placed] = [await worker('work1'), await worker('work2')]
  return { db, apis, workers }
}

const clientOf = (host: Host, token: string): CatalogClient =>
  catalogClient(`http://${host.address()}:${apiPort}`, token)

t.test('hosts whose network is cut silently', async (t) => {
  const stage = await withHosts(t)
  if (stage === null) return
  const { db, apis, workers } = stage
  const [first, second] = apis

  await t.test('a worker that is cut off in the middle of a chunk: others apply it, once', async (t) => {
    const table = String(chain('cut', 1)[0]?.urn)
    await first.client.make(table)
    const tx = await db.transaction()
    // the worker that takes the chunk with this table waits in the middle of it
    await query(tx, 'select 1 from entity where urn = ? for update', [table])
    const id = await sendLoad(first.client, lines(chain('cut', chainLength)), {})
    const holder = await holderOf(db, workers)
    holder.host.cut()
    await tx.commit()
    t.match((await untilDone(t, first.client, id)).counts, { received: 2 * chainLength - 1, rejected: 0 })
    t.equal(await edgesOf(db, 'cut'), chainLength - 1)
    await sleep(cutMs)
    holder.host.restore()

    const other = workers.find((worker) => worker !== holder) ?? holder
    other.host.cut()
    await sleep(1_000)
    const next = await sendLoad(second.client, lines(chain('next', chainLength)), {})
    t.same((await untilDone(t, second.client, next)).counts, chainCounts(chainLength), 'it is back')
    await sleep(cutMs)
    other.host.restoreElsewhere()
    holder.host.cut()
    const last = await sendLoad(second.client, lines(chain('last', chainLength)), {})
    t.same(
      (await untilDone(t, second.client, last)).counts,
      chainCounts(chainLength),
      'so is one whose connections stay half open'
    )
    holder.host.restore()
    t.equal(await edgesOf(db, 'cut'), chainLength - 1)
    t.notOk(
      workers.some(({ process }) => process.hasEnded()),
      'the processes are those of the start'
    )
  })

  await t.test(
    'an API that is cut off answers no read with what it knew, and none is stale when it is back',
    async (t) => {
      const [start, before, after] = chain('read', 3).map(({ urn }) => String(urn)) as [
        string,
        string,
        string
      ]
      await first.client.make(start, before, after)
      await first.client.updateLineage([[start, before]])
      t.same(await first.client.walk(start), [`1 ${before}`])
      const upload = beginUpload(first.client)
      await sleep(500)

      first.host.cut()
      const cutAt = Date.now()
      const { reason } = await second.client.updateLineage([[start, after]], [[start, before]])
      t.equal(reason, null)
      // More at once than it has connections, and again after those have been given up.
      for (let round = 0; round < 3; round += 1)
        for (const answer of await readInside(t, first, start, 8))
          t.match(answer, /UNAVAILABLE|DEADLINE_EXCEEDED/)
      await sleep(Math.max(0, cutAt + cutMs - Date.now()))
      first.host.restoreElsewhere()
      const client = clientOf(first.host, first.client.token)

      const seen: string[][] = []
      for (const giveUpAt = Date.now() + answerMaxMs; Date.now() < giveUpAt; await sleep(50)) {
        const read = await client.walk(start).catch((error: unknown) => [`failed: ${String(error)}`])
        seen.push(read)
        if (!read[0]?.startsWith('failed')) break
      }
      t.same(seen.at(-1), [`1 ${after}`], JSON.stringify(seen))
      await untilReady(client.url, first.process)
      upload.destroy()
      t.same(await untilEnded(client), [], 'the upload that was cut off has ended too')
      const id = await sendLoad(client, lines(chain('again', chainLength)), {})
      t.same((await untilDone(t, second.client, id)).counts, chainCounts(chainLength))
    }
  )

  t.notOk(
    [...apis, ...workers].some(({ process }) => process.hasEnded()),
    'no process has ended'
  )
})

/** The worker that applies a chunk and waits for a lock in the middle of it. */
async function holderOf(db: Db, workers: readonly Placed[]): Promise<Placed> {
  for (const giveUpAt = Date.now() + answerMaxMs; Date.now() < giveUpAt; await sleep(10)) {
    const [row] = await query<{ holder: string }>(
      db,
      `
      select claimed_by as holder
      from chunk
      where state = 'applying'
        and exists (select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'tributary-worker')`
    )
    const found = workers.find(({ process }) => row?.holder.endsWith(`:${process.pid}`))
    if (found) return found
  }
  throw new Error('no worker holds the chunk')
}

async function edgesOf(db: Db, name: string): Promise<number> {
  const [row] = await query<{ count: number }>(
    db,
    'select count(*)::int as count from statement join entity on entity.id = upstream_id where entity.urn like ?',
    [`%,${name}.t%`]
  )
  return row?.count ?? 0
}

const question = `query ($urn: String!) {
  scrollAcrossLineage(input: { query: "*", urn: $urn, direction: DOWNSTREAM }) { searchResults { entity { urn } } }
}`

/** Sent from the host itself, which the cut does not separate from it: the answers to so many reads at once. */
async function readInside(t: Test, { host, client }: Api, urn: string, count: number): Promise<string[]> {
  const script = `
    const read = () => fetch('http://127.0.0.1:${apiPort}/api/graphql', {
      method: 'POST',
      headers: { authorization: 'Bearer ${client.token}', 'content-type': 'application/json' },
      body: ${JSON.stringify(JSON.stringify({ query: question, variables: { urn } }))},
      signal: AbortSignal.timeout(${answerMaxMs})
    }).then((answer) => answer.text(), String)
    console.log(JSON.stringify(await Promise.all(Array.from({ length: ${count} }, read))))`
  const quoted = `'${script.replaceAll("'", `'\\''`)}'`
  const reading = runShell(t, host.run(`node --input-type=module -e ${quoted}`), { env: {} })
  await reading.ended
  const answers = parsed(reading.said())
  if (!Array.isArray(answers)) throw new Error(reading.said())
  return answers.map(String)
}

/** An upload whose body does not end. */
function beginUpload({ url, token }: CatalogClient): ClientRequest {
  const upload = request(`${url}/loads?format=ndjson`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
  })
  upload.on('error', () => {})
  upload.write(lines(chain('upload', 100)).join(''))
  return upload
}

/** The loads that have not ended when the longest silence of an upload is over. */
async function untilEnded(client: CatalogClient): Promise<unknown[]> {
  const unended = async (): Promise<unknown[]> => {
    const { json } = await client.send('GET', '/loads?state=receiving,accepted,applying')
    const loads = valueAt(json, 'loads')
    return Array.isArray(loads) ? loads : [json]
  }
  const giveUpAt = Date.now() + limits.uploadSilentMaxSeconds * 1_000 + answerMaxMs
  for (let left = await unended(); ; left = await unended()) {
    if (left.length === 0 || Date.now() > giveUpAt) return left
    await sleep(200)
  }
}
