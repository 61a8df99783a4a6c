/** A Redis Cluster of three primaries with a replica each. When a primary dies, its replica takes its place. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Test } from 'tap'
import { queueNames } from '../../shared/queue/names.ts'
import { freePort } from './free-port.ts'
import { redisArguments } from './redis.ts'
import { skipUnless } from './skip.ts'

export type RedisCluster = {
  /** The keys of the configuration that lead to it. The URL is that of the first node. */
  env: { REDIS_URL: string; REDIS_CLUSTER_NODES: string }
  /** The ports of the primaries now. */
  primaries(): Promise<number[]>
  /** The keys that a node has. */
  keys(port: number): Promise<string[]>
  /** The port of the primary that has the queue. */
  portOfQueue(): Promise<number>
  /**
   * Kills the primary that has the queue, and resolves when its replica has taken its place and the former primary
   * follows it. Returns after how many milliseconds all others named the new primary.
   */
  failOver(): Promise<number>
  /**
   * Stops the primary that has the queue, whose connections stay open, and resolves when its replica has taken its
   * place. The answer lets it go on.
   */
  freeze(): Promise<() => Promise<void>>
  /** Moves the slot of the queue to another primary, some keys at a time, as resharding does. */
  moveQueue(): Promise<void>
  /** Loses all that is in it. */
  wipe(): Promise<void>
  /** Ends a node for good. */
  end(port: number): Promise<void>
  stop(): Promise<void>
}

const primaryCount = 3
const nodeCount = 2 * primaryCount
/** On a busy machine a server may be silent for a second, without being dead. */
const nodeTimeoutMs = 2_000
const waitMaxMs = 60_000
const lookEveryMs = 20
const movedTogether = 5

export const hasRedisCluster = (): boolean =>
  ['redis-server', 'redis-cli'].every((name) => spawnSync(name, ['--version']).status === 0)

/** Stopped at teardown; null (skipped) where Redis is not installed. */
export async function withRedisCluster(t: Test): Promise<RedisCluster | null> {
  if (skipUnless(t, hasRedisCluster(), 'redis-server or redis-cli is not installed')) return null
  const cluster = await startRedisCluster()
  t.teardown(() => cluster.stop())
  return cluster
}

export async function startRedisCluster(): Promise<RedisCluster> {
  const home = mkdtempSync(join(tmpdir(), 'tributary-redis-cluster-'))
  const running = new Map<number, ChildProcess>()
  const busPorts = new Map<number, number>()

  function serve(port: number): void {
    const folder = join(home, String(port))
    mkdirSync(folder, { recursive: true })
    const more = `--cluster-enabled yes --cluster-config-file nodes.conf --cluster-node-timeout ${nodeTimeoutMs} --cluster-port ${busPorts.get(port)} --repl-diskless-sync-delay 0`
    const args = [...redisArguments(port, folder), ...more.split(' ')]
    running.set(port, spawn('redis-server', args, { stdio: 'ignore' }))
  }
  async function end(port: number): Promise<void> {
    const server = running.get(port)
    running.delete(port)
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGKILL')
    await ended
  }

  /** On ports of its own: one that ends has met a port that another process took first. */
  async function begin(): Promise<number> {
    for (;;) {
      const port = await freePort()
      busPorts.set(port, await freePort())
      serve(port)
      const server = running.get(port)
      await until(
        `${port} to answer`,
        async () => server?.exitCode !== null || (await ask(port, 'ping')) === 'PONG'
      )
      if (server?.exitCode === null) return port
      running.delete(port)
    }
  }

  const ports: number[] = []
  while (ports.length < nodeCount) ports.push(await begin())
  const [first = 0] = ports
  const addresses = ports.map((port) => `127.0.0.1:${port}`)
  const made = spawnSync(
    'redis-cli',
    ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'],
    { encoding: 'utf8' }
  )
  if (made.status !== 0) throw new Error(`no Redis Cluster: ${made.stdout}${made.stderr}`)
  const slot = String(await ask(first, 'cluster', 'keyslot', queueNames.chunks))

  /** The nodes as one that runs sees them. */
  const nodesSeenBy = async (port: number): Promise<Node[]> =>
    String(await ask(port, 'cluster', 'nodes'))
      .trim()
      .split('\n')
      .map(readNode)
  const somePort = (but?: number): number => [...running.keys()].find((port) => port !== but) ?? 0
  const alive = (nodes: Node[]): Node[] => nodes.filter(({ flags }) => !/fail/.test(flags))
  const ownerSeenBy = async (port: number): Promise<Node | undefined> =>
    alive(await nodesSeenBy(port)).find(({ slots }) => covers(slots, Number(slot)))

  async function untilWhole(): Promise<void> {
    for (const port of running.keys())
      await until(`${port} to see a whole cluster`, async () => {
        const nodes = alive(await nodesSeenBy(port))
        return (
          /cluster_state:ok/.test(String(await ask(port, 'cluster', 'info'))) &&
          nodes.length === running.size &&
          nodes.filter(({ flags }) => flags.includes('master')).length === primaryCount
        )
      })
    for (const { port } of (await nodesSeenBy(somePort())).filter(({ flags }) => flags.includes('slave')))
      await until(`${port} to follow`, async () =>
        String(await ask(port, 'info', 'replication')).includes('master_link_status:up')
      )
  }

  const portOfQueue = async (): Promise<number> => {
    const owner = await ownerSeenBy(somePort())
    if (owner === undefined) throw new Error('nobody has the slot of the queue')
    return owner.port
  }
  async function untilLeft(former: number): Promise<void> {
    for (const port of running.keys())
      if (port !== former)
        await until(`${port} to name another primary than ${former}`, async () => {
          const owner = await ownerSeenBy(port)
          return owner !== undefined && owner.port !== former
        })
  }

  await untilWhole()
  return {
    env: { REDIS_URL: `redis://127.0.0.1:${first}`, REDIS_CLUSTER_NODES: addresses.slice(1).join(',') },
    primaries: async () =>
      alive(await nodesSeenBy(somePort()))
        .filter(({ flags }) => flags.includes('master'))
        .map(({ port }) => port),
    keys: async (port) => (await ask(port, 'keys', '*')) as string[],
    portOfQueue,
    async failOver() {
      const begun = Date.now()
      const former = await portOfQueue()
      await end(former)
      await untilLeft(former)
      const namedMs = Date.now() - begun
      serve(former)
      await untilWhole()
      return namedMs
    },
    async freeze() {
      const former = await portOfQueue()
      const server = running.get(former)
      server?.kill('SIGSTOP')
      await untilLeft(former)
      return async () => {
        server?.kill('SIGCONT')
        await untilWhole()
      }
    },
    async moveQueue() {
      const nodes = alive(await nodesSeenBy(somePort())).filter(({ flags }) => flags.includes('master'))
      const from = nodes.find(({ slots }) => covers(slots, Number(slot)))
      const to = nodes.find((node) => node !== from)
      if (!from || !to) throw new Error('there is nowhere to move the queue to')
      await ask(to.port, 'cluster', 'setslot', slot, 'importing', from.id)
      await ask(from.port, 'cluster', 'setslot', slot, 'migrating', to.id)
      for (;;) {
        const keys = (await ask(
          from.port,
          'cluster',
          'getkeysinslot',
          slot,
          String(movedTogether)
        )) as string[]
        if (keys.length === 0) break
        await ask(from.port, 'migrate', '127.0.0.1', String(to.port), '', '0', '5000', 'KEYS', ...keys)
      }
      for (const { port } of [to, from, ...nodes]) await ask(port, 'cluster', 'setslot', slot, 'node', to.id)
    },
    async wipe() {
      for (const { port } of alive(await nodesSeenBy(somePort())).filter(({ flags }) =>
        flags.includes('master')
      ))
        await ask(port, 'flushall')
    },
    end,
    async stop() {
      await Promise.all([...running.keys()].map(end))
      rmSync(home, { recursive: true, force: true })
    }
  }
}

type Node = { id: string; port: number; flags: string; slots: readonly string[] }

/** A line of CLUSTER NODES. */
function readNode(line: string): Node {
  const [id = '', address = '', flags = '', , , , , , ...slots] = line.split(' ')
  return { id, port: Number(/:(\d+)@/.exec(address)?.[1] ?? 0), flags, slots }
}

/** Whether ranges such as `0-5460` and `7` have it. Those in brackets are slots on the move. */
const covers = (ranges: readonly string[], slot: number): boolean =>
  ranges.some((range) => {
    const [least = Number.NaN, most = least] = range.split('-').map(Number)
    return least <= slot && slot <= most
  })

/** The answer of one node, whatever the others say. */
async function ask(port: number, command: string, ...args: string[]): Promise<unknown> {
  const redis = new Redis(port, '127.0.0.1', {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    commandTimeout: 10_000
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return await redis.call(command, ...args)
  } finally {
    redis.disconnect()
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const giveUpAt = Date.now() + waitMaxMs; ; await sleep(lookEveryMs)) {
    if (await isSo().catch(() => false)) return
    if (Date.now() > giveUpAt) throw new Error(`waited too long for ${what}`)
  }
}
