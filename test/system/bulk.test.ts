/** Large loads with problems: bad records among a million, and a disk that is full for minutes. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startEmbeddedPostgres } from '../../dev/embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../../shared/db/migrate.ts'
import { query } from '../../shared/db/query.ts'
import { spoilt } from '../support/bad-records.ts'
import { connectTestDatabase, runOnServer, type TestDatabase } from '../support/database.ts'
import { dataset, edge, entity } from '../support/load-bench.ts'
import { skipUnless } from '../support/skip.ts'
import {
  isTerminal,
  readLoad,
  readRejects,
  sendLoad,
  type Api,
  type LoadState
} from '../torture/catalog-calls.ts'
import { withCatalog } from './support/catalog.ts'

const doneMaxMs = 600_000
const fullMs = 180_000

async function ended(api: Api, id: string): Promise<LoadState> {
  for (const giveUpAt = Date.now() + doneMaxMs; ; await sleep(200)) {
    const load = await readLoad(api, id)
    if (isTerminal(load) || Date.now() > giveUpAt) return load
  }
}

t.test('row 6: bad records among 1,000,000 are rejected alone, each with line, code and text', async (t) => {
  const count = 1_000_000
  const load = spoilt(count, 6)
  const { client } = await withCatalog(t, { workers: 2 })
  t.match(await ended(client, await sendLoad(client, load.assets(), {})), {
    state: 'done',
    counts: { rejected: 0 }
  })
  const id = await sendLoad(client, load.lines(), {})
  t.match(await ended(client, id), {
    state: 'done',
    counts: { received: count, applied: count - load.bad.length, unchanged: 0, rejected: load.bad.length }
  })
  t.same(
    (await readRejects(client, id)).map(({ line, code, field, record }) => ({
      line,
      text: record,
      code,
      field: field ?? null
    })),
    load.bad
  )
})

/**
 * A database with its tables on a disk of 256 MB, on a new server; null (skipped) if no disk may be mounted.
 */
async function withSmallDisk(t: Test): Promise<{ database: TestDatabase; disk: string } | null> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-disk-'))
  chmodSync(folder, 0o755)
  chmodSync(folder, 0o755)
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', disk]).status === 0
  let stop = async (): Promise<void> => {}
  t.teardown(async () => {
    await stop()
    if (isMounted) spawnSync('umount', [disk])
    rmSync(folder, { recursive: true, force: true })
  })
  if (skipUnless(t, isMounted, 'no disk may be mounted here')) return null
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'pg'), throwaway: true, log: () => {} })
  const { uid, gid } = statSync(server.dataDir)
  chownSync(disk, uid, gid)
  await runOnServer(server.url(), `create tablespace small location '${disk}'`)
  await runOnServer(server.url(), 'create database small tablespace small template template0')
  const url = server.url('small')
  const db = connectTestDatabase(url)
  stop = async () => {
    await db.destroy()
    await server.stop()
  }
  await migrate(db)
  return { database: { db, url }, disk }
}

/** Fills the disk, and keeps filling it, until told to stop. */
async function keepFull(disk: string, signal: AbortSignal): Promise<void> {
  const file = openSync(join(disk, 'ballast'), 'w')
  const page = Buffer.alloc(8_192)
  while (!signal.aborted) {
    try {
      for (;;) writeSync(file, page)
    } catch {
      await sleep(20)
    }
  }
  closeSync(file)
  rmSync(join(disk, 'ballast'))
}

t.test(
  'row 6: a disk that is full for 3 minutes rejects nothing, of large loads and of small ones',
  async (t) => {
    const small = await withSmallDisk(t)
    if (small === null) return
    const { client, db, workers } = await withCatalog(t, { workers: 2, database: small.database })
    const assetCount = 10_000
    const lines = function* (count: number, make: (index: number) => unknown): Generator<string> {
      for (let index = 0; index < count; index += 1) yield `${JSON.stringify(make(index))}\n`
    }
    t.match(await ended(client, await sendLoad(client, lines(assetCount, entity), {})), { state: 'done' })
    const edgeCount = 200_000
    const ids = [
      await sendLoad(
        client,
        lines(edgeCount, (index) =>
          edge(index % assetCount, (index + 1 + Math.floor(index / assetCount)) % assetCount)
        ),
        {}
      )
    ]
    for (let index = 0; index < 5; index += 1)
      ids.push(
        await sendLoad(
          client,
          [
            JSON.stringify({
              op: 'upsertEntity',
              urn: dataset(`late_${index}`),
              description: 'x'.repeat(60_000)
            })
          ],
          {}
        )
      )

    const full = new AbortController()
    const filling = keepFull(small.disk, full.signal)
    await sleep(fullMs)
    full.abort()
    await filling
    // Not earlier, because a new connection needs space too.
    const tried = await query<{ error: string }>(
      db,
      "select distinct last_error as error from chunk where last_error like '%53100%'"
    )
    t.ok(tried.length > 0, 'the disk was full while they were applied')
    if (!t.notOk(workers.find((worker) => worker.hasEnded())?.said(), 'no worker has ended')) return
    for (const [index, id] of ids.entries()) {
      const count = index === 0 ? edgeCount : 1
      t.match(await ended(client, id), {
        state: 'done',
        counts: { received: count, applied: count, rejected: 0 }
      })
    }
  }
)
