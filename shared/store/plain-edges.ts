/**
 * Edges given by their two ends alone, thousands at a time: a statement each, new in its aspect or there already.
 *
 * The same rows as statements.ts writes, by fewer and leaner statements: numbers go out as binary arrays in key order,
 * every look-up is one by index whatever the planner has been told of the tables, and rows that are there are not read back.
 */
import { int4Array, int4sOf } from '../db/int4-array.ts'
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { JsonObject } from '../model/changes.ts'
import { urnKey } from '../urn/urn-key.ts'
import type { Urn } from '../urn/urn.ts'
import { insertStatements, stampedStatements } from './new-statements.ts'

/** By place: the id of each URN, 0 where it has none; and whether it exists, and was never deleted, as 1 or 0. */
export type FoundIds = { ids: Int32Array; fit: Int32Array }

/** Finds by digest and compares the text as well, as findEntities of entities.ts. */
export async function findIds(tx: Tx, urns: readonly Urn[]): Promise<FoundIds> {
  const [row] = await query<{ ids: Buffer | null; fit: Buffer | null }>(
    tx,
    `
    select
      string_agg(int4send(coalesce(found.id, 0)), '' order by wanted.place) as ids,
      string_agg(int4send(coalesce(found.is_fit, 0)), '' order by wanted.place) as fit
    from unnest(?::uuid[], ?::text[]) with ordinality as wanted (urn_key, urn, place)
    left join lateral (
      select entity.id, (entity.is_present and entity.deleted_seq is null)::int as is_fit
      from entity
      where entity.urn_key = wanted.urn_key and entity.urn = wanted.urn
      limit 1
    ) as found on true`,
    [urns.map(urnKey), urns]
  )
  return { ids: int4sOf(row?.ids ?? null), fit: int4sOf(row?.fit ?? null) }
}

/** Those of the entities that exist and were never deleted. `ids` ascend. */
export async function findFit(tx: Tx, ids: Int32Array): Promise<Int32Array> {
  const [row] = await query<{ found: Buffer | null }>(
    tx,
    `
    select string_agg(int4send(entity.id), '') as found
    from entity
    where entity.id = any(?::int[]) and entity.is_present and entity.deleted_seq is null`,
    [int4Array(ids)]
  )
  return int4sOf(row?.found ?? null)
}

/** As lockEntities of entities.ts, with nothing read back. `ids` ascend. */
export async function lockOwners(tx: Tx, ids: Int32Array): Promise<void> {
  await query(
    tx,
    `
    with locked as (
      select entity.id
      from entity
      where entity.id = any(?::int[])
      order by entity.id
      for no key update
    )
    select count(*) from locked`,
    [int4Array(ids)]
  )
}

/** Owners: of which more is remembered than what is stated and removed edges, and of which removed edges are. Neither in any order. */
export type Remembered = { more: Int32Array; removals: Int32Array }

/**
 * What is remembered of the owners that may be newer than the load: replacements, patches of edges (of any age), a deleted aspect; and
 * removals. Mostly there is nothing so new in these tables at all, which is asked once.
 * `aspectNames` are those that the edges will be written to.
 *
 * An owner is looked up with `seq + 0`, of which there is no index: statistics from before this load know of no seq so large, and the
 * planner would walk the index on seq, with all that the load itself has removed, for each owner (60 s a chunk, until it timed out).
 * And with `limit 1`, not `exists`, which it may turn into a hash of the whole table.
 */
export async function findRemembered(
  tx: Tx,
  ownerIds: Int32Array,
  aspectNames: readonly string[],
  seq: number
): Promise<Remembered> {
  const [row] = await query<{ more: Buffer | null; removals: Buffer | null }>(
    tx,
    `
    select
      string_agg(int4send(judged.id), '') filter (where judged.more) as more,
      string_agg(int4send(judged.id), '') filter (where judged.has_removals) as removals
    from (
      select wanted.id,
        (select exists (select 1 from edge_tombstone where edge_tombstone.seq >= ?::bigint))
        and (select true from edge_tombstone where edge_tombstone.owner_id = wanted.id and edge_tombstone.seq + 0 >= ?::bigint limit 1) is not null as has_removals,
        ((select exists (select 1 from replace_watermark where replace_watermark.seq >= ?::bigint))
          and (select true from replace_watermark where replace_watermark.owner_id = wanted.id and replace_watermark.seq + 0 >= ?::bigint limit 1) is not null)
        or ((select exists (select 1 from edge_patch)) and (select true from edge_patch where edge_patch.owner_id = wanted.id limit 1) is not null)
        or (select true from aspect where aspect.entity_id = wanted.id and aspect.aspect_name = any(?::text[]) and aspect.value is null limit 1) is not null as more
      from unnest(?::int[]) as wanted (id)
      offset 0
    ) as judged
    where judged.more or judged.has_removals`,
    [seq, seq, seq, seq, aspectNames, int4Array(ownerIds)]
  )
  return { more: int4sOf(row?.more ?? null), removals: int4sOf(row?.removals ?? null) }
}

/** Those of the owners that do not have the aspect. */
export async function findWithoutAspect(
  tx: Tx,
  ownerIds: Int32Array,
  aspectName: string
): Promise<Int32Array> {
  const [row] = await query<{ found: Buffer | null }>(
    tx,
    `
    select string_agg(int4send(judged.id), '') as found
    from (
      select wanted.id, (select true from aspect where aspect.entity_id = wanted.id and aspect.aspect_name = ? limit 1) is null as is_without
      from unnest(?::int[]) as wanted (id)
      offset 0
    ) as judged
    where judged.is_without`,
    [aspectName, int4Array(ownerIds)]
  )
  return int4sOf(row?.found ?? null)
}

/** In key order, each pair once. The five arrays have an entry for each edge. */
export type PlainEdgeRows = {
  downstreamIds: Int32Array
  upstreamIds: Int32Array
  ownerIds: Int32Array
  fields: Int32Array
  lines: Int32Array
}

/** What all rows have in common. */
export type PlainEdgeStamp = { sourceId: number; recordKey: number; position: number; seq: number }

const wanted =
  'unnest(?::int[], ?::int[], ?::int[], ?::int[], ?::int[]) with ordinality as wanted (downstream_id, upstream_id, owner_id, field, line, place)'
const columnsOf = ({ downstreamIds, upstreamIds, ownerIds, fields, lines }: PlainEdgeRows): Buffer[] =>
  [downstreamIds, upstreamIds, ownerIds, fields, lines].map(int4Array)

/** Adds a statement for each edge; none of them may be there. Needs the owners locked. */
export function insertPlainEdges(
  tx: Tx,
  rows: PlainEdgeRows,
  { position, ...stamp }: PlainEdgeStamp
): Promise<void> {
  const { length } = rows.lines
  const columns = {
    ...rows,
    positions: new Int32Array(length).fill(position),
    attributes: new Int32Array(length),
    texts: []
  }
  return insertStatements(tx, stampedStatements(columns, stamp))
}

/**
 * Whether a statement is of the edge of another row. As a range of two columns, which only the primary key has in order: the planner
 * would else walk the index on upstream_id where its statistics are of a time when each asset had one downstream. And without
 * `downstream_id =` beside it, by which the index is entered then, at the downstream's first upstream (of 100,000: 3 ms an edge, against
 * 4 us). By a range the planner expects a share of the table: within `limit 1` or `offset 0`, and under preferIndexes, it looks up all the same.
 */
export const isEdge = (
  row: string
): string => `(statement.downstream_id, statement.upstream_id) >= (${row}.downstream_id, ${row}.upstream_id)
          and (statement.downstream_id, statement.upstream_id) <= (${row}.downstream_id, ${row}.upstream_id)`

/** Places of edges, from 0 and in no order: of those that the source states already in that list by the edge's ends alone, and of those that only others state in the aspect. */
export type AlreadyStated = { bySource: Int32Array; byOthers: Int32Array }

/** Parts of lists of upstreams: an entry of each array for each. The ends are within. */
export type UpstreamRanges = {
  downstreamIds: Int32Array
  leastUpstreamIds: Int32Array
  greatestUpstreamIds: Int32Array
}

/** `at` is the range's place, `count` how many statements there are in it; `own` and `others` have upstream, owner and field of each of the source's by the edge's ends alone, and of all others. */
export type StatedInRange = { at: number; count: number; own: Int32Array; others: Int32Array }

/**
 * What is stated in each range, at most `most` of each; ranges without are left out. By rows of two columns, which only the primary key has
 * in order: of a table that was analyzed while it had one downstream, the planner would else walk the index on upstream_id.
 */
export async function readStated(
  tx: Tx,
  { downstreamIds, leastUpstreamIds, greatestUpstreamIds }: UpstreamRanges,
  { sourceId, recordKey }: PlainEdgeStamp,
  most: number
): Promise<StatedInRange[]> {
  const rows = await query<{ at: number; count: number; own: Buffer | null; others: Buffer | null }>(
    tx,
    `
    select (wanted.place - 1)::int as at, found.count::int as count, found.own, found.others
    from unnest(?::int[], ?::int[], ?::int[]) with ordinality as wanted (downstream_id, least, greatest, place)
    cross join lateral (
      select
        count(*) as count,
        string_agg(stated.facts, '') filter (where stated.is_own) as own,
        string_agg(stated.facts, '') filter (where not stated.is_own) as others
      from (
        select
          int4send(statement.upstream_id) || int4send(statement.owner_id) || int4send(statement.field) as facts,
          statement.source_id = ?::int and statement.record_key = ?::int as is_own
        from statement
        where (statement.downstream_id, statement.upstream_id) >= (wanted.downstream_id, wanted.least)
          and (statement.downstream_id, statement.upstream_id) <= (wanted.downstream_id, wanted.greatest)
        order by statement.downstream_id, statement.upstream_id
        limit ?::int
      ) as stated
    ) as found
    where found.count > 0`,
    [
      int4Array(downstreamIds),
      int4Array(leastUpstreamIds),
      int4Array(greatestUpstreamIds),
      sourceId,
      recordKey,
      most
    ]
  )
  return rows.map(({ at, count, own, others }) => ({ at, count, own: int4sOf(own), others: int4sOf(others) }))
}

/** One look-up by index an edge; a second where the first finds nothing. Needs the owners locked. */
export async function lookUpStated(
  tx: Tx,
  rows: PlainEdgeRows,
  { sourceId, recordKey }: PlainEdgeStamp
): Promise<AlreadyStated> {
  const [row] = await query<{ bySource: Buffer | null; byOthers: Buffer | null }>(
    tx,
    `
    select
      string_agg(int4send(found.place::int - 1), '') filter (where found.is_own) as "bySource",
      string_agg(int4send(found.place::int - 1), '') filter (where not found.is_own) as "byOthers"
    from (
      select
        wanted.place,
        case
          when (
            select true
            from statement
            where statement.downstream_id = wanted.downstream_id
              and statement.upstream_id = wanted.upstream_id
              and statement.owner_id = wanted.owner_id
              and statement.field = wanted.field::smallint
              and statement.source_id = ?::int
              and statement.record_key = ?::int
          ) then true
          when (
            select true
            from statement
            where ${isEdge('wanted')}
              and statement.owner_id = wanted.owner_id
              and statement.field >> 4 = wanted.field >> 4
            limit 1
          ) then false
        end as is_own
      from ${wanted}
      offset 0
    ) as found
    where found.is_own is not null`,
    [sourceId, recordKey, ...columnsOf(rows)]
  )
  return { bySource: int4sOf(row?.bySource ?? null), byOthers: int4sOf(row?.byOthers ?? null) }
}

/** Gives a source's statements by the edges' ends alone the order of the lines given, where theirs is older. They are there. Needs the owners locked. */
export async function raiseOrder(
  tx: Tx,
  rows: PlainEdgeRows,
  { sourceId, recordKey, position, seq }: PlainEdgeStamp
): Promise<void> {
  await query(
    tx,
    `
    with found as materialized (
      select stated.place, wanted.line
      from ${wanted}
      cross join lateral (
        select statement.ctid as place
        from statement
        where ${isEdge('wanted')}
          and statement.owner_id = wanted.owner_id
          and statement.field = wanted.field::smallint
          and statement.source_id = ?::int
          and statement.record_key = ?::int
          and (statement.seq, statement.line) < (?::bigint, wanted.line)
        limit 1
      ) as stated
    )
    update statement
    set changed_seq = coalesce(statement.changed_seq, statement.seq), seq = ?::bigint, line = found.line, position = ?::int
    from found
    where statement.ctid = found.place`,
    [...columnsOf(rows), sourceId, recordKey, seq, seq, position]
  )
}

/** An aspect whose edges have changed, of each of these owners; `lines` has the line that states the first of an aspect that is new. */
export type ChangedAspects = {
  aspectName: string
  ownerIds: Int32Array
  lines: Int32Array
  template: JsonObject
}

/**
 * Counts one version for each aspect, and makes those that are not there: gives the owners of these. Needs the owners locked.
 *
 * Each row is looked up by its key and updated by its place: joined by name, a catalog that was analyzed before it had lineage
 * was read whole for each chunk (183 us an edge against 2).
 */
export async function countVersions(
  tx: Tx,
  { aspectName, ownerIds, lines, template }: ChangedAspects,
  { actor, seq }: { actor: string; seq: number }
): Promise<Int32Array> {
  const [row] = await query<{ made: Buffer | null }>(
    tx,
    `
    with changed as (
      select *
      from unnest(?::int[], ?::int[]) as changed (owner_id, line)
    ), found as materialized (
      select aspect_row.place
      from changed
      cross join lateral (
        select aspect.ctid as place
        from aspect
        where aspect.entity_id = changed.owner_id and aspect.aspect_name = ?
        limit 1
      ) as aspect_row
    ), known as (
      update aspect
      set version = aspect.version + 1, actor = ?, created_at = now()
      from found
      where aspect.ctid = found.place
      returning aspect.entity_id
    ), made as (
      insert into aspect (entity_id, aspect_name, version, seq, line, kind, change, value, actor, created_at)
      select changed.owner_id, ?, 1, ?::bigint, changed.line, 'merge', '{}'::jsonb, ?::jsonb, ?, now()
      from changed
      where changed.owner_id not in (select known.entity_id from known)
      returning aspect.entity_id
    )
    select string_agg(int4send(made.entity_id), '') as made
    from made`,
    [
      int4Array(ownerIds),
      int4Array(lines),
      aspectName,
      actor,
      aspectName,
      seq,
      JSON.stringify(template),
      actor
    ]
  )
  return int4sOf(row?.made ?? null)
}
