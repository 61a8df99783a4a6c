/** Heartbeats: which workers live is known to the API, the doctor and the metrics, by the clock of Postgres alone. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openHeartbeat } from '../shared/catalog/loads/heartbeat.ts'
import { prune } from '../shared/catalog/loads/prune.ts'
import { readWorkers, reportWorkers } from '../shared/catalog/loads/read-workers.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { limits } from '../shared/limits.ts'
import { readPackage } from '../shared/platform/package.ts'
import { renderMetrics } from '../shared/platform/metrics.ts'
import { touchWorker } from '../shared/store/workers.ts'
import { withDatabase } from './support/database.ts'
import { runProgram, withFolder, type Program } from './support/program.ts'
import { runCommand as run } from './support/run-command.ts'
import { withServer } from './support/server.ts'

const { version } = readPackage()

const liveIds = async (db: Db): Promise<string[]> => (await readWorkers(db))?.map(({ id }) => id) ?? []

/** The worker has been silent for that long. */
const silence = (db: Db, id: string, seconds: number): Promise<unknown> =>
  query(db, "update worker set seen_at = now() - ?::int * interval '1 second' where id = ?::uuid", [
    seconds,
    id
  ])

async function until(isMet: () => Promise<boolean>): Promise<void> {
  while (!(await isMet())) await sleep(50)
}

/** A worker process, once its first heartbeat has arrived. */
async function startWorkerProgram(
  t: Test,
  url: string,
  env: Record<string, string> = {}
): Promise<Program & { id: string }> {
  const program = runProgram(t, 'bin/tributary.js', ['work'], {
    cwd: withFolder(t),
    env: { DATABASE_URL: url, ...env }
  })
  return { ...program, id: await program.says(/"workerId":"([^"]+)"/) }
}

t.test('a worker lives from its first heartbeat until it stops', async (t) => {
  const { db } = await withDatabase(t)
  const heartbeat = openHeartbeat(db)
  t.same(await readWorkers(db), [])
  await heartbeat.beat()
  t.match(await readWorkers(db), [{ id: heartbeat.id, version, startedAt: /^\d{4}-/ }])
  const [first] = await query<{ startedAt: Date }>(db, 'select started_at as "startedAt" from worker')
  await heartbeat.beat()
  t.same(await query(db, 'select started_at as "startedAt" from worker'), [first], 'it started once')
  await heartbeat.end()
  t.same(await readWorkers(db), [])
})

t.test('a worker that is silent for too long is dead, and lives again when it is heard of', async (t) => {
  const { db } = await withDatabase(t)
  const heartbeat = openHeartbeat(db)
  await heartbeat.beat()
  await silence(db, heartbeat.id, limits.workerSilentMaxSeconds - 5)
  t.same(await liveIds(db), [heartbeat.id])
  await silence(db, heartbeat.id, limits.workerSilentMaxSeconds)
  t.same(await liveIds(db), [])
  await heartbeat.beat()
  t.same(await liveIds(db), [heartbeat.id])
})

t.test('a worker beats often enough to be late twice', async (t) => {
  t.ok(limits.workerHeartbeatSeconds * 1.25 * 2 < limits.workerSilentMaxSeconds)
})

t.test('rows of workers that died long ago are pruned', async (t) => {
  const { db } = await withDatabase(t)
  const [old, recent] = [openHeartbeat(db), openHeartbeat(db)]
  await old.beat()
  await recent.beat()
  await silence(db, old.id, limits.workerKeptSeconds + 1)
  await silence(db, recent.id, limits.workerKeptSeconds - 60)
  t.match(await prune(db), { workers: 1 })
  t.same(await query(db, 'select id from worker'), [{ id: recent.id }])
})

t.test('/health/detailed lists the workers that live, without the names of hosts', async (t) => {
  const { db, rest } = await withServer(t)
  t.match(await rest({ url: '/health/detailed', token: null }), {
    status: 200,
    body: { workers: { length: 0 } }
  })
  const heartbeat = openHeartbeat(db)
  await heartbeat.beat()
  const { body } = await rest({ url: '/health/detailed', token: null })
  const { workers } = body as { workers: { id: string }[] }
  t.same(
    workers.map((worker) => Object.keys(worker)),
    [['id', 'version', 'startedAt']]
  )
  t.equal(workers[0]?.id, heartbeat.id)
  await db.raw('drop table worker')
  t.match((await rest({ url: '/health/detailed', token: null })).body, { workers: null })
})

t.test('the metric counts workers by version, and is 0 without live workers', async (t) => {
  const { db } = await withDatabase(t)
  t.teardown(reportWorkers(db))
  const shown = async (): Promise<string[]> =>
    (await renderMetrics()).text.split('\n').filter((line) => line.startsWith('tributary_workers{'))
  t.same(await shown(), [`tributary_workers{version="${version}"} 0`])
  const heartbeat = openHeartbeat(db)
  await heartbeat.beat()
  await touchWorker(db, { id: randomUUID(), name: 'other:1', version: '9.9.9', ageSeconds: 0 })
  t.same(await shown(), [`tributary_workers{version="${version}"} 1`, 'tributary_workers{version="9.9.9"} 1'])
  await query(db, "delete from worker where version = '9.9.9'")
  t.same(await shown(), [`tributary_workers{version="${version}"} 1`], 'a version that is gone is not kept')
})

t.test('the doctor names the workers, and says when they run different versions', async (t) => {
  const { db, url } = await withDatabase(t)
  await touchWorker(db, { id: randomUUID(), name: 'host-a:7', version: '1.2.3', ageSeconds: 60 })
  const say = async (): Promise<string> =>
    (await run(['doctor'], { env: { DATABASE_URL: url } })).out.join('\n')
  t.match(await say(), /^ok {5}worker: 1 live: host-a:7 \(1\.2\.3, since \d{4}-/m)
  t.notMatch(await say(), /different versions/)
  await touchWorker(db, { id: randomUUID(), name: 'host-b:8', version: '1.2.4', ageSeconds: 30 })
  t.match(await say(), /^note {3}worker: they run different versions: 1\.2\.3, 1\.2\.4$/m)
})

t.test('worker processes', async (t) => {
  const { db, url } = await withDatabase(t)

  t.test('one that is killed disappears, one that is stopped does so at once', async (t) => {
    const killed = await startWorkerProgram(t, url)
    const stopped = await startWorkerProgram(t, url)
    t.same(await liveIds(db), [killed.id, stopped.id])
    killed.kill('SIGKILL')
    await killed.ended
    t.ok((await liveIds(db)).includes(killed.id), 'nobody can know yet')
    for (const { id } of [killed, stopped]) await silence(db, id, limits.workerSilentMaxSeconds - 1)
    await until(async () => !(await liveIds(db)).includes(killed.id))
    await until(async () => (await liveIds(db)).includes(stopped.id))
    t.pass('the one that lives is heard of again')
    stopped.kill('SIGTERM')
    t.equal(await stopped.ended, 0)
    t.same(await liveIds(db), [])
  })

  t.test('their clocks do not matter', async (t) => {
    for (const days of [-2, 2]) {
      const shift = `const now = Date.now; Date.now = () => now() + ${days * 86_400_000}`
      const worker = await startWorkerProgram(t, url, {
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}`
      })
      t.same(await liveIds(db), [worker.id])
      const [row] = await query<{ isRecent: boolean }>(
        db,
        'select started_at between now() - interval \'10 minutes\' and now() as "isRecent" from worker'
      )
      t.same(row, { isRecent: true })
      worker.kill('SIGTERM')
      await worker.ended
    }
  })
})
