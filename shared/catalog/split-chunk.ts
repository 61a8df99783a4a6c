/** Halves a chunk, so that a guilty record is left alone and the others go their way. */
import type { Db } from '../db/database.ts'
import { inTransaction } from '../db/transaction.ts'
import { nudgeChunks, type Nudge } from '../store/chunk-nudges.ts'
import { endChunk, insertChunk, lockChunk, type ClaimedChunk } from '../store/chunks.ts'
import { countSplit } from '../store/load-progress.ts'
import type { ChunkGuards } from './chunk-guards.ts'
import { packLines, toStoredLine, type RawRecord } from './chunk-payload.ts'
import { assertHeld, ChunkOvertaken, LoadEnded } from './settle-chunk.ts'
import { readChunkRecords } from './undo-records.ts'

/**
 * Two chunks in place of one, of the same pass; an isolated one has isolated halves. Returns what to tell the queue.
 * Throws ChunkOvertaken, LoadEnded, UnreadableChunk.
 */
export async function splitChunk(db: Db, claimed: ClaimedChunk, guards: ChunkGuards): Promise<Nudge[]> {
  return inTransaction(db, async (tx) => {
    const chunk = await lockChunk(tx, claimed.id)
    assertHeld(chunk, claimed, guards)
    const stored = await readChunkRecords(tx, chunk)
    const middle = Math.ceil(stored.length / 2)
    const ids: number[] = []
    for (const half of [stored.slice(0, middle), stored.slice(middle)]) {
      ids.push(await insertChunk(tx, {
        loadId: chunk.loadId,
        pass: chunk.pass,
        firstLine: half[0]?.line ?? chunk.firstLine,
        recordCount: half.length,
        payload: await packLines(half.map((record: RawRecord) => toStoredLine(record))),
        isIsolated: claimed.isIsolated
      }))
    }
    if (!await endChunk(tx, claimed.id, claimed.fence, 'split')) throw new ChunkOvertaken()
    const nudges = await nudgeChunks(tx, ids)
    if (!await countSplit(tx, chunk.loadId)) throw new LoadEnded()
    return nudges
  })
}
