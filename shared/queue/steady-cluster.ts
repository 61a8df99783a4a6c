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
  return Object.assign(cluster, {
    connect: () => orEvent(cluster, connect()),
    duplicate: (...args: Parameters<typeof copy>) => steadyCluster(copy(...args))
  })
}

/**
 * The promise of ioredis never settles if the first node did not answer when it was asked whether it is
 * ready: ioredis then connects again, with another promise.
 */
async function orEvent(cluster: Cluster, connecting: Promise<void>): Promise<void> {
  let stop = (): void => {}
  const event = new Promise<void>((resolve, reject) => {
    const isReady = (): void => resolve()
    const hasEnded = (): void => reject(new Error('the cluster is not ready (see CLUSTER INFO)'))
    cluster.once('ready', isReady).once('end', hasEnded)
    stop = () => cluster.off('ready', isReady).off('end', hasEnded)
  })
  await Promise.race([connecting, event]).finally(stop)
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
