/** A Redis with a replica and three Sentinels. When the primary dies, they make the replica the primary. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort } from '../support/free-port.ts'
import { redisArguments } from '../support/redis.ts'

export type FailingOverRedis = {
  /** The keys of the configuration that lead to the primary. */
  env: { REDIS_URL: string; REDIS_SENTINELS: string }
  /**
   * Kills the primary, and resolves when the replica has taken its place and the former primary follows it. Returns
   * after how many milliseconds the Sentinels named the new primary.
   */
  failOver(): Promise<number>
  /** Loses all that is in it. */
  wipe(): Promise<void>
  stop(): Promise<void>
}

const primaryName = 'tributary'
const sentinelCount = 3
const quorum = 2
/** Sentinels ask every second. With less than two a busy machine is taken for a dead server. */
const downAfterMs = 2_500
const failoverTimeoutMs = 10_000
const waitMaxMs = 60_000
const lookEveryMs = 20

export async function startFailingOverRedis(): Promise<FailingOverRedis> {
  const home = mkdtempSync(join(tmpdir(), 'tributary-sentinel-'))
  const running = new Map<number, ChildProcess>()

  const run = (port: number, args: readonly string[]): void => {
    running.set(port, spawn('redis-server', args, { stdio: 'ignore' }))
  }
  const serve = (port: number, more: readonly string[] = []): void => {
    const folder = join(home, String(port))
    mkdirSync(folder, { recursive: true })
    run(port, [...redisArguments(port, folder), '--repl-diskless-sync-delay', '0', ...more])
  }
  const watch = (port: number, primary: number): void => {
    const file = join(home, `sentinel-${port}.conf`)
    writeFileSync(
      file,
      [
        `port ${port}`,
        'bind 127.0.0.1',
        `sentinel monitor ${primaryName} 127.0.0.1 ${primary} ${quorum}`,
        `sentinel down-after-milliseconds ${primaryName} ${downAfterMs}`,
        `sentinel failover-timeout ${primaryName} ${failoverTimeoutMs}`,
        ''
      ].join('\n')
    )
    run(port, [file, '--sentinel'])
  }
  async function end(port: number): Promise<void> {
    const server = running.get(port)
    running.delete(port)
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGKILL')
    await ended
  }

  let primary = await freePort()
  let replica = await freePort()
  serve(primary)
  serve(replica, ['--replicaof', '127.0.0.1', String(primary)])
  const sentinels = await Promise.all(Array.from({ length: sentinelCount }, freePort))
  await untilReplicates(primary, replica)
  for (const port of sentinels) watch(port, primary)
  await Promise.all(sentinels.map((port) => untilSentinel(port, primary)))

  return {
    env: {
      REDIS_URL: `redis://${primaryName}`,
      REDIS_SENTINELS: sentinels.map((port) => `127.0.0.1:${port}`).join(',')
    },
    async failOver() {
      const begun = Date.now()
      await end(primary)
      const former = primary
      primary = replica
      replica = former
      for (const port of sentinels)
        await until(`Sentinel ${port} to name ${primary}`, port, async (sentinel) => {
          const [, named] = (await sentinel.call(
            'sentinel',
            'get-master-addr-by-name',
            primaryName
          )) as string[]
          return Number(named) === primary
        })
      const namedMs = Date.now() - begun
      serve(replica, ['--replicaof', '127.0.0.1', String(primary)])
      await untilReplicates(primary, replica)
      await Promise.all(sentinels.map((port) => untilSentinel(port, primary)))
      return namedMs
    },
    async wipe() {
      const redis = new Redis(primary, '127.0.0.1')
      await redis.flushall()
      await redis.quit()
    },
    async stop() {
      await Promise.all([...running.keys()].map(end))
      rmSync(home, { recursive: true, force: true })
    }
  }
}

async function untilReplicates(primary: number, replica: number): Promise<void> {
  await until(`${replica} to follow ${primary}`, replica, async (redis) => {
    const info = await redis.info('replication')
    return info.includes('master_link_status:up') && info.includes(`master_port:${primary}`)
  })
}

/** Waits until a Sentinel knows the other Sentinels, and a replica that may be promoted. */
async function untilSentinel(port: number, primary: number): Promise<void> {
  await until(`Sentinel ${port} to know all`, port, async (sentinel) => {
    const primaryNow = pairs(await sentinel.call('sentinel', 'master', primaryName))
    const replicas = ((await sentinel.call('sentinel', 'replicas', primaryName)) as unknown[]).map(pairs)
    return (
      primaryNow.get('port') === String(primary) &&
      primaryNow.get('flags') === 'master' &&
      primaryNow.get('num-other-sentinels') === String(sentinelCount - 1) &&
      replicas.some((each) => each.get('flags') === 'slave' && each.get('master-link-status') === 'ok')
    )
  })
}

/** Redis answers names and values in turn. */
function pairs(answer: unknown): Map<string, string> {
  const texts = Array.isArray(answer) ? answer.map(String) : []
  return new Map(
    texts.flatMap((text, index): [string, string][] =>
      index % 2 === 0 ? [[text, texts[index + 1] ?? '']] : []
    )
  )
}

async function until(what: string, port: number, isSo: (redis: Redis) => Promise<boolean>): Promise<void> {
  const redis = new Redis(port, '127.0.0.1', { retryStrategy: () => lookEveryMs, maxRetriesPerRequest: null })
  redis.on('error', () => {})
  try {
    for (const giveUpAt = Date.now() + waitMaxMs; ; await sleep(lookEveryMs)) {
      const answer = await Promise.race([
        isSo(redis).catch(() => false),
        sleep(waitMaxMs, false, { ref: false })
      ])
      if (answer) return
      if (Date.now() > giveUpAt) throw new Error(`waited too long for ${what}`)
    }
  } finally {
    redis.disconnect()
  }
}
