/**
 * The receiving side of the queue: passes each announced chunk to one function, and puts unfinished jobs back
 * when the worker stops.
 */
import { createPostgresBackend, WaitingError, Worker, type Job, type WorkerOptions } from 'bullmq'
import type { Log } from '../platform/log.ts'
import { queueNames } from './names.ts'
import { readPayload } from './payload.ts'
import { connectQueueRedis, openQueuePool, type QueueConfig } from './queue-config.ts'

/**
 * Looks at one chunk. The signal aborts when the worker stops or has lost the job. The function then rolls
 * back and answers 'back', and the job goes to another worker at once.
 */
export type LookAtChunk = (chunkId: number, signal: AbortSignal) => Promise<'done' | 'back'>

export type ChunkWorkerOptions = { config: QueueConfig; concurrency: number; look: LookAtChunk; log: Log }

export type ChunkWorker = {
  /** The number of jobs in progress. */
  activeCount(): number
  /** The time at which a job was last taken, in milliseconds; the start of the worker if no job was taken. */
  lastTakenAtMs(): number
  /** The error that the queue reported in the last ten seconds; null if it reported none. */
  lastError(): Error | null
  /** Takes no more jobs, puts back those in progress, and closes the connections. */
  close(): Promise<void>
}

/** A queue that does not answer cannot be closed cleanly. */
const closeDeadlineMs = 5_000

/** A queue that refuses reports so each time that it is asked, about once a second. */
const errorRecentMs = 10_000

/** While the queue reports errors, the log says so once in this time. */
const warnEveryMs = 60_000

const settings = {
  /**
   * After this time the job of a dead worker goes to another. That worker takes the chunk once the lease has
   * expired too.
   */
  lockDuration: 15_000,
  lockRenewTime: 5_000,
  stalledInterval: 5_000,
  /** The chunk's row counts crashes. BullMQ's own count would drop the job at the second one. */
  maxStalledCount: 1_000_000,
  drainDelay: 5,
  /** The wait after a connection error. The default of 15 s would be noticed. */
  runRetryDelay: 1_000
}

export async function startChunkWorker({
  config,
  concurrency,
  look,
  log
}: ChunkWorkerOptions): Promise<ChunkWorker> {
  const stop = new AbortController()
  let activeCount = 0
  let lastTakenAtMs = Date.now()
  let silentUntilMs = 0
  let reported: { error: Error; atMs: number } | null = null

  async function process(
    job: Job,
    token: string | undefined,
    jobSignal: AbortSignal | undefined
  ): Promise<void> {
    lastTakenAtMs = Date.now()
    const chunkId = readPayload(job.data)
    if (chunkId === null) {
      log.warn({ jobId: job.id }, 'a job that is not ours was dropped')
      return
    }
    activeCount += 1
    try {
      if ((await look(chunkId, eitherSignal(stop.signal, jobSignal))) === 'done') return
    } finally {
      activeCount -= 1
    }
    await job.moveToWait(token)
    throw new WaitingError()
  }

  const { worker, disconnect } = await connect(config, { ...settings, concurrency, autorun: false }, process)
  worker.on('error', (err: Error) => {
    reported = { error: err, atMs: Date.now() }
    const now = Date.now()
    if (now < silentUntilMs) {
      log.debug({ err }, 'the queue reported an error')
      return
    }
    silentUntilMs = now + warnEveryMs
    log.warn({ err }, 'the queue reports errors, and loads may wait; tributary doctor says why')
  })
  worker.on('failed', (job: Job | undefined, err: Error) => {
    log.error({ err, jobId: job?.id }, 'looking at a chunk failed')
  })
  worker.on('lockRenewalFailed', (jobIds: string[]) => {
    log.warn({ jobIds }, 'the queue has given our jobs to others')
    for (const jobId of jobIds) worker.cancelJob(jobId)
  })
  await begin(worker, config, log).catch((error: unknown) => {
    disconnect()
    throw error
  })

  return {
    activeCount: () => activeCount,
    lastTakenAtMs: () => lastTakenAtMs,
    lastError: () =>
      reported !== null && Date.now() - reported.atMs < errorRecentMs ? reported.error : null,
    async close() {
      const closing = worker.close().catch(() => {})
      stop.abort()
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, closeDeadlineMs)
      })
      await Promise.race([closing, late])
      clearTimeout(timer)
      worker.disconnect().catch(() => {})
      disconnect()
    }
  }
}

type Process = (job: Job, token: string | undefined, signal: AbortSignal | undefined) => Promise<void>

/** The methods of BullMQ's Worker that are used here, with either backend. */
type AnyWorker = {
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'failed', listener: (job: Job | undefined, error: Error) => void): unknown
  on(event: 'lockRenewalFailed', listener: (jobIds: string[]) => void): unknown
  cancelJob(jobId: string): boolean
  waitUntilReady(): Promise<unknown>
  run(): Promise<void>
  close(): Promise<void>
  disconnect(): Promise<void>
}

/**
 * Begins to take jobs. Waits for a Redis that does not answer. Throws if Postgres does not answer: BullMQ
 * keeps the failed first connection, and its main loop then retries it so fast that nothing else in the
 * process runs.
 */
async function begin(worker: AnyWorker, config: QueueConfig, log: Log): Promise<void> {
  if (config.redisUrl === null) {
    await worker.waitUntilReady().catch(async (error: unknown) => {
      await worker.close().catch(() => {})
      throw error
    })
  }
  worker.run().catch((err: unknown) => {
    log.error({ err }, 'the worker has stopped taking jobs')
  })
}

async function connect(
  config: QueueConfig,
  options: Omit<WorkerOptions, 'connection'>,
  process: Process
): Promise<{ worker: AnyWorker; disconnect: () => void }> {
  if (config.redisUrl !== null) {
    // BullMQ makes a copy of this connection, which waits for jobs, and closes only the copy.
    const client = connectQueueRedis({ ...config, redisUrl: config.redisUrl }, 'worker')
    client.on('error', () => {})
    const worker = new Worker(queueNames.chunks, process, { ...options, connection: client })
    return { worker, disconnect: () => client.disconnect() }
  }
  const pool = await openQueuePool(config, 'worker')
  const worker = new Worker(
    queueNames.chunks,
    process,
    { ...options, connection: pool },
    createPostgresBackend
  )
  return {
    worker,
    disconnect() {
      pool.end().catch(() => {})
    }
  }
}

/** AbortSignal.any refuses BullMQ's own kind of signal, so a native signal follows it. */
function eitherSignal(first: AbortSignal, second: AbortSignal | undefined): AbortSignal {
  if (!second) return first
  const passedOn = new AbortController()
  if (second.aborted) passedOn.abort()
  else second.addEventListener('abort', () => passedOn.abort(), { once: true })
  return AbortSignal.any([first, passedOn.signal])
}
