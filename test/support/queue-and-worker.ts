/** A queue and a worker that only notes which chunks it is told to look at. */
import type { Test } from 'tap'
import { createLog } from '../../shared/platform/log.ts'
import { openQueue, type ChunkQueue } from '../../shared/queue/chunk-queue.ts'
import { startChunkWorker } from '../../shared/queue/chunk-worker.ts'
import type { QueueConfig } from '../../shared/queue/queue-config.ts'

const log = createLog({ logLevel: 'silent' })

export type QueueAndWorker = {
  queue: ChunkQueue
  /** Enqueues a job for the chunk, again at each call, and returns whether the worker has looked at the chunk. */
  isToldOf: (chunkId: number) => Promise<boolean>
}

/** Both are closed at teardown. */
export async function openQueueAndWorker(t: Test, config: QueueConfig): Promise<QueueAndWorker> {
  const seen: number[] = []
  const queue = await openQueue(config, log)
  const worker = await startChunkWorker({
    config,
    concurrency: 2,
    log,
    look: async (chunkId) => {
      seen.push(chunkId)
      return 'done'
    }
  })
  t.teardown(async () => {
    await worker.close()
    await queue.close()
  })
  let nudge = 0
  return {
    queue,
    async isToldOf(chunkId) {
      await queue.nudge([{ chunkId, nudge: (nudge += 1) }])
      return seen.includes(chunkId)
    }
  }
}
