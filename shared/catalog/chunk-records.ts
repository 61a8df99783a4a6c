/** The records of a chunk as they were sent, also where it stores ids in place of URNs. */
import type { Db, Tx } from '../db/database.ts'
import { findEntitiesById } from '../store/entities.ts'
import { unpackEdgesOnly, unpackLines, UnreadableChunk, type RawRecord } from './chunk-payload.ts'
import { idsAmong, lineOfEdge, type EdgeBatch } from './edge-payload.ts'

/** Throws UnreadableChunk. */
export async function readRecords(db: Db | Tx, payload: Buffer | null): Promise<RawRecord[]> {
  const edges = await unpackEdgesOnly(payload)
  return edges ? recordsOfEdges(db, edges, [...edges.lines.keys()]) : unpackLines(payload)
}

/** The records of the edges at these places. Throws UnreadableChunk where an entity has no row, which none ever loses. */
export async function recordsOfEdges(db: Db | Tx, edges: EdgeBatch, places: readonly number[]): Promise<RawRecord[]> {
  const urns = new Map((await findEntitiesById(db, idsAmong(edges, places))).map((row) => [row.id, row.urn]))
  return places.map((place) => ({
    line: edges.lines[place] ?? 0,
    text: lineOfEdge(edges, place, (id) => {
      const urn = urns.get(id)
      if (urn === undefined) throw new UnreadableChunk(new Error(`an edge names entity ${id}, which there is not`))
      return urn
    })
  }))
}
