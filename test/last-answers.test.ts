/** Connections end so that every answer arrives and no later request suffers, whatever the client still sends. */
import { once } from 'node:events'
import {
  Agent,
  createServer,
  request,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse
} from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { createHttpServer } from '../api/http-server.ts'
import type { LingerBounds } from '../api/last-answers.ts'
import { buildServer } from '../api/server.ts'
import { routesOf } from './fuzz/route-requests.ts'
import { runOnServer } from './support/database.ts'
import { listenUntilTeardown } from './support/listen.ts'
import { sendBytes } from './support/raw-request.ts'
import { withServer, type TestServer } from './support/server.ts'

type Door = { method: string; path: string }
type Refusal = { name: string; headers: { [name: string]: string } }

const megabyte = Buffer.alloc(1024 * 1024, ' ')

const refusalsBy = (token: string): Refusal[] => [
  { name: 'no token', headers: { 'content-type': 'application/json' } },
  { name: 'another type', headers: { authorization: `Bearer ${token}`, 'content-type': 'text/x' } },
  { name: 'blanks', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } },
  {
    name: 'a broken gzip',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-encoding': 'gzip'
    }
  }
]

/** Every route that takes a body, two that do not exist, and one that refuses the method. */
async function doorsOf(server: TestServer): Promise<Door[]> {
  const routes = await routesOf(async () => (await buildServer(server.context)).close())
  return [
    ...routes
      .filter(({ method, isRefused }) => !isRefused && ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method))
      .map(({ method, url }) => ({ method, path: url.replaceAll(/:\w+|\*/g, 'x') })),
    { method: 'POST', path: '/loads?format=nonsense' },
    { method: 'POST', path: '/loads?format=csv' },
    { method: 'POST', path: '/no/such' },
    { method: 'PUT', path: '/%zz' },
    { method: 'POST', path: '/version' }
  ]
}

type Got = { status: number; connection: string | undefined; text: string }

/** One request on a connection of the agent. Rejects if the connection is reset before the whole answer is here. */
const ask = (
  url: string,
  agent: Agent,
  { method, path }: Door,
  { headers, body }: { headers?: { [name: string]: string }; body?: Buffer } = {}
): Promise<Got> =>
  new Promise((resolve, reject) => {
    let isAnswered = false
    const outgoing = request(
      `${url}${path}`,
      { method, agent, headers: { ...headers, ...(body && { 'content-length': String(body.length) }) } },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => (text += part))
        answer.on('error', reject)
        answer.on('end', () => {
          isAnswered = true
          resolve({ status: answer.statusCode ?? 0, connection: answer.headers.connection, text })
        })
      }
    )
    // After a whole answer the client may fail to send the rest of what was refused.
    outgoing.on('error', (error) => isAnswered || reject(error))
    outgoing.end(body)
  })

const version: Door = { method: 'GET', path: '/version' }

/** For each door and refusal, an innocent request comes next on the same pool. Returns what was wrong. */
async function refuseAndAsk(
  t: Test,
  url: string,
  doors: readonly Door[],
  refusals: readonly Refusal[]
): Promise<{ asked: number; wrong: string[] }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const wrong: string[] = []
  let asked = 0
  for (const door of doors)
    for (const { name, headers } of refusals) {
      const what = `${door.method} ${door.path} with ${name}`
      try {
        const { status, text } = await ask(url, agent, door, { headers, body: megabyte })
        if (status < 200 || (status >= 400 && text === '')) wrong.push(`${what}: ${status} ${text}`)
        const next = await ask(url, agent, version)
        asked += 1
        if (next.status !== 200) wrong.push(`after ${what}: ${next.status}`)
      } catch (error) {
        wrong.push(`${what}: ${String(error)}`)
      }
    }
  return { asked, wrong }
}

/** A proxy that keeps its connections to the server for the next request, of whichever client. */
async function withKeepingProxy(t: Test, target: string): Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 })
  t.teardown(() => agent.destroy())
  const sockets = new Set<Socket>()
  const proxy = createServer((incoming, outgoing) => {
    const forwarded = request(
      `${target}${incoming.url ?? ''}`,
      { method: incoming.method ?? 'GET', headers: incoming.headers, agent },
      (answer) => {
        const { connection: _connection, ...headers } = answer.headers
        outgoing.writeHead(answer.statusCode ?? 502, headers)
        answer.pipe(outgoing)
      }
    )
    forwarded.on('error', () => {
      if (!outgoing.headersSent) outgoing.writeHead(502).end('the server reset the connection')
    })
    incoming.pipe(forwarded)
  })
  proxy.on('connection', (socket) => sockets.add(socket))
  return `http://127.0.0.1:${await listenUntilTeardown(t, proxy, sockets)}`
}

t.test('after a refused upload', async (t) => {
  const server = await withServer(t, { memory: false })
  const doors = await doorsOf(server)
  const refusals = refusalsBy(server.token)

  t.test('the next request on the same connections is answered, at every door', async (t) => {
    const { asked, wrong } = await refuseAndAsk(t, server.url, doors, refusals)
    t.strictSame(wrong, [])
    t.equal(asked, doors.length * refusals.length)
    t.ok(asked > 100, `${asked} innocent requests`)
  })

  t.test('50 of 50 other clients of a proxy are answered', async (t) => {
    const proxy = await withKeepingProxy(t, server.url)
    const uploads = new Agent({ keepAlive: true, maxSockets: 4 })
    const others = new Agent({ keepAlive: true, maxSockets: 4 })
    t.teardown(() => {
      uploads.destroy()
      others.destroy()
    })
    let isOver = false
    const refusing = (async () => {
      for (let round = 0; !isOver; round += 1) {
        const door = doors[round % doors.length] ?? version
        const { headers } = refusals[round % refusals.length] ?? { headers: {} }
        await ask(proxy, uploads, door, { headers, body: megabyte }).catch(() => {})
      }
    })()
    const statuses: number[] = []
    for (let innocent = 0; innocent < 50; innocent += 1) {
      statuses.push((await ask(proxy, others, version)).status)
      await sleep(20)
    }
    isOver = true
    await refusing
    t.strictSame(statuses, Array(50).fill(200))
  })

  t.test('an answer to a body that is not read announces the close', async (t) => {
    const agent = new Agent({ keepAlive: true })
    t.teardown(() => agent.destroy())
    for (const door of doors) {
      const { status, connection } = await ask(server.url, agent, door, {
        headers: { 'content-type': 'text/x' },
        body: megabyte
      })
      t.equal(connection, 'close', `${door.method} ${door.path} ${status}`)
    }
  })
})

t.test('while Postgres only reads, uploads and 50 requests between them are all answered', async (t) => {
  const server = await withServer(t, { memory: false })
  const doors = (await doorsOf(server)).filter(({ path }) => !path.startsWith('/session'))
  const name = new URL(server.databaseUrl).pathname.slice(1)
  await runOnServer(server.databaseUrl, `alter database "${name}" set default_transaction_read_only = on`)
  await runOnServer(
    server.databaseUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`
  )
  const agent = new Agent({ keepAlive: true, maxSockets: 2 })
  t.teardown(() => agent.destroy())
  const body = Buffer.from(`{"op":"createDomain","name":"x"}\n`.repeat(10_000))
  const load = { method: 'POST', path: '/loads?format=ndjson' }
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/x-ndjson' }
  // The first requests find connections that were cut.
  while ((await ask(server.url, agent, load, { headers, body })).status !== 503) await sleep(50)
  const [got, innocent]: [number[], number[]] = [[], []]
  for (let round = 0; round < 50; round += 1) {
    const door = doors[round % doors.length] ?? load
    got.push((await ask(server.url, agent, round % 2 === 0 ? load : door, { headers, body })).status)
    innocent.push((await ask(server.url, agent, version)).status)
  }
  t.strictSame(innocent, Array(50).fill(200))
  t.strictSame(
    got.filter((_, round) => round % 2 === 0),
    Array(25).fill(503)
  )
})

/** Sends all of it without reading, and only then reads what came, as simple clients do. */
async function sendAllThenRead(
  url: string,
  parts: Iterable<string | Buffer>
): Promise<{ text: string; error: string | null }> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  let error: string | null = null
  socket.on('error', (reason: Error & { code?: string }) => (error ??= reason.code ?? String(reason)))
  let goOn: () => void = () => {}
  socket.on('drain', () => goOn())
  socket.on('close', () => goOn())
  for (const part of parts) {
    if (error !== null) break
    if (!socket.write(part) && !socket.closed)
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
  }
  let text = ''
  socket.on('data', (data) => (text += data.toString('latin1')))
  if (!socket.closed) await Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => {})
  socket.destroy()
  return { text, error }
}

function* bodyOf(bytes: number, isChunked: boolean): Generator<Buffer> {
  const part = Buffer.alloc(65_536, ' ')
  for (let sent = 0; sent < bytes; sent += part.length)
    yield isChunked ? Buffer.concat([Buffer.from('10000\r\n'), part, Buffer.from('\r\n')]) : part
  if (isChunked) yield Buffer.from('0\r\n\r\n')
}

const size = 50 * 1024 * 1024
/** More than the buffers of both sockets hold. */
const enough = 12 * 1024 * 1024

t.test('a client that sends 50 MB before it reads gets the whole answer', async (t) => {
  const server = await withServer(t, { memory: false })
  const doors: { name: string; head: string; isChunked?: true; status: number }[] = [
    { name: 'a load without a token', head: 'POST /loads HTTP/1.1\r\nHost: x\r\n', status: 401 },
    {
      name: 'a load with a wrong parameter',
      head: `POST /loads?format=nonsense HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n`,
      status: 400
    },
    {
      name: 'a load whose encoding is unknown',
      head: `POST /loads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Encoding: br\r\n`,
      status: 415
    },
    {
      name: 'an event that is too large',
      head: `POST /api/v1/lineage HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\n`,
      isChunked: true,
      status: 413
    },
    {
      name: 'a GraphQL request that is too large',
      head: `POST /api/graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\n`,
      isChunked: true,
      status: 413
    },
    { name: 'an unknown path', head: 'POST /no/such HTTP/1.1\r\nHost: x\r\n', status: 401 },
    {
      name: 'a wrong method',
      head: `PUT /version HTTP/1.1\r\nHost: x\r\n`,
      status: 405
    },
    { name: 'a path that cannot be read', head: `POST /%zz HTTP/1.1\r\nHost: x\r\n`, status: 400 },
    { name: 'a read', head: `GET /version HTTP/1.1\r\nHost: x\r\n`, status: 200 },
    { name: 'HTTP/1.0', head: `POST /loads HTTP/1.0\r\n`, status: 401 },
    {
      name: 'HTTP/1.0 that asks to be kept',
      head: `POST /loads HTTP/1.0\r\nConnection: keep-alive\r\n`,
      status: 401
    },
    { name: 'no host', head: `POST /loads HTTP/1.1\r\n`, status: 400 },
    { name: 'Expect', head: `POST /loads HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n`, status: 401 },
    { name: 'another Expect', head: `POST /loads HTTP/1.1\r\nHost: x\r\nExpect: more\r\n`, status: 401 },
    {
      name: 'headers that are too long',
      head: `POST /loads HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n`,
      status: 431
    },
    { name: 'broken headers', head: `POST /loads HTTP/1.1\r\nHost: x\r\nno colon\r\n`, status: 400 },
    { name: 'CONNECT', head: `CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n`, status: 400 }
  ]
  for (const [index, { name, head, isChunked = false, status }] of doors.entries()) {
    const bytes = index < 2 || isChunked ? size : enough
    const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes}`
    const { text, error } = await sendAllThenRead(
      server.url,
      (function* () {
        yield `${head}${framing}\r\n\r\n`
        yield* bodyOf(bytes, isChunked)
      })()
    )
    t.equal(error, null, name)
    const [, found, headers = '', body = ''] =
      /^HTTP\/1\.\d (\d+) [^\r]*\r\n([^]*?)\r\n\r\n([^]*)$/.exec(text) ?? []
    t.equal(Number(found), status, name, { text })
    t.match(headers, /^connection: close$/im, name)
    t.equal(Number(/^content-length: (\d+)/im.exec(headers)?.[1]), body.length, `${name}: the whole body`)
  }
})

t.test('a body that fails in the middle', async (t) => {
  const server = await withServer(t, { memory: false })
  const head = `POST /loads?format=ndjson HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n`

  t.test('of gzip is refused while the client still sends', async (t) => {
    const packed = gzipSync(Buffer.alloc(100_000, 'x'))
    packed.writeUInt32LE(1, packed.length - 8)
    const { text, error } = await sendAllThenRead(
      server.url,
      (function* () {
        yield `${head}Content-Encoding: gzip\r\nContent-Length: ${enough}\r\n\r\n`
        yield packed
        yield* bodyOf(enough - packed.length, false)
      })()
    )
    t.equal(error, null)
    t.match(text, /^HTTP\/1.1 400 [^]*"code":"BAD_REQUEST"/)
  })

  t.test('of a chunk is refused while the client still sends', async (t) => {
    const { text, error } = await sendAllThenRead(
      server.url,
      (function* () {
        yield `${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nnonsense\r\n`
        yield* bodyOf(enough, false)
      })()
    )
    t.equal(error, null)
    t.match(text, /^HTTP\/1.1 400 [^]*"code":"BAD_REQUEST"/)
  })

  t.test(
    'that is refused when it has wholly arrived leaves the connection for the next request',
    async (t) => {
      const line = `{"op":"createDomain","name":"x"}\n`.repeat(1_800)
      const text = await sendBytes(
        server.url,
        `POST /api/v1/lineage HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Encoding: gzip\r\nContent-Length: ${line.length}\r\n\r\n${line}GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
      )
      t.match(text, /^HTTP\/1.1 400 [^]*HTTP\/1.1 200 /)
    }
  )
})

t.test('a client that ends its side', async (t) => {
  const server = await withServer(t, { memory: false })
  const { hostname, port } = new URL(server.url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  socket.end(`POST /loads HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n{`)
  let text = ''
  socket.on('data', (data) => (text += data.toString()))
  await once(socket, 'close')
  t.match(text, /^HTTP\/1.1 40[01] /, 'in the middle of a body is answered, and the connection ends')
})

t.test('requests on one connection', async (t) => {
  const server = await withServer(t, { memory: false })
  const limits = `GET /api/limits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n`

  t.test('after a body that was not read are not served', async (t) => {
    const { text } = await sendAllThenRead(
      server.url,
      (function* () {
        yield `POST /loads HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n`
        yield megabyte
        yield 'GET /version HTTP/1.1\r\nHost: x\r\n\r\n'
      })()
    )
    t.equal(text.match(/HTTP\/1.1 /g)?.length, 1)
    t.match(text, /^HTTP\/1.1 401 /)
  })

  t.test('are answered before what follows breaks the connection', async (t) => {
    const one = await sendBytes(server.url, `${limits}\r\nnonsense\r\n\r\n`)
    t.match(one, /^HTTP\/1.1 200 [^]*"loadMaxBytes":/)
    t.equal(one.match(/HTTP\/1.1 /g)?.length, 1)
    const two = await sendBytes(server.url, `${limits}\r\n${limits}\r\nnonsense\r\n\r\n`)
    t.equal(two.match(/HTTP\/1.1 200 /g)?.length, 2)
    t.equal(two.match(/HTTP\/1.1 /g)?.length, 2)
    const last = await sendBytes(
      server.url,
      `${limits}Connection: close\r\n\r\nGET /version HTTP/1.1\r\n\r\n`
    )
    t.match(last, /^HTTP\/1.1 200 [^]*"loadMaxBytes":/)
    t.equal(last.match(/HTTP\/1.1 /g)?.length, 1)
  })
})

t.test('what follows a broken request is not kept while the answer before it goes on', async (t) => {
  const answers: ServerResponse[] = []
  const { server, url } = await withSmallServer(t, {}, (_request, answer) => {
    answers.push(answer)
    answer.write('the first part')
  })
  let broken = 0
  server.on('clientError', () => (broken += 1))
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  const closed = once(socket.resume(), 'close')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  while (broken < 20) {
    socket.write('nonsense\r\n\r\n')
    await sleep(1)
  }
  const [answer] = answers
  t.ok(answer && answer.listenerCount('finish') < 10, `${answer?.listenerCount('finish')} listeners`)
  answer?.end()
  await closed
})

t.test('a client that waits for 100 Continue', async (t) => {
  const server = await withServer(t, { memory: false })
  const send = (path: string, token: string) =>
    new Promise<{ isAsked: boolean; status: number }>((resolve, reject) => {
      let isAsked = false
      const body = `{"op":"createDomain","name":"x"}\n`
      const outgoing = request(
        `${server.url}${path}`,
        {
          method: 'POST',
          headers: {
            expect: '100-continue',
            authorization: `Bearer ${token}`,
            'content-type': 'application/x-ndjson',
            'content-length': body.length
          }
        },
        (answer: IncomingMessage) => {
          answer.resume().on('end', () => resolve({ isAsked, status: answer.statusCode ?? 0 }))
        }
      )
      outgoing.on('error', reject)
      outgoing.on('continue', () => {
        isAsked = true
        outgoing.end(body)
      })
      outgoing.flushHeaders()
    })
  t.strictSame(await send('/loads?format=ndjson', server.token), { isAsked: true, status: 202 })
  t.strictSame(await send('/loads?format=ndjson', 'wrong'), { isAsked: false, status: 401 })
  t.strictSame(await send('/loads?format=nonsense', server.token), { isAsked: false, status: 400 })
  t.strictSame(await send('/api/graphql', server.token), { isAsked: false, status: 415 })
})

/** A server whose only handler does not read bodies. */
async function withSmallServer(
  t: Test,
  bounds: Partial<LingerBounds>,
  listener: RequestListener = (_request, answer) => answer.end('refused')
): Promise<{ server: Server; url: string }> {
  const linger = { maxMs: 1e9, silenceMaxMs: 1e9, maxBytes: Infinity, ...bounds }
  const server = createHttpServer(listener, { requestMaxMs: 120_000, linger })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  return { server, url: `http://127.0.0.1:${await listenUntilTeardown(t, server, sockets)}` }
}

const endless = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'

t.test('a closing connection is cut off', async (t) => {
  const bounds: { name: string; bound: Partial<LingerBounds> }[] = [
    { name: 'after its time', bound: { maxMs: 100 } },
    { name: 'after its bytes', bound: { maxBytes: 1_000_000 } }
  ]
  for (const { name, bound } of bounds)
    t.test(`${name}, although the client sends forever`, async (t) => {
      const { url } = await withSmallServer(t, bound)
      const { text } = await sendAllThenRead(
        url,
        (function* () {
          yield endless
          yield* bodyOf(Infinity, true)
        })()
      )
      t.match(text, /refused|^$/)
    })

  t.test('when the client is silent, also while the server closes', async (t) => {
    const { server, url } = await withSmallServer(t, { silenceMaxMs: 100 })
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    socket.write(endless)
    await once(socket, 'data')
    const closed = once(server, 'close')
    server.close()
    socket.resume()
    await closed
    t.pass('the server has closed')
    socket.destroy()
  })
})

t.test('a body that is cut off never looks complete', async (t) => {
  let cutOff: () => void = () => {}
  const { url } = await withSmallServer(t, {}, (_request, answer) => {
    answer.write('the first part')
    cutOff = () => answer.destroy()
  })
  const ask = async (head: string) => {
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port) })
    let error: string | null = null
    let text = ''
    socket.on('error', (reason: Error & { code?: string }) => (error = reason.code ?? null))
    socket.on('data', (data) => {
      text += data.toString()
      if (text.includes('the first part')) cutOff()
    })
    socket.write(head)
    // Not once() of node:events, which rejects after a reset.
    await new Promise((resolve) => {
      socket.once('close', resolve)
    })
    return { error, text }
  }
  t.match(await ask('GET / HTTP/1.0\r\n\r\n'), { error: 'ECONNRESET' }, 'without chunks it is reset')
  const { text } = await ask('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  t.notMatch(text, /\r\n0\r\n/, 'with chunks the last one is missing')
})
