/** The queue and the rate limits on a Redis Cluster, while its primaries die, freeze, and hand over slots. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import t from 'tap'
import { buildServer } from '../api/server.ts'
import { examineQueue } from '../bin/doctor/examine-queue.ts'
import { requireRedis } from '../bin/reach.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { openQueue } from '../shared/queue/chunk-queue.ts'
import { watchKind } from '../shared/queue/redis-kind.ts'
import { connectRedis } from '../shared/queue/redis-place.ts'
import { openQueueAndWorker } from './support/queue-and-worker.ts'
import { freePort } from './support/free-port.ts'
import { withRedisServer } from './support/redis.ts'
import { withRedisCluster } from './support/redis-cluster.ts'
import { withServer } from './support/server.ts'
import { startFailingOverRedis } from './torture/failing-over-redis.ts'

const log = createLog({ logLevel: 'silent' })
const waitMaxMs = 30_000
/** By then all connections of an ended client have closed. */
const closedAfterMs = 300
const maximum = 5
/** So many that each primary has the counts of some. */
const tokenCount = 30

async function eventually(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const giveUpAt = Date.now() + waitMaxMs; Date.now() < giveUpAt; await sleep(20))
    if (await condition()) return true
  return false
}

t.test('on a Redis Cluster', async (t) => {
  const cluster = await withRedisCluster(t)
  if (cluster === null) return
  const config = readConfig(cluster.env)

  t.test('a Redis that is not of the configured kind is named with the key to change', async (t) => {
    const server = await withRedisServer(t)
    if (server === null) return
    const watched = await startFailingOverRedis()
    t.teardown(() => watched.stop())
    const [sentinel = ''] = watched.env.REDIS_SENTINELS.split(',')
    const asCluster = (address: string) => ({
      REDIS_URL: `redis://${address}`,
      REDIS_CLUSTER_NODES: address
    })
    const isNode = /^the Redis of REDIS_URL is a node of a Redis Cluster: set REDIS_CLUSTER_NODES/
    const isNoCluster = /is not a Redis Cluster: remove REDIS_CLUSTER_NODES$/
    for (const [env, says] of [
      [{ REDIS_URL: cluster.env.REDIS_URL }, isNode],
      [asCluster(server.url.replace('redis://', '')), isNoCluster],
      [asCluster(sentinel), isNoCluster],
      [{ REDIS_URL: `redis://${sentinel}` }, /is a Redis Sentinel: set REDIS_SENTINELS/],
      [
        { REDIS_URL: 'redis://name', REDIS_SENTINELS: cluster.env.REDIS_CLUSTER_NODES },
        /is not a Redis Sentinel: name only Sentinels there/
      ]
    ] as const) {
      const wrong = { ...readConfig(env), redisUrl: env.REDIS_URL }
      t.match(await examineQueue(wrong), [{ verdict: 'wrong', text: says }], 'by the doctor')
      await t.rejects(requireRedis(wrong), { message: new RegExp(says, 'i') }, 'at the start')
      const client = connectRedis(wrong, {})
      client.on('error', () => {})
      t.match(await new Promise((resolve) => watchKind(client, resolve)), says, 'by a process that runs')
      client.disconnect()
    }
  })

  t.test('the doctor says why no node can be reached', async (t) => {
    const address = `127.0.0.1:${await freePort()}`
    const away = readConfig({ REDIS_URL: `redis://${address}`, REDIS_CLUSTER_NODES: address })
    t.match(await examineQueue(away), [{ verdict: 'wrong', text: /ECONNREFUSED/ }])
  })

  t.test('a client that has ended can connect again, also when its connections close late', async (t) => {
    const first = connectRedis({ ...config, redisUrl: cluster.env.REDIS_URL }, {})
    if (first instanceof Redis) return t.fail('not the client of a cluster')
    for (const open of [() => first, () => first.duplicate()]) {
      const client = open()
      await once(client, 'ready')
      await Promise.all(client.nodes().map((node) => node.ping()))
      client.disconnect()
      await once(client, 'end')
      await sleep(closedAfterMs)
      t.equal(client.status, 'end', 'BullMQ connects it only then')
      await client.connect()
      t.equal(await client.ping(), 'PONG')
      client.disconnect()
    }
  })

  t.test('queue and counts', async (t) => {
    const { queue, isToldOf } = await openQueueAndWorker(t, config)

    t.test('a worker is woken up', async (t) => {
      t.ok(await eventually(() => isToldOf(1)))
      t.ok(await eventually(async () => (await queue.depth()) === 0))
    })

    t.test('the doctor examines each primary', async (t) => {
      t.match(await examineQueue(config), [
        { verdict: 'fine', text: /^answers, Redis .*, a cluster of 3 primaries$/ }
      ])
      await t.resolves(requireRedis({ ...config, redisUrl: cluster.env.REDIS_URL }))
    })

    t.test('the queue continues when its slot moves to another primary', async (t) => {
      const before = await cluster.portOfQueue()
      await cluster.moveQueue()
      t.not(await cluster.portOfQueue(), before)
      t.ok(await eventually(() => isToldOf(2)))
    })

    t.test('the queue continues when its primary freezes, and a replica takes over', async (t) => {
      const thaw = await cluster.freeze()
      t.ok(await eventually(() => isToldOf(3)), 'while it is frozen')
      await thaw()
      t.ok(await eventually(() => isToldOf(4)), 'and afterwards')
    })

    const env = { ...cluster.env, RATE_LIMIT_PER_MINUTE: String(maximum) }
    const { context, app, tokenWith } = await withServer(t, { memory: false, env })
    const second = await buildServer(context)
    t.teardown(() => second.close())
    const send = (to: FastifyInstance, token: string) =>
      to.inject({ url: '/api/limits', headers: { authorization: `Bearer ${token}` } })

    /** Sends with a new token, by turns to two processes, one request more than are allowed. */
    async function isRefusedTheLast(): Promise<boolean> {
      const token = await tokenWith(['read'])
      const found: number[] = []
      for (let sent = 0; sent <= maximum; sent += 1)
        found.push((await send(sent % 2 === 0 ? app : second, token)).statusCode)
      return found.every((status, index) => status === (index < maximum ? 200 : 429))
    }

    t.test('two processes count requests together, those of some tokens on each primary', async (t) => {
      for (let tokens = 0; tokens < tokenCount; tokens += 1)
        if (!(await eventually(isRefusedTheLast))) return t.fail('the last request was not refused')
      for (const port of await cluster.primaries()) t.ok((await cluster.keys(port)).length > 0, String(port))
    })

    t.test(
      'while a primary is dead nobody is refused, the doctor says why it does not answer, and its replica takes over queue and counts',
      async (t) => {
        const isOver = new AbortController()
        const failingOver = cluster.failOver().finally(() => isOver.abort())
        const found = new Set<number>()
        const said: string[] = []
        while (!isOver.signal.aborted) {
          found.add((await send(app, await tokenWith(['read']))).statusCode)
          said.push(...(await examineQueue(config)).map(({ text }) => text))
        }
        await failingOver
        t.strictSame([...found], [200])
        t.ok(said.some((text) => /announces a primary at .* not answer: connect ECONNREFUSED/.test(text)))
        t.ok(await eventually(() => isToldOf(5)))
        for (let tokens = 0; tokens < tokenCount; tokens += 1)
          if (!(await eventually(isRefusedTheLast))) return t.fail('the last request was not refused')
      }
    )

    t.test('the cluster is found while the node of REDIS_URL is away', async (t) => {
      await cluster.end(Number(new URL(cluster.env.REDIS_URL).port))
      const late = await openQueueAndWorker(t, config)
      t.ok(await eventually(() => late.isToldOf(6)))
    })
  })

  t.test(
    'without most primaries the queue is down, no caller waits for it, and the doctor says so',
    async (t) => {
      for (const port of (await cluster.primaries()).slice(0, 2)) await cluster.end(port)
      const isNotReady = async (): Promise<boolean> =>
        (await examineQueue(config)).some(
          ({ verdict, text }) => verdict === 'wrong' && text.includes('the cluster is not ready')
        )
      t.ok(await eventually(isNotReady))
      const client = connectRedis({ ...config, redisUrl: cluster.env.REDIS_URL }, { retryStrategy: () => 10 })
      client.on('error', () => {})
      // A node that has not yet noticed calls the cluster whole.
      client.on('ready', () => client.disconnect(true))
      const listenersAfter = async (attempts: number): Promise<number> => {
        for (let seen = 0; seen < attempts; seen += 1) await once(client, 'connecting')
        return client.listenerCount('ready') + client.listenerCount('end')
      }
      const listeners = await listenersAfter(3)
      t.equal(await listenersAfter(5), listeners, 'attempts to connect do not pile up listeners')
      client.disconnect()
      const queue = await openQueue(config, log)
      t.teardown(() => queue.close())
      t.ok(await eventually(async () => !(await queue.nudge([{ chunkId: 7, nudge: 1 }]))))
      t.ok(await eventually(async () => (await queue.depth()) === null))
    }
  )
})
