/** `tributary load` on a bad network: an upload becomes exactly one load, however often it had to be sent. */
import { readdirSync, truncateSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Interrupted } from '../bin/client/interruption.ts'
import { openSpool } from '../bin/client/spool.ts'
import { withCuttingProxy, type Cut } from './support/cutting-proxy.ts'
import { runProgram, withFolder, type Program } from './support/program.ts'
import { freePort } from './support/free-port.ts'
import { runCommand, type Given, type Outcome } from './support/run-command.ts'
import { withServer, type TestServer } from './support/server.ts'
import { withStandIn } from './support/stand-in-server.ts'
import { withResolver } from './support/with-resolver.ts'

// servers are killed and started while other tests run beside this one
t.setTimeout(300_000)

const asset = (index: number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,upload.table_${index},PROD)`
const recordCount = 10_000
const records = Array.from(
  { length: recordCount },
  (_, index) => `${JSON.stringify({ op: 'upsertEntity', urn: asset(index) })}\n`
).join('')

type Attempt = { key: string; body: string }
/** What the stand-in server does with an attempt: cuts the connection after the first bytes, or answers. */
type Doing = 'cut' | { status: number; headers?: Record<string, string>; code?: string }

const done: Doing = { status: 200 }
const load = {
  id: '0',
  state: 'done',
  error: null,
  counts: { received: 1, applied: 1, unchanged: 0, rejected: 0 }
}

/** A server that treats the first attempts as the list says. */
async function withAttempts(t: Test, list: readonly Doing[]): Promise<{ url: string; attempts: Attempt[] }> {
  const attempts: Attempt[] = []
  function answer(doing: Doing, request: IncomingMessage, response: ServerResponse): void {
    const attempt = { key: String(request.headers['idempotency-key']), body: '' }
    attempts.push(attempt)
    request.on('data', (part) => {
      attempt.body += String(part)
      if (doing === 'cut') request.destroy()
    })
    request.on('end', () => {
      if (doing === 'cut') return
      const body = doing.status < 300 ? load : { code: doing.code ?? 'UNAVAILABLE', message: 'as told' }
      response.writeHead(doing.status, doing.headers).end(JSON.stringify(body))
    })
  }
  const url = await withStandIn(t, (request, response) => {
    answer(list[attempts.length] ?? done, request, response)
  })
  return { url, attempts }
}

const send = (url: string, args: string[], given: Given = {}): Promise<Outcome> =>
  runCommand(['load', ...args], { ...given, env: { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: 'x' } })

t.test('an upload that finds no answer', async (t) => {
  const folder = withFolder(t)
  const path = join(folder, 'a.ndjson')
  writeFileSync(path, 'one\ntwo\n')

  t.test('is sent again whole, under the same key, and says so', async (t) => {
    const { url, attempts } = await withAttempts(t, [
      'cut',
      { status: 503 },
      { status: 408, code: 'REQUEST_TIMEOUT' },
      { status: 500 }
    ])
    const { code, err } = await send(url, [path])
    t.equal(code, 0)
    t.equal(attempts.length, 5)
    t.equal(new Set(attempts.map(({ key }) => key)).size, 1)
    t.equal(attempts.at(-1)?.body, 'one\ntwo\n')
    t.match(err[0], /ECONNRESET|socket hang up.* Sending it again in \d+ s/)
  })

  t.test('waits as long as the server asks, also for its own earlier attempt', async (t) => {
    for (const doing of [
      { status: 503, headers: { 'retry-after': '2' } },
      { status: 409, headers: { 'retry-after': '2' }, code: 'CONFLICT' }
    ]) {
      const { url, attempts } = await withAttempts(t, [doing])
      const startedAt = Date.now()
      t.equal((await send(url, [path])).code, 0)
      t.ok(Date.now() - startedAt >= 1_900, String(doing.status))
      t.equal(attempts.length, 2)
    }
  })

  t.test('is not sent again if that would not help, and ends with 1', async (t) => {
    for (const [status, code] of [
      [409, 'CONFLICT'],
      [422, 'IDEMPOTENCY_MISMATCH'],
      [413, 'BODY_TOO_LARGE'],
      [400, 'BAD_REQUEST']
    ] as const) {
      const { url, attempts } = await withAttempts(t, [{ status, code }])
      t.match(await send(url, [path]), { code: 1, err: [new RegExp(code)] })
      t.equal(attempts.length, 1)
    }
  })

  t.test('is given up if the server does not accept it in the given time, and ends with 4', async (t) => {
    const { url, attempts } = await withAttempts(
      t,
      Array.from({ length: 50 }, (): Doing => ({ status: 503 }))
    )
    const startedAt = Date.now()
    const { code, err } = await send(url, [path, '--retry-for', '2'])
    t.equal(code, 4)
    t.match(err.at(-1), /UNAVAILABLE: as told Tried for 2 s/)
    t.ok(Date.now() - startedAt >= 1_900 && attempts.length >= 3)
    const once = await withAttempts(t, ['cut'])
    t.match(await send(once.url, [path, '--retry-for', '0']), { code: 4 })
    t.equal(once.attempts.length, 1)
  })

  t.test('is sent again from standard input, as far as the input was kept', async (t) => {
    const { url, attempts } = await withAttempts(t, ['cut', 'cut'])
    const input = Readable.from([Buffer.from('one\n'), Buffer.from(''), Buffer.from('two\n')])
    t.match(await send(url, ['-'], { input }), { code: 0 })
    t.equal(attempts.at(-1)?.body, 'one\ntwo\n')
  })

  t.test('is no load if its file has become too short', async (t) => {
    const long = join(folder, 'long.ndjson')
    writeFileSync(long, records)
    let seen = ''
    const url = await withStandIn(t, (request) => {
      request.on('error', () => {})
      request.once('data', () => truncateSync(long, 10))
      request.on('data', (part) => {
        seen += String(part)
      })
    })
    t.match(await send(url, [long]), { code: 1, err: [/became shorter/] })
    t.ok(seen.length < records.length)
  })
})

t.test('standard input is kept', async (t) => {
  const folder = withFolder(t)
  const parts = Array.from({ length: 50 }, (_, index) => Buffer.from(`${String(index).repeat(100)}\n`))
  const whole = Buffer.concat(parts).toString()
  const textOf = async (source: AsyncIterable<Buffer>, stopAfter = Infinity): Promise<string> => {
    let text = ''
    for await (const part of source) {
      text += part.toString()
      if (text.length >= stopAfter) break
    }
    return text
  }

  t.test(
    'in memory, and beyond that in a file, from which it is read as often as need be; then the file is gone',
    async (t) => {
      for (const memoryBytes of [1_000_000, 1_000, 0]) {
        const spool = openSpool(Readable.from(parts), folder, memoryBytes)
        t.ok(whole.startsWith(await textOf(spool.read(), 2_000)))
        t.equal(await textOf(spool.read()), whole, `${memoryBytes} bytes of memory`)
        t.equal(await textOf(spool.read()), whole)
        t.equal(readdirSync(folder).length, memoryBytes > 10_000 ? 0 : 1)
        await spool.close()
        t.strictSame(readdirSync(folder), [])
      }
    }
  )

  t.test('while a reader that was given up still waits for more', async (t) => {
    const source = new Readable({ read() {} })
    const spool = openSpool(source, folder)
    const abandoned = spool.read().next()
    const read = textOf(spool.read())
    for (const part of parts) source.push(part)
    source.push(null)
    t.equal(await read, whole)
    t.ok(whole.startsWith(String((await abandoned).value)))
  })

  t.test('or, without disk space, is sent only once', async (t) => {
    const spool = openSpool(Readable.from(parts), join(folder, 'none'), 1_000)
    t.equal(await textOf(spool.read()), whole)
    t.match(spool.problem(), /ENOENT/)
    await spool.close()
  })
})

t.test('Ctrl-C', async (t) => {
  const folder = withFolder(t)
  const path = join(folder, 'a.ndjson')
  writeFileSync(path, 'one\n')

  t.test('stops an upload, and ends with 130', async (t) => {
    // more than the buffers between the two take
    const large = join(folder, 'large.ndjson')
    writeFileSync(large, 'x'.repeat(50_000_000))
    let hear: ((request: IncomingMessage) => void) | undefined
    const heard = new Promise<IncomingMessage>((resolve) => {
      hear = resolve
    })
    const url = await withStandIn(t, (request) => {
      request.on('error', () => {})
      hear?.(request)
    })
    const run = runProgram(t, 'bin/tributary.js', ['load', large], {
      cwd: folder,
      env: { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: 'x' }
    })
    const request = await heard
    run.kill('SIGINT')
    t.equal(await run.ended, 130)
    t.equal(run.said(), 'Interrupted. The upload was stopped, and nothing of it is applied.\n')
    await new Promise<void>((resolve) => {
      request.resume().once('close', resolve)
    })
    t.notOk(request.complete)
  })

  t.test('ends the reading of standard input at once', async (t) => {
    const { promise: heard, resolve: hear } = withResolver<void>()
    const url = await withStandIn(t, (request) => {
      request
        .on('error', () => {})
        .once('data', () => {
          hear()
        })
    })
    const run = runProgram(t, 'bin/tributary.js', ['load', '-'], {
      cwd: folder,
      env: { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: 'x' },
      input: '{"op": "upsertEntity"}\n'
    })
    await heard
    run.kill('SIGINT')
    t.equal(await Promise.race([run.ended, sleep(10_000, 'it goes on', { ref: false })]), 130)
    t.equal(run.said(), 'Interrupted. The upload was stopped, and nothing of it is applied.\n')
  })

  t.test('says that nothing was sent if no server was reached', async (t) => {
    const run = runProgram(t, 'bin/tributary.js', ['load', path, '--retry-for', '60'], {
      cwd: folder,
      env: { TRIBUTARY_URL: `http://127.0.0.1:${await freePort()}`, TRIBUTARY_TOKEN: 'x' }
    })
    await run.says(/Sending it again/)
    run.kill('SIGINT')
    t.equal(await run.ended, 130)
    t.match(run.said(), /Interrupted\. The server was not reached, and nothing was sent\.\n$/)
  })

  t.test('leaves a load that was accepted, and says how to follow it and how to cancel it', async (t) => {
    const stopped = new AbortController()
    let asked = 0
    const url = await withStandIn(t, (request, response) => {
      request
        .resume()
        .on('end', () => response.writeHead(202).end(JSON.stringify({ ...load, state: 'applying' })))
      asked += 1
      if (asked === 3) stopped.abort(new Interrupted('SIGINT'))
    })
    const { code, out, err } = await send(url, [path], { signal: stopped.signal })
    t.strictSame({ code, out }, { code: 130, out: [] })
    t.match(
      err.at(-1),
      /Load 0 continues without .* tributary load status 0 --follow.* tributary load cancel 0/
    )
  })
})

t.test('a load is followed', async (t) => {
  const folder = withFolder(t)
  const path = join(folder, 'a.ndjson')
  writeFileSync(path, 'one\n')
  const at = (applied: number): string =>
    JSON.stringify({
      ...load,
      state: applied === 9 ? 'done' : 'applying',
      counts: { received: 9, applied, unchanged: 0, rejected: 0 }
    })

  /** Its state never changes when polled; `events` gives its end. */
  async function follow(
    t: Test,
    events: (response: ServerResponse, asked: number) => void
  ): Promise<Outcome & { streams: number; asked: number }> {
    let [streams, asked] = [0, 0]
    const url = await withStandIn(t, (request, response) => {
      if (request.url?.endsWith('/events') === true) {
        streams += 1
        events(response, streams)
      } else {
        asked += 1
        request.resume().on('end', () => response.writeHead(202).end(at(asked > 12 ? 9 : 1)))
      }
    })
    return { ...(await send(url, [path, '--retry-for', '20'], { isTty: true })), streams, asked }
  }

  t.test('by its events, in whatever pieces they arrive, if it takes longer than a moment', async (t) => {
    const whole = `retry: 1000\n\n: still here\n\nevent: load\nid: 1\ndata: ${at(5)}\n\nevent: load\r\ndata: ${at(9)}\r\n\r\n`
    const { code, out, drawn, streams, asked } = await follow(t, (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      response.write(whole.slice(0, 60), () =>
        setTimeout(() => {
          response.write(whole.slice(60))
        }, 200)
      )
    })
    t.match({ code, out, streams }, { code: 0, out: [/is done.*: 9 records applied/], streams: 1 })
    t.ok(asked < 9)
    // the states before may come too soon after each other to be drawn
    t.ok(drawn.some((line) => line.includes('9 of 9 records')))
  })

  t.test('by polling, if there are no events or they stop', async (t) => {
    for (const status of [404, 503, 429, 200]) {
      t.match(
        await follow(t, (response) =>
          response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
        ),
        { code: 0, out: [/9 records applied/], streams: 1 },
        String(status)
      )
    }
  })

  t.test('and by its events again after they were interrupted', async (t) => {
    const { code, streams } = await follow(t, (response, count) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${at(count === 1 ? 3 : 9)}\n\n`, () => {
        if (count === 1) response.destroy()
      })
    })
    t.strictSame({ code, streams }, { code: 0, streams: 2 })
  })
})

t.test('on a real server', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const folder = withFolder(t)
  const path = join(folder, 'a.ndjson')
  writeFileSync(path, records)
  const loadBy = (url: string, ...args: string[]): Program =>
    runProgram(t, 'bin/tributary.js', ['load', path, ...args], {
      cwd: folder,
      env: { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: server.token }
    })

  t.test(
    'a connection that is cut midway, again and again, and an answer that is lost make one load, applied once',
    async (t) => {
      const cuts: Cut[] = [{ afterBytes: 200_000 }, { afterBytes: 700_000 }, 'the answer']
      const { url, uploads } = await withCuttingProxy(t, server.url, cuts)
      const run = loadBy(url, '--source', 'cut')
      t.equal(await run.ended, 0)
      t.match(run.said(), /is done: 10,000 records applied; it was sent before/)
      t.ok(uploads() >= 4)
      const { aborted = 0, ...others } = await statesOf(server, 'cut')
      t.strictSame(others, { done: 1 })
      t.ok(aborted > 0)
    }
  )

  t.test('a server that is killed during the upload, and starts again, makes one load', async (t) => {
    const port = await freePort()
    const serve = (): Program =>
      runProgram(t, 'bin/tributary.js', ['serve'], {
        cwd: folder,
        env: { DATABASE_URL: server.databaseUrl, PORT: String(port), HOST: '127.0.0.1' }
      })
    const victim = serve()
    await victim.says(/is listening|listening/i)
    const { url } = await withCuttingProxy(t, `http://127.0.0.1:${port}`, [
      {
        afterBytes: 700_000,
        async meanwhile() {
          while ((await statesOf(server, 'killed')).receiving !== 1) await sleep(20)
          victim.kill('SIGKILL')
          await victim.ended
        }
      }
    ])
    const run = loadBy(url, '--source', 'killed')
    await victim.ended
    // the key of a process that died is free after a minute without a heartbeat; the test does not wait for
    // that
    await server.db.raw(
      `update load set touched_at = now() - interval '10 minutes' where state = 'receiving'`
    )
    await run.says(/Sending it again/)
    await sleep(500)
    serve()
    t.equal(await run.ended, 0)
    t.match(run.said(), /is done: 10,000 records unchanged/)
    t.strictSame(await statesOf(server, 'killed'), { aborted: 1, done: 1 })
  })
})

/** The number of loads of a source in each state. */
async function statesOf({ db }: TestServer, source: string): Promise<Record<string, number>> {
  const { rows }: { rows: { state: string; count: number }[] } = await db.raw(
    'select state, count(*)::int as count from load where source = ? group by state order by state',
    [source]
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}
