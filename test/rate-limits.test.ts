/** Rate limits: off by default; by token and by address; for each interface; with and without Redis. */
import { setTimeout as sleep } from 'node:timers/promises'
import proxyAddr from '@fastify/proxy-addr'
import t, { type Test } from 'tap'
import { buildServer } from '../api/server.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { withFreezingProxy } from './support/freezing-proxy.ts'
import { withRedis, withRedisServer } from './support/redis.ts'
import { withServer, type RestRequest, type TestServer } from './support/server.ts'

const maximum = 5
const trustedProxy = '10.1.2.3'
const limited = { RATE_LIMIT_PER_MINUTE: String(maximum), TRUSTED_PROXIES: '10.1.0.0/16' }

const graphql: RestRequest = {
  method: 'POST',
  url: '/api/graphql',
  body: { query: '{ entityExists(urn: "urn:li:domain:none") }' }
}
const event = {
  eventTime: '2026-01-01T00:00:00Z',
  producer: 'https://example.com',
  schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent',
  dataset: { namespace: 'hive://x', name: 'limited' }
}

/** A request of each interface, with the refusal that its clients understand. */
const doors: readonly {
  name: string
  request: RestRequest
  ok: number
  refusal: [status: number, code: string]
}[] = [
  { name: 'GraphQL', request: graphql, ok: 200, refusal: [429, 'RATE_LIMITED'] },
  { name: 'REST', request: { url: '/api/limits' }, ok: 200, refusal: [429, 'RATE_LIMITED'] },
  {
    name: 'RestLi',
    request: { method: 'POST', url: '/aspects?action=ingestProposal', body: {} },
    ok: 400,
    refusal: [429, 'RATE_LIMITED']
  },
  { name: 'an unknown path', request: { url: '/nothing' }, ok: 404, refusal: [429, 'RATE_LIMITED'] },
  {
    name: 'a load',
    request: {
      method: 'POST',
      url: '/loads',
      headers: { 'content-type': 'application/x-ndjson' },
      body: '{"op":"createDomain","id":"limited","name":"Limited"}'
    },
    ok: 202,
    refusal: [429, 'RATE_LIMITED']
  },
  {
    name: 'an event of OpenLineage',
    request: { method: 'POST', url: '/api/v1/lineage', body: event },
    ok: 201,
    refusal: [503, 'OVERLOADED']
  },
  {
    name: 'an event, on the path of DataHub',
    request: { method: 'POST', url: '/openapi/openlineage/api/v1/lineage', body: event },
    ok: 201,
    refusal: [503, 'OVERLOADED']
  },
  {
    name: 'a list of events',
    request: { method: 'POST', url: '/api/v1/lineage/batch', body: [event] },
    ok: 200,
    refusal: [503, 'OVERLOADED']
  },
  {
    name: 'a read of Marquez',
    request: { url: '/api/v1/namespaces' },
    ok: 200,
    refusal: [429, 'RATE_LIMITED']
  }
]

/** A second API on the same database and configuration, as another process of the same installation. */
async function secondServer(t: Test, { context }: TestServer) {
  const app = await buildServer(context)
  t.teardown(() => app.close())
  return async (token: string): Promise<number> =>
    (await app.inject({ url: '/api/limits', headers: { authorization: `Bearer ${token}` } })).statusCode
}

const statuses = async (count: number, send: () => Promise<{ status: number }>): Promise<number[]> => {
  const found: number[] = []
  for (let sent = 0; sent < count; sent += 1) found.push((await send()).status)
  return found
}

const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value)

t.test('without RATE_LIMIT_PER_MINUTE nothing is limited, and no answer speaks of limits', async (t) => {
  const { rest } = await withServer(t, { memory: false })
  t.equal(readConfig({}).rateLimitPerMinute, 0)
  t.strictSame(await statuses(50, () => rest(graphql)), times(50, 200))
  t.equal((await rest(graphql)).headers['ratelimit-limit'], undefined)
  t.strictSame(await statuses(50, () => rest({ ...graphql, token: 'nonsense' })), times(50, 401))
})

t.test('TRUSTED_PROXIES takes what the library takes, and names what it does not', async (t) => {
  const accepted = ['10.1.2.3', '10.0.0.0/8, ::1', '2001:db8::/32,loopback', 'uniquelocal', '::ffff:10.0.0.1']
  for (const TRUSTED_PROXIES of accepted) {
    const { trustedProxies } = readConfig({ TRUSTED_PROXIES })
    t.doesNotThrow(() => proxyAddr.compile([...(trustedProxies ?? [])]), TRUSTED_PROXIES)
  }
  for (const TRUSTED_PROXIES of ['proxy', '10.0.0.0/33', '10.0.0.0/0', '::1/129', '10.1.2.3,']) {
    t.throws(() => proxyAddr.compile(TRUSTED_PROXIES.split(',')), TRUSTED_PROXIES)
    t.throws(() => readConfig({ TRUSTED_PROXIES }), /TRUSTED_PROXIES must be addresses and ranges such as/)
  }
})

t.test('in one process', async (t) => {
  const server = await withServer(t, { memory: false, env: limited })
  const { rest, tokenWith } = server

  for (const { name, request, ok, refusal } of doors)
    t.test(
      `a token may send so many requests, and the next is refused with when to come again: ${name}`,
      async (t) => {
        const token = await tokenWith(['write'])
        t.strictSame(await statuses(maximum, () => rest({ ...request, token })), times(maximum, ok))
        const { status, body, headers } = await rest({ ...request, token })
        t.strictSame([status, body.code ?? body.error], [refusal[0], refusal[1]], JSON.stringify(body))
        const again = Number(headers['retry-after'])
        t.ok(again >= 1 && again <= 60, `Retry-After ${again}`)
      }
    )

  t.test('answers say how many are left, and what is refused has changed nothing', async (t) => {
    const token = await tokenWith(['write'])
    for (let left = maximum - 1; left >= 0; left -= 1)
      t.match((await rest({ ...graphql, token })).headers, {
        'ratelimit-limit': String(maximum),
        'ratelimit-remaining': String(left),
        'ratelimit-reset': /^\d+$/
      })
    const create = 'mutation { createDomain(input: { id: "refused", name: "Refused" }) }'
    t.match(await server.graphql(create, {}, { token }), {
      status: 429,
      body: { code: 'RATE_LIMITED', limit: 'RATE_LIMIT_PER_MINUTE', maximum }
    })
    t.strictSame((await server.db.raw("select 1 from entity where urn = 'urn:li:domain:refused'")).rows, [])
  })

  t.test('tokens count apart, and what one may not do counts too', async (t) => {
    const [reader, other] = [await tokenWith(['read']), await tokenWith(['read'])]
    const write = { method: 'POST', url: '/entities?action=delete', body: {}, token: reader } as const
    t.strictSame(await statuses(maximum + 1, () => rest(write)), [...times(maximum, 403), 429])
    t.equal((await rest({ url: '/api/limits', token: other })).status, 200)
  })

  t.test('a session counts as its token', async (t) => {
    const token = await tokenWith(['read'])
    const signedIn = await rest({ method: 'POST', url: '/session', body: { token }, token: null })
    t.equal(signedIn.status, 200)
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? ''
    const bySession = () => rest({ url: '/api/limits', token: null, headers: { cookie } })
    t.strictSame(await statuses(3, bySession), times(3, 200))
    t.strictSame(await statuses(3, () => rest({ url: '/api/limits', token })), [200, 200, 429])
  })

  t.test('health, metrics, the version and pages are never limited', async (t) => {
    for (const url of ['/health', '/health/live', '/metrics', '/version', '/config', '/ui/'])
      t.notOk((await statuses(3 * maximum, () => rest({ url, token: null }))).includes(429), url)
  })

  t.test('failed attempts count by address, and refuse nobody who has a valid token', async (t) => {
    const from = (address: string) => async () => {
      const { statusCode } = await server.app.inject({
        url: '/api/limits',
        remoteAddress: address,
        headers: { authorization: 'Bearer nonsense' }
      })
      return { status: statusCode }
    }
    t.strictSame(await statuses(maximum + 2, from('192.0.2.1')), [...times(maximum, 401), 429, 429])
    t.strictSame(await statuses(1, from('192.0.2.2')), [401], 'another address')
    t.strictSame(await statuses(1, from('::ffff:192.0.2.1')), [429], 'the same address, written otherwise')
    t.strictSame(await statuses(maximum, from('2001:db8::1')), times(maximum, 401))
    t.strictSame(await statuses(1, from('2001:db8::2')), [429], 'the same network of one customer')
    const { statusCode } = await server.app.inject({
      url: '/api/limits',
      remoteAddress: '192.0.2.1',
      headers: { authorization: `Bearer ${await tokenWith(['read'])}` }
    })
    t.equal(statusCode, 200)
  })

  t.test('events with a wrong token are not asked for again', async (t) => {
    const send = async () => {
      const { statusCode } = await server.app.inject({
        method: 'POST',
        url: '/api/v1/lineage',
        remoteAddress: '192.0.2.12',
        headers: { authorization: 'Bearer nonsense', 'content-type': 'application/json' },
        payload: '{}'
      })
      return { status: statusCode }
    }
    t.strictSame(await statuses(maximum + 1, send), [...times(maximum, 401), 429])
  })

  t.test('only a trusted proxy says which client an attempt comes from', async (t) => {
    const from = (proxy: string, client: string) => async () => {
      const { statusCode } = await server.app.inject({
        url: '/api/limits',
        remoteAddress: proxy,
        headers: { authorization: 'Bearer nonsense', 'x-forwarded-for': client }
      })
      return { status: statusCode }
    }
    t.strictSame(await statuses(maximum + 1, from(trustedProxy, '198.51.100.1')), [
      ...times(maximum, 401),
      429
    ])
    t.strictSame(await statuses(1, from(trustedProxy, '198.51.100.2')), [401], 'another client')
    t.strictSame(
      await statuses(1, from(trustedProxy, '198.51.100.9, 198.51.100.1')),
      [429],
      'what the client itself wrote into the header does not count'
    )
    await statuses(maximum, from('192.0.2.30', '198.51.100.3'))
    t.strictSame(await statuses(1, from('192.0.2.30', '198.51.100.4')), [429], 'a proxy that is not trusted')
  })

  t.test('sign-ins count as attempts', async (t) => {
    const signIn = async () => {
      const { statusCode } = await server.app.inject({
        method: 'POST',
        url: '/session',
        remoteAddress: '192.0.2.9',
        payload: { token: 'nonsense-nonsense' }
      })
      return { status: statusCode }
    }
    t.strictSame(await statuses(maximum + 1, signIn), [...times(maximum, 401), 429])
  })

  t.test('another process without Redis counts for itself', async (t) => {
    const token = await tokenWith(['read'])
    const second = await secondServer(t, server)
    t.strictSame(await statuses(maximum + 1, () => rest({ url: '/api/limits', token })), [
      ...times(maximum, 200),
      429
    ])
    t.equal(await second(token), 200)
  })
})

t.test('with Redis', async (t) => {
  const url = await withRedis(t)
  if (url === null) return
  const server = await withServer(t, { memory: false, env: { ...limited, REDIS_URL: url } })
  const second = await secondServer(t, server)
  await untilCounted(server)

  t.test('two processes count together', async (t) => {
    const token = await server.tokenWith(['read'])
    await server.rest({ url: '/api/limits', token })
    for (let sent = 1; sent < maximum; sent += 1)
      t.equal(
        sent % 2 === 0 ? (await server.rest({ url: '/api/limits', token })).status : await second(token),
        200
      )
    t.equal((await server.rest({ url: '/api/limits', token })).status, 429)
    t.equal(await second(token), 429)
  })

  t.test('each interface refuses as without Redis', async (t) => {
    for (const { name, request, ok, refusal } of doors) {
      const token = await server.tokenWith(['write'])
      t.strictSame(
        await statuses(maximum + 1, () => server.rest({ ...request, token })),
        [...times(maximum, ok), refusal[0]],
        name
      )
    }
  })
})

t.test('a Redis that is away or frozen refuses nobody, and counts again when it is back', async (t) => {
  const redis = await withRedisServer(t)
  if (redis === null) return
  const server = await withServer(t, { memory: false, env: { ...limited, REDIS_URL: redis.url } })
  await untilCounted(server)
  const token = await server.tokenWith(['read'])
  const read = () => server.rest({ url: '/api/limits', token })
  t.strictSame(await statuses(maximum + 1, read), [...times(maximum, 200), 429])

  await redis.signal('SIGSTOP')
  t.strictSame(await statuses(2 * maximum, read), times(2 * maximum, 200), 'frozen')
  t.strictSame(
    await statuses(2 * maximum, () => server.rest({ url: '/api/limits', token: 'nonsense' })),
    times(2 * maximum, 401),
    'who has no token is refused as ever'
  )
  await redis.signal('SIGKILL')
  t.strictSame(await statuses(2 * maximum, read), times(2 * maximum, 200), 'away')
  const lines: string[] = []
  const log = createLog({ logLevel: 'warn' }, { write: (line) => void lines.push(line) })
  const second = await secondServer(t, { ...server, context: { ...server.context, log } })
  for (let asked = 0; asked < 25; asked += 1) {
    await second(token)
    await sleep(100)
  }
  t.equal(lines.length, 1, 'the log does not repeat each second that nothing is counted')

  await redis.start()
  await untilCounted(server)
  t.strictSame((await statuses(maximum + 1, read)).at(-1), 429, 'back')
})

t.test(
  'requests are counted again although the connection to Redis stays silent, as to a frozen primary',
  async (t) => {
    const redis = await withRedisServer(t)
    if (redis === null) return
    const proxy = await withFreezingProxy(t, { host: '127.0.0.1', port: Number(new URL(redis.url).port) })
    const env = { ...limited, REDIS_URL: `redis://127.0.0.1:${proxy.port}` }
    const server = await withServer(t, { memory: false, env })
    await untilCounted(server)
    proxy.freeze()
    await untilCounted(server)
  }
)

/** Resolves when the connection is there: an answer says how many requests are left. */
async function untilCounted({ rest, tokenWith }: TestServer): Promise<void> {
  for (let waited = 0; waited < 20_000; waited += 100) {
    const token = await tokenWith(['read'])
    if ((await rest({ url: '/api/limits', token })).headers['ratelimit-remaining'] !== undefined) return
    await sleep(100)
  }
  throw new Error('nothing is counted')
}
