/** The records of a chunk as they were sent, also where it stores ids in place of URNs. */
import type { Db, Tx } from '../db/database.ts'
import { findEntitiesById } from '../store/entities.ts'
import type { Urn } from '../urn/urn.ts'
import { unpackEdgesOnly, unpackLines, UnreadableChunk, type RawRecord } from './chunk-payload.ts'
import { idsAmong, lineOfEdge, type EdgeBatch } from './edge-payload.ts'

/** Throws UnreadableChunk. */
export async function readRecords(db: Db | Tx, payload: Buffer | null): Promise<RawRecord[]> {
  const edges = await unpackEdgesOnly(payload)
  return edges ? recordsOfEdges(db, edges, [...edges.lines.keys()]) : unpackLines(payload)
}

/** The records of the edges at these places. Throws UnreadableChunk. */
export async function recordsOfEdges(
  db: Db | Tx,
  edges: EdgeBatch,
  places: readonly number[]
): Promise<RawRecord[]> {
  const urnOf = await urnsOfIds(db, idsAmong(edges, places))
  return places.map((place) => ({ line: edges.lines[place] ?? 0, text: lineOfEdge(edges, place, urnOf) }))
}

/** The URNs of what a chunk gives by ids. What is given throws UnreadableChunk for an entity without a row, and none ever loses its own. */
export async function urnsOfIds(db: Db | Tx, ids: readonly number[]): Promise<(id: number) => Urn> {
  const urns = new Map((await findEntitiesById(db, ids)).map((row) => [row.id, row.urn]))
  return (id) => {
    const urn = urns.get(id)
    if (urn === undefined)
      throw new UnreadableChunk(new Error(`a chunk names entity ${id}, which there is not`))
    return urn
  }
}
