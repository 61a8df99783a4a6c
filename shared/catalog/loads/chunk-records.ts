/** The records of a chunk as they were sent, even if the chunk stores ids instead of URNs. */
import type { Db, Tx } from '../../db/database.ts'
import { unpackEdgesOnly, unpackLines, type RawRecord } from './chunk-payload.ts'
import { idsAmong, lineOfEdge, type EdgeBatch } from '../write/edge-payload.ts'
import { urnsOfIds } from '../write/urns-of-ids.ts'

/** Throws UnreadableChunk. */
export async function readRecords(db: Db | Tx, payload: Buffer | null): Promise<RawRecord[]> {
  const edges = await unpackEdgesOnly(payload)
  return edges ? recordsOfEdges(db, edges, [...edges.lines.keys()]) : unpackLines(payload)
}

/** The records of the edges at these indexes. Throws UnreadableChunk. */
export async function recordsOfEdges(
  db: Db | Tx,
  edges: EdgeBatch,
  places: readonly number[]
): Promise<RawRecord[]> {
  const urnOf = await urnsOfIds(db, idsAmong(edges, places))
  return places.map((place) => ({ line: edges.lines[place] ?? 0, text: lineOfEdge(edges, place, urnOf) }))
}
