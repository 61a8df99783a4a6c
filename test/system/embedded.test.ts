/**
 * The embedded Postgres: whoever starts it, however often, and whatever is killed, the data is there and
 * nothing keeps running.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { startEmbeddedPostgres } from '../../dev/embedded-postgres/start-embedded-postgres.ts'
import { postgresOptions } from '../../shared/platform/postgres-url.ts'
import { runOnServer } from '../support/database.ts'
import { runProgram, withFolder, type Program } from '../support/program.ts'

type Holder = Program & { url: string; adopted: boolean; dataDir: string }

// many processes, each of which starts a database: slow while other tests run
t.setTimeout(900_000)

const isRoot = process.getuid?.() === 0
/** The user as whom the refusals for an ordinary user are tested. */
const somebody = isRoot ? { uid: 65_534, gid: 65_534 } : undefined

async function hold(t: Test, dataDir: string, user?: { uid: number; gid: number }): Promise<Holder> {
  const program = runProgram(t, 'test/support/postgres-holder.js', [dataDir], { cwd: '/', user })
  const facts: { url: string; adopted: boolean; dataDir: string } = JSON.parse(
    await program.says(/^\{"url".*\}$/m)
  )
  return { ...program, ...facts }
}

async function refusal(t: Test, dataDir: string, user?: { uid: number; gid: number }): Promise<string> {
  const program = runProgram(t, 'test/support/postgres-holder.js', [dataDir], { cwd: '/', user })
  return program.says(/"refused":"(.*)"/)
}

const postmasterPid = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])

async function ends(pid: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 20) {
    try {
      process.kill(pid, 0)
    } catch {
      return true
    }
    await sleep(20)
  }
  return false
}

t.test('the settings are durable, and those of throw-away data are not', async (t) => {
  const wanted = `select array_agg(setting order by name) as found from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses', 'TimeZone')`
  for (const throwaway of [false, true]) {
    const server = await startEmbeddedPostgres({ dataDir: join(withFolder(t), 'pg'), throwaway })
    const rows = await runOnServer(server.url(), wanted)
    const switched = throwaway ? 'off' : 'on'
    t.same(rows, [{ found: ['UTC', switched, switched, '', switched] }])
    await server.stop()
    t.equal(await server.ended, 0)
    t.notOk(existsSync(join(server.dataDir, 'postmaster.pid')), 'it stopped in order')
  }
})

t.test('the socket directory of a database that was deleted is removed at the next start', async (t) => {
  const socketDirectory = (url: string): string => new URL(url).searchParams.get('host') ?? ''
  const deleted = await startEmbeddedPostgres({ dataDir: join(withFolder(t), 'pg'), throwaway: true })
  await deleted.stop()
  t.ok(existsSync(socketDirectory(deleted.url())), 'it stays while the data does')
  rmSync(deleted.dataDir, { recursive: true })
  const next = await startEmbeddedPostgres({ dataDir: join(withFolder(t), 'pg'), throwaway: true })
  t.notOk(existsSync(socketDirectory(deleted.url())))
  t.ok(existsSync(socketDirectory(next.url())))
  await next.stop()
})

t.test('starts side by side', async (t) => {
  const dataDir = join(withFolder(t), 'below', 'pg')

  t.test('three at once make one cluster and share one server', async (t) => {
    const holders = await Promise.all([hold(t, dataDir), hold(t, dataDir), hold(t, dataDir)])
    t.equal(holders.filter(({ adopted }) => !adopted).length, 1)
    const pid = postmasterPid(dataDir)
    for (const { url } of holders) t.same(await runOnServer(url, 'select 1 as one'), [{ one: 1 }])
    for (const holder of holders.sort((a, b) => Number(a.adopted) - Number(b.adopted))) {
      t.notOk(holder.said().includes('ended'), 'the server goes on while somebody holds it')
      holder.kill('SIGTERM')
      t.equal(await holder.ended, 0)
    }
    t.ok(await ends(pid), 'it ends with its last holder')
  })

  t.test('a start right after the end of the last holder gets a server that stays', async (t) => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const first = await hold(t, dataDir)
      first.kill(signal)
      const second = await hold(t, dataDir)
      await sleep(300)
      t.same(await runOnServer(second.url, 'select 1 as one'), [{ one: 1 }], signal)
      second.kill('SIGTERM')
      t.equal(await second.ended, 0)
    }
  })
})

t.test('kills', async (t) => {
  const dataDir = join(withFolder(t), 'pg')
  const first = await hold(t, dataDir)
  await runOnServer(first.url, 'create table kept as select generate_series(1, 1000) as n')

  t.test('a holder that is killed leaves no server behind', async (t) => {
    const pid = postmasterPid(dataDir)
    first.kill('SIGKILL')
    t.equal(await first.ended, 'SIGKILL')
    t.ok(await ends(pid))
  })

  t.test('a server that is killed is noticed by its holder, and loses no row', async (t) => {
    const holder = await hold(t, dataDir)
    await runOnServer(holder.url, 'insert into kept select generate_series(1001, 2000)')
    process.kill(postmasterPid(dataDir), 'SIGKILL')
    t.equal(await holder.ended, 3)
    const next = await hold(t, dataDir)
    t.same(await runOnServer(next.url, 'select count(*)::int as rows from kept'), [{ rows: 2000 }])
    next.kill('SIGTERM')
    await next.ended
  })

  t.test(
    'a server that is stopped while it recovers from the crash of a backend ends, and loses no row',
    async (t) => {
      // It depends on the machine at which of these moments PostgreSQL cannot shut down.
      for (const pauseMs of [0, 10, 20, 30, 40, 60]) {
        const dataDir = join(withFolder(t), 'pg')
        const server = await startEmbeddedPostgres({ dataDir, stopMaxMs: 1_000 })
        await runOnServer(server.url(), 'create table kept as select generate_series(1, 1000) as id')
        const client = new pg.Client(await postgresOptions(server.url()))
        const hasCrashed = new Promise((resolve) => client.once('error', resolve))
        await client.connect()
        const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
        process.kill(rows[0]?.pid ?? 0, 'SIGKILL')
        await hasCrashed
        await sleep(pauseMs)
        const pid = postmasterPid(server.dataDir)
        await server.stop()
        t.ok(await ends(pid), `it has ended, ${pauseMs} ms after the crash`)
        const again = await startEmbeddedPostgres({ dataDir })
        t.same(await runOnServer(again.url(), 'select count(*)::int as count from kept'), [{ count: 1_000 }])
        await again.stop()
      }
    }
  )
  t.test('everything killed at once loses no row', async (t) => {
    const holder = await hold(t, dataDir)
    await runOnServer(holder.url, 'insert into kept select generate_series(2001, 3000)')
    const pid = postmasterPid(dataDir)
    holder.kill('SIGKILL')
    process.kill(pid, 'SIGKILL')
    const next = await hold(t, dataDir)
    t.same(await runOnServer(next.url, 'select count(*)::int as rows from kept'), [{ rows: 3000 }])
    next.kill('SIGTERM')
    await next.ended
  })

  t.test('a lock file whose process id belongs to another process now is no obstacle', async (t) => {
    const holder = await hold(t, dataDir)
    const file = join(dataDir, 'postmaster.pid')
    const pid = postmasterPid(dataDir)
    const lines = readFileSync(file, 'utf8').split('\n')
    holder.kill('SIGKILL')
    process.kill(pid, 'SIGKILL')
    await ends(pid)
    writeFileSync(file, [String(process.pid), ...lines.slice(1)].join('\n'))
    const next = await hold(t, dataDir)
    t.equal(next.adopted, false)
    t.same(await runOnServer(next.url, 'select count(*)::int as rows from kept'), [{ rows: 3000 }])
    next.kill('SIGTERM')
    await next.ended
  })

  t.test('an empty lock file, which a start leaves that was killed at once, is no obstacle', async (t) => {
    writeFileSync(join(dataDir, 'postmaster.pid'), '')
    const next = await hold(t, dataDir)
    t.equal(next.adopted, false)
    t.same(await runOnServer(next.url, 'select count(*)::int as rows from kept'), [{ rows: 3000 }])
    next.kill('SIGTERM')
    await next.ended
  })

  t.test('a server whose watcher was killed is started anew, so that somebody stops it', async (t) => {
    const holder = await hold(t, dataDir)
    const pid = postmasterPid(dataDir)
    killWatcher(pid)
    holder.kill('SIGKILL')
    await holder.ended
    const next = await hold(t, dataDir)
    t.not(postmasterPid(dataDir), pid)
    next.kill('SIGTERM')
    t.equal(await next.ended, 0)
    t.ok(await ends(pid))
  })
})

/** The shell next to the server that reads the life line: another child of the server's parent. */
function killWatcher(pid: number): void {
  const parentOf = (id: number): number =>
    Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1])
  const shell = parentOf(pid)
  const ids = readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8').trim().split(' ').map(Number)
  for (const id of ids.filter((each) => each !== pid)) process.kill(id, 'SIGKILL')
}

t.test('places', async (t) => {
  t.test('a path of any length is served, since the socket is elsewhere', async (t) => {
    const dataDir = join(withFolder(t), 'a'.repeat(120), 'b'.repeat(120), 'pg')
    const server = await startEmbeddedPostgres({ dataDir, throwaway: true })
    t.same(await runOnServer(server.url(), 'select 1 as one'), [{ one: 1 }])
    await server.stop()
  })

  t.test('an ordinary user and, afterwards, root use the same data', async (t) => {
    const folder = withFolder(t)
    const first = await hold(t, join(folder, 'pg'), somebody)
    await runOnServer(first.url, 'create table kept as select 1 as n')
    first.kill('SIGTERM')
    t.equal(await first.ended, 0)
    const second = await hold(t, join(folder, 'pg'))
    t.same(await runOnServer(second.url, 'select n from kept'), [{ n: 1 }])
    second.kill('SIGTERM')
    t.equal(await second.ended, 0)
  })

  t.test('a refusal is plain and names the way out', async (t) => {
    const folder = withFolder(t)
    mkdirSync(join(folder, 'used', 'pg'), { recursive: true })
    writeFileSync(join(folder, 'used', 'pg', 'mine'), '')
    mkdirSync(join(folder, 'old', 'pg'), { recursive: true })
    writeFileSync(join(folder, 'old', 'pg', 'PG_VERSION'), '15\n')
    for (const [place, reason] of [
      ['used', 'in use for something else'],
      ['old', 'is of PostgreSQL 15']
    ] as const) {
      const text = await refusal(t, join(folder, place, 'pg'))
      t.match(text, reason)
      t.match(text, 'Set DATABASE_URL')
      t.notMatch(text, '\\n', 'one line')
    }
  })

  t.test('data of another user is refused to an ordinary one', async (t) => {
    const dataDir = isRoot ? join(withFolder(t), 'pg') : '/root'
    if (isRoot) await startEmbeddedPostgres({ dataDir }).then((server) => server.stop())
    t.match(await refusal(t, dataDir, somebody), /belongs to user id \d+/)
  })
})
