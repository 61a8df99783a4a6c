/**
 * A queue worker with a watchdog. If no jobs are taken although some wait, the client of the queue is
 * replaced. If the new client silently takes no jobs either, the process exits, so that the platform starts
 * it again. A new process would not help against a queue that refuses, for example because its disk is full.
 */
import { startChunkWorker, type ChunkWorker, type ChunkWorkerOptions } from '../shared/queue/chunk-worker.ts'

export type WatchedWorkerOptions = ChunkWorkerOptions & {
  /** The number of waiting jobs; null if the queue does not answer, which is not the worker's fault. */
  depth: () => Promise<number | null>
  /** How long an idle worker may take none of the waiting jobs. */
  deafAfterMs?: number
  /** Called if a new client takes no jobs either, and reports no error. */
  giveUp?: () => void
}

export type WatchedWorker = { close(): Promise<void> }

export async function startWatchedWorker({
  depth,
  deafAfterMs = 30_000,
  giveUp = () => process.exit(1),
  ...options
}: WatchedWorkerOptions): Promise<WatchedWorker> {
  const { log } = options
  let worker: ChunkWorker = await startChunkWorker(options)
  let wasReplaced = false
  let isClosed = false
  let watching: Promise<void> = Promise.resolve()
  let quietSinceMs = Date.now()

  async function watch(): Promise<void> {
    if (worker.activeCount() > 0 || worker.lastTakenAtMs() > quietSinceMs) {
      if (worker.lastTakenAtMs() > quietSinceMs) wasReplaced = false
      quietSinceMs = Date.now()
      return
    }
    const waiting = await depth()
    if (waiting === null || waiting === 0 || isClosed) {
      quietSinceMs = Date.now()
      return
    }
    if (Date.now() - quietSinceMs < deafAfterMs) return
    const err = worker.lastError()
    if (wasReplaced && err === null) {
      log.fatal({ waiting }, 'the worker takes no jobs, and a new client did not help')
      giveUp()
      return
    }
    log.error(
      { waiting, ...(err === null ? {} : { err }) },
      'the worker takes no jobs; its client is replaced'
    )
    wasReplaced = true
    const deaf = worker
    worker = await startChunkWorker(options)
    quietSinceMs = Date.now()
    await deaf.close()
  }

  const timer = setInterval(() => {
    watching = watching.then(watch).catch((err: unknown) => {
      log.warn({ err }, 'watching the worker failed')
    })
  }, deafAfterMs / 3)
  timer.unref()

  return {
    async close() {
      isClosed = true
      clearInterval(timer)
      await watching
      await worker.close()
    }
  }
}
