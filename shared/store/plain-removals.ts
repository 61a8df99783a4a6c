/**
 * Removals of edges given by their two ends alone, thousands at a time: what is stated of them, what is remembered of removals
 * that are newer, and what becomes of both.
 *
 * As plain-edges.ts: numbers as binary arrays in key order, and each row a look-up by index whatever the planner has been told.
 */
import type { Tx } from '../db/database.ts'
import { int4Array, int4sOf } from '../db/int4-array.ts'
import { query } from '../db/query.ts'
import { isEdge, type PlainEdgeRows } from './plain-edges.ts'

/** Edges by their ends, in their owners' aspects (field >> 4); an entry of each array for each. */
export type RemovedEdges = Pick<
  PlainEdgeRows,
  'downstreamIds' | 'upstreamIds' | 'ownerIds' | 'fields' | 'lines'
>

const wanted =
  'unnest(?::int[], ?::int[], ?::int[], ?::int[], ?::int[]) with ordinality as wanted (downstream_id, upstream_id, owner_id, field, line, place)'
const columnsOf = ({ downstreamIds, upstreamIds, ownerIds, fields, lines }: RemovedEdges): Buffer[] =>
  [downstreamIds, upstreamIds, ownerIds, fields, lines].map(int4Array)

/** Behind every line of a load. */
const lastLine = 2 ** 31 - 1

/**
 * By place: the line before which the edge was removed again, by something that is not older than the load; 0 where it was not.
 * A removal by something newer is behind every line. Either of the whole aspect's edge or of that in its one list.
 */
export async function findRemovals(tx: Tx, edges: RemovedEdges, seq: number): Promise<Int32Array> {
  const [row] = await query<{ found: Buffer | null }>(
    tx,
    `
    select string_agg(int4send(wanted.place::int - 1) || int4send(removal.line), '') as found
    from ${wanted}
    cross join lateral (
      select case when edge_tombstone.seq > ?::bigint then ${lastLine} else edge_tombstone.line end as line
      from edge_tombstone
      where edge_tombstone.owner_id = wanted.owner_id
        and edge_tombstone.aspect_code in ((wanted.field >> 4)::smallint, wanted.field::smallint)
        and edge_tombstone.downstream_id = wanted.downstream_id
        and edge_tombstone.upstream_id = wanted.upstream_id
        -- Not by the index on seq: plain-edges.ts has why.
        and edge_tombstone.seq + 0 >= ?::bigint
      order by 1 desc
      limit 1
    ) as removal`,
    [...columnsOf(edges), seq, seq]
  )
  const found = int4sOf(row?.found ?? null)
  const removals = new Int32Array(edges.lines.length)
  for (let at = 0; at < found.length; at += 2) removals[found[at] ?? 0] = found[at + 1] ?? 0
  return removals
}

/** Remembers the removals, by the lines given; a newer one is kept. Each edge once. */
export async function rememberRemovals(tx: Tx, edges: RemovedEdges, seq: number): Promise<void> {
  await query(
    tx,
    `
    insert into edge_tombstone (owner_id, aspect_code, downstream_id, upstream_id, seq, line)
    select wanted.owner_id, wanted.field >> 4, wanted.downstream_id, wanted.upstream_id, ?::bigint, wanted.line
    from ${wanted}
    on conflict (owner_id, aspect_code, downstream_id, upstream_id) do update
    set seq = excluded.seq, line = excluded.line
    where (edge_tombstone.seq, edge_tombstone.line) < (excluded.seq, excluded.line)`,
    [seq, ...columnsOf(edges)]
  )
}

/** A statement of one of the edges, by its place. What is not plain says more than the edge's ends, or is an entry of a written list. */
export type StatedEdge = {
  place: number
  field: number
  sourceId: number
  position: number
  seq: number
  line: number
  changedSeq: number
  isPlain: boolean
}

const intsPerStatement = 10

/** All that is stated of the edges in their aspects, whoever states it, in the order of the places. Needs the owners locked. */
export async function readEdges(tx: Tx, edges: RemovedEdges, recordKey: number): Promise<StatedEdge[]> {
  const [row] = await query<{ found: Buffer | null }>(
    tx,
    `
    select string_agg(
      int4send(wanted.place::int - 1) || int4send(stated.field) || int4send(stated.source_id) || int4send(stated.position) || int8send(stated.seq) || int4send(stated.line) || int4send(stated.is_plain) || int8send(stated.changed_seq), ''
      order by wanted.place
    ) as found
    from ${wanted}
    cross join lateral (
      select statement.field, statement.source_id, statement.position, statement.seq, statement.line, coalesce(statement.changed_seq, statement.seq) as changed_seq, (statement.record_key = ?::int and statement.attributes is null)::int as is_plain
      from statement
      where ${isEdge('wanted')}
        and statement.owner_id = wanted.owner_id
        and statement.field >> 4 = wanted.field >> 4
      offset 0
    ) as stated`,
    [...columnsOf(edges), recordKey]
  )
  const found = int4sOf(row?.found ?? null)
  const stated: StatedEdge[] = []
  for (let at = 0; at < found.length; at += intsPerStatement) {
    const [
      place = 0,
      field = 0,
      sourceId = 0,
      position = 0,
      high = 0,
      low = 0,
      line = 0,
      isPlain = 0,
      changedHigh = 0,
      changedLow = 0
    ] = found.subarray(at, at + intsPerStatement)
    stated.push({
      place,
      field,
      sourceId,
      position,
      seq: high * 2 ** 32 + (low >>> 0),
      line,
      changedSeq: changedHigh * 2 ** 32 + (changedLow >>> 0),
      isPlain: isPlain === 1
    })
  }
  return stated
}

/** The keys of statements, their record key left out; an entry of each array for each. */
export type StatementKeys = {
  downstreamIds: Int32Array
  upstreamIds: Int32Array
  ownerIds: Int32Array
  fields: Int32Array
  sourceIds: Int32Array
}

/** Takes statements away that are there. Needs the owners locked. */
export async function deleteEdges(
  tx: Tx,
  { downstreamIds, upstreamIds, ownerIds, fields, sourceIds }: StatementKeys,
  recordKey: number
): Promise<void> {
  await query(
    tx,
    `
    with found as materialized (
      select stated.place
      from unnest(?::int[], ?::int[], ?::int[], ?::int[], ?::int[]) as gone (downstream_id, upstream_id, owner_id, field, source_id)
      cross join lateral (
        select statement.ctid as place
        from statement
        where ${isEdge('gone')}
          and statement.owner_id = gone.owner_id
          and statement.field = gone.field::smallint
          and statement.source_id = gone.source_id
          and statement.record_key = ?::int
        limit 1
      ) as stated
    )
    delete from statement
    using found
    where statement.ctid = found.place`,
    [...[downstreamIds, upstreamIds, ownerIds, fields, sourceIds].map(int4Array), recordKey]
  )
}

/** Counts one version for the aspect of each of the owners. Needs them locked. */
export async function countRemovals(
  tx: Tx,
  aspectName: string,
  ownerIds: Int32Array,
  actor: string
): Promise<void> {
  await query(
    tx,
    `
    with found as materialized (
      select aspect_row.place
      from unnest(?::int[]) as changed (owner_id)
      cross join lateral (
        select aspect.ctid as place
        from aspect
        where aspect.entity_id = changed.owner_id and aspect.aspect_name = ? and aspect.value is not null
        limit 1
      ) as aspect_row
    )
    update aspect
    set version = aspect.version + 1, actor = ?, created_at = now()
    from found
    where aspect.ctid = found.place`,
    [int4Array(ownerIds), aspectName, actor]
  )
}
