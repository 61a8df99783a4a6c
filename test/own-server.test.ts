/**
 * Who is talked to: a token that comes from the data folder only goes to the server that was started with the folder,
 * and only over a connection on which it has proved itself.
 */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { commandTable } from '../bin/command-table.ts'
import { startApiOnFreePort } from '../dev/api-on-free-port.ts'
import { createToken } from '../shared/catalog/access/create-token.ts'
import { limits } from '../shared/limits.ts'
import { readConfig } from '../shared/platform/config.ts'
import { isProof, newSecret, proofOf, proofPath } from '../shared/platform/instance-proof.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { createLog } from '../shared/platform/log.ts'
import { readServerRecords, writeServerRecord } from '../shared/platform/server-records.ts'
import { withDatabase } from './support/database.ts'
import { freePort } from './support/free-port.ts'
import { withFolder } from './support/program.ts'
import { runCommand, type Outcome } from './support/run-command.ts'
import { withStandIn } from './support/stand-in-server.ts'

t.setTimeout(300_000)

const asset = 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)'

const loadId = '12345678-1234-1234-1234-123456789012'

type Catalog = { databaseUrl: string; token: string }

async function withCatalog(t: Test): Promise<Catalog> {
  const { db, url: databaseUrl } = await withDatabase(t)
  const { token } = await createToken(db, { name: 'test admin', scopes: ['admin'] })
  return { databaseUrl, token }
}

/** A data folder with the token of a catalog, as `tributary up` leaves it. */
function withDataDir(t: Test, { token }: Catalog): string {
  const dataDir = join(withFolder(t), '.data')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'token'), `${token}\n`, { mode: 0o600 })
  return dataDir
}

type Started = { url: string; key: string; stop: () => Promise<void> }

/** The server of `tributary up`, without its worker. */
async function start(
  t: Test,
  { databaseUrl }: Catalog,
  dataDir: string,
  { port, host = '127.0.0.1' }: { port: number; host?: string }
): Promise<Started> {
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: 'silent',
    HOST: host,
    PORT: String(port),
    TRIBUTARY_DATA_DIR: dataDir
  })
  const api = startApiOnFreePort(config, createLog(config), { mayMove: true })
  t.teardown(() => api.stop())
  await api.start()
  const url = api.url()
  const key = readServerRecords(dataDir).find((record) => record.url === url)?.key ?? ''
  return { url, key, stop: () => api.stop() }
}

type Stranger = {
  port: number
  url: string
  seen: { path: string; authorization: string | undefined; body: string }[]
  stop: () => Promise<void>
}

/** Another program at an address; it keeps what it was sent. */
async function withStranger(
  t: Test,
  answer: (request: IncomingMessage, body: string) => unknown,
  wantedPort?: number
): Promise<Stranger> {
  const seen: Stranger['seen'] = []
  const listener: RequestListener = (request, response) => {
    let body = ''
    request.on('data', (part) => {
      body += String(part)
    })
    request.on('end', () => {
      seen.push({ path: request.url ?? '', authorization: request.headers.authorization, body })
      void Promise.resolve(answer(request, body)).then((answered) => {
        response.writeHead(200, { 'content-type': 'application/json', 'x-lineage-total': '0' })
        response.end(JSON.stringify(answered))
      })
    })
  }
  const server = createServer(listener)
  const port = wantedPort ?? (await freePort())
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve)
  })
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve()
      })
      server.closeAllConnections()
    })
  t.teardown(stop)
  return { port, url: `http://127.0.0.1:${port}`, seen, stop }
}

const load = {
  id: '0',
  state: 'done',
  error: null,
  counts: { received: 1, applied: 1, unchanged: 0, rejected: 0 }
}

/** Answers as Tributary does wherever that takes no secret. */
function imitate(request: IncomingMessage): unknown {
  const path = (request.url ?? '').split('?')[0]
  if (path === '/version') return { name: 'tributary', version: '0.1.0', node: '20.20.0' }
  if (path === `/${proofPath}`) return { proof: newSecret() }
  if (path?.startsWith('/health') === true) return { status: 'ready', database: 'up', schema: 'current' }
  if (path === '/api/graphql') return { data: { search: { total: 0, searchResults: [] } } }
  return { ...load, loads: [load], domains: [], failed_events: [], status: 'success' }
}

/** Every command that talks to a server, with operands; the rest is tested to need none. */
const commands: Readonly<Record<string, readonly string[]>> = {
  load: ['FILE'],
  'load status': [loadId],
  'load rejects': [loadId],
  'load retry': [loadId],
  'load cancel': [loadId],
  'load undo': ['12345678'],
  'load list': [],
  lineage: [asset],
  search: ['orders'],
  resolve: ['hive:shop.orders'],
  'sql-lineage': ['SQL'],
  'export lineage': [asset],
  'export domains': [],
  'domain tree': [],
  'domain create': ['Sales'],
  'domain move': ['Sales', '--top'],
  'domain delete': ['Sales'],
  'domain assign': ['Sales', asset],
  'domain unassign': [asset],
  'domain rules list': [],
  'domain rules set': ['RULES'],
  'domain rules preview': ['RULES'],
  'domain rules apply': []
}

function withFiles(t: Test): (word: string) => string {
  const folder = withFolder(t)
  const files: Readonly<Record<string, string>> = {
    FILE: join(folder, 'a.ndjson'),
    RULES: join(folder, 'rules.json'),
    SQL: join(folder, 'a.sql')
  }
  writeFileSync(files.FILE ?? '', `{"op": "upsertEntity", "urn": "${asset}"}\n`)
  writeFileSync(files.RULES ?? '', '{"rules": []}')
  writeFileSync(files.SQL ?? '', 'select a from t')
  return (word) => files[word] ?? word
}

function runsWith(env: Record<string, string>): (...args: string[]) => Promise<Outcome> {
  return (...args) => runCommand(args, { env })
}

/** Neither in a header nor anywhere else. */
function sawNothing(t: Test, { seen }: Stranger, token: string, name: string): void {
  t.notOk(
    seen.some((each) => each.authorization !== undefined || JSON.stringify(each).includes(token)),
    `${name}: no token was sent`
  )
}

t.test('a stranger who imitates everything that is public never sees the token', async (t) => {
  const catalog = await withCatalog(t)
  const fileOf = withFiles(t)

  t.test('for any command, while the server runs on the next port', async (t) => {
    const dataDir = withDataDir(t, catalog)
    const stranger = await withStranger(t, imitate)
    const { url } = await start(t, catalog, dataDir, { port: stranger.port })
    t.not(url, stranger.url)
    const run = runsWith({ TRIBUTARY_DATA_DIR: dataDir, PORT: String(stranger.port) })
    for (const [name, operands] of Object.entries(commands)) {
      const { err } = await run(
        ...name.split(' '),
        ...operands.map(fileOf),
        ...(name === 'load' ? ['--no-wait'] : [])
      )
      t.notMatch(err.join('\n'), /does not answer|is not the server/, `${name} finds its server`)
    }
    t.match(await run('search', 'orders'), { code: 0 })
    t.match(await run('url'), { code: 0, out: [url] })
    t.same(stranger.seen, [])
  })

  t.test('for any command, when it has taken the port of a killed server', async (t) => {
    const dataDir = withDataDir(t, catalog)
    const stranger = await withStranger(t, imitate)
    writeServerRecord(dataDir, { url: stranger.url, key: newSecret(), startedAt: new Date().toISOString() })
    const run = runsWith({ TRIBUTARY_DATA_DIR: dataDir, PORT: String(stranger.port) })
    const marquez = await withStranger(t, () => ({ events: [{ eventType: 'COMPLETE' }], totalCount: 1 }))
    const all = {
      ...commands,
      url: [],
      'sign-in': [],
      'load -': [],
      'load --from-marquez': [marquez.url, '--retry-for', '0', '--state', join(withFolder(t), 'state.json')]
    }
    for (const [name, operands] of Object.entries(all)) {
      const { code, err } = await run(...name.split(' '), ...operands.map(fileOf))
      t.equal(code, 4, name)
      t.match(err.join('\n'), /is not the server that was started with the data folder/, name)
      sawNothing(t, stranger, catalog.token, name)
    }
    t.ok(
      stranger.seen.every(({ path, body }) => path.startsWith(`/${proofPath}?nonce=`) && body === ''),
      'it was asked for a proof, and for nothing else'
    )
  })

  t.test('nor when its address is in TRIBUTARY_URL, or the token is in TRIBUTARY_TOKEN', async (t) => {
    const dataDir = withDataDir(t, catalog)
    const stranger = await withStranger(t, imitate)
    const { url } = await start(t, catalog, dataDir, { port: stranger.port })
    const own = { TRIBUTARY_DATA_DIR: dataDir, PORT: String(stranger.port) }
    t.match(await runsWith({ ...own, TRIBUTARY_URL: stranger.url })('search', 'x'), {
      code: 1,
      err: [/only sent to the server that was started with it, and http:\/\/127.0.0.1:\d+ is not its address/]
    })
    t.match(await runsWith({ ...own, TRIBUTARY_TOKEN: catalog.token })('search', 'x'), { code: 0 })
    t.match(await runsWith({ ...own, TRIBUTARY_URL: url })('search', 'x'), { code: 0 })
    t.match(await runsWith({ ...own, TRIBUTARY_URL: url.replace('127.0.0.1', 'localhost') })('search', 'x'), {
      code: 0
    })
    t.match(await runsWith({ ...own, TRIBUTARY_URL: `${url}/below` })('search', 'x'), { code: 1 })
    t.same(stranger.seen, [])
  })

  t.test('for each answer that is not the proof', async (t) => {
    const dataDir = withDataDir(t, catalog)
    const key = newSecret()
    const nonceOf = (request: IncomingMessage): string => (request.url ?? '').split('nonce=')[1] ?? ''
    const at = (request: IncomingMessage) => ({
      address: request.socket.localAddress,
      port: request.socket.localPort
    })
    const answers: Record<string, (request: IncomingMessage) => unknown> = {
      'the proof of another key': (request) => ({
        proof: proofOf(newSecret(), nonceOf(request), at(request))
      }),
      'the proof for another nonce': (request) => ({ proof: proofOf(key, newSecret(), at(request)) }),
      'the proof for another port': (request) => ({
        proof: proofOf(key, nonceOf(request), { ...at(request), port: 1 })
      }),
      'the proof for another address': (request) => ({
        proof: proofOf(key, nonceOf(request), { ...at(request), address: '127.0.0.2' })
      }),
      'the nonce': (request) => ({ proof: nonceOf(request) }),
      'an empty proof': () => ({ proof: '' }),
      'a list': () => ({ proof: [] }),
      null: () => null,
      'far too much': () => ({ proof: 'a'.repeat(10_000_000) })
    }
    const correct = (request: IncomingMessage): unknown => ({
      proof: proofOf(key, nonceOf(request), at(request))
    })
    let answer = correct
    const stranger = await withStranger(t, (request) =>
      request.url?.startsWith(`/${proofPath}`) === true ? answer(request) : imitate(request)
    )
    writeServerRecord(dataDir, { url: stranger.url, key, startedAt: new Date().toISOString() })
    const run = runsWith({ TRIBUTARY_DATA_DIR: dataDir })
    for (const [name, wrong] of Object.entries(answers)) {
      answer = wrong
      t.equal((await run('search', 'x')).code, 4, name)
      sawNothing(t, stranger, catalog.token, name)
    }
    answer = correct
    t.equal((await run('load', 'status', loadId)).code, 0, 'and this stand-in gets it with the right proof')
    t.ok(stranger.seen.some(({ authorization }) => authorization === `Bearer ${catalog.token}`))
  })

  t.test('when it passes the nonce on to the real server', async (t) => {
    const dataDir = withDataDir(t, catalog)
    const real = await start(t, catalog, dataDir, { port: await freePort() })
    const stranger = await withStranger(t, async (request) =>
      (await fetch(`${real.url}${request.url ?? ''}`)).json()
    )
    // as after a restart on another port, if both had one key
    writeServerRecord(dataDir, { url: stranger.url, key: real.key, startedAt: '2020-01-01T00:00:00.000Z' })
    const run = runsWith({ TRIBUTARY_DATA_DIR: dataDir })
    t.match(await run('url'), { code: 0, out: [real.url] })
    t.match(await run('search', 'x', '--url', stranger.url), { code: 4, err: [/is not the server/] })
    sawNothing(t, stranger, catalog.token, 'relay')
    t.ok(stranger.seen.length >= 2)
  })

  t.test('when it takes the port between the proof and the request', async (t) => {
    const dataDir = withDataDir(t, catalog)
    const key = newSecret()
    const connections = new Map<unknown, number>()
    const stranger = await withStranger(t, (request) => {
      connections.set(request.socket, (connections.get(request.socket) ?? 0) + 1)
      const nonce = (request.url ?? '').split('nonce=')[1] ?? ''
      const { localAddress: address, localPort: port } = request.socket
      return request.url?.startsWith(`/${proofPath}`) === true
        ? { proof: proofOf(key, nonce, { address, port }) }
        : imitate(request)
    })
    writeServerRecord(dataDir, { url: stranger.url, key, startedAt: new Date().toISOString() })
    t.equal((await runsWith({ TRIBUTARY_DATA_DIR: dataDir })('load', 'status', loadId)).code, 0)
    t.same(
      stranger.seen.map(({ authorization }) => authorization !== undefined),
      [false, false, true]
    )
    t.same([...connections.values()], [1, 2], 'the request has the connection of a proof')
  })

  t.test('through a record that somebody else could have written', async (t) => {
    for (const [name, spoil] of [
      ['readable by others', (path: string) => chmodSync(path, 0o644)],
      ['writable by others', (path: string) => chmodSync(path, 0o620)],
      ['a link', (path: string) => linkTo(path)],
      ['not JSON', (path: string) => writeFileSync(path, '{')],
      [
        'another scheme',
        (path: string) => writeFileSync(path, readFileSync(path, 'utf8').replace('http:', 'ftp:'))
      ],
      [
        'a user',
        (path: string) => writeFileSync(path, readFileSync(path, 'utf8').replace('http://', 'http://a@'))
      ],
      ['too long', (path: string) => writeFileSync(path, readFileSync(path, 'utf8') + ' '.repeat(5_000))]
    ] as const) {
      const dataDir = withDataDir(t, catalog)
      const { url } = await start(t, catalog, dataDir, { port: await freePort() })
      const run = runsWith({ TRIBUTARY_DATA_DIR: dataDir })
      t.match(await run('url'), { code: 0, out: [url] })
      spoil(join(dataDir, 'servers', readdirSync(join(dataDir, 'servers'))[0] ?? ''))
      t.match(await run('search', 'x'), { code: 4, err: [/No server runs with the data folder/] }, name)
    }
  })
})

/** Starts a server that may keep its record in the folder, or not. */
async function startHere(t: Test, { databaseUrl }: Catalog, dataDir: string) {
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: 'silent',
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    TRIBUTARY_DATA_DIR: dataDir
  })
  const api = startApiOnFreePort(config, createLog(config), { mayMove: false })
  t.teardown(() => api.stop())
  await api.start()
  return api
}

/** Makes the file one of somebody else. Only root can do that to a file; others put a link to a file of root there. */
function giveAway(path: string): void {
  if (process.getuid?.() === 0) return chownSync(path, 65_534, 65_534)
  rmSync(path)
  symlinkSync('/etc/passwd', path)
}

function linkTo(path: string): void {
  renameSync(path, `${path}.target`)
  symlinkSync(`${path}.target`, path)
}

t.test('doctor beside a stranger', async (t) => {
  const catalog = await withCatalog(t)
  const dataDir = withDataDir(t, catalog)
  const stranger = await withStranger(t, imitate)
  const examine = async () => {
    const { out } = await runCommand(['doctor', '--json'], {
      env: { DATABASE_URL: catalog.databaseUrl, TRIBUTARY_DATA_DIR: dataDir, PORT: String(stranger.port) }
    })
    return out
      .map((line) => JSON.parse(line) as { check: string; verdict: string; text: string })
      .filter(({ check }) => check === 'api' || check === 'token')
  }

  t.match(await examine(), [
    { check: 'api', verdict: 'note', text: /^No server runs .* At http:\S+ a Tributary server that was not/ }
  ])
  const { stop } = await start(t, catalog, dataDir, { port: stranger.port })
  const asked = stranger.seen.length
  t.match(await examine(), [
    { check: 'api', verdict: 'fine' },
    { check: 'token', verdict: 'fine' }
  ])
  t.equal(stranger.seen.length, asked, 'it is not asked while the server runs elsewhere')
  await stop()
  writeServerRecord(dataDir, { url: stranger.url, key: newSecret(), startedAt: new Date().toISOString() })
  t.match(await examine(), [{ check: 'api', verdict: 'wrong', text: /is not the server that was started/ }])
  sawNothing(t, stranger, catalog.token, 'doctor')
})

t.test('a server that closes its connection after the proof is said to be away', async (t) => {
  const catalog = await withCatalog(t)
  const dataDir = withDataDir(t, catalog)
  const key = newSecret()
  const url = await withStandIn(t, (request, response) => {
    const { localAddress: address, localPort } = request.socket
    const nonce = (request.url ?? '').split('nonce=')[1] ?? ''
    response.setHeader('connection', 'close')
    response.end(JSON.stringify({ proof: proofOf(key, nonce, { address, port: localPort }) }))
  })
  writeServerRecord(dataDir, { url, key, startedAt: new Date().toISOString() })
  const run = runsWith({ TRIBUTARY_DATA_DIR: dataDir })
  for (const args of [
    ['search', 'x'],
    ['load', withFiles(t)('FILE'), '--retry-for', '0']
  ])
    t.match(await run(...args), { code: 4, err: [/^The server at http:\S+ does not answer: [^\n]*$/] })
})

t.test('of several servers with one data folder', async (t) => {
  const catalog = await withCatalog(t)
  const dataDir = withDataDir(t, catalog)
  const run = runsWith({ TRIBUTARY_DATA_DIR: dataDir })
  const records = (): string[] => readServerRecords(dataDir).map(({ url }) => url)

  t.test('the first one is found, and the next when it ends', async (t) => {
    const port = await freePort()
    const [one, two, three] = [
      await start(t, catalog, dataDir, { port }),
      await start(t, catalog, dataDir, { port }),
      await start(t, catalog, dataDir, { port })
    ]
    t.equal(new Set([one.key, two.key, three.key]).size, 3)
    for (const running of [[one, two, three], [two, three], [three]]) {
      t.same(
        records(),
        running.map(({ url }) => url)
      )
      t.match(await run('url'), { code: 0, out: [running[0]?.url] })
      t.match(await run('search', 'x'), { code: 0 })
      t.match(
        await run('search', 'x', '--url', running.at(-1)?.url ?? ''),
        { code: 0 },
        'any of them may be named'
      )
      await running[0]?.stop()
    }
    t.same(readdirSync(join(dataDir, 'servers')), [])
    t.match(await run('search', 'x'), { code: 4, err: [/^No server runs with the data folder .* starts it/] })
  })

  t.test(
    'one that was killed is passed over, and its file is replaced by the next at its address',
    async (t) => {
      const port = await freePort()
      writeServerRecord(dataDir, {
        url: `http://127.0.0.1:${port}`,
        key: newSecret(),
        startedAt: '2020-01-01T00:00:00.000Z'
      })
      t.match(await run('search', 'x'), { code: 4, err: [/The one at http:\S+ has ended\./] })
      const stranger = await withStranger(t, imitate, port)
      const { url, stop } = await start(t, catalog, dataDir, { port })
      t.same(records(), [stranger.url, url])
      t.match(await run('url'), { code: 0, out: [url] })
      await stop()
      await stranger.stop()
      const again = await start(t, catalog, dataDir, { port })
      t.same(records(), [stranger.url], 'the same address, but a new key')
      t.match(await run('search', 'x'), { code: 0 })
      await again.stop()
      t.same(records(), [])
    }
  )

  t.test('each is found at the address where it listens, whatever it was told', async (t) => {
    for (const [host, expected] of [
      ['0.0.0.0', 'http://127.0.0.1'],
      ['::', 'http://[::1]'],
      ['::1', 'http://[::1]'],
      ['localhost', 'http://127.0.0.1'],
      ['127.0.0.3', 'http://127.0.0.3']
    ] as const) {
      const port = await freePort()
      const { url, stop } = await start(t, catalog, dataDir, { port, host })
      t.equal(url, `${expected}:${port}`, host)
      t.match(await run('search', 'x'), { code: 0 }, host)
      await stop()
    }
    const anyPort = await start(t, catalog, dataDir, { port: 0 })
    t.match(await run('url'), { code: 0, out: [anyPort.url] }, 'also at a port that the system chose')
    await anyPort.stop()
  })

  t.test('the file is for its user only, and never written in parts', async (t) => {
    const { url } = await start(t, catalog, dataDir, { port: await freePort() })
    const folder = join(dataDir, 'servers')
    const [name = ''] = readdirSync(folder)
    t.equal(statSync(folder).mode & 0o777, 0o700)
    t.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
    t.match(JSON.parse(readFileSync(join(folder, name), 'utf8')), { url, key: /^[0-9a-f]{64}$/ })
  })

  t.test('one that cannot write the file runs nevertheless, and says so', async (t) => {
    const blocked = withDataDir(t, catalog)
    writeFileSync(join(blocked, 'servers'), '')
    const api = await startHere(t, catalog, blocked)
    t.match(api.recordProblem(), /EEXIST|ENOTDIR/)
    t.equal((await fetch(`${api.url()}/version`)).status, 200)
  })
})

t.test('one whose file would not be trusted says so, such as beside the token of another user', async (t) => {
  const catalog = await withCatalog(t)
  const dataDir = withDataDir(t, catalog)
  giveAway(join(dataDir, 'token'))
  const api = await startHere(t, catalog, dataDir)
  t.match(api.recordProblem(), /not be for the owner of the token only/)
})

t.test('two catalogs with data folders of their own do not see each other', async (t) => {
  const [one, two] = [await withCatalog(t), await withCatalog(t)]
  const [first, second] = [withDataDir(t, one), withDataDir(t, two)]
  const port = await freePort()
  const a = await start(t, one, first, { port })
  const b = await start(t, two, second, { port })
  for (const [dataDir, own, other] of [
    [first, a, b],
    [second, b, a]
  ] as const) {
    const run = runsWith({ TRIBUTARY_DATA_DIR: dataDir })
    t.match(await run('url'), { code: 0, out: [own.url] })
    t.match(await run('search', 'x'), { code: 0 })
    t.match(await run('search', 'x', '--url', other.url), { code: 1, err: [/is not its address/] })
  }
})

t.test('a server answers who it is', async (t) => {
  const catalog = await withCatalog(t)
  const dataDir = withDataDir(t, catalog)
  const { url, key } = await start(t, catalog, dataDir, { port: await freePort() })
  const port = Number(new URL(url).port)
  const ask = (query: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}/${proofPath}${query}`, { headers })

  t.test('with a proof for the nonce and the address of the connection', async (t) => {
    const nonce = newSecret()
    const { proof } = (await (await ask(`?nonce=${nonce}`)).json()) as { proof: unknown }
    t.ok(isProof(proof, key, nonce, { address: '127.0.0.1', port }))
    t.ok(isProof(proof, key, nonce, { address: '::ffff:127.0.0.1', port }))
    t.notOk(isProof(proof, key, newSecret(), { address: '127.0.0.1', port }))
    t.notOk(isProof(proof, newSecret(), nonce, { address: '127.0.0.1', port }))
    t.notOk(isProof(proof, key, nonce, { address: '127.0.0.1', port: port + 1 }))
    t.notMatch(JSON.stringify(proof), key)
  })

  t.test('only to callers on its machine, and only for a nonce', async (t) => {
    for (const headers of [{ 'x-forwarded-for': '10.0.0.1' }, { forwarded: 'for=10.0.0.1' }])
      t.equal((await ask(`?nonce=${newSecret()}`, headers)).status, 403)
    for (const query of [
      '',
      '?nonce=',
      '?nonce=abc',
      `?nonce=${newSecret().toUpperCase()}x`,
      `?nonce=${newSecret()}0`,
      `?nonce=${newSecret()}&nonce=${newSecret()}`,
      `?nonce=${newSecret()}&key=1`
    ])
      t.equal((await ask(query)).status, 400, query)
  })

  t.test('a bounded number of times in a second, which commands wait out', async (t) => {
    const maximum = limits.instanceProofsPerSecondMaxCount
    let answers = ''
    // in one piece, because a loaded machine may not open as many connections in a second
    while (!answers.includes('HTTP/1.1 429 ')) answers = await pipelined(port, 5 * maximum)
    t.match(answers, /^retry-after: 1\r$/im)
    t.match(answers, `${maximum} proofs in a second are allowed`)
    t.match(await runsWith({ TRIBUTARY_DATA_DIR: dataDir })('search', 'x'), { code: 0 })
  })
})

/** The answers to that many requests for a proof, sent in one piece. */
async function pipelined(port: number, count: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const line = (index: number): string =>
    `GET /${proofPath}?nonce=${newSecret()} HTTP/1.1\r\nHost: x\r\n${index === count - 1 ? 'Connection: close\r\n' : ''}\r\n`
  socket.write(Array.from({ length: count }, (_, index) => line(index)).join(''))
  let text = ''
  for await (const part of socket.setEncoding('latin1')) text += String(part)
  return text
}

/** The state of the server of the data folder, by its words in the table of docs/command-line.md. */
type Here = { here: string; port: number; dataDir: string; stranger: Stranger | null }

t.test('what the table in docs/command-line.md says, happens', async (t) => {
  const catalog = await withCatalog(t)
  const page = readFileSync(packagePath('docs/command-line.md'), 'utf8')
  const [, rows = ''] =
    /\| Address \| Token \| The server here \| What happens \|\n\|.*\n((?:\|.*\n)+)/.exec(page) ?? []
  const cases = rows
    .trim()
    .split('\n')
    .map((row) =>
      row
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, 5)
    )
  t.ok(cases.length >= 15)

  async function stage(t: Test, words: string): Promise<Here> {
    const dataDir = withDataDir(t, catalog)
    const port = await freePort()
    if (words === 'runs' || words === 'any') {
      const { url } = await start(t, catalog, dataDir, { port })
      return { here: url, port: await freePort(), dataDir, stranger: null }
    }
    const here = `http://127.0.0.1:${port}`
    if (words.startsWith('has ended'))
      writeServerRecord(dataDir, { url: here, key: newSecret(), startedAt: new Date().toISOString() })
    const isTaken = words.includes('another program has its port')
    return { here, port, dataDir, stranger: isTaken ? await withStranger(t, imitate, port) : null }
  }

  for (const [address = '', token = '', words = '', happens = ''] of cases)
    await t.test([address, token, words].join(' | '), async (t) => {
      const { here, port, dataDir, stranger } = await stage(t, words)
      const usual = words === 'does not run' ? await withStranger(t, imitate, port) : null
      const other = await withStranger(t, imitate)
      if (token === 'none') rmSync(join(dataDir, 'token'))
      const given: Record<string, string> = {
        given: 'another-token',
        'given, another': words === 'runs' ? catalog.token : 'another-token',
        'given, the same as in the file': catalog.token
      }
      if (token === 'given, another') writeFileSync(join(dataDir, 'token'), 'trib_of_another_catalog\n')
      const url = address === 'not given' ? null : address.endsWith('the server here') ? here : other.url
      for (const asOptions of [true, false]) {
        const tokenText = given[token]
        const outcome = await runCommand(
          [
            'load',
            'status',
            loadId,
            ...(asOptions && url !== null ? ['--url', url] : []),
            ...(asOptions && tokenText !== undefined ? ['--token', tokenText] : [])
          ],
          {
            env: {
              TRIBUTARY_DATA_DIR: dataDir,
              PORT: String(port),
              ...(!asOptions && url !== null ? { TRIBUTARY_URL: url } : {}),
              ...(!asOptions && tokenText !== undefined ? { TRIBUTARY_TOKEN: tokenText } : {})
            }
          }
        )
        const goesTo =
          happens === 'the token goes to the given address'
            ? other
            : happens === 'the token goes to `http://127.0.0.1:$PORT`'
              ? usual
              : null
        const refusal = /^refused \((\d)\)$/.exec(happens)
        if (refusal !== null) t.equal(outcome.code, Number(refusal[1]), outcome.err.join('\n'))
        else if (goesTo !== null) {
          t.equal(outcome.code, 0)
          t.ok(goesTo.seen.some(({ authorization }) => authorization === `Bearer ${tokenText ?? ''}`))
        } else {
          t.equal(happens, 'the token goes there, after the proof')
          t.match(outcome, { code: 1, err: [/NOT_FOUND/] }, 'the real server knows no such load')
        }
        for (const each of [stranger, usual, other])
          if (each !== null && each !== goesTo) sawNothing(t, each, tokenText ?? catalog.token, happens)
      }
    })
})

t.test('every command that talks to a server is in these tests', async (t) => {
  const known = new Set([...Object.keys(commands), 'url', 'sign-in', 'doctor'])
  for (const { name, open } of commandTable) {
    const { options } = await open()
    if ('url' in options) t.ok(known.has(name), name)
  }
})
