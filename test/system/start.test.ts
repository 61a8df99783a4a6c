/**
 * `npm start` as a whole: as root and as a normal user, killed with all its processes, and several at once.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { packagePath, packageRoot } from '../../shared/platform/paths.ts'
import { catalogClient, type CatalogClient } from '../support/catalog-client.ts'
import { runOnServer } from '../support/database.ts'
import { valueAt } from '../support/json-answer.ts'
import { freePort } from '../support/free-port.ts'
import { skipUnless } from '../support/skip.ts'
import { killAll, processTree } from './support/process-tree.ts'
import { runShell, type RunningProcess } from './support/processes.ts'

type User = { uid: number; gid: number } | undefined
type Started = { program: RunningProcess; client: CatalogClient; readyMs: number }

const nobody = { uid: 65_534, gid: 65_534 }
const isRoot = process.getuid?.() === 0
const writesCount = 1_000
const writersCount = 8
const endMaxMs = 60_000

function withDataDir(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-start-'))
  chmodSync(folder, 0o777)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'data')
}

/**
 * Starts as `npm start` does after its build, and waits until it is ready. The token file must then exist,
 * readable only by the user.
 */
async function start(t: Test, dataDir: string, user: User): Promise<Started> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const startedAt = performance.now()
  const command = `node --enable-source-maps ${packagePath('dist/dev/start.js')}`
  const program = runShell(t, command, {
    env: { PORT: String(port), TRIBUTARY_DATA_DIR: dataDir },
    cwd: '/',
    user
  })
  while (
    !(await fetch(`${url}/health/ready`).then(
      ({ status }) => status === 200,
      () => false
    ))
  ) {
    if (program.hasEnded()) throw new Error(`npm start ended:\n${program.said()}`)
    await sleep(10)
  }
  const readyMs = Math.round(performance.now() - startedAt)
  const file = join(dataDir, 'token')
  t.equal(statSync(file).mode & 0o777, 0o600, 'the token is for the user alone')
  const token = readFileSync(file, 'utf8')
  t.match(token, /^trib_\w+\n$/, 'and was there before ready')
  return { program, client: catalogClient(url, token.trim()), readyMs }
}

const pidFile = (dataDir: string): string[] =>
  readFileSync(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').split('\n')
const postmasterPid = (dataDir: string): number => Number(pidFile(dataDir)[0])

const keptUrns = Array.from(
  { length: writesCount },
  (_, index) => `urn:li:dataset:(urn:li:dataPlatform:hive,kept.t${index},PROD)`
)

/** The URNs of acknowledged writes, each acknowledged by its own answer. */
async function write(client: CatalogClient): Promise<string[]> {
  const acknowledged: string[] = []
  const left = [...keptUrns]
  async function writer(): Promise<void> {
    for (let urn = left.pop(); urn !== undefined; urn = left.pop()) {
      const { status } = await client.propose(urn, 'datasetProperties', { name: `name of ${urn}` })
      if (status === 200) acknowledged.push(urn)
    }
  }
  await Promise.all(Array.from({ length: writersCount }, writer))
  return acknowledged.sort()
}

/** The existing URNs, with their content. */
async function kept(client: CatalogClient): Promise<string[]> {
  const { data, json } = await client.graphql(
    'query ($urns: [String!]!) { entities(urns: $urns) { urn ... on Dataset { properties { name } } } }',
    { urns: keptUrns }
  )
  const entities = valueAt(data, 'entities')
  if (!Array.isArray(entities)) throw new Error(JSON.stringify(json).slice(0, 500))
  return entities
    .flatMap((entity) => {
      const urn = valueAt(entity, 'urn')
      return typeof urn === 'string' && valueAt(entity, 'properties.name') === `name of ${urn}` ? [urn] : []
    })
    .sort()
}

for (const [who, user] of [
  ['as root', undefined],
  ['as a normal user', isRoot ? nobody : undefined]
] as const) {
  t.test(`row 1: npm start ${who}`, async (t) => {
    if (who === 'as root' && skipUnless(t, isRoot, 'this is not root')) return
    const mayRead =
      user === undefined ||
      spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', packageRoot], { ...user, cwd: '/' }).status === 0
    if (skipUnless(t, mayRead, `other users may not read ${packageRoot}`)) return
    const dataDir = withDataDir(t)

    const first = await start(t, dataDir, user)
    t.comment(`ready ${who} after ${first.readyMs} ms, the first time`)

    await t.test('has a sample, loaded in bulk, and shows its impact', async (t) => {
      await first.program.says(/Ctrl-C/)
      t.match(first.program.said(), /Load \S+ is done: (\d+) of \1 records applied/)
      const [, count = '0', list = ''] =
        /^What depends on \S+ (\d+) assets:\n((?: {2}\d+ {2}\S.*\n)+)/m.exec(first.program.said()) ?? []
      t.ok(Number(count) > 5, `${count} assets`)
      t.equal(list.trimEnd().split('\n').length, Number(count))
    })

    await t.test('stands on a durable database', async (t) => {
      const [, , , , socketDir = ''] = pidFile(dataDir)
      const rows = await runOnServer(
        `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(socketDir)}`,
        `
        select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') order by name`
      )
      t.same(
        rows,
        ['fsync', 'full_page_writes', 'synchronous_commit'].map((name) => ({ name, setting: 'on' }))
      )
    })

    await t.test('loses no acknowledged write when every process is killed', async (t) => {
      const acknowledged = await write(first.client)
      const killed = [...processTree(first.program.pid), ...processTree(postmasterPid(dataDir))]
      killAll(killed)
      t.equal(acknowledged.length, writesCount)
      t.equal(await first.program.ended, 'SIGKILL')
      t.comment(`killed ${new Set(killed).size} processes`)

      const second = await start(t, dataDir, user)
      t.comment(`ready ${who} after ${second.readyMs} ms, after the kill`)
      t.same(await kept(second.client), acknowledged)
      second.program.signal('SIGTERM')
      t.equal(await second.program.ended, 0)
      t.notOk(existsSync(join(dataDir, 'pg', 'postmaster.pid')), 'the database has stopped in order')
    })

    await t.test('three at once, after another kill, share one database and one token', async (t) => {
      const before = await start(t, dataDir, user)
      killAll([...processTree(before.program.pid), ...processTree(postmasterPid(dataDir))])
      const three = await Promise.all([1, 2, 3].map(() => start(t, dataDir, user)))
      t.comment(`ready ${who} after ${three.map(({ readyMs }) => readyMs).join(', ')} ms, three at once`)
      t.equal(new Set(three.map(({ client }) => client.token)).size, 1)
      const pid = postmasterPid(dataDir)
      for (const [index, { client }] of three.entries()) await client.createDomain({ name: `by ${index}` })
      const names = (answer: JsonObject | JsonValue): string[] => JSON.stringify(answer).match(/by \d/g) ?? []
      for (const { client } of three) {
        const { data } = await client.graphql(
          '{ listDomains(input: { count: 2000, query: "by" }) { domains { properties { name } } } }'
        )
        t.same(names(data).sort(), ['by 0', 'by 1', 'by 2'])
      }
      for (const { program } of three) {
        t.equal(postmasterPid(dataDir), pid, 'the database goes on while somebody uses it')
        program.signal('SIGTERM')
        t.equal(await program.ended, 0)
      }
      t.notOk(existsSync(join(dataDir, 'pg', 'postmaster.pid')), 'and stops with the last')
    })
  })
}

t.test('row 1: npm start ends with its npm', async (t) => {
  const dataDir = withDataDir(t)
  const npm = runShell(t, 'npm start', {
    env: { PORT: String(await freePort()), TRIBUTARY_DATA_DIR: dataDir },
    cwd: packageRoot
  })
  await npm.says(/Ctrl-C/)
  const belonging = [...processTree(npm.pid), ...processTree(postmasterPid(dataDir))]
  t.teardown(() => {
    killAll(belonging)
  })
  t.ok(belonging.length > 4)
  npm.signal('SIGTERM')
  await npm.ended
  for (
    let waitedMs = 0;
    existsSync(join(dataDir, 'pg', 'postmaster.pid')) && waitedMs < endMaxMs;
    waitedMs += 50
  )
    await sleep(50)
  t.notOk(existsSync(join(dataDir, 'pg', 'postmaster.pid')), 'the database has stopped in order')
})
