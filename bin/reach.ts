/** Checks that the configured services answer, before anything uses them. */
import { Redis } from 'ioredis'
import pg from 'pg'
import type { Config } from '../shared/platform/config.ts'
import { findSessions } from '../shared/db/sessions.ts'
import { sqlState } from '../shared/db/sql-errors.ts'
import { kindProblemBehind, kindProblemOf, nodeErrorOf } from '../shared/queue/redis-kind.ts'
import { connectRedis, type AnyRedis } from '../shared/queue/redis-place.ts'
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
    throw new Refusal(await whyNoDatabase(url, error), exitCodes.config, { cause: error })
  }
}

/** A server that refuses the connection does answer, and what helps is another step for each refusal. */
async function whyNoDatabase(url: string, error: unknown): Promise<string> {
  const code = sqlState(error) ?? ''
  if (untrusted.has(code))
    return `The certificate of the database of DATABASE_URL is not trusted: ${reasonOf(error)}. Name the certificate of its authority, as sslrootcert in DATABASE_URL or for everything in NODE_EXTRA_CA_CERTS.`
  const advice = adviceByState[code]
  if (advice === undefined) return `The database of DATABASE_URL does not answer: ${reasonOf(error)}`
  const { user, database } = await postgresOptions(url)
  return `Postgres refuses the connection of DATABASE_URL: ${reasonOf(error)}. ${advice(quoted(user), quoted(database))}`
}

/** Codes of OpenSSL for a chain that ends at an authority that Node.js does not know. */
const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
])

type Advise = (role: string, database: string) => string

const adviceByState: Readonly<Record<string, Advise>> = {
  '28P01': () =>
    'Correct the user or the password in DATABASE_URL; there, characters such as @ and / are percent-encoded.',
  '28000': (role) =>
    `The role ${role} must exist, with \`login\`, and pg_hba.conf must let it connect from here.`,
  '3D000': (role, database) =>
    `As an administrator, run \`create database ${database} owner ${role};\`, or correct the name.`,
  '42501': (role, database) =>
    `As the owner of the database, run \`grant connect on database ${database} to ${role};\`.`
}

/** A name as SQL needs it. */
const quoted = (name = ''): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`

/** What to do if the queue cannot work behind a pooler. */
export const queueNeedsSessions =
  'DATABASE_URL leads through a connection pooler (PgBouncer) that shares sessions or does not pass on their settings, but the queue in Postgres needs sessions of its own: set REDIS_URL, or a DATABASE_URL that leads to Postgres itself'

/**
 * Throws Refusal (exit code 78) if the queue would use a Postgres behind a pooler that loses its notifications
 * or its settings. Throws what the driver throws.
 */
export async function requireSessions(config: Config & { databaseUrl: string }): Promise<void> {
  if (config.redisUrl === null && !(await canCarryQueue(config.databaseUrl)))
    throw new Refusal(`${queueNeedsSessions}.`, exitCodes.config)
}

/**
 * Whether the queue can use the Postgres of this URL: it notifies listeners, and keeps the schema that a
 * connection sets.
 */
export async function canCarryQueue(url: string): Promise<boolean> {
  const sessions = await findSessions(url)
  if (sessions !== 'lent') return sessions === 'own'
  const searchPath = 'tributary_probe'
  try {
    const kept = await askDatabase(
      url,
      (client) => client.query<{ search_path: string }>('show search_path'),
      `-c search_path=${searchPath}`
    )
    return kept.rows[0]?.search_path === searchPath
  } catch (error) {
    if (sqlState(error) === '08P01') return false
    throw error
  }
}

/** Throws Refusal (exit code 78) with the reason in one line. */
export async function requireRedis(config: Config & { redisUrl: string }): Promise<void> {
  const problem = await askRedis(config, async (redis) => {
    await redis.ping()
    return null
  }).catch((error: unknown) => ({ text: redisProblem(error), cause: error }))
  if (problem !== null) throw new Refusal(sentence(problem.text), exitCodes.config, { cause: problem.cause })
}

/** Why Redis cannot be used, after askRedis threw: it does not answer, or is not what the configuration says. */
export function redisProblem(error: unknown): string {
  if (error instanceof WrongKindOfRedis) return error.message
  return `the Redis of REDIS_URL does not answer: ${reasonOf(error)}`
}

class WrongKindOfRedis extends Error {}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Runs `ask` on one connection of its own, with options for the server. Throws what the driver throws. */
export async function askDatabase<T>(
  url: string,
  ask: (client: pg.Client) => Promise<T>,
  options?: string
): Promise<T> {
  const client = new pg.Client({
    ...(await postgresOptions(url)),
    ...(options === undefined ? {} : { options }),
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

/**
 * Runs `ask` on connections of its own, without retries. Throws what the driver throws, or a WrongKindOfRedis for
 * servers that are not of the configured kind.
 */
export async function askRedis<T>(
  config: Config & { redisUrl: string },
  ask: (redis: AnyRedis) => Promise<T>
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
    const problem = kindProblemBehind(error)
    reason ??= problem === null ? error : new WrongKindOfRedis(problem)
  })
  try {
    await redis.connect()
    const problem = redis instanceof Redis ? kindProblemOf(await redis.info()) : null
    if (problem !== null) throw new WrongKindOfRedis(problem)
    return await ask(redis)
  } catch (error) {
    throw (await nodeFailureOf(config, reason)) ?? reason ?? error
  } finally {
    redis.disconnect()
  }
}

/**
 * Why the client of a cluster found no node; null after other errors. It ignores why a connection failed, so the node of
 * REDIS_URL is asked alone.
 */
async function nodeFailureOf(
  config: Config & { redisUrl: string },
  reason: Error | undefined
): Promise<Error | null> {
  const nodeError = nodeErrorOf(reason)
  if (nodeError === null) return null
  try {
    await askRedis({ ...config, redisClusterNodes: null }, (redis) => redis.ping())
  } catch (error) {
    if (error instanceof Error && !(error instanceof WrongKindOfRedis)) return error
  }
  return nodeError
}
