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

/** Which of the entities do not exist now: placeholders, and what was ever deleted, included. */
export async function findUnfit(tx: Tx, ids: Int32Array): Promise<Int32Array> {
  const [row] = await query<{ unfit: Buffer | null }>(tx, `
    select string_agg(int4send(judged.id), '') as unfit
    from (
      select wanted.id, (select entity.is_present and entity.deleted_seq is null from entity where entity.id = wanted.id) as is_fit
      from unnest(?::int[]) as wanted (id)
    ) as judged
    where judged.is_fit is not true`, [int4Array(ids)])
  return int4sOf(row?.unfit ?? null)
}

/** As lockEntities of entities.ts, with nothing read back. `ids` ascend. */
export async function lockOwners(tx: Tx, ids: Int32Array): Promise<void> {
  await query(tx, `
    with locked as (
      select entity.id
      from entity
      where entity.id = any(?::int[])
      order by entity.id
      for no key update
    )
    select count(*) from locked`, [int4Array(ids)])
}

/**
 * Owners of which more is remembered than what is stated: removals, replacements, patches of edges, a deleted aspect.
 * `aspectNames` are those that the edges will be written to.
 */
export async function findRemembering(tx: Tx, ownerIds: Int32Array, aspectNames: readonly string[]): Promise<Int32Array> {
  const [row] = await query<{ found: Buffer | null }>(tx, `
    select string_agg(int4send(judged.id), '') as found
    from (
      select wanted.id,
        exists (select 1 from edge_tombstone where edge_tombstone.owner_id = wanted.id)
        or exists (select 1 from replace_watermark where replace_watermark.owner_id = wanted.id)
        or exists (select 1 from edge_patch where edge_patch.owner_id = wanted.id)
        or exists (select 1 from aspect where aspect.entity_id = wanted.id and aspect.aspect_name = any(?::text[]) and aspect.value is null) as remembers
      from unnest(?::int[]) as wanted (id)
      offset 0
    ) as judged
    where judged.remembers`, [aspectNames, int4Array(ownerIds)])
  return int4sOf(row?.found ?? null)
}

/** In key order, each pair once. The five arrays have an entry for each edge. */
export type PlainEdgeRows = { downstreamIds: Int32Array, upstreamIds: Int32Array, ownerIds: Int32Array, fields: Int32Array, lines: Int32Array }

/** What all rows have in common. */
export type PlainEdgeStamp = { sourceId: number, recordKey: number, position: number, seq: number }

/** Places of edges, from 0: of those that the source stated already, and of those that only others did. */
export type AlreadyStated = { bySource: Int32Array, byOthers: Int32Array }

const keys = 'downstream_id, upstream_id, owner_id, field'
const values = 'source_id, record_key, position, seq, line'

/**
 * Adds a statement for each edge that the source does not state in that list by the edge's ends alone.
 *
 * Needs the owners locked. Each edge is looked up only where its downstream has any statement at all: a catalog that is
 * filled has few to look up. `insert … on conflict do nothing` was slower (new edges 80k/s against 118k/s without).
 */
export async function insertPlainEdges(tx: Tx, rows: PlainEdgeRows, { sourceId, recordKey, position, seq }: PlainEdgeStamp): Promise<AlreadyStated> {
  const [row] = await query<{ bySource: Buffer | null, byOthers: Buffer | null }>(tx, `
    with wanted as (
      select *
      from unnest(?::int[], ?::int[], ?::int[], ?::int[], ?::int[]) with ordinality as wanted (${keys}, line, place)
    ), known as materialized (
      select downstream.id
      from unnest(?::int[]) as downstream (id)
      where (select true from statement where statement.downstream_id = downstream.id limit 1)
    ), found as materialized (
      select
        wanted.*,
        (
          select bool_or(statement.source_id = ?::int and statement.field = wanted.field and statement.record_key = ?::int)
          from statement
          where statement.downstream_id = wanted.downstream_id
            and statement.upstream_id = wanted.upstream_id
            and statement.owner_id = wanted.owner_id
            and statement.field >> 4 = wanted.field >> 4
        ) as is_own
      from wanted
      where wanted.downstream_id in (select known.id from known)
    ), added as (
      insert into statement (${keys}, ${values})
      select downstream_id, upstream_id, owner_id, field::smallint, ?::int, ?::int, ?::int, ?::bigint, line
      from wanted
      where wanted.downstream_id not in (select known.id from known)
    ), added_beside as (
      insert into statement (${keys}, ${values})
      select downstream_id, upstream_id, owner_id, field::smallint, ?::int, ?::int, ?::int, ?::bigint, line
      from found
      where found.is_own is not true
    )
    select
      string_agg(int4send(found.place::int - 1), '' order by found.place) filter (where found.is_own) as "bySource",
      string_agg(int4send(found.place::int - 1), '' order by found.place) filter (where not found.is_own) as "byOthers"
    from found
    where found.is_own is not null`, [
    int4Array(rows.downstreamIds), int4Array(rows.upstreamIds), int4Array(rows.ownerIds), int4Array(rows.fields), int4Array(rows.lines),
    int4Array([...new Set(rows.downstreamIds)]),
    sourceId, recordKey,
    sourceId, recordKey, position, seq,
    sourceId, recordKey, position, seq])
  return { bySource: int4sOf(row?.bySource ?? null), byOthers: int4sOf(row?.byOthers ?? null) }
}

/** An aspect whose edges have changed, of each of these owners; `lines` has the line that states the first of an aspect that is new. */
export type ChangedAspects = { aspectName: string, ownerIds: Int32Array, lines: Int32Array, template: JsonObject }

/** Counts one version for each aspect, and makes those that are not there: gives the owners of these. Needs the owners locked. */
export async function countVersions(tx: Tx, { aspectName, ownerIds, lines, template }: ChangedAspects, { actor, seq }: { actor: string, seq: number }): Promise<Int32Array> {
  const [row] = await query<{ made: Buffer | null }>(tx, `
    with changed as (
      select *
      from unnest(?::int[], ?::int[]) as changed (owner_id, line)
    ), known as (
      update aspect
      set version = aspect.version + 1, actor = ?, created_at = now()
      from changed
      where aspect.entity_id = changed.owner_id and aspect.aspect_name = ?
      returning aspect.entity_id
    ), made as (
      insert into aspect (entity_id, aspect_name, version, seq, line, kind, change, value, actor, created_at)
      select changed.owner_id, ?, 1, ?::bigint, changed.line, 'merge', '{}'::jsonb, ?::jsonb, ?, now()
      from changed
      where changed.owner_id not in (select known.entity_id from known)
      returning aspect.entity_id
    )
    select string_agg(int4send(made.entity_id), '') as made
    from made`, [
    int4Array(ownerIds), int4Array(lines), actor, aspectName, aspectName, seq, JSON.stringify(template), actor])
  return int4sOf(row?.made ?? null)
}
