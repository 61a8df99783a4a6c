/** Tells the metrics how much bulk work waits, and for how long. Read when somebody asks, never counted along. */
import type { Db } from '../db/database.ts'
import { beforeScrape, metrics } from '../platform/metrics.ts'
import { countChunks } from '../store/chunk-nudges.ts'

/** Until the returned function is called. A database that is away costs these metrics only. */
export function reportChunks(db: Db): () => void {
  return beforeScrape(async () => {
    const { waiting, applying, oldestSeconds } = await countChunks(db)
    metrics.chunks.set({ state: 'waiting' }, waiting)
    metrics.chunks.set({ state: 'applying' }, applying)
    metrics.oldestWaitingChunk.set(oldestSeconds)
  })
}
