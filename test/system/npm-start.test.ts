/**
 * `npm start`: one command gives a catalog with a database, a token and a sample. Whatever is killed, every
 * acknowledged write is there.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { catalogClient, type CatalogClient } from '../support/catalog-client.ts'
import { withEmptyDatabase } from '../support/database.ts'
import { valueAt } from '../support/json-answer.ts'
import { runProgram, withFolder, type Program, type ProgramOptions } from '../support/program.ts'
import { freePort } from '../support/free-port.ts'

type Started = Program & { url: string; client: CatalogClient }

// many processes, each of which starts a database: slow while other tests run
t.setTimeout(900_000)

const somebody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

async function start(t: Test, options: ProgramOptions): Promise<Started> {
  const program = runProgram(t, 'dev/start.js', [], options)
  const url = await program.says(/is ready at (\S+)/)
  // the greeting arrives in pieces: wait for its last line
  await program.says(/Ctrl-C/)
  const token = readFileSync(join(options.cwd, '.data', 'token'), 'utf8').trim()
  return { ...program, url, client: catalogClient(url, token) }
}

/** The first start makes a database, so another is faster, even if it recovers and other tests run at the same time. */
const restartMaxRatio = 3

t.test('the first start', async (t) => {
  const folder = withFolder(t)
  const port = await freePort()
  const program = runProgram(t, 'dev/start.js', [], { cwd: folder, env: { PORT: String(port) } })
  let hasEnded = false
  void program.ended.then(() => {
    hasEnded = true
  })
  const url = `http://127.0.0.1:${port}`

  t.test('is ready, and has written the token before', async (t) => {
    while (!hasEnded && !(await isReady(url))) await sleep(20)
    t.notOk(hasEnded, program.said())
    t.match(readFileSync(join(folder, '.data', 'token'), 'utf8'), /^trib_\w+\n$/)
    t.equal(statSync(join(folder, '.data', 'token')).mode & 0o777, 0o600)
  })

  t.test('begins what it says with a link that signs one browser in, once', async (t) => {
    await program.says(/is ready at/)
    const [first = '', , link = ''] = program
      .said()
      .split('\n')
      .slice(program.said().split('\n').indexOf('Open in a browser:'))
    t.equal(first, 'Open in a browser:')
    t.match(link, new RegExp(`^  ${url}/ui/sign-in#code=[0-9a-f]{32}$`))
    t.ok(program.said().indexOf(link) < program.said().indexOf('is ready at'))
    const signIn = () =>
      fetch(`${url}/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code: link.split('#code=')[1] })
      })
    const answer = await signIn()
    t.match(await answer.json(), { actor: 'urn:li:corpuser:admin', scopes: ['admin'] })
    t.match(answer.headers.get('set-cookie'), /^tributary_session=/)
    t.equal((await signIn()).status, 401)
  })

  t.test('loads the sample through the bulk pipeline and shows its impact', async (t) => {
    await program.says(/Ctrl-C/)
    t.match(program.said(), /Load \S+ is done: (\d+) of \1 records applied/)
    t.match(
      program.said(),
      /4 {2}urn:li:dataset:\(urn:li:dataPlatform:snowflake,skerry\.mart\.ticket_sale,PROD\)/
    )
    const client = catalogClient(url, readFileSync(join(folder, '.data', 'token'), 'utf8').trim())
    const loads = await client.send('GET', '/loads')
    t.match(valueAt(loads.json, 'loads.0'), { state: 'done', source: 'sample', counts: { rejected: 0 } })
    const asset = 'urn:li:mlModel:(urn:li:dataPlatform:mlflow,route-demand,PROD)'
    const { data } = await client.graphql(
      `{ mlModel(urn: "${asset}") { domain { domain { urn parentDomains { count domains { urn } } } } } }`
    )
    t.same(valueAt(data, 'mlModel.domain.domain'), {
      urn: 'urn:li:domain:skerry-demand',
      parentDomains: {
        count: 2,
        domains: [{ urn: 'urn:li:domain:skerry-passengers' }, { urn: 'urn:li:domain:skerry-line' }]
      }
    })
  })

  t.test(
    'leaves room for a second one, which shares the database on the next port or says that its port is taken',
    async (t) => {
      const refused = runProgram(t, 'dev/start.js', [], { cwd: folder, env: { PORT: String(port) } })
      t.equal(await refused.ended, 78)
      t.match(refused.said(), /^The port \d+ is in use\..*\n$/)

      const second = await start(t, { cwd: folder })
      t.match(second.said(), /shared with the process that started it/)
      t.notMatch(second.said(), /Sample/)
      program.kill('SIGTERM')
      t.equal(await program.ended, 0)
      const { data } = await second.client.graphql('{ listDomains(input: {}) { total } }')
      t.equal(valueAt(data, 'listDomains.total'), 1, 'the database goes on with the second')
      second.kill('SIGTERM')
      t.equal(await second.ended, 0)
    }
  )

  t.test('is followed by one that keeps token and data, and ends when its database is killed', async (t) => {
    const token = readFileSync(join(folder, '.data', 'token'), 'utf8')
    const next = await start(t, { cwd: folder })
    t.equal(readFileSync(join(folder, '.data', 'token'), 'utf8'), token)
    t.notMatch(next.said(), /Sample/)
    process.kill(postmasterPid(folder), 'SIGKILL')
    t.equal(await next.ended, 1)
  })
})

t.test('a taken port is what is reported, although the database of the failed start ends too', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => {
    other.close()
  })
  const port = portOf(other)
  for (const [run, [file, ...args]] of (
    [['dev/start.js'], ['bin/tributary.js', 'up'], ['dev/start.js']] as const
  ).entries()) {
    const program = runProgram(t, file, args, { cwd: withFolder(t), env: { PORT: String(port) } })
    t.equal(await program.ended, 78, `run ${run}`)
    t.match(program.said(), new RegExp(`^The port ${port} is in use\\..*\\n$`))
  }
  const { url: databaseUrl } = await withEmptyDatabase(t)
  const migrated = runProgram(t, 'bin/tributary.js', ['migrate'], {
    cwd: withFolder(t),
    env: { DATABASE_URL: databaseUrl }
  })
  t.equal(await migrated.ended, 0)
  const served = runProgram(t, 'bin/tributary.js', ['serve'], {
    cwd: withFolder(t),
    env: { DATABASE_URL: databaseUrl, PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'silent' }
  })
  t.equal(await served.ended, 78)
  t.match(served.said(), new RegExp(`^The port ${port} is in use\\..*\\n$`))
})

t.test('before the migration, serve and work say so in one line', async (t) => {
  const { url: databaseUrl } = await withEmptyDatabase(t)
  for (const command of ['serve', 'work']) {
    const program = runProgram(t, 'bin/tributary.js', [command], {
      cwd: withFolder(t),
      env: { DATABASE_URL: databaseUrl, PORT: String(await freePort()), HOST: '127.0.0.1', LOG_LEVEL: 'warn' }
    })
    await program.says(/tributary migrate/)
    // long enough for the loops of a worker and the first attempts to load the graph
    await sleep(3_500)
    program.kill('SIGTERM')
    t.equal(await program.ended, 0)
    t.match(program.said(), /^\{[^\n]*run `tributary migrate`[^\n]*\n$/, command)
  }
})

t.test("the next steps that are printed work with a port and a data directory of one's own", async (t) => {
  const folder = withFolder(t)
  const dataDir = join(folder, 'my data')
  const port = await freePort()
  // `tributary up` is what npm start runs
  const program = runProgram(t, 'bin/tributary.js', ['up'], {
    cwd: folder,
    env: { PORT: String(port), TRIBUTARY_DATA_DIR: dataDir, JOURNAL_STREAM: '8:1' }
  })
  await program.says(/Ctrl-C/)
  t.match(program.said(), new RegExp(`^Open in a browser: http://127.0.0.1:${port}/ui/$`, 'm'))
  t.notMatch(program.said(), 'code=', 'a journal gets no code')
  for (const command of ['sign-in', 'load -'])
    t.match(program.said(), new RegExp(`TRIBUTARY_DATA_DIR='${dataDir}' \\S+/tributary\\.js ${command}`))
  t.ok(
    program.said().includes(`$(cat '${join(dataDir, 'token')}')`) ||
      program.said().includes("$(cat 'my data/token')"),
    program.said()
  )
  program.kill('SIGTERM')
  t.equal(await program.ended, 0)
})

t.test('1,000 acknowledged writes survive the kill of every process, the database included', async (t) => {
  const folder = withFolder(t)
  const begunAt = Date.now()
  const first = await start(t, { cwd: folder, user: somebody })
  const firstMs = Date.now() - begunAt
  const acknowledged: string[] = []
  let next = 0
  async function write(): Promise<void> {
    for (; next < 1_000;) {
      const urn = `urn:li:domain:kept-${next++}`
      const answer = await first.client.send('POST', '/aspects?action=ingestProposal', {
        proposal: {
          entityType: 'domain',
          entityUrn: urn,
          changeType: 'UPSERT',
          aspectName: 'domainProperties',
          aspect: { contentType: 'application/json', value: JSON.stringify({ name: urn }) }
        }
      })
      if (answer.status === 200) acknowledged.push(urn)
    }
  }
  await Promise.all(Array.from({ length: 6 }, write))
  const pid = postmasterPid(folder)
  first.kill('SIGKILL')
  process.kill(pid, 'SIGKILL')
  t.equal(acknowledged.length, 1_000)

  const startedAt = Date.now()
  const second = await start(t, { cwd: folder, user: somebody })
  const secondMs = Date.now() - startedAt
  t.ok(secondMs < restartMaxRatio * firstMs, `ready after ${firstMs} ms, and again after ${secondMs} ms`)
  const { data } = await second.client.graphql(
    '{ listDomains(input: { count: 2000, query: "kept-" }) { domains { urn } } }'
  )
  const found = valueAt(data, 'listDomains.domains')
  t.same(
    Array.isArray(found) ? found.map((domain) => String(valueAt(domain, 'urn'))).sort() : found,
    acknowledged.sort()
  )
  second.kill('SIGTERM')
  t.equal(await second.ended, 0, second.said())
})

t.test('with DATABASE_URL nothing is embedded', async (t) => {
  const folder = withFolder(t)
  const { url: databaseUrl } = await withEmptyDatabase(t)
  const program = await start(t, {
    cwd: folder,
    env: { DATABASE_URL: databaseUrl, PORT: String(await freePort()), HOST: '127.0.0.1' }
  })
  await program.says(/Ctrl-C/)
  t.same(readdirSync(join(folder, '.data')), ['servers', 'token'])
  t.match(program.said(), /database {2}that of DATABASE_URL/)
  program.kill('SIGTERM')
  t.equal(await program.ended, 0)
})

t.test('a URL that does not answer is fatal, in one line that tells no password', async (t) => {
  for (const env of [
    { DATABASE_URL: 'postgres://me:hidden@127.0.0.1:1/none' },
    { REDIS_URL: 'redis://:hidden@127.0.0.1:1' }
  ]) {
    const folder = withFolder(t)
    const program = runProgram(t, 'dev/start.js', [], { cwd: folder, env: { ...env } })
    t.equal(await program.ended, 78)
    t.match(
      program.said(),
      /^The (database|Redis) of (DATABASE|REDIS)_URL does not answer: .*ECONNREFUSED.*\n$/
    )
    t.notMatch(program.said(), 'hidden')
    t.notOk(existsSync(join(folder, '.data')), 'and nothing was embedded instead')
  }
})

t.test('TRIBUTARY_BOOTSTRAP_TOKEN is the first token', async (t) => {
  const folder = withFolder(t)
  const program = await start(t, {
    cwd: folder,
    env: { TRIBUTARY_BOOTSTRAP_TOKEN: 'chosen-by-the-operator', PORT: String(await freePort()) }
  })
  const { data } = await catalogClient(program.url, 'chosen-by-the-operator').graphql(
    '{ listDomains(input: {}) { total } }'
  )
  t.type(valueAt(data, 'listDomains.total'), 'number')
  program.kill('SIGTERM')
  t.equal(await program.ended, 0)
})

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
  return address.port
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    ({ status }) => status === 200,
    () => false
  )
}

function postmasterPid(folder: string): number {
  return Number(readFileSync(join(folder, '.data', 'pg', 'postmaster.pid'), 'utf8').split('\n')[0])
}
