/**
 * The sending side of the queue: tells the workers to look at chunks.
 *
 * The queue is a wake-up call and never the record: an error here means "unknown" and fails nothing, since the sweeper
 * tells again what has not been looked at.
 */
import { createPostgresBackend, Queue, type JobsOptions } from 'bullmq'
import type { Log } from '../platform/log.ts'
import { metrics } from '../platform/metrics.ts'
import { jobNames, queueNames } from './names.ts'
import { toJobId, toPayload, type ChunkNudge, type ChunkPayload } from './payload.ts'
import { postgresConnection, queueDeadlineMs, redisConnection, type QueueConfig } from './queue-config.ts'

export type ChunkQueue = {
  /** Puts a job for each chunk into the queue. False when that is not known to have worked; never throws, never takes longer than 1.5 s. */
  nudge(nudges: readonly ChunkNudge[]): Promise<boolean>
  /** Jobs that wait; null when the queue does not answer. */
  depth(): Promise<number | null>
  close(): Promise<void>
}

/** What of BullMQ's Queue is used, whichever backend it has. */
type Backend = {
  addBulk(jobs: { name: string; data: ChunkPayload; opts: JobsOptions }[]): Promise<unknown>
  getWaitingCount(): Promise<number>
  close(): Promise<void>
}

/** A queue that did not answer is left alone for this long, so that requests do not wait for it one by one. */
const restMs = 1_000
/** A client that did not answer for this long is replaced: some of its errors stay with it for good. */
const replaceAfterMs = 10_000

/**
 * Opens the queue on Redis if REDIS_URL is set, otherwise in Postgres, after migrating its schema. While Redis
 * does not answer, the queue returns false. Throws if Postgres does not answer.
 */
export async function openQueue(config: QueueConfig, log?: Log): Promise<ChunkQueue> {
  let backend = await connect(config, log)
  let failingSince: number | null = null
  let restsUntil = 0
  let isClosed = false
  let replacing: Promise<void> = Promise.resolve()

  async function replace(): Promise<void> {
    const old = backend
    try {
      backend = await connect(config, log)
      failingSince = null
    } catch (err) {
      log?.warn({ err }, 'the queue cannot be opened')
    }
    if (old !== backend) void old.close().catch(() => {})
  }

  /** The answer of the queue within the deadline, or null. */
  async function ask<T>(question: (queue: Backend) => Promise<T>): Promise<T | null> {
    if (isClosed || Date.now() < restsUntil) return null
    try {
      const answer = await within(queueDeadlineMs, question(backend))
      failingSince = null
      metrics.queueUp.set(1)
      return answer
    } catch (err) {
      log?.debug({ err }, 'the queue did not answer')
      metrics.queueUp.set(0)
      const now = Date.now()
      restsUntil = now + restMs
      failingSince ??= now
      if (now - failingSince > replaceAfterMs && !isClosed) {
        failingSince = now
        replacing = replace()
      }
      return null
    }
  }

  return {
    async nudge(nudges) {
      if (nudges.length === 0) return true
      const jobs = nudges.map((nudge) => ({
        name: jobNames.lookAtChunk,
        data: toPayload(nudge),
        opts: { jobId: toJobId(nudge) }
      }))
      return (await ask((queue) => queue.addBulk(jobs))) !== null
    },
    depth: () => ask((queue) => queue.getWaitingCount()),
    async close() {
      if (isClosed) return
      isClosed = true
      await replacing
      await within(queueDeadlineMs, backend.close()).catch(() => {})
    }
  }
}

/** What failed is of no interest (the chunk's row knows), what succeeded even less. BullMQ's own attempts are not used. */
const defaultJobOptions: JobsOptions = {
  attempts: 1,
  removeOnComplete: true,
  removeOnFail: { age: 86_400, count: 1_000 }
}

async function connect(config: QueueConfig, log: Log | undefined): Promise<Backend> {
  if (config.redisUrl !== null) {
    const queue = new Queue(queueNames.chunks, {
      connection: redisConnection({ ...config, redisUrl: config.redisUrl }, 'producer'),
      defaultJobOptions
    })
    queue.on('error', (err) => {
      log?.debug({ err }, 'the queue reported an error')
    })
    return queue
  }
  const queue = new Queue(
    queueNames.chunks,
    { connection: await postgresConnection(config, 'producer'), defaultJobOptions },
    createPostgresBackend
  )
  queue.on('error', (err) => {
    log?.debug({ err }, 'the queue reported an error')
  })
  await queue.waitUntilReady()
  return queue
}

/** Rejects if the promise has not settled in time; its later result is ignored. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
