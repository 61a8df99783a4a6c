/** Halves a chunk, so that the record that causes its failures ends up alone and the others are applied. */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { nudgeChunks, type Nudge } from '../../store/chunk-nudges.ts'
import { endChunk, insertChunk, lockChunk, type ClaimedChunk, type LockedChunk } from '../../store/chunks.ts'
import { countSplit } from '../../store/load-progress.ts'
import type { ChunkGuards } from './chunk-guards.ts'
import { packLines, toStoredLine, unpackEdgesOnly, type RawRecord } from './chunk-payload.ts'
import { recordsOfEdges } from './chunk-records.ts'
import { packEdges, partOf, type EdgeBatch } from '../write/edge-payload.ts'
import { assertHeld, ChunkOvertaken, LoadEnded } from './settle-chunk.ts'
import { readChunkRecords } from './undo-records.ts'

/**
 * Replaces a chunk by two of the same pass; the halves of an isolated chunk are isolated. Returns what to
 * queue. Throws ChunkOvertaken, LoadEnded, UnreadableChunk.
 */
export async function splitChunk(
  db: Db,
  claimed: ClaimedChunk,
  guards: ChunkGuards,
  why: 'crashed' | 'failed'
): Promise<Nudge[]> {
  return inTransaction(db, async (tx) => {
    const chunk = await lockChunk(tx, claimed.id)
    assertHeld(chunk, claimed, guards)
    const ids: number[] = []
    for (const half of await halves(tx, chunk, why === 'crashed'))
      ids.push(
        await insertChunk(tx, {
          loadId: chunk.loadId,
          pass: chunk.pass,
          ...half,
          isIsolated: claimed.isIsolated
        })
      )
    if (!(await endChunk(tx, claimed.id, claimed.fence, 'split'))) throw new ChunkOvertaken()
    const nudges = await nudgeChunks(tx, ids)
    if (!(await countSplit(tx, chunk.loadId))) throw new LoadEnded()
    return nudges
  })
}

type Half = { firstLine: number; recordCount: number; payload: Buffer }

/**
 * After a crash, edges stay in columns. After a failure, they become separate records, as does a single edge.
 */
async function halves(tx: Tx, chunk: LockedChunk, keepsEdges: boolean): Promise<Half[]> {
  const edges = keepsEdges ? await unpackEdgesOnly(chunk.payload) : null
  if (edges)
    return Promise.all(
      inHalves(edges.lines.length).map(([begin, end]) => halfOfEdges(tx, partOf(edges, begin, end)))
    )
  const stored = await readChunkRecords(tx, chunk)
  return Promise.all(inHalves(stored.length).map(([begin, end]) => halfOfRecords(stored.slice(begin, end))))
}

function inHalves(count: number): [begin: number, end: number][] {
  const middle = Math.ceil(count / 2)
  return [
    [0, middle],
    [middle, count]
  ]
}

async function halfOfEdges(tx: Tx, edges: EdgeBatch): Promise<Half> {
  const [firstLine = 0, ...others] = edges.lines
  if (others.length === 0) return halfOfRecords(await recordsOfEdges(tx, edges, [0]))
  return { firstLine, recordCount: edges.lines.length, payload: await packEdges(edges) }
}

const halfOfRecords = async (records: readonly RawRecord[]): Promise<Half> => ({
  firstLine: records[0]?.line ?? 0,
  recordCount: records.length,
  payload: await packLines(records.map(toStoredLine))
})
