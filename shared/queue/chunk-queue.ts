/**
 * The sending side of the queue: tells workers to look at chunks.
 *
 * The queue only wakes workers up; the database records what is to be done. So an error here means "unknown"
 * and is never fatal: the sweeper again enqueues every chunk that no worker has looked at.
 */
import { createPostgresBackend, Queue, runMigrations, type JobsOptions } from 'bullmq'
import type { Log } from '../platform/log.ts'
import { beforeScrape, metrics } from '../platform/metrics.ts'
import { openTogether } from '../platform/open-together.ts'
import { activeSpan, failSpan, inSpan } from '../platform/tracing.ts'
import { jobNames, queueNames, queueSchema, tracedQueueName, writeCheckKey } from './names.ts'
import { toJobId, toPayload, type ChunkNudge, type ChunkPayload } from './payload.ts'
import { connectQueueRedis, openQueuePool, queueDeadlineMs, type QueueConfig } from './queue-config.ts'
import { watchKind } from './redis-kind.ts'

export type ChunkQueue = {
  /**
   * Enqueues a job for each chunk. Returns false if that may have failed. Never throws, and never takes
   * longer than 1.5 s.
   */
  nudge(nudges: readonly ChunkNudge[]): Promise<boolean>
  /**
   * The number of waiting jobs; null if the queue does not answer, or, with `checksWrites`, if it refuses to be
   * written.
   */
  depth(options?: { checksWrites: boolean }): Promise<number | null>
  close(): Promise<void>
}

/** The methods of BullMQ's Queue that are used here, with either backend. */
type Backend = {
  addBulk(jobs: { name: string; data: ChunkPayload; opts: JobsOptions }[]): Promise<unknown>
  getWaitingCount(): Promise<number>
  /** Fails if nothing can be written: a Redis that is a replica, full, or cannot save, still answers reads. */
  checkWrites(): Promise<unknown>
  close(): Promise<void>
}

/** How long the key is kept that checkWrites writes. */
const writeCheckKeptMs = 60_000

/** For this time after a failure the queue is not asked, so that requests do not each wait for it. */
const restMs = 1_000
/** A client that has failed for this long is replaced, since after some errors it never recovers; and the log says so. */
const replaceAfterMs = 10_000

/**
 * Opens the queue on Redis if REDIS_URL is set, otherwise in Postgres, after migrating its schema. While Redis
 * does not answer, the queue returns false. Throws if Postgres does not answer.
 */
export async function openQueue(config: QueueConfig, log?: Log): Promise<ChunkQueue> {
  /** Why the client has no connection. The commands themselves fail only because there is none. */
  let reason: Error | null = null
  const report = (err: Error): void => {
    reason = err
    log?.debug({ err }, 'the queue reported an error')
  }
  let problem: string | null = null
  /** Once, although each client that replaces another finds it again. */
  const say = (found: string): void => {
    if (found !== problem) log?.error(found)
    problem = found
  }
  let backend = await connect(config, { report, say })
  let failingSince: number | null = null
  let isReported = false
  let restsUntil = 0
  let isClosed = false
  let replacing: Promise<void> = Promise.resolve()

  async function replace(): Promise<void> {
    const old = backend
    try {
      backend = await connect(config, { report, say })
      failingSince = null
    } catch (err) {
      log?.warn({ err }, 'the queue cannot be opened')
    }
    if (old !== backend) void old.close().catch(() => {})
  }

  /** The answer of the queue, or null if it does not come before the deadline. */
  async function ask<T>(question: (queue: Backend) => Promise<T>): Promise<T | null> {
    if (isClosed || Date.now() < restsUntil) return null
    try {
      const answer = await within(queueDeadlineMs, question(backend))
      failingSince = null
      metrics.queueUp.set(1)
      if (isReported) log?.info('the queue answers again')
      isReported = false
      reason = null
      return answer
    } catch (err) {
      log?.debug({ err }, 'the queue did not answer')
      metrics.queueUp.set(0)
      const now = Date.now()
      restsUntil = now + restMs
      failingSince ??= now
      if (now - failingSince > replaceAfterMs && !isClosed) {
        if (!isReported)
          log?.warn(
            { err: reason ?? err },
            'the queue does not answer, and loads wait; tributary doctor says why'
          )
        isReported = true
        failingSince = now
        replacing = replace()
      }
      return null
    }
  }

  const depth = ({ checksWrites } = { checksWrites: false }): Promise<number | null> =>
    ask(async (queue) => {
      if (checksWrites) await queue.checkWrites()
      return queue.getWaitingCount()
    })
  // Without this, a process that enqueues nothing would not know whether the queue answers.
  const endReport = beforeScrape(async () => {
    await depth({ checksWrites: true })
  })

  return {
    async nudge(nudges) {
      if (nudges.length === 0) return true
      const jobs = nudges.map((nudge) => ({
        name: jobNames.lookAtChunk,
        data: toPayload(nudge),
        opts: { jobId: toJobId(nudge) }
      }))
      const send = async (): Promise<boolean> => (await ask((queue) => queue.addBulk(jobs))) !== null
      return activeSpan() === undefined ? send() : sendInSpan(jobs.length, send)
    },
    depth,
    async close() {
      if (isClosed) return
      isClosed = true
      endReport()
      await replacing
      await within(queueDeadlineMs, backend.close()).catch(() => {})
    }
  }
}

/** The span only records that workers were told: they find the trace of a load with its chunk. */
function sendInSpan(count: number, send: () => Promise<boolean>): Promise<boolean> {
  const attributes = {
    'messaging.system': 'bullmq',
    'messaging.destination.name': tracedQueueName,
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.batch.message_count': count
  }
  return inSpan(`send ${tracedQueueName}`, { kind: 'producer', attributes }, async (span) => {
    const isSent = await send()
    if (!isSent && span !== null) failSpan(span, 'UNAVAILABLE')
    return isSent
  })
}

/** Jobs are removed, because the chunk's row has the result. BullMQ's own attempts are not used. */
const defaultJobOptions: JobsOptions = {
  attempts: 1,
  removeOnComplete: true,
  removeOnFail: { age: 86_400, count: 1_000 }
}

type Listeners = {
  report: (error: Error) => void
  /** Hears what is wrong if Redis is not of the configured kind. */
  say: (problem: string) => void
}

async function connect(config: QueueConfig, listeners: Listeners): Promise<Backend> {
  if (config.redisUrl !== null) return connectToRedis({ ...config, redisUrl: config.redisUrl }, listeners)
  return connectToPostgres(config, listeners)
}

/** Updates the schema of the queue. The process that opens the queue does that, before any worker starts. */
async function connectToPostgres(config: QueueConfig, { report }: Listeners): Promise<Backend> {
  const { parts: queue, close } = await openTogether(async (opened) => {
    const pool = await openQueuePool(config, 'producer')
    opened(() => pool.end())
    const client = await pool.connect()
    await runMigrations(client, queueSchema).finally(() => client.release())
    const queue = new Queue(queueNames.chunks, { connection: pool, defaultJobOptions }, createPostgresBackend)
    opened(() => queue.close())
    queue.on('error', report)
    await queue.waitUntilReady()
    return queue
  })
  // What Postgres refuses is found by the health of the database.
  return backendOf(queue, { checkWrites: async () => {}, close })
}

function connectToRedis(config: QueueConfig & { redisUrl: string }, { report, say }: Listeners): Backend {
  const client = connectQueueRedis(config, 'producer')
  watchKind(client, say)
  const queue = new Queue(queueNames.chunks, { connection: client, defaultJobOptions })
  // BullMQ also emits the errors of the client, until it closes.
  client.on('error', () => {})
  queue.on('error', report)
  return backendOf(queue, {
    checkWrites: () => client.set(writeCheckKey, '1', 'PX', writeCheckKeptMs),
    // BullMQ leaves the connection open.
    close: () => queue.close().finally(() => client.disconnect())
  })
}

const backendOf = (
  queue: Pick<Backend, 'addBulk' | 'getWaitingCount'>,
  { checkWrites, close }: Pick<Backend, 'checkWrites' | 'close'>
): Backend => ({
  checkWrites,
  addBulk: (jobs) => queue.addBulk(jobs),
  getWaitingCount: () => queue.getWaitingCount(),
  close
})

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
