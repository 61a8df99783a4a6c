/** The servers that a torture stands on and hurts: Postgres, and what the queue lives in. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { queueSchema } from '../../shared/queue/names.ts'
import { findPostgresPrograms } from '../support/postgres-cluster.ts'
import { hasPgBouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { freePort } from '../support/free-port.ts'
import { startFailingOverPostgres } from './failing-over-postgres.ts'
import { startFailingOverRedis } from './failing-over-redis.ts'
import { startKillablePostgres } from './killable-postgres.ts'
import { patiently } from './patiently.ts'
import { pick, type Random } from './workload.ts'

/** `restart` and `failOver` are null where that cannot be done to the server. */
export type TorturedPostgres = {
  url: string
  /** What the processes reach a database by, where that is not the server itself. */
  urlOf?: (database: string) => string
  restart: (() => Promise<void>) | null
  /** Says what it did. */
  failOver: ((random: Random) => Promise<string>) | null
  stop(): Promise<void>
}

/** The server of DATABASE_URL, or a durable one for the torture. */
export async function openPostgres(): Promise<TorturedPostgres> {
  if (process.env.DATABASE_URL)
    return { url: process.env.DATABASE_URL, restart: null, failOver: null, stop: async () => {} }
  const { url, crash, stop } = await startKillablePostgres()
  return { url, restart: () => crash('SIGQUIT'), failOver: null, stop }
}

/** One with a standby. Null if the programs of a PostgreSQL server are not installed. */
export async function openPostgresWithStandby(): Promise<TorturedPostgres | null> {
  const programs = findPostgresPrograms()
  if (programs === null) return null
  const postgres = await startFailingOverPostgres(programs)
  return {
    url: postgres.url,
    restart: null,
    async failOver(random) {
      const begun = Date.now()
      const promotedMs = await postgres.failOver(random() < 0.5 ? 'SIGKILL' : 'SIGQUIT')
      return `the standby was promoted after ${promotedMs} ms, and a new one in step after ${Date.now() - begun} ms`
    },
    stop: () => postgres.stop()
  }
}

/** Through PgBouncer in transaction mode, which fails over by crashing. Null if it is not installed. */
export async function openPostgresBehindPgBouncer(): Promise<TorturedPostgres | null> {
  if (!hasPgBouncer()) return null
  const postgres = await openPostgres()
  const bouncer = await startPgBouncer(postgres.url, { poolSize: 8 })
  return {
    ...postgres,
    urlOf: (database) => bouncer.url(database),
    async failOver() {
      await bouncer.kill()
      await bouncer.start()
      return 'PgBouncer was killed and started again'
    },
    async stop() {
      await bouncer.stop()
      await postgres.stop()
    }
  }
}

export type TorturedQueue = {
  /** Loses all that is in it, so that nobody is told of anything. */
  wipe(): Promise<void>
  /** Wipes it, or makes it stand still for some seconds. Says which. */
  harm(random: Random): Promise<string>
}

/** `env` are the keys of the configuration that lead to it. */
export type TorturedRedis = TorturedQueue & {
  env: Record<string, string>
  /** Null where there is nothing to fail over to. Says what it did. */
  failOver: (() => Promise<string>) | null
  stop(): Promise<void>
}

export const hasRedis = (): boolean => spawnSync('redis-server', ['--version']).status === 0

const freezeMaxMs = 4_000

/** A Redis for the torture, which keeps nothing on disk. */
export async function startRedis(): Promise<TorturedRedis> {
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const server = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--maxmemory-policy', 'noeviction'],
    { stdio: 'ignore' }
  )

  async function wipe(): Promise<void> {
    const redis = new Redis(url)
    await redis.flushall()
    await redis.quit()
  }

  return {
    env: { REDIS_URL: url },
    failOver: null,
    wipe,
    async harm(random) {
      if (random() < 0.5) {
        await wipe()
        return 'Redis wiped'
      }
      const ms = Math.round(random() * freezeMaxMs)
      server.kill('SIGSTOP')
      await sleep(ms)
      server.kill('SIGCONT')
      return `Redis frozen for ${ms} ms`
    },
    async stop() {
      const ended = once(server, 'exit')
      server.kill('SIGKILL')
      await ended
    }
  }
}

/** One with a replica, and Sentinels that make it the primary. */
export async function startRedisWithReplica(): Promise<TorturedRedis> {
  const redis = await startFailingOverRedis()
  return {
    env: redis.env,
    wipe: () => redis.wipe(),
    async harm() {
      await redis.wipe()
      return 'Redis wiped'
    },
    async failOver() {
      return `the replica of Redis was promoted after ${await redis.failOver()} ms`
    },
    stop: () => redis.stop()
  }
}

/** One in a cluster, where its slot also moves to another primary. */
export async function startRedisInCluster(): Promise<TorturedRedis> {
  const cluster = await startRedisCluster()
  const harms: readonly (() => Promise<string>)[] = [
    async () => {
      await cluster.wipe()
      return 'Redis wiped'
    },
    async () => {
      const thaw = await cluster.freeze()
      await thaw()
      return 'the primary of the queue frozen until its replica was promoted'
    },
    async () => {
      await cluster.moveQueue()
      return 'the slot of the queue moved'
    }
  ]
  return {
    env: cluster.env,
    wipe: () => cluster.wipe(),
    harm: (random) => pick(random, harms)(),
    async failOver() {
      return `the replica of the queue's primary was promoted after ${await cluster.failOver()} ms`
    },
    stop: () => cluster.stop()
  }
}

/** The queue in the Postgres of the catalog. */
export function queueInPostgres(db: Db): TorturedQueue {
  const wipe = async (): Promise<void> => {
    await patiently(() => query(db, `delete from ${queueSchema}.job`))
  }
  return {
    wipe,
    async harm() {
      await wipe()
      return 'the jobs in Postgres wiped'
    }
  }
}
