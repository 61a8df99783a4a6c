/**
 * Updates the metrics of the backlog. They are read once before each scrape, instead of being counted by the
 * processes that work on the backlog.
 */
import type { Db } from '../../db/database.ts'
import { beforeScrape, metrics } from '../../platform/metrics.ts'
import { readBacklog } from '../../store/backlog.ts'

/** Returns a function that stops it. While Postgres is unreachable the metrics keep their last values. */
export function reportBacklog(db: Db): () => void {
  return beforeScrape(async () => {
    const { waiting, applying, oldestWaitingSeconds } = await readBacklog(db)
    metrics.chunks.set({ state: 'waiting' }, waiting)
    metrics.chunks.set({ state: 'applying' }, applying)
    metrics.oldestWaitingChunk.set(oldestWaitingSeconds)
  })
}
