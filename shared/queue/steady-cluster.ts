/** Makes the client of ioredis for a cluster notice frozen nodes, and connect again after its end where BullMQ wants that. */
import type { Cluster } from 'ioredis'

/**
 * A cluster is asked who serves what when a node answers that it no longer does, and this often: a frozen primary
 * answers nothing, while the others have already promoted its replica.
 */
const askWhoServesMs = 5_000

/** The same client, whose copies are steady too: the one that waits for jobs is a copy, made by BullMQ. */
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
 * The promise of ioredis never settles if the first node that it asked whether all is well did not answer: it then
 * connects again, with a promise of its own.
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
 * After the end ioredis sets the status to `close`, once for each connection that closes later, although nothing
 * connects again. BullMQ ends and reconnects the client that waits for jobs when a wait was interrupted; it would then
 * wait forever for a client that it takes for one about to connect.
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

/** Not by the option slotsRefreshInterval: its timer can survive the end, and then keeps the process alive. */
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
