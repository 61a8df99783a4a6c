/** Checks the queue: Redis answers and does not evict jobs, or Postgres is reached without a pooler. */
import { Redis, type Cluster } from 'ioredis'
import type { Config } from '../../shared/platform/config.ts'
import { reasonOf } from '../failure.ts'
import { writeCheckKey } from '../../shared/queue/names.ts'
import { askRedis, canCarryQueue, queueNeedsSessions, redisProblem } from '../reach.ts'
import { fine, note, wrong, type Finding } from './finding.ts'

const minVersion = [6, 2] as const

export async function examineQueue(config: Config): Promise<Finding[]> {
  const { redisUrl } = config
  if (redisUrl === null) return [await examineInPostgres(config)]
  try {
    return await askRedis({ ...config, redisUrl }, async (redis) =>
      redis instanceof Redis
        ? [...examineServer(await redis.info()), ...(await examineWrites(redis))]
        : [...(await examineCluster(redis)), ...(await examineWrites(redis))]
    )
  } catch (error) {
    return [wrong('queue', redisProblem(error))]
  }
}

async function examineInPostgres({ databaseUrl }: Config): Promise<Finding> {
  try {
    if (databaseUrl !== null && !(await canCarryQueue(databaseUrl))) return wrong('queue', queueNeedsSessions)
    return fine('queue', 'lives in Postgres (no REDIS_URL)')
  } catch (error) {
    return wrong('queue', `the database of DATABASE_URL does not answer: ${reasonOf(error)}`)
  }
}

const examineServer = (info: string): Finding[] => [
  examineVersion(field(info, 'redis_version') ?? '0.0'),
  ...examineMemory(field(info, 'maxmemory_policy')),
  ...examineRole(field(info, 'role'))
]

/** Asks each primary at the address that the cluster announces, since that is where the processes connect. */
async function examineCluster(cluster: Cluster): Promise<Finding[]> {
  // a command only fails with "Connection is closed"
  const reasons = new Map<string, Error>()
  cluster.on('node error', (error: Error, address: string) => reasons.set(address, error))
  const primaries = cluster.nodes('master')
  const findings = await Promise.all(
    primaries.map(async (node) => {
      const address = `${node.options.host}:${node.options.port}`
      try {
        return examineServer(await node.info()).map((each): Finding =>
          each.verdict === 'fine' ? each : { ...each, text: `${address} ${each.text}` }
        )
      } catch (error) {
        return [
          wrong(
            'queue',
            `the cluster announces a primary at ${address}, which does not answer: ${reasonOf(reasons.get(address) ?? error)}`
          )
        ]
      }
    })
  )
  const [first] = findings.flat()
  const others = findings.flat().filter(({ verdict }) => verdict !== 'fine')
  if (!first || others.some(({ verdict }) => verdict === 'wrong')) return others
  return [fine('queue', `${first.text}, a cluster of ${primaries.length} primaries`), ...others]
}

function examineVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOld = major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1])
  return isOld
    ? wrong('queue', `is Redis ${version}; ${minVersion.join('.')} or newer is needed`)
    : fine('queue', `answers, Redis ${version}`)
}

/** Nothing would be lost, because the sweeper enqueues again, but workers would start late. */
function examineMemory(policy: string | undefined): Finding[] {
  if (policy === undefined)
    return [note('queue', 'does not report its maxmemory-policy; it should be noeviction')]
  return policy === 'noeviction'
    ? []
    : [
        wrong(
          'queue',
          `has the maxmemory-policy ${policy}, so it forgets jobs when it is full; set noeviction`
        )
      ]
}

function examineRole(role: string | undefined): Finding[] {
  return role === undefined || role === 'master'
    ? []
    : [wrong('queue', `is a ${role}, which accepts no writes`)]
}

const writeCheckKeptMs = 1_000

/** A Redis that is full, cannot save, or is a replica, answers reads and refuses writes. */
async function examineWrites(redis: Redis | Cluster): Promise<Finding[]> {
  try {
    await redis.set(writeCheckKey, '1', 'PX', writeCheckKeptMs)
    return []
  } catch (error) {
    return [wrong('queue', `answers, but refuses every write, so loads wait: ${reasonOf(error)}`)]
  }
}

function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim()
}
