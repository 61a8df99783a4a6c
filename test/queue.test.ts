/**
 * The queue on both of its backends: messages may come twice, late or never, and no error of the queue ends a
 * process.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { query } from '../shared/db/query.ts'
import { examineQueue } from '../bin/doctor/examine-queue.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { openQueue } from '../shared/queue/chunk-queue.ts'
import { startChunkWorker, type LookAtChunk } from '../shared/queue/chunk-worker.ts'
import { queueNames, queueSchema } from '../shared/queue/names.ts'
import { readPayload, toJobId, toPayload } from '../shared/queue/payload.ts'
import type { QueueConfig } from '../shared/queue/queue-config.ts'
import { startWatchedWorker } from '../worker/watched-worker.ts'
import { withDatabase } from './support/database.ts'
import { withEndingProxy } from './support/ending-proxy.ts'
import { openQueueAndWorker } from './support/queue-and-worker.ts'
import { withRedis, withRedisServer } from './support/redis.ts'
import { skipUnless } from './support/skip.ts'
import { startFailingOverRedis } from './torture/failing-over-redis.ts'
import { hasRedis } from './torture/servers.ts'

const log = createLog({ logLevel: 'silent' })
const oneServer = {
  redisSentinels: null,
  redisSentinelUsername: null,
  redisSentinelPassword: null,
  redisClusterNodes: null
}

async function eventually(condition: () => boolean | Promise<boolean>, maxMs = 60_000): Promise<boolean> {
  for (const deadline = Date.now() + maxMs; Date.now() < deadline;) {
    if (await condition()) return true
    await sleep(10)
  }
  return false
}

t.test('a job names its chunk, and data that is not a job of ours is dropped', async (t) => {
  t.equal(readPayload(JSON.parse(JSON.stringify(toPayload({ chunkId: 7, nudge: 3 })))), 7)
  t.equal(toJobId({ chunkId: 7, nudge: 3 }), 'c7-3')
  for (const forged of [
    null,
    7,
    'x',
    {},
    { chunkId: 7 },
    { version: 2, chunkId: 7 },
    { version: 1, chunkId: '7;drop table load' },
    { version: 1, chunkId: 1.5 },
    { version: 1, chunkId: -1 }
  ]) {
    t.equal(readPayload(forged), null, JSON.stringify(forged))
  }
})

/** The guarantees of both backends. */
function bothPromise(t: Test, config: QueueConfig): void {
  /** A queue and a worker, closed at the end of the test. */
  async function open(t: Test, look: LookAtChunk, concurrency = 1) {
    const queue = await openQueue(config, log)
    const worker = await startChunkWorker({ config, concurrency, look, log })
    t.teardown(async () => {
      await worker.close()
      await queue.close()
    })
    return { queue, worker }
  }

  t.test('a chunk is looked at soon after its nudge, and again after each further nudge', async (t) => {
    const seen: number[] = []
    const { queue } = await open(t, async (chunkId) => {
      seen.push(chunkId)
      return 'done'
    })
    t.equal(
      await queue.nudge([
        { chunkId: 1, nudge: 1 },
        { chunkId: 2, nudge: 1 }
      ]),
      true
    )
    t.ok(await eventually(() => seen.length === 2))
    await queue.nudge([{ chunkId: 1, nudge: 2 }])
    t.ok(await eventually(() => seen.length === 3))
    t.same(
      seen.toSorted((a, b) => a - b),
      [1, 1, 2]
    )
    t.ok(await eventually(async () => (await queue.depth()) === 0))
  })

  t.test('an idle worker wakes up at once', async (t) => {
    let lookedAt = 0
    const { queue } = await open(t, async () => {
      lookedAt = Date.now()
      return 'done'
    })
    const times: number[] = []
    for (let nudge = 1; nudge <= 5; nudge += 1) {
      await sleep(150)
      const toldAt = Date.now()
      await queue.nudge([{ chunkId: 50, nudge }])
      await eventually(() => lookedAt >= toldAt)
      times.push(lookedAt - toldAt)
    }
    // A worker that only polls would find each job after almost five seconds, its drainDelay. A machine that stands still
    // delays one or the other.
    const [, , middle = 0] = times.toSorted((a, b) => a - b)
    t.ok(middle < 4_000, `${times.join(', ')} ms`)
  })

  t.test('a worker that stops hands its chunk to another at once', async (t) => {
    const queue = await openQueue(config, log)
    t.teardown(() => queue.close())
    let begun = false
    const first = await startChunkWorker({
      config,
      concurrency: 1,
      log,
      look: (_chunkId, signal) =>
        new Promise((resolve) => {
          begun = true
          signal.addEventListener('abort', () => resolve('back'))
        })
    })
    await queue.nudge([{ chunkId: 9, nudge: 1 }])
    t.ok(await eventually(() => begun))
    let isTaken = false
    const second = await startChunkWorker({
      config,
      concurrency: 1,
      log,
      look: async () => {
        isTaken = true
        return 'done'
      }
    })
    t.teardown(() => second.close())
    const isClosed = first.close().then(() => true)
    t.ok(await Promise.race([isClosed, sleep(4_500, false)]), 'less than after which it closes by force')
    t.ok(await eventually(() => isTaken, 10_000), 'less than the lock of a dead worker lasts')
  })

  t.test('as many chunks are looked at together as the worker may', async (t) => {
    let most = 0
    const { queue, worker } = await open(
      t,
      async () => {
        most = Math.max(most, worker.activeCount())
        // The first ones wait for the others, and those for one too many.
        await eventually(() => most >= 3, 10_000)
        await sleep(100)
        return 'done'
      },
      3
    )
    await queue.nudge(Array.from({ length: 9 }, (_, index) => ({ chunkId: 100 + index, nudge: 1 })))
    t.ok(await eventually(async () => (await queue.depth()) === 0 && worker.activeCount() === 0))
    t.equal(most, 3)
  })
}

t.test('in Postgres', async (t) => {
  const { db, url } = await withDatabase(t)
  const config: QueueConfig = { redisUrl: null, redisTlsVerify: false, databaseUrl: url, ...oneServer }
  bothPromise(t, config)

  t.test('several processes that open it at once create its schema once', async (t) => {
    const queues = await Promise.all(Array.from({ length: 4 }, () => openQueue(config, log)))
    await Promise.all(queues.map((queue) => queue.close()))
    t.pass()
  })

  t.test('connections that the server ends are replaced', async (t) => {
    const seen: number[] = []
    const queue = await openQueue(config, log)
    const worker = await startChunkWorker({
      config,
      concurrency: 1,
      log,
      look: async (chunkId) => {
        seen.push(chunkId)
        return 'done'
      }
    })
    t.teardown(async () => {
      await worker.close()
      await queue.close()
    })
    await queue.nudge([{ chunkId: 1, nudge: 101 }])
    t.ok(await eventually(() => seen.length === 1))
    for (let round = 0; round < 3; round += 1) {
      await query(
        db,
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
      )
      await sleep(100)
    }
    let nudge = 200
    t.ok(
      await eventually(async () => {
        await queue.nudge([{ chunkId: 2, nudge: (nudge += 1) }])
        await sleep(200)
        return seen.includes(2)
      })
    )
  })

  t.test('connections that the server ends as they begin end no process, and are replaced', async (t) => {
    const proxy = await withEndingProxy(t, url)
    const { queue, isToldOf } = await openQueueAndWorker(t, { ...config, databaseUrl: proxy.url })
    t.ok(await eventually(() => isToldOf(1)))
    for (let chunkId = 2; chunkId <= 6; chunkId += 1) {
      proxy.end(6)
      t.ok(await eventually(async () => (await isToldOf(chunkId)) && proxy.left() === 0))
    }
    t.ok(await eventually(async () => (await queue.depth()) === 0))
  })
})

t.test('in Redis', async (t) => {
  const redisUrl = await withRedis(t)
  if (redisUrl === null) return
  const config: QueueConfig = { redisUrl, redisTlsVerify: false, databaseUrl: null, ...oneServer }
  bothPromise(t, config)

  t.test('a forged job is dropped, and the next one is looked at', async (t) => {
    const seen: number[] = []
    const queue = await openQueue(config, log)
    const worker = await startChunkWorker({
      config,
      concurrency: 1,
      log,
      look: async (chunkId) => {
        seen.push(chunkId)
        return 'done'
      }
    })
    const forger = new Queue(queueNames.chunks, { connection: { url: redisUrl } })
    t.teardown(async () => {
      await forger.close()
      await worker.close()
      await queue.close()
    })
    await forger.add('x', { chunkId: '1; drop table load' })
    await forger.add('y', 'garbage')
    await queue.nudge([{ chunkId: 5, nudge: 1 }])
    t.ok(await eventually(() => seen.length === 1))
    t.same(seen, [5])
  })

  t.test('all its keys are in one slot of a cluster', async (t) => {
    const queue = await openQueue(config, log)
    await queue.nudge([{ chunkId: 6, nudge: 1 }])
    await queue.close()
    const redis = new Redis(redisUrl)
    const keys = await redis.keys('*chunks*')
    await redis.quit()
    t.ok(keys.length > 0)
    t.ok(
      keys.every((key) => key.includes('{tributary-chunks}')),
      keys.join(' ')
    )
  })
})

t.test('a Redis behind Sentinels', async (t) => {
  if (skipUnless(t, hasRedis(), 'redis-server is not installed')) return
  const redis = await startFailingOverRedis()
  t.teardown(() => redis.stop())
  const config = readConfig(redis.env)
  const { isToldOf } = await openQueueAndWorker(t, config)
  t.ok(await eventually(() => isToldOf(1)), 'the primary is found by its name')
  await redis.failOver()
  t.ok(await eventually(() => isToldOf(2)), 'and so is the one that took its place')
  t.match(await examineQueue(config), [{ verdict: 'fine', text: /^answers/ }], 'the doctor finds it too')
})

t.test('a Redis that comes and goes', async (t) => {
  const server = await withRedisServer(t)
  if (server === null) return
  const config: QueueConfig = {
    redisUrl: server.url,
    redisTlsVerify: false,
    databaseUrl: null,
    ...oneServer
  }

  t.test('the log says that it is away, with the reason, and that it is back', async (t) => {
    await server.signal('SIGKILL')
    const lines: string[] = []
    const write = (line: string): void => void lines.push(line)
    const queue = await openQueue(config, pino({ level: 'info' }, { write }))
    t.teardown(() => queue.close())
    let asked = 0
    const ask = async (): Promise<unknown> => {
      asked += lines.length === 0 ? 0 : 1
      return queue.depth()
    }
    t.ok(await eventually(async () => (await ask()) === null && asked > 200))
    await server.start()
    t.ok(await eventually(async () => (await ask()) !== null))
    t.match(
      lines.map((line) => JSON.parse(line)),
      [
        { msg: /^the queue does not answer/, err: { message: /ECONNREFUSED/ } },
        { msg: /^the queue answers again/ }
      ]
    )
    t.equal(lines.length, 2)
  })

  t.test(
    'absent at the start, frozen, killed and restarted, no caller waits long for it, and work continues',
    async (t) => {
      await server.signal('SIGKILL')
      const seen: number[] = []
      const queue = await openQueue(config, log)
      const worker = await startChunkWorker({
        config,
        concurrency: 1,
        log,
        look: async (chunkId) => {
          seen.push(chunkId)
          return 'done'
        }
      })
      t.teardown(async () => {
        await worker.close()
        await queue.close()
      })
      let nudge = 0
      const isTold = (): Promise<boolean> => queue.nudge([{ chunkId: 1, nudge: (nudge += 1) }])
      /** The queue's own deadline is shorter, and a machine that stands still delays both timers. */
      const soon = (): Promise<unknown> => Promise.race([isTold(), sleep(5_000, 'late')])
      t.equal(await soon(), false, 'while it is away')
      await server.start()
      t.ok(await eventually(isTold), 'told when it is back')
      t.ok(await eventually(() => seen.length > 0), 'looked at when it is back')

      await server.signal('SIGSTOP')
      t.equal(await soon(), false, 'while it is frozen')
      await server.signal('SIGCONT')
      t.ok(await eventually(isTold), 'told after the thaw')

      await server.signal('SIGKILL')
      await server.start()
      const before = seen.length
      t.ok(
        await eventually(async () => {
          await isTold()
          return seen.length > before
        }),
        'looked at after a restart that lost everything'
      )
    }
  )
})

t.test('a Redis that answers reads and refuses writes', async (t) => {
  const server = await withRedisServer(t)
  const primary = await withRedisServer(t)
  if (server === null || primary === null) return
  const redis = new Redis(server.url)
  t.teardown(() => redis.disconnect())
  const config = { redisUrl: server.url, redisTlsVerify: false, databaseUrl: null, ...oneServer }
  const { port } = new URL(primary.url)
  const ways: readonly [string, RegExp, () => Promise<unknown>, () => Promise<unknown>][] = [
    [
      'since it is full',
      /OOM/,
      () => redis.config('SET', 'maxmemory', '1'),
      () => redis.config('SET', 'maxmemory', '0')
    ],
    [
      'since it is a replica',
      /READONLY/,
      () => redis.replicaof('127.0.0.1', Number(port)),
      () => redis.replicaof('NO', 'ONE')
    ],
    [
      'since it has too few replicas',
      /NOREPLICAS/,
      () => redis.config('SET', 'min-replicas-to-write', '1'),
      () => redis.config('SET', 'min-replicas-to-write', '0')
    ]
  ]
  for (const [why, says, begin, end] of ways) {
    t.test(`${why}, is down for health, the doctor and the log of a worker`, async (t) => {
      const queue = await openQueue(config, log)
      t.teardown(() => queue.close())
      const isUp = async (): Promise<boolean> => (await queue.depth({ checksWrites: true })) !== null
      t.ok(await eventually(isUp))
      await begin()
      t.ok(await eventually(async () => !(await isUp())))
      const findings = await examineQueue(readConfig({ REDIS_URL: server.url }))
      t.ok(findings.some(({ verdict, text }) => verdict === 'wrong' && says.test(text)))
      const lines: string[] = []
      const write = (line: string): void => void lines.push(line)
      const worker = await startChunkWorker({
        config,
        concurrency: 1,
        look: async () => 'done',
        log: pino({ level: 'warn' }, { write })
      })
      t.ok(await eventually(() => lines.some((line) => says.test(line))))
      t.equal(lines.filter((line) => line.includes('the queue reports errors')).length, 1)
      await end()
      await worker.close()
      t.ok(await eventually(isUp))
    })
  }
})

t.test('a worker that has gone deaf is replaced, and then gives up', async (t) => {
  const { url } = await withDatabase(t)
  const config: QueueConfig = { redisUrl: null, redisTlsVerify: false, databaseUrl: url, ...oneServer }
  const queue = await openQueue(config, log)
  t.teardown(() => queue.close())
  let gaveUp = 0
  // Reports a waiting job although there is none, so that the watchdog believes that the worker takes no
  // jobs.
  const worker = await startWatchedWorker({
    config,
    concurrency: 1,
    log,
    look: async () => 'done',
    depth: async () => 1,
    deafAfterMs: 300,
    giveUp: () => {
      gaveUp += 1
    }
  })
  t.ok(await eventually(() => gaveUp > 0))
  await worker.close()
})

/** A worker whose queue refuses to hand out the one job that waits, until it is told to accept. */
async function refused(
  t: Test,
  config: QueueConfig,
  refuse: () => Promise<void>,
  accept: () => Promise<void>
): Promise<void> {
  const queue = await openQueue(config, log)
  t.teardown(() => queue.close())
  t.equal(await queue.nudge([{ chunkId: 7, nudge: 1 }]), true)
  await refuse()
  const seen: number[] = []
  const lines: string[] = []
  let gaveUp = 0
  const worker = await startWatchedWorker({
    config,
    concurrency: 1,
    log: pino({ level: 'error' }, { write: (line: string) => lines.push(line) }),
    look: async (chunkId) => {
      seen.push(chunkId)
      return 'done'
    },
    depth: () => queue.depth(),
    // So long a new client has to hear that the queue refuses.
    deafAfterMs: 3_000,
    giveUp: () => {
      gaveUp += 1
    }
  })
  t.teardown(() => worker.close())
  t.ok(await eventually(() => lines.length >= 2), 'its client was replaced again and again')
  t.same(seen, [])
  await accept()
  t.ok(await eventually(() => seen.length > 0), 'the job is taken as soon as the queue accepts')
  t.same([seen[0], gaveUp], [7, 0])
  t.match(JSON.parse(lines[0] ?? ''), { waiting: 1, err: { message: /full|OOM/ } }, 'the log says why')
}

t.test('a worker does not give up on a queue that refuses, as with a full disk or memory', async (t) => {
  t.test('in Postgres', async (t) => {
    const { db, url } = await withDatabase(t)
    const config: QueueConfig = { redisUrl: null, redisTlsVerify: false, databaseUrl: url, ...oneServer }
    await refused(
      t,
      config,
      async () => {
        await query(
          db,
          `create function ${queueSchema}.full_disk() returns trigger language plpgsql as $$
             begin raise exception 'the disk is full' using errcode = 'disk_full'; end $$`
        )
        await query(
          db,
          `create trigger full_disk before update on ${queueSchema}.job
           for each row execute function ${queueSchema}.full_disk()`
        )
      },
      async () => {
        await query(db, `drop trigger full_disk on ${queueSchema}.job`)
      }
    )
  })

  t.test('in Redis', async (t) => {
    const server = await withRedisServer(t)
    if (server === null) return
    const redis = new Redis(server.url)
    t.teardown(() => redis.disconnect())
    await refused(
      t,
      { redisUrl: server.url, redisTlsVerify: false, databaseUrl: null, ...oneServer },
      async () => {
        await redis.config('SET', 'maxmemory', '1')
      },
      async () => {
        await redis.config('SET', 'maxmemory', '0')
      }
    )
  })
})
