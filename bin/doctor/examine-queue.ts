/** Checks the queue: its Redis answers, and does not evict jobs; or its Postgres is reached without a pooler. */
import type { Config } from '../../shared/platform/config.ts'
import { reasonOf } from '../failure.ts'
import { askRedis, canCarryQueue, queueNeedsSessions } from '../reach.ts'
import { fine, note, wrong, type Finding } from './finding.ts'

const minVersion = [6, 2] as const

export async function examineQueue(config: Config): Promise<Finding[]> {
  const { redisUrl } = config
  if (redisUrl === null) return [await examineInPostgres(config)]
  try {
    const info = await askRedis({ ...config, redisUrl }, (redis) => redis.info())
    return [
      examineVersion(field(info, 'redis_version') ?? '0.0'),
      ...examineMemory(field(info, 'maxmemory_policy')),
      ...examineRole(field(info, 'role'))
    ]
  } catch (error) {
    return [wrong('queue', `the Redis of REDIS_URL does not answer: ${reasonOf(error)}`)]
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
    return [note('queue', 'does not tell its maxmemory-policy; it should be noeviction')]
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
    : [wrong('queue', `is a ${role}, which takes no writes`)]
}

function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim()
}
