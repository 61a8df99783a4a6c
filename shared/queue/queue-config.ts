/** Where the queue is, and how its two sides connect to it. */
import type { PgPool } from 'bullmq'
import pg from 'pg'
import type { Config } from '../platform/config.ts'
import { postgresOptions } from '../platform/postgres-url.ts'
import { queueSchema } from './names.ts'
import { connectRedis, type AnyRedis, type RedisPlace } from './redis-place.ts'

/** The keys of the configuration that the queue needs. */
export type QueueConfig = Omit<RedisPlace, 'redisUrl'> & Pick<Config, 'redisUrl' | 'databaseUrl'>

/** The longest that any caller waits for the queue. An operation that takes longer may still succeed. */
export const queueDeadlineMs = 1_500

const commandTimeoutMs = 1_000
/** Longer than a worker lets Redis wait for a job. */
const silenceMaxMs = 20_000

/**
 * A producer fails fast, because the sweeper enqueues again. A worker waits forever, because it has nothing
 * to do without the queue; but not on a connection that was cut silently. The caller must disconnect, because
 * BullMQ leaves the client open.
 */
export function connectQueueRedis(
  config: QueueConfig & { redisUrl: string },
  side: 'producer' | 'worker'
): AnyRedis {
  const common = {
    connectTimeout: 5_000,
    keepAlive: 10_000,
    retryStrategy: (times: number) => Math.min(times * 100, 2_000)
  }
  return connectRedis(
    config,
    side === 'worker'
      ? { ...common, maxRetriesPerRequest: null, socketTimeout: silenceMaxMs }
      : { ...common, maxRetriesPerRequest: 1, enableOfflineQueue: false, commandTimeout: commandTimeoutMs }
  )
}

/**
 * The connections of one side to Postgres. The caller must end them after BullMQ has closed. A worker works on two and
 * waits for jobs on the third.
 */
export async function openQueuePool(config: QueueConfig, side: 'producer' | 'worker'): Promise<PgPool> {
  if (config.databaseUrl === null) throw new Error('the queue needs REDIS_URL or DATABASE_URL')
  const pool = new pg.Pool({
    ...(await postgresOptions(config.databaseUrl)),
    options: `-c search_path=${queueSchema}`,
    max: side === 'producer' ? 1 : 3,
    application_name: `tributary-queue-${side}`,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    query_timeout: silenceMaxMs,
    connectionTimeoutMillis: 10_000
  })
  // BullMQ hears errors of a connection only a moment after it was made. An error that nobody hears ends the process,
  // and a server that stops may end a connection in that moment. What fails on it says so.
  const ignore = (): void => {}
  pool.on('error', ignore).on('connect', (client) => {
    client.on('error', ignore)
  })
  // Its types say the same in another way.
  return pool as unknown as PgPool
}
