/** Traces: one for a load, from its client to the SQL of a worker, as an OTLP receiver gets it; and what happens without a receiver. */
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createToken } from '../shared/catalog/access/create-token.ts'
import { runChunk } from '../shared/catalog/loads/run-chunk.ts'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { summaryOf } from '../shared/db/statement-summary.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { startSpan, startTracing } from '../shared/platform/tracing.ts'
import { withDatabase } from './support/database.ts'
import { parsed, valueAt } from './support/json-answer.ts'
import { withOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from './support/otlp-receiver.ts'
import { runProgram, withFolder, type Program } from './support/program.ts'
import { freePort } from './support/free-port.ts'
import { withServer } from './support/server.ts'
import { withStandIn } from './support/stand-in-server.ts'

const edge = JSON.stringify({
  upstreamUrn: 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)',
  downstreamUrn: 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.revenue,PROD)'
})

type Catalog = {
  db: Db
  token: string
  send: (
    path: string,
    init?: { headers?: Record<string, string>; body?: string | ReadableStream }
  ) => Promise<Response>
  programs: Program[]
  /** Ends the processes in order, which sends the spans that are left. */
  stop: () => Promise<(number | NodeJS.Signals)[]>
}

/** Processes as in production, which send their spans to the endpoint. */
async function withCatalog(
  t: Test,
  endpoint: string,
  { commands = ['serve', 'work'], env = {} }: { commands?: string[]; env?: Record<string, string> } = {}
): Promise<Catalog> {
  const { db, url } = await withDatabase(t)
  const { token } = await createToken(db, { name: 'traces', scopes: ['admin'] })
  const port = await freePort()
  const cwd = withFolder(t)
  const programs = commands.map((command) =>
    runProgram(t, 'bin/tributary.js', [command], {
      cwd,
      env: {
        DATABASE_URL: url,
        HOST: '127.0.0.1',
        PORT: String(port),
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        ...env
      }
    })
  )
  for (const [index, program] of programs.entries())
    await program.says(commands[index] === 'serve' ? /the API listens/ : /worker started/)
  return {
    db,
    token,
    programs,
    send: (path, { headers = {}, body } = {}) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body, duplex: 'half' })
      }),
    stop: () => {
      for (const program of programs) program.kill('SIGTERM')
      return Promise.all(programs.map(({ ended }) => ended))
    }
  }
}

/** The second half comes later than the server begins to read. */
function inTwoPieces(text: string): ReadableStream {
  const middle = text.length / 2
  return Readable.toWeb(
    Readable.from(
      (async function* () {
        yield Buffer.from(text.slice(0, middle))
        await sleep(200)
        yield Buffer.from(text.slice(middle))
      })()
    )
  ) as ReadableStream
}

type Client = { traceId: string; spanId: string; headers: { traceparent: string } }

/** A span of a client, as its header names it. */
function newClient(flags = '01'): Client {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } }
}

const ofTrace = ({ spans }: OtlpReceiver, { traceId }: Client): ReceivedSpan[] =>
  spans.filter((span) => span.traceId === traceId)

function only(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name)
  if (found.length !== 1 || found[0] === undefined)
    throw new Error(`${found.length} spans ${name} among ${spans.map((span) => span.name).join(', ')}`)
  return found[0]
}

const childrenOf = (spans: readonly ReceivedSpan[], parent: ReceivedSpan): ReceivedSpan[] =>
  spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId)

const logLines = (program: Program): ReturnType<typeof parsed>[] =>
  program
    .said()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => parsed(line))

t.test('with a receiver', async (t) => {
  const receiver = await withOtlpReceiver(t)
  const catalog = await withCatalog(t, receiver.url, {
    env: { OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=shop', OTEL_RESOURCE_ATTRIBUTES: 'team=data' }
  })
  const { db, send, programs } = catalog
  const [loading, asking, refused, unsampled] = [newClient(), newClient(), newClient(), newClient('00')]
  const post = async (
    client: { headers: Record<string, string> },
    path: string,
    body: string | ReadableStream
  ) => {
    const answer = await send(path, { headers: client.headers, body })
    return { status: answer.status, body: parsed(await answer.text()) }
  }

  const load = await post(loading, '/loads?format=ndjson&missingReferences=create&wait=20', `${edge}\n`)
  t.match(load, { status: 200, body: { state: 'done', counts: { applied: 1 } } })
  const loadId = String(valueAt(load.body, 'id'))
  const graphql = (name: string, text: string): ReadableStream =>
    inTwoPieces(JSON.stringify({ query: `query ${name} ${text}`, operationName: name }))
  t.match(await post(asking, '/api/graphql', graphql('whoAmI', '{ listDomains(input: {}) { total } }')), {
    status: 200,
    body: { data: {} }
  })
  t.equal((await post(refused, '/loads?format=ndjson', '')).status, 400)
  const unsampledLoad = await post(
    unsampled,
    '/loads?format=ndjson&missingReferences=create&wait=20',
    `${edge}\n`
  )
  t.equal(unsampledLoad.status, 200)
  const malformed = ['00-abc-def-01', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`, 'ff'.repeat(40), '']
  for (const traceparent of malformed)
    t.equal((await send('/loads', { headers: { traceparent } })).status, 200, `traceparent ${traceparent}`)
  const [stored] = await query<{ traceparent: string }>(
    db,
    'select traceparent from load where id = ?::uuid',
    [loadId]
  )
  t.same(await catalog.stop(), [0, 0])

  t.test('a load is one trace, from its client through API, queue and worker to Postgres', async (t) => {
    const spans = ofTrace(receiver, loading)
    const server = only(spans, 'POST /loads')
    t.match(server, {
      kind: 'server',
      parentSpanId: loading.spanId,
      service: 'tributary-api',
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/loads',
        'http.response.status_code': 200,
        'tributary.load.id': loadId
      }
    })
    t.equal(stored?.traceparent, `00-${loading.traceId}-${server.spanId}-01`, 'the load keeps its trace')
    const storing = only(spans, 'insert load')
    t.match(storing, {
      kind: 'client',
      parentSpanId: server.spanId,
      service: 'tributary-api',
      attributes: {
        'db.system.name': 'postgresql',
        'db.operation.name': 'insert',
        'db.query.summary': 'insert load'
      }
    })
    const inQueue = only(childrenOf(spans, server), 'send tributary-chunks')
    t.match(inQueue, { kind: 'producer', service: 'tributary-api' })
    const attempt = only(spans, 'process tributary-chunks')
    t.match(attempt, {
      kind: 'consumer',
      parentSpanId: server.spanId,
      service: 'tributary-worker',
      attributes: {
        'messaging.destination.name': 'tributary-chunks',
        'tributary.load.id': loadId,
        'tributary.chunk.pass': 3,
        'tributary.chunk.records': 1,
        'tributary.chunk.outcome': 'settled',
        'tributary.chunk.applied': 1,
        'tributary.chunk.queued_ms': Number
      }
    })
    const applying = only(childrenOf(spans, attempt), 'apply chunk')
    const statements = childrenOf(spans, applying)
    const names = statements.map(({ name }) => name)
    for (const name of ['begin', 'copy statement', 'update chunk', 'commit']) t.ok(names.includes(name), name)
    t.ok(statements.every(({ kind, service }) => kind === 'client' && service === 'tributary-worker'))
    const path = [server, storing, inQueue, attempt, applying, only(statements, 'commit')]
    const starts = path.map(({ startedAt }) => startedAt)
    t.same(
      starts,
      starts.toSorted((a, b) => Number(a - b)),
      'in this order'
    )
    t.ok(spans.every(({ startedAt, endedAt }) => startedAt <= endedAt))
    const ids = new Set([loading.spanId, ...spans.map(({ spanId }) => spanId)])
    t.same(
      spans.filter(({ parentSpanId }) => !ids.has(parentSpanId)),
      [],
      'no span has lost its parent'
    )
  })

  t.test('a GraphQL request is named by its operation, and has its statements', async (t) => {
    const spans = ofTrace(receiver, asking)
    const server = only(spans, 'POST /api/graphql')
    t.match(server, {
      parentSpanId: asking.spanId,
      attributes: { 'graphql.operation.type': 'query', 'graphql.operation.name': 'whoAmI' }
    })
    // Of a resolver: the body has been read by then, in events of the connection.
    t.match(only(childrenOf(spans, server), 'select domain'), { kind: 'client', service: 'tributary-api' })
  })

  t.test('a refused request has the code of its error, and has not failed', async (t) => {
    t.match(only(ofTrace(receiver, refused), 'POST /loads'), {
      isError: false,
      attributes: { 'error.type': 'BAD_REQUEST', 'http.response.status_code': 400 }
    })
  })

  t.test('a trace that its client does not record is not recorded here either', async (t) => {
    t.same(ofTrace(receiver, unsampled), [])
  })

  t.test('a malformed traceparent is ignored: the request begins a trace of its own', async (t) => {
    const servers = receiver.spans.filter(({ name }) => name === 'GET /loads')
    t.equal(servers.length, malformed.length)
    t.ok(servers.every(({ parentSpanId }) => parentSpanId === ''))
    t.equal(new Set(servers.map(({ traceId }) => traceId)).size, malformed.length)
  })

  t.test('statements of loops and requests of monitoring begin no traces', async (t) => {
    const roots = receiver.spans.filter(({ parentSpanId }) => parentSpanId === '')
    t.same([...new Set(roots.map(({ name }) => name))], ['GET /loads'])
  })

  t.test('no span has a URN, a token, a parameter or a message', async (t) => {
    const texts = receiver.spans.flatMap((span) => [span.name, ...Object.values(span.attributes).map(String)])
    t.same(
      texts.filter((text) => /urn:|trib_|shop\.|\$\d|\?/.test(text)),
      []
    )
    t.ok(receiver.spans.every(({ statusMessage, eventCount }) => statusMessage === '' && eventCount === 0))
  })

  t.test('the receiver gets the headers of OTEL_EXPORTER_OTLP_HEADERS', async (t) => {
    t.ok(receiver.headers.length > 0)
    t.ok(receiver.headers.every((headers) => headers['x-tenant'] === 'shop'))
  })

  t.test('the log of both processes leads to the trace', async (t) => {
    const [api, worker] = programs.map(logLines)
    t.match(
      api?.filter((line) => valueAt(line, 'trace_id') === loading.traceId),
      [{ msg: 'request', path: '/loads', span_id: only(ofTrace(receiver, loading), 'POST /loads').spanId }]
    )
    const { spanId } = only(ofTrace(receiver, loading), 'process tributary-chunks')
    t.match(
      worker?.filter((line) => valueAt(line, 'trace_id') === loading.traceId),
      [
        { msg: 'looked at a chunk', loadId, span_id: spanId },
        { msg: 'a load is done', loadId, span_id: spanId }
      ]
    )
  })
})

t.test('without a receiver that answers', async (t) => {
  t.test('requests are served, and the log says once that spans are dropped', async (t) => {
    const nobody = `http://127.0.0.1:${await freePort()}`
    const { send, programs, stop } = await withCatalog(t, nobody, {
      commands: ['serve'],
      env: { OTEL_BSP_SCHEDULE_DELAY: '20', OTEL_EXPORTER_OTLP_TIMEOUT: '50' }
    })
    const warning = /spans cannot be sent/g
    await send('/loads')
    await programs[0]?.says(warning)
    for (let batch = 0; batch < 5; batch += 1) {
      t.equal((await send('/loads')).status, 200)
      await sleep(100)
    }
    t.same(await stop(), [0])
    t.equal(programs[0]?.said().match(warning)?.length, 1)
  })

  t.test('a stop does not wait for one that never answers', async (t) => {
    let arrived = (): void => {}
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const silent = await withStandIn(t, () => arrived())
    const { send, programs, stop } = await withCatalog(t, silent, {
      commands: ['serve'],
      // Were the stop to wait as long as an export may take, its deadline would pass.
      env: { OTEL_BSP_SCHEDULE_DELAY: '20', OTEL_EXPORTER_OTLP_TIMEOUT: '60000', SHUTDOWN_SECONDS: '15' }
    })
    t.equal((await send('/loads')).status, 200)
    await arrival
    t.same(await stop(), [0])
    t.notMatch(programs[0]?.said(), /deadline of the shutdown/)
  })
})

t.test(
  'without OTEL_EXPORTER_OTLP_ENDPOINT nothing of the SDK is loaded, and no trace is kept',
  async (t) => {
    const { rest, db } = await withServer(t, { withWorker: true })
    const answer = await rest({
      method: 'POST',
      url: '/loads?format=ndjson&missingReferences=create&wait=20',
      headers: { ...newClient().headers, 'content-type': 'application/x-ndjson' },
      body: `${edge}\n`
    })
    t.equal(answer.status, 200)
    t.same(await query(db, 'select traceparent from load'), [{ traceparent: null }])
    const loaded = Object.keys(createRequire(import.meta.url).cache)
    t.ok(
      loaded.some((path) => path.includes('@opentelemetry/api/')),
      'only its API'
    )
    t.same(
      loaded.filter((path) => /@opentelemetry\/(?!api\/)/.test(path)),
      []
    )
  }
)

t.test('a statement is summarized by its command and its first table', async (t) => {
  const summaries: [sql: string, summary: string][] = [
    ['select load.id from load where load.id = $1', 'select load'],
    ['\n    with free as (select 1 from chunk for update) update chunk set a = 1 from free', 'update chunk'],
    ["insert into chunk (a) values ((select 'delete from b'))", 'insert chunk'],
    ['delete from statement using owner', 'delete statement'],
    ['copy statement (a, b) from stdin (format binary)', 'copy statement'],
    ['copy (select 1 from entity) to stdout', 'copy'],
    ["select set_config('a', 'b', true)", 'select'],
    ['BEGIN;', 'begin'],
    ['COMMIT;', 'commit'],
    ['set local synchronous_commit = off', 'set'],
    ['', 'unknown']
  ]
  for (const [sql, summary] of summaries) t.equal(summaryOf(sql).summary, summary)
})

t.test('npm start traces as well, under the name of OTEL_SERVICE_NAME', async (t) => {
  const receiver = await withOtlpReceiver(t)
  const { url } = await withDatabase(t)
  const program = runProgram(t, 'bin/tributary.js', ['up'], {
    cwd: withFolder(t),
    env: {
      DATABASE_URL: url,
      PORT: String(await freePort()),
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
      OTEL_SERVICE_NAME: 'our-catalog'
    }
  })
  await program.says(/is ready at/)
  await program.says(/Try|curl/)
  program.kill('SIGTERM')
  t.equal(await program.ended, 0)
  const names = new Set(receiver.spans.map(({ name }) => name))
  t.ok(names.has('POST /loads') && names.has('process tributary-chunks'), 'the sample was a load')
  t.ok(receiver.spans.every(({ service }) => service === 'our-catalog'))
})

/** Reads a stream of events for so long, then leaves. */
async function followFor(ms: number, url: string, headers: Record<string, string>): Promise<void> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(ms) })
  await response.text().catch(() => '')
}

// The last test: it loads the SDK into this process.
t.test('the trace of a load is in its row', async (t) => {
  const receiver = await withOtlpReceiver(t)
  const config = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  const tracing = startTracing(config, createLog({ logLevel: 'silent' }), 'test')
  await tracing.start()
  // The queue of this server loses every job.
  const { rest, db, url, token } = await withServer(t)
  const [sending, retrying, following] = [newClient(), newClient(), newClient()]
  const send = async (path: string, client: Client, body?: string): Promise<string> => {
    const headers = { ...client.headers, 'content-type': 'application/x-ndjson' }
    const answer = await rest({ method: 'POST', url: path, headers, ...(body === undefined ? {} : { body }) })
    t.equal(answer.status, 202, answer.text)
    return String(valueAt(answer.body, 'id'))
  }
  /** What a worker does that the sweeper has told of the chunk. */
  const runWaiting = async (): Promise<void> => {
    const silentQueue = { nudge: async () => true, depth: async () => 0, close: async () => {} }
    for (const { id } of await query<{ id: number }>(
      db,
      "select id from chunk where state = 'waiting' order by id"
    ))
      t.match(await runChunk(db, silentQueue, id, { apply: applyRecords }), { outcome: 'settled' })
  }
  const id = await send('/loads?format=ndjson', sending, `${edge}\n`)
  await runWaiting()
  await send(`/loads/${id}/retry`, retrying)
  await runWaiting()
  const waiting = await send('/loads?format=ndjson', newClient(), `${edge}\n`)
  await followFor(1_400, `${url}/loads/${waiting}/events`, {
    ...following.headers,
    authorization: `Bearer ${token}`
  })
  await tracing.stop()

  t.test('so a worker finds it although the queue has lost the job', async (t) => {
    const spans = ofTrace(receiver, sending)
    t.match(only(spans, 'process tributary-chunks'), {
      parentSpanId: only(spans, 'POST /loads').spanId,
      attributes: { 'tributary.load.id': id, 'tributary.chunk.rejected': 1 }
    })
  })

  t.test('and a retry moves what it starts into its own', async (t) => {
    const spans = ofTrace(receiver, retrying)
    t.match(only(spans, 'process tributary-chunks'), {
      parentSpanId: only(spans, 'POST /loads/:id/retry').spanId,
      attributes: { 'tributary.load.id': id }
    })
  })

  t.test('and what is read for all who follow loads is in the trace of none of them', async () => {
    const spans = ofTrace(receiver, following)
    only(spans, 'select load')
  })

  t.test('and after the stop nothing is traced', async (t) => {
    const before = receiver.spans.length
    await rest({ url: '/loads' })
    t.equal(startSpan('late'), null)
    t.equal(receiver.spans.length, before)
  })
})
