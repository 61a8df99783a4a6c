/** Notices a Redis that is not of the configured kind: a single server, one that Sentinels name, or a cluster. */
import { Redis } from 'ioredis'
import type { AnyRedis } from './redis-place.ts'

/** What is wrong with a single server, by its answer to INFO; null if it can have the queue. */
export function kindProblemOf(info: string): string | null {
  if (/^cluster_enabled:1\b/m.test(info))
    return 'the Redis of REDIS_URL is a node of a Redis Cluster: set REDIS_CLUSTER_NODES to the addresses of some of its nodes'
  if (/^redis_mode:sentinel\b/m.test(info))
    return 'the Redis of REDIS_URL is a Redis Sentinel: set REDIS_SENTINELS to its address, and REDIS_URL to the name of the primary, such as redis://mymaster'
  return null
}

/** What is wrong if a client failed because its servers are not of the configured kind; null for other errors. */
export function kindProblemBehind(error: Error): string | null {
  const { message } = nodeErrorOf(error) ?? error
  if (/cluster support disabled|unknown command .cluster\b/i.test(message))
    return 'the Redis of REDIS_URL and REDIS_CLUSTER_NODES is not a Redis Cluster: remove REDIS_CLUSTER_NODES'
  if (/unknown command .sentinel\b/i.test(message))
    return 'a server of REDIS_SENTINELS is not a Redis Sentinel: name only Sentinels there, or remove it'
  return null
}

/**
 * The client of a cluster only reports that it found no node; the reason is in the error of the last node
 * that it tried.
 */
export const nodeErrorOf = (error: unknown): Error | null =>
  error instanceof Error && 'lastNodeError' in error && error.lastNodeError instanceof Error
    ? error.lastNodeError
    : null

/** Reports each time that a server answers that it is not of the configured kind. */
export function watchKind(client: AnyRedis, say: (problem: string) => void): void {
  const sayIfAny = (problem: string | null): void => {
    if (problem !== null) say(problem)
  }
  client.on('error', (error: Error) => sayIfAny(kindProblemBehind(error)))
  if (!(client instanceof Redis)) return
  client.on('ready', () => {
    client.info().then(
      (info) => sayIfAny(kindProblemOf(info)),
      // The queue's own commands report that it does not answer.
      () => {}
    )
  })
}
