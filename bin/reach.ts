/** Checks that the configured services answer, before anything uses them. */
import type { Redis } from 'ioredis'
import pg from 'pg'
import type { Config } from '../shared/platform/config.ts'
import { connectRedis } from '../shared/queue/redis-place.ts'
import { postgresOptions } from '../shared/platform/postgres-url.ts'
import { exitCodes, reasonOf, Refusal } from './failure.ts'

const answerMaxMs = 10_000

/**
 * Throws Refusal (exit code 78) with the reason in one line, without the URL, because it contains a password.
 */
export async function requireDatabase(url: string): Promise<void> {
  try {
    await askDatabase(url, async () => {})
  } catch (error) {
    throw new Refusal(`The database of DATABASE_URL does not answer: ${reasonOf(error)}`, exitCodes.config, {
      cause: error
    })
  }
}

/** Throws Refusal (exit code 78) with the reason in one line. */
export async function requireRedis(config: Config & { redisUrl: string }): Promise<void> {
  try {
    await askRedis(config, async (redis) => {
      await redis.ping()
    })
  } catch (error) {
    throw new Refusal(`The Redis of REDIS_URL does not answer: ${reasonOf(error)}`, exitCodes.config, {
      cause: error
    })
  }
}

/** Runs `ask` on one connection of its own. Throws what the driver throws. */
export async function askDatabase<T>(url: string, ask: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    ...(await postgresOptions(url)),
    application_name: 'tributary-cli',
    connectionTimeoutMillis: answerMaxMs
  })
  client.on('error', () => {})
  await client.connect()
  try {
    return await ask(client)
  } finally {
    await client.end()
  }
}

/** Runs `ask` on one connection of its own, without retries. Throws what the driver throws. */
export async function askRedis<T>(
  config: Config & { redisUrl: string },
  ask: (redis: Redis) => Promise<T>
): Promise<T> {
  const redis = connectRedis(config, {
    lazyConnect: true,
    connectTimeout: answerMaxMs,
    commandTimeout: answerMaxMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null
  })
  // connect() rejects with "Connection is closed"; the reason comes earlier, as an event
  let reason: Error | undefined
  redis.on('error', (error: Error) => {
    reason ??= error
  })
  try {
    await redis.connect()
    return await ask(redis)
  } catch (error) {
    throw reason ?? error
  } finally {
    redis.disconnect()
  }
}
