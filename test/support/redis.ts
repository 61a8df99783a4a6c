/** A Redis for a test: a database number of REDIS_URL, or a server started for the test. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Test } from 'tap'
import { freePort } from './free-port.ts'
import { skipUnless } from './skip.ts'

const databaseCount = 16
const leaseMs = 600_000
const startMaxMs = 10_000

/**
 * The URL of an empty Redis for this test, emptied again at teardown: from REDIS_URL if it is set, otherwise
 * of a new server. Null if neither is available; the test is then skipped with the reason.
 */
export async function withRedis(t: Test): Promise<string | null> {
  if (process.env.REDIS_URL) return leaseDatabase(t, process.env.REDIS_URL)
  const server = await withRedisServer(t)
  return server?.url ?? null
}

/** A server that the test may kill, freeze and restart on the same port. */
export type RedisServer = {
  url: string
  start(): Promise<void>
  /** `SIGKILL` is a crash, `SIGSTOP` a freeze, `SIGCONT` its end. */
  signal(signal: NodeJS.Signals): Promise<void>
}

/** The arguments of a redis-server that only this machine reaches, keeps nothing on disk and evicts nothing. */
export const redisArguments = (port: number, folder: string): string[] => [
  '--port',
  String(port),
  '--bind',
  '127.0.0.1',
  '--dir',
  folder,
  '--save',
  '',
  '--maxmemory-policy',
  'noeviction'
]

/** Starts a server on a free port, stopped at teardown; null (skipped) if redis-server is not installed. */
export async function withRedisServer(
  t: Test,
  options: { args?: readonly string[] } = {}
): Promise<RedisServer | null> {
  const isInstalled = spawnSync('redis-server', ['--version']).status === 0
  if (skipUnless(t, isInstalled, 'redis-server is not installed')) return null
  const folder = mkdtempSync(join(tmpdir(), 'tributary-redis-'))
  const port = await freePort()
  const args = [...redisArguments(port, folder), ...(options.args ?? [])]
  const url = `redis://127.0.0.1:${port}`
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    child = spawn('redis-server', args, { stdio: 'ignore' })
    await answers(url)
  }

  async function signal(name: NodeJS.Signals): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child?.once('exit', resolve))
    child.kill(name)
    if (name === 'SIGKILL' || name === 'SIGTERM') await ended
  }

  t.teardown(async () => {
    await signal('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  return { url, start, signal }
}

async function answers(url: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => 20, maxRetriesPerRequest: null })
  redis.on('error', () => {})
  const deadline = sleep(startMaxMs, false, { ref: false })
  const answered = await Promise.race([redis.ping().then(() => true), deadline])
  redis.disconnect()
  if (!answered) throw new Error(`redis-server did not answer on ${url}`)
}

/**
 * Test files run in parallel, so each takes a database number that no other uses. Number 0 has the leases.
 */
async function leaseDatabase(t: Test, url: string): Promise<string> {
  const redis = new Redis(url, redisTestOptions(url))
  for (;;) {
    for (let number = 1; number < databaseCount; number += 1) {
      const key = `tributary-test:database:${number}`
      if ((await redis.set(key, process.pid, 'PX', leaseMs, 'NX')) === null) continue
      const leased = new URL(url)
      leased.pathname = `/${number}`
      await flush(leased.href)
      t.teardown(async () => {
        await flush(leased.href)
        await redis.del(key)
        await redis.quit()
      })
      return leased.href
    }
    await sleep(200)
  }
}

async function flush(url: string): Promise<void> {
  const redis = new Redis(url, redisTestOptions(url))
  await redis.flushdb()
  await redis.quit()
}

function redisTestOptions(url: string): {
  maxRetriesPerRequest: number
  tls?: { rejectUnauthorized: false }
} {
  return {
    maxRetriesPerRequest: 1,
    ...(url.startsWith('rediss:') ? { tls: { rejectUnauthorized: false } } : {})
  }
}
