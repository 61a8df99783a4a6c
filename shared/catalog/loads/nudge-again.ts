/** Queues a chunk that was handed back and is due again. */
import type { Db } from '../../db/database.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { nudgeChunks } from '../../store/chunk-nudges.ts'

/** Does nothing if a worker has claimed the chunk meanwhile. */
export async function nudgeAgain(db: Db, queue: ChunkQueue, chunkId: number): Promise<void> {
  await queue.nudge(await nudgeChunks(db, [chunkId]))
}
