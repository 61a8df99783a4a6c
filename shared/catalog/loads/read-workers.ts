/** Tells which workers are alive. Only the clock of Postgres decides. */
import type { Db } from '../../db/database.ts'
import { limits } from '../../limits.ts'
import { answerInTime } from '../../platform/answer-in-time.ts'
import { beforeScrape, metrics } from '../../platform/metrics.ts'
import { readPackage } from '../../platform/package.ts'
import { countLiveWorkers, findLiveWorkers } from '../../store/workers.ts'

export type LiveWorker = { id: string; version: string; startedAt: string }

const answerMaxMs = 1_000

/**
 * The workers that are alive, those that started first at the beginning. Null if the database does not answer
 * within a second. Anyone may read them, so they have ids instead of the names of hosts. Never throws.
 */
export async function readWorkers(db: Db): Promise<LiveWorker[] | null> {
  const reading = findLiveWorkers(db, limits.workerSilentMaxSeconds, limits.workersListedMaxCount).then(
    (rows) => rows.map(({ id, version, startedAt }) => ({ id, version, startedAt: startedAt.toISOString() })),
    () => null
  )
  return answerInTime(answerMaxMs, reading, null)
}

/**
 * Updates the metric of workers once before each scrape. The series of our own version always exists, so that
 * without workers it is 0 and not missing. Returns a function that stops this.
 */
export function reportWorkers(db: Db): () => void {
  const { version } = readPackage()
  return beforeScrape(async () => {
    const counts = await countLiveWorkers(db, limits.workerSilentMaxSeconds)
    metrics.workers.reset()
    metrics.workers.set({ version }, 0)
    for (const { version: found, count } of counts) metrics.workers.set({ version: found }, count)
  })
}
