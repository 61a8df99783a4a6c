/**
 * Notices a Redis that is not of the configured kind: a node of a cluster configured as a single server, or
 * the reverse.
 */
import { Redis } from 'ioredis'
import type { AnyRedis } from './redis-place.ts'

export const undeclaredCluster =
  'the Redis of REDIS_URL is a node of a Redis Cluster: set REDIS_CLUSTER_NODES to the addresses of some of its nodes'

export const notACluster =
  'the Redis of REDIS_URL and REDIS_CLUSTER_NODES is not a Redis Cluster: remove REDIS_CLUSTER_NODES'

/** Whether the answer to INFO is from a node of a cluster. */
export const isOfCluster = (info: string): boolean => /^cluster_enabled:1\b/m.test(info)

/** Whether a client of a cluster failed because its servers are not a cluster. */
export function isForLackOfCluster(error: unknown): boolean {
  const reason = nodeErrorOf(error)
  return reason !== null && /cluster support disabled/i.test(reason.message)
}

/**
 * The client of a cluster only reports that it found no node; the reason is in the error of the last node
 * that it tried.
 */
export const nodeErrorOf = (error: unknown): Error | null =>
  error instanceof Error && 'lastNodeError' in error && error.lastNodeError instanceof Error
    ? error.lastNodeError
    : null

/** Reports at most once, as soon as a server answers, that it is not of the configured kind. */
export function watchKind(client: AnyRedis, say: (problem: string) => void): void {
  let isSaid = false
  const sayOnce = (problem: string): void => {
    if (isSaid) return
    isSaid = true
    say(problem)
  }
  if (!(client instanceof Redis)) {
    client.on('error', (error: Error) => {
      if (isForLackOfCluster(error)) sayOnce(notACluster)
    })
    return
  }
  client.on('ready', () => {
    client.info('cluster').then(
      (info) => {
        if (isOfCluster(info)) sayOnce(undeclaredCluster)
      },
      // The queue's own commands report that it does not answer.
      () => {}
    )
  })
}
