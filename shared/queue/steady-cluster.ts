/**
 * Makes the client of ioredis for a cluster notice frozen nodes, and reconnect after its end if BullMQ asks
 * for that.
 */
import type { Cluster } from 'ioredis'

/**
 * A cluster is asked which node serves which slots when a node answers that it no longer does, and this
 * often: a frozen primary does not answer, although the others have already promoted its replica.
 */
const askWhoServesMs = 5_000

/** The same client. Its copies are steady too, because BullMQ waits for jobs on a copy. */
export function steadyCluster(cluster: Cluster): Cluster {
  stayEnded(cluster)
  askWhoServes(cluster)
  const connect = cluster.connect.bind(cluster)
  const copy = cluster.duplicate.bind(cluster)
  let outcome: Promise<void> | null = null
  return Object.assign(cluster, {
    connect: () => {
      const connecting = connect()
      outcome ??= nextOutcome(cluster, () => {
        outcome = null
      })
      return Promise.race([connecting, outcome])
    },
    duplicate: (...args: Parameters<typeof copy>) => steadyCluster(copy(...args))
  })
}

/**
 * Settles when the client is ready or has ended. The promise of ioredis never settles if the first node did not
 * answer when it was asked whether it is ready: ioredis then connects again, with another promise. There are
 * many attempts while a cluster is down, so they share one outcome. It is over before any other listener can
 * connect again.
 */
function nextOutcome(cluster: Cluster, isOver: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const isReady = (): void => {
      stop()
      resolve()
    }
    const hasEnded = (): void => {
      stop()
      reject(new Error('the cluster is not ready (see CLUSTER INFO)'))
    }
    const stop = (): void => {
      cluster.off('ready', isReady).off('end', hasEnded)
      isOver()
    }
    cluster.prependListener('ready', isReady).prependListener('end', hasEnded)
  })
}

/**
 * After the end, ioredis sets the status to `close` once for each connection that closes later, although
 * nothing reconnects. BullMQ ends and reconnects the client that waits for jobs when a wait was interrupted;
 * it would then wait forever, because the status says that the client is about to reconnect.
 */
function stayEnded(cluster: Cluster): void {
  let hasEnded = false
  const correct = (): void => {
    if (hasEnded && cluster.status === 'close') cluster.status = 'end'
  }
  cluster.on('connecting', () => {
    hasEnded = false
  })
  cluster.on('end', () => {
    hasEnded = true
    correct()
  })
  cluster.on('close', correct)
}

/**
 * The option slotsRefreshInterval is not used, because its timer can survive the end, and then keeps the
 * process alive.
 */
function askWhoServes(cluster: Cluster): void {
  let timer: NodeJS.Timeout | undefined
  cluster.on('ready', () => {
    clearInterval(timer)
    timer = setInterval(() => {
      if (cluster.status === 'ready') cluster.refreshSlotsCache()
    }, askWhoServesMs)
    timer.unref()
  })
  cluster.on('end', () => clearInterval(timer))
}
