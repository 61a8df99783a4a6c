/**
 * An upgrade without a pause: processes of the version before work on one database with those of this version, while
 * it is migrated, and clients notice nothing. Afterwards the catalog is the same as if one version had done it all.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import { catalogClient } from '../support/catalog-client.ts'
import { catalogState } from '../support/catalog-state.ts'
import { withEmptyDatabase } from '../support/database.ts'
import { eventAt, facet } from '../support/openlineage.ts'
import { freePort } from '../support/free-port.ts'
import { withRunningServer } from '../support/running-server.ts'
import { skipUnless } from '../support/skip.ts'
import { isTerminal, readLoad, sendLoad, type Api } from '../torture/catalog-calls.ts'
import { untilReady } from './support/catalog.ts'
import { lines } from './support/loads.ts'
import { previousRelease, withSourcesOf } from './support/previous-release.ts'
import { runCli, runLine, runShell, type RunningProcess } from './support/processes.ts'

const tableCount = 60
const contestedCount = 20
const phaseMs = 1_500
const sendEveryMs = 100
const endMaxMs = 300_000

const table = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`

/** Some edges of its own, and some that the loads before and after it add and remove as well. */
function recordsOf(number: number): JsonObject[] {
  const own = Array.from({ length: tableCount }, (_, index) => ({
    upstreamUrn: table(`own${number}.t${index}`),
    downstreamUrn: table(`own${number}.t${index + 1}`)
  }))
  const contested = Array.from({ length: contestedCount }, (_, index) => ({
    ...((number + index) % 3 === 0 ? { op: 'removeEdge' } : {}),
    upstreamUrn: table(`contested.t${index}`),
    downstreamUrn: table(`contested.t${index + 1}`)
  }))
  return [...own, ...contested]
}

const lake = (name: string): JsonObject => ({ namespace: 's3://lake', name })
const warehouse = (name: string): JsonObject => ({ namespace: 'hive://meta', name: `shop.${name}` })
const isTable = (path: string, name: string): JsonObject => ({
  ...lake(path),
  facets: { symlinks: facet({ identifiers: [{ ...warehouse(name), type: 'TABLE' }] }) }
})

/** The job declares the lineage of its output, which the output states under the name of the event. */
const run = (seconds: number, job: string, input: JsonObject, output: JsonObject): JsonObject => {
  const named = { namespace: output.namespace ?? null, name: output.name ?? null }
  const lineage = facet({ entries: [{ ...named, type: 'DATASET', inputs: [{ ...input, type: 'DATASET' }] }] })
  return eventAt(seconds, {
    eventType: 'COMPLETE',
    run: { runId: `${job}-${seconds}` },
    job: { namespace: 'nightly', name: job, facets: { lineage } },
    inputs: [input],
    outputs: [output]
  })
}

/** What is said of a path comes first, then that it is a table; later the table is named by itself. */
const eventsBefore = (number: number): JsonObject[] => [
  run(0, `writes${number}`, lake(`raw${number}`), lake(`path${number}`)),
  run(1, `tells${number}`, lake(`more${number}`), isTable(`path${number}`, `table${number}`))
]
const eventsAfter = (number: number): JsonObject[] => [
  run(2, `adds${number}`, lake(`late${number}`), warehouse(`table${number}`)),
  run(3, `rewrites${number}`, lake(`again${number}`), lake(`path${number}`))
]
const eventCount = 12

type Clients = {
  /** The API that a load balancer would choose. */
  apis: Api[]
  failures: string[]
  requests: number
  loads: { number: number; id: string }[]
  /** Sends nothing more to an API, and waits for its answers, as a load balancer does. */
  leave(api: Api): Promise<void>
  stop(): Promise<void>
}

/** Sends loads and reads, each to the next API, until it is told to stop. */
function sendAndRead(first: Api): Clients {
  let isOver = false
  const clients: Clients = { apis: [first], failures: [], requests: 0, loads: [], leave, stop }
  const underWay = new Map<Promise<unknown>, Api>()
  /** Failures are noted. */
  async function ask(work: (api: Api) => Promise<unknown>): Promise<void> {
    clients.requests += 1
    const api = clients.apis[clients.requests % clients.apis.length] ?? first
    const asked = work(api).catch((error: unknown) => clients.failures.push(String(error)))
    underWay.set(asked, api)
    await asked
    underWay.delete(asked)
  }

  async function send(): Promise<void> {
    for (let number = 0; !isOver; number += 1) {
      await ask(async (api) => {
        const id = await sendLoad(api, lines(recordsOf(number)), parametersOf(number))
        clients.loads.push({ number, id })
      })
      await sleep(sendEveryMs)
    }
  }
  async function read(): Promise<void> {
    while (!isOver) {
      await ask(async ({ url, token }) => {
        const { status, json } = await catalogClient(url, token).graphql(
          `{ searchAcrossEntities(input: { query: "t1", count: 5 }) { total } entities(urns: ["${table('own0.t1')}"]) { urn } }`
        )
        if (status !== 200 || JSON.stringify(json).includes('"errors"'))
          clients.failures.push(`${status} ${JSON.stringify(json).slice(0, 300)}`)
      })
      await sleep(20)
    }
  }
  const working = Promise.all([send(), read(), read()])
  async function leave(api: Api): Promise<void> {
    clients.apis = clients.apis.filter((other) => other !== api)
    await Promise.all([...underWay].filter(([, of]) => of === api).map(([asked]) => asked))
  }
  async function stop(): Promise<void> {
    isOver = true
    await working
  }
  return clients
}

const parametersOf = (number: number): Record<string, string> => ({
  source: `source${number}`,
  missingReferences: 'create'
})

/** The number of the load that is under way when the old API is stopped. */
const slowNumber = 100_000

/** Begins an upload, and resolves when the API has its first lines; it gets the rest from `finish`. */
async function beginLoad(api: Api, db: Db): Promise<{ finish: () => Promise<string> }> {
  const all = [...lines(recordsOf(slowNumber))]
  const half = Math.floor(all.length / 2)
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  async function* body(): AsyncGenerator<string> {
    yield all.slice(0, half).join('')
    await released
    yield all.slice(half).join('')
  }
  const answered = fetch(
    `${api.url}/loads?${new URLSearchParams({ format: 'ndjson', ...parametersOf(slowNumber) }).toString()}`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/x-ndjson' },
      body: Readable.toWeb(Readable.from(body(), { objectMode: false })) as ReadableStream,
      duplex: 'half'
    } as RequestInit
  ).then(async (answer) => {
    const text = await answer.text()
    if (answer.status !== 202) throw new Error(`${answer.status} ${text}`)
    return (JSON.parse(text) as { id: string }).id
  })
  answered.catch(() => {})
  const hasBegun = async (): Promise<boolean> =>
    (
      await query(db, "select 1 from load where source = ? and state = 'receiving'", [
        parametersOf(slowNumber).source ?? ''
      ])
    ).length > 0
  while (!(await hasBegun())) await sleep(20)
  return {
    finish: () => {
      release()
      return answered
    }
  }
}

async function sendEvents(api: Api, events: readonly JsonObject[], failures: string[]): Promise<void> {
  const client = catalogClient(api.url, api.token)
  for (const event of events) {
    const { status, json } = await client.send('POST', '/api/v1/lineage', event)
    if (status !== 201) failures.push(`event: ${status} ${JSON.stringify(json).slice(0, 300)}`)
  }
}

async function untilEnded(t: Test, api: Api, ids: readonly string[]): Promise<void> {
  for (const giveUpAt = Date.now() + endMaxMs; ; await sleep(50)) {
    const loads = await Promise.all(ids.map((id) => readLoad(api, id)))
    if (loads.every(isTerminal) || Date.now() > giveUpAt) {
      t.same(
        loads.filter(({ state, counts }) => state !== 'done' || counts.rejected > 0),
        []
      )
      return
    }
  }
}

async function stopped(t: Test, old: RunningProcess): Promise<void> {
  old.signal('SIGTERM')
  t.equal(await old.ended, 0)
}

/** The same loads in the order in which they were accepted, and the same events, by one version. */
async function oracle(
  t: Test,
  upgraded: Db,
  loads: readonly { number: number; id: string }[]
): Promise<Awaited<ReturnType<typeof catalogState>>> {
  const rows = await query<{ id: string }>(upgraded, 'select id from load order by seq')
  const place = new Map(rows.map(({ id }, index) => [id, index]))
  const api = await withRunningServer(t)
  const ids: string[] = []
  for (const { number } of loads.toSorted((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0))) {
    ids.push(await sendLoad(api, lines(recordsOf(number)), parametersOf(number)))
  }
  await untilEnded(t, api, ids)
  const failures: string[] = []
  for (let number = 0; number < eventCount; number += 1)
    await sendEvents(api, [...eventsBefore(number), ...eventsAfter(number)], failures)
  t.same(failures, [])
  return catalogState(api.db)
}

function isAtLeast(leastMajor: number, leastMinor: number): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

t.test('an upgrade from the version before, under load', async (t) => {
  const commit = previousRelease()
  if (commit === null) {
    skipUnless(t, false, 'git has no history of the version before')
    return
  }
  // it was released when 22.12 was required, and its sources are run as they are
  if (!isAtLeast(22, 12)) {
    skipUnless(t, false, 'the version before needs Node.js 22.12 or newer')
    return
  }
  t.comment(`the version before is ${commit}`)
  const { folder, command } = withSourcesOf(t, commit)
  const { db, url: databaseUrl } = await withEmptyDatabase(t)
  const env = (port = 0): Record<string, string> => ({
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    HOST: '127.0.0.1'
  })
  const old = (args: string, port = 0): RunningProcess =>
    runShell(t, `${command} ${args}`, { env: env(port), cwd: folder })
  const oldMigration = old('migrate')
  t.equal(await oldMigration.ended, 0, oldMigration.said())
  // By the version that the schema is of.
  const created = old('token create --name upgrade --scopes admin')
  const [token] = await created.says(/trib_\w+/)

  const startApi = async (
    start: (port: number) => RunningProcess
  ): Promise<Api & { process: RunningProcess }> => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const process = start(port)
    await untilReady(url, process)
    return { url, token, process }
  }
  const oldApi = await startApi((port) => old('serve', port))
  const oldWorker = old('work')
  await oldWorker.says(/worker started/)
  const clients = sendAndRead(oldApi)
  const { failures } = clients
  for (let number = 0; number < eventCount; number += 1)
    await sendEvents(oldApi, eventsBefore(number), failures)
  await sleep(phaseMs)

  const migration = await runCli(t, ['migrate'], env())
  t.equal(migration.code, 0, migration.said)
  t.comment(migration.said.trim())
  // Events that the old version takes after the migration.
  for (let number = 0; number < eventCount / 3; number += 1)
    await sendEvents(oldApi, eventsAfter(number), failures)
  if (readFileSync(join(folder, 'shared/db/migrate.ts'), 'utf8').includes('needs text'))
    t.equal((await fetch(`${oldApi.url}/health/ready`)).status, 200, 'the old API is still ready')
  const worker = runLine(t, 'worker', env())
  await worker.says(/worker started/)
  await sleep(phaseMs)
  await stopped(t, oldWorker)

  const api = await startApi((port) => runLine(t, 'web', env(port)))
  clients.apis.push(api)
  for (let number = eventCount / 3; number < eventCount; number += 1) {
    // The versions take turns with the same table.
    const [first, second] = number % 2 === 0 ? [oldApi, api] : [api, oldApi]
    const [adds, rewrites] = [eventsAfter(number).slice(0, 1), eventsAfter(number).slice(1)]
    await sendEvents(first, adds, failures)
    await sendEvents(second, rewrites, failures)
  }
  await sleep(phaseMs)
  await clients.leave(oldApi)
  const upload = await beginLoad(oldApi, db)
  oldApi.process.signal('SIGTERM')
  await oldApi.process.says(/stopping/)
  clients.loads.push({ number: slowNumber, id: await upload.finish() })
  t.equal(await oldApi.process.ended, 0, 'it ends when the requests under way have been answered')
  await sleep(phaseMs)
  await clients.stop()

  t.same(failures, [], 'no request failed')
  t.comment(`${clients.requests} requests, ${clients.loads.length} loads`)
  t.ok(clients.loads.length > 15)
  await untilEnded(
    t,
    api,
    clients.loads.map(({ id }) => id)
  )
  const state = await catalogState(db)
  const expected = await oracle(t, db, clients.loads)
  for (const part of Object.keys(expected) as (keyof typeof expected)[])
    t.same(
      [
        ...state[part].filter((text) => !expected[part].includes(text)),
        ...expected[part].filter((text) => !state[part].includes(text)).map((text) => `lacks ${text}`)
      ].slice(0, 10),
      [],
      part
    )
})
