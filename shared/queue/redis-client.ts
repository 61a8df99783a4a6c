/** A connection to the Redis of the queue, for counts that processes share. */
import type { Log } from '../platform/log.ts'
import { connectRedis, type AnyRedis } from './redis-place.ts'
import type { QueueConfig } from './queue-config.ts'

/** How long a request waits for an answer; then it continues without one. */
const commandTimeoutMs = 250
/** A connection that is silent for this time is replaced. One to a frozen primary would never close. */
const silenceMaxMs = 5_000

export type RedisClient = { client: AnyRedis; close: () => void }

/** Connects in the background, again and again. Commands fail at once while there is no connection, and after 250 ms. */
export function openRedisClient(config: QueueConfig & { redisUrl: string }, log: Log): RedisClient {
  const client = connectRedis(config, {
    connectTimeout: 5_000,
    keepAlive: 10_000,
    retryStrategy: (times) => Math.min(times * 100, 2_000),
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: commandTimeoutMs,
    socketTimeout: silenceMaxMs
  })
  client.on('error', (err) => {
    log.debug({ err }, 'Redis reported an error')
  })
  return {
    client,
    close: () => {
      client.disconnect()
    }
  }
}
