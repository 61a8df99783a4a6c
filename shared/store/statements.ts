/** The statement table: lineage edges as rows, with the tombstones and watermarks that keep their order. */
import type { Db, Tx } from '../db/database.ts'
import { int4Array, int4sOf } from '../db/int4-array.ts'
import { query } from '../db/query.ts'
import type { JsonObject } from '../model/changes.ts'
import type { Order } from '../model/order.ts'
import type { EdgeKeyColumns } from '../statements/columns.ts'
import type { OwnerAspect, RemovedKey, StatementRow, TombstoneRow, WatermarkRow } from '../statements/rows.ts'

const columns = `
  statement.downstream_id as "downstreamId",
  statement.upstream_id as "upstreamId",
  statement.owner_id as "ownerId",
  statement.field,
  statement.source_id as "sourceId",
  statement.record_key as "recordKey",
  statement.position,
  statement.seq,
  statement.line,
  statement.attributes,
  statement.changed_seq as "changedSeq"`

/**
 * Each row as one value: eleven numbers for each, and separately the attributes of rows that have any, in the
 * same order. Sending and parsing these takes half the time of rows with eleven columns.
 */
const packedRows = `
  string_agg(
    int4send(stated.downstream_id) || int4send(stated.upstream_id) || int4send(stated.owner_id) || int4send(stated.field)
      || int4send(stated.source_id) || int4send(stated.record_key) || int4send(stated.position) || int8send(stated.seq)
      || int4send(stated.line) || int8send(coalesce(stated.changed_seq, -1)) || int4send((stated.attributes is not null)::int), '') as packed,
  json_agg(stated.attributes) filter (where stated.attributes is not null) as attributes`

type PackedRows = { packed: Buffer | null; attributes: JsonObject[] | null }
const intsPerRow = 13

function unpackRows({ packed, attributes }: PackedRows): StatementRow[] {
  const ints = int4sOf(packed)
  const rows: StatementRow[] = []
  let attributesAt = 0
  const int = (at: number): number => ints[at] ?? 0
  const bigint = (at: number): number => int(at) * 2 ** 32 + (int(at + 1) >>> 0)
  for (let at = 0; at < ints.length; at += intsPerRow) {
    const changedSeq = bigint(at + 10)
    rows.push({
      downstreamId: int(at),
      upstreamId: int(at + 1),
      ownerId: int(at + 2),
      field: int(at + 3),
      sourceId: int(at + 4),
      recordKey: int(at + 5),
      position: int(at + 6),
      seq: bigint(at + 7),
      line: int(at + 9),
      attributes: int(at + 12) === 1 ? (attributes?.[attributesAt++] ?? null) : null,
      changedSeq: changedSeq < 0 ? null : changedSeq
    })
  }
  return rows
}

async function readRows(db: Db | Tx, sql: string, bindings: readonly Buffer[]): Promise<StatementRow[]> {
  const [row] = await query<PackedRows>(db, sql, bindings)
  return row ? unpackRows(row) : []
}

/**
 * All statements of aspects of owners. The query is a union of two, because the index of owners leaves out
 * owners that are the downstream.
 *
 * The join is lateral, so that each owner is an index lookup whatever the planner's statistics say. With a
 * plain join, a table that had grown since it was analyzed was completely read and sorted (500 owners of
 * 500,000 statements: 698 ms instead of 24; with up-to-date statistics both take 8 ms).
 */
export async function statementsOfOwners(
  db: Db | Tx,
  wanted: readonly OwnerAspect[]
): Promise<StatementRow[]> {
  if (wanted.length === 0) return []
  return readRows(
    db,
    `
    select ${packedRows}
    from unnest(?::int[], ?::int[]) as wanted (owner_id, aspect_code)
    cross join lateral (
      select *
      from statement
      where statement.downstream_id = wanted.owner_id
        and statement.owner_id = wanted.owner_id
        and statement.field >> 4 = wanted.aspect_code
      union all
      select *
      from statement
      where statement.owner_id = wanted.owner_id
        and statement.owner_id <> statement.downstream_id
        and statement.field >> 4 = wanted.aspect_code
    ) as stated`,
    [int4Array(wanted.map((row) => row.ownerId)), int4Array(wanted.map((row) => row.aspectCode))]
  )
}

const edgeKeyBindings = ({ ownerIds, aspectCodes, downstreamIds, upstreamIds }: EdgeKeyColumns): Buffer[] =>
  [ownerIds, aspectCodes, downstreamIds, upstreamIds].map(int4Array)

/**
 * Whether a statement has the ends of another row's edge.
 *
 * Written as a range of two columns, which only the primary key has in this order. Otherwise the planner
 * scans the index on upstream_id if its statistics are from a time when each asset had one downstream. There
 * is no additional `downstream_id =`, because the scan would then begin at the first upstream of the
 * downstream (3 ms an edge instead of 4 us, for a downstream with 100,000). The planner expects a range to
 * match a share of the table, but within `limit 1` or `offset 0` it uses the index anyway.
 */
const isEdge = (
  row: string
): string => `(statement.downstream_id, statement.upstream_id) >= (${row}.downstream_id, ${row}.upstream_id)
        and (statement.downstream_id, statement.upstream_id) <= (${row}.downstream_id, ${row}.upstream_id)`

/** The statements of single edges. If an edge is given twice, its statements are returned twice. */
export async function statementsOfEdges(tx: Tx, edges: EdgeKeyColumns): Promise<StatementRow[]> {
  if (edges.ownerIds.length === 0) return []
  return readRows(
    tx,
    `
    select ${packedRows}
    from unnest(?::int[], ?::int[], ?::int[], ?::int[]) as wanted (owner_id, aspect_code, downstream_id, upstream_id)
    cross join lateral (
      select *
      from statement
      where ${isEdge('wanted')}
        and statement.owner_id = wanted.owner_id
        and statement.field >> 4 = wanted.aspect_code
      offset 0
    ) as stated`,
    edgeKeyBindings(edges)
  )
}

/**
 * Owners with removals or replacements that are not older than a seq, and owners with patches of edges of any
 * age.
 */
export type OwnersWithOrder = { removals: Int32Array; replacements: Int32Array; patches: Int32Array }

/**
 * Usually these tables have nothing that is not older, which is checked once for all owners.
 *
 * Owners are looked up with `seq + 0`, which has no index. With statistics from before a load, the planner
 * does not expect so large a seq. It would scan the index on seq for each owner, including everything that
 * the load itself has removed (60 s a chunk, until it timed out). `limit 1` is used because `exists` may
 * become a hash of the whole table.
 */
export async function ownersWithOrder(tx: Tx, ownerIds: Int32Array, seq: number): Promise<OwnersWithOrder> {
  const [row] = await query<Record<keyof OwnersWithOrder, Buffer | null>>(
    tx,
    `
    select
      string_agg(int4send(judged.id), '') filter (where judged.has_removals) as removals,
      string_agg(int4send(judged.id), '') filter (where judged.has_replacements) as replacements,
      string_agg(int4send(judged.id), '') filter (where judged.has_patches) as patches
    from (
      select wanted.id,
        (select exists (select 1 from edge_tombstone where edge_tombstone.seq >= ?::bigint))
        and (select true from edge_tombstone where edge_tombstone.owner_id = wanted.id and edge_tombstone.seq + 0 >= ?::bigint limit 1) is not null as has_removals,
        (select exists (select 1 from replace_watermark where replace_watermark.seq >= ?::bigint))
        and (select true from replace_watermark where replace_watermark.owner_id = wanted.id and replace_watermark.seq + 0 >= ?::bigint limit 1) is not null as has_replacements,
        (select exists (select 1 from edge_patch))
        and (select true from edge_patch where edge_patch.owner_id = wanted.id limit 1) is not null as has_patches
      from unnest(?::int[]) as wanted (id)
      offset 0
    ) as judged
    where judged.has_removals or judged.has_replacements or judged.has_patches`,
    [seq, seq, seq, seq, int4Array(ownerIds)]
  )
  return {
    removals: int4sOf(row?.removals ?? null),
    replacements: int4sOf(row?.replacements ?? null),
    patches: int4sOf(row?.patches ?? null)
  }
}

/** The removals of single edges that are not older than a seq. */
export async function tombstonesOfEdges(tx: Tx, edges: EdgeKeyColumns, seq: number): Promise<TombstoneRow[]> {
  if (edges.ownerIds.length === 0) return []
  return query<TombstoneRow>(
    tx,
    `
    select
      removal.owner_id as "ownerId",
      wanted.aspect_code as "aspectCode",
      removal.aspect_code as code,
      removal.downstream_id as "downstreamId",
      removal.upstream_id as "upstreamId",
      removal.seq,
      removal.line
    from unnest(?::int[], ?::int[], ?::int[], ?::int[]) as wanted (owner_id, aspect_code, downstream_id, upstream_id)
    cross join lateral (
      select *
      from edge_tombstone
      where edge_tombstone.owner_id = wanted.owner_id
        and edge_tombstone.downstream_id = wanted.downstream_id
        and edge_tombstone.upstream_id = wanted.upstream_id
        -- Not by the index on seq, as in ownersWithOrder.
        and edge_tombstone.seq + 0 >= ?::bigint
        -- Groups of column records are negative, and an owner has them in one aspect.
        and (edge_tombstone.aspect_code = wanted.aspect_code or edge_tombstone.aspect_code >> 4 = wanted.aspect_code or edge_tombstone.aspect_code < 0)
      offset 0
    ) as removal`,
    [...edgeKeyBindings(edges), seq]
  )
}

/** The replacements stored for aspects of owners. */
export async function watermarksOfOwners(tx: Tx, wanted: readonly OwnerAspect[]): Promise<WatermarkRow[]> {
  if (wanted.length === 0) return []
  return query<WatermarkRow>(
    tx,
    `
    select
      replace_watermark.owner_id as "ownerId",
      wanted.aspect_code as "aspectCode",
      replace_watermark.aspect_code as code,
      replace_watermark.source_id as "sourceId",
      replace_watermark.seq,
      replace_watermark.line
    from unnest(?::int[], ?::int[]) as wanted (owner_id, aspect_code)
    join replace_watermark on replace_watermark.owner_id = wanted.owner_id
      and (replace_watermark.aspect_code = wanted.aspect_code or replace_watermark.aspect_code >> 4 = wanted.aspect_code)`,
    [wanted.map((row) => row.ownerId), wanted.map((row) => row.aspectCode)]
  )
}

/**
 * The columns of rows in the form of the statements below. A row is found by its key, then updated by its
 * ctid.
 */
const keyColumns = 'downstream_id, upstream_id, owner_id, field, source_id, record_key'
const keyTypes = '?::int[], ?::int[], ?::int[], ?::int[], ?::int[], ?::int[]'
const keyArrays = (rows: readonly StatementRow[]): Buffer[] =>
  (['downstreamId', 'upstreamId', 'ownerId', 'field', 'sourceId', 'recordKey'] as const).map((name) =>
    int4Array(rows.map((row) => row[name]))
  )
const placeOfRow = (row: string): string => `
      select statement.ctid as place
      from statement
      where ${isEdge(row)}
        and statement.owner_id = ${row}.owner_id
        and statement.field = ${row}.field::smallint
        and statement.source_id = ${row}.source_id
        and statement.record_key = ${row}.record_key
      limit 1`

/** Rows in key order: neighbouring keys share pages, and all writers lock in the same order. */
export const inKeyOrder = (rows: readonly StatementRow[]): StatementRow[] =>
  rows.toSorted(
    (a, b) =>
      a.downstreamId - b.downstreamId ||
      a.upstreamId - b.upstreamId ||
      a.ownerId - b.ownerId ||
      a.field - b.field
  )

/** Updates the content and order of existing statements. The owners must be locked. */
export async function updateStatements(tx: Tx, rows: readonly StatementRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    with found as materialized (
      select stated.place, changed.position, changed.seq, changed.line, changed.attributes, changed.changed_seq
      from unnest(${keyTypes}, ?::int[], ?::bigint[], ?::int[], ?::text[], ?::bigint[])
        as changed (${keyColumns}, position, seq, line, attributes, changed_seq)
      cross join lateral (${placeOfRow('changed')}
      ) as stated
    )
    update statement
    set position = found.position, seq = found.seq, line = found.line, attributes = found.attributes::jsonb, changed_seq = found.changed_seq
    from found
    where statement.ctid = found.place`,
    [
      ...keyArrays(rows),
      int4Array(rows.map((row) => row.position)),
      rows.map((row) => row.seq),
      int4Array(rows.map((row) => row.line)),
      rows.map((row) => (row.attributes === null ? null : JSON.stringify(row.attributes))),
      rows.map((row) => row.changedSeq ?? null)
    ]
  )
}

/** Deletes existing statements. The owners must be locked. */
export async function deleteStatements(tx: Tx, rows: readonly StatementRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    with found as materialized (
      select stated.place
      from unnest(${keyTypes}) as gone (${keyColumns})
      cross join lateral (${placeOfRow('gone')}
      ) as stated
    )
    delete from statement
    using found
    where statement.ctid = found.place`,
    keyArrays(rows)
  )
}

/** Deletes and returns the statements of a source that are older than the seq. */
export async function deleteStatementsBefore(
  tx: Tx,
  sourceId: number,
  seq: number,
  keys: readonly RemovedKey[]
): Promise<StatementRow[]> {
  if (keys.length === 0) return []
  return query<StatementRow>(
    tx,
    `
    delete from statement
    using unnest(?::int[], ?::int[], ?::int[], ?::int[], ?::int[]) as gone (downstream_id, upstream_id, owner_id, field, record_key)
    where statement.downstream_id = gone.downstream_id
      and statement.upstream_id = gone.upstream_id
      and statement.owner_id = gone.owner_id
      and statement.field = gone.field
      and statement.record_key = gone.record_key
      and statement.source_id = ?::int
      and statement.seq < ?::bigint
    returning ${columns}`,
    [
      keys.map((key) => key.downstreamId),
      keys.map((key) => key.upstreamId),
      keys.map((key) => key.ownerId),
      keys.map((key) => key.field),
      keys.map((key) => key.recordKey),
      sourceId,
      seq
    ]
  )
}

/**
 * Deletes and returns statements owned by or about deleted entities that are not newer than the deletion.
 * Three statements of SQL, because a single one with "or" would scan the whole table.
 */
export async function deleteStatementsTouching(
  tx: Tx,
  deletions: readonly (Order & { id: number })[]
): Promise<StatementRow[]> {
  const removed: StatementRow[] = []
  for (const end of ['downstream_id', 'upstream_id', 'owner_id']) {
    removed.push(
      ...(await query<StatementRow>(
        tx,
        `
      delete from statement
      using unnest(?::int[], ?::bigint[], ?::int[]) as gone (id, seq, line)
      where statement.${end} = gone.id
        ${end === 'owner_id' ? 'and statement.owner_id <> statement.downstream_id' : ''}
        and (statement.seq, statement.line) <= (gone.seq, gone.line)
      returning ${columns}`,
        [deletions.map((row) => row.id), deletions.map((row) => row.seq), deletions.map((row) => row.line)]
      ))
    )
  }
  return removed
}

/** Stores removals; a newer removal that is already stored is kept. */
export async function writeTombstones(tx: Tx, rows: readonly TombstoneRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    insert into edge_tombstone (owner_id, aspect_code, downstream_id, upstream_id, seq, line)
    select gone.owner_id, gone.aspect_code, gone.downstream_id, gone.upstream_id, gone.seq, gone.line
    from unnest(?::int[], ?::int[], ?::int[], ?::int[], ?::bigint[], ?::int[])
      as gone (owner_id, aspect_code, downstream_id, upstream_id, seq, line)
    on conflict (owner_id, aspect_code, downstream_id, upstream_id) do update
    set seq = excluded.seq, line = excluded.line
    where (edge_tombstone.seq, edge_tombstone.line) < (excluded.seq, excluded.line)`,
    [
      ...(['ownerId', 'code', 'downstreamId', 'upstreamId'] as const).map((name) =>
        int4Array(rows.map((row) => row[name]))
      ),
      rows.map((row) => row.seq),
      rows.map((row) => row.line)
    ]
  )
}

/** Stores replacements; a newer replacement that is already stored is kept. */
export async function writeWatermarks(tx: Tx, rows: readonly WatermarkRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    insert into replace_watermark (owner_id, aspect_code, source_id, seq, line)
    select fresh.owner_id, fresh.aspect_code, fresh.source_id, fresh.seq, fresh.line
    from unnest(?::int[], ?::int[], ?::int[], ?::bigint[], ?::int[]) as fresh (owner_id, aspect_code, source_id, seq, line)
    on conflict (owner_id, aspect_code, source_id) do update
    set seq = excluded.seq, line = excluded.line
    where (replace_watermark.seq, replace_watermark.line) < (excluded.seq, excluded.line)`,
    [
      rows.map((row) => row.ownerId),
      rows.map((row) => row.code),
      rows.map((row) => row.sourceId),
      rows.map((row) => row.seq),
      rows.map((row) => row.line)
    ]
  )
}

/** The names of sources, by id. */
export async function sourceNames(db: Db | Tx, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await query<{ id: number; name: string }>(
    db,
    'select id, name from statement_source where id = any(?::int[])',
    [ids]
  )
  return new Map(rows.map((row) => [row.id, row.name]))
}

/** The id of a source, created on its first use. */
export async function sourceId(tx: Tx, name: string): Promise<number> {
  const [known] = await query<{ id: number }>(tx, 'select id from statement_source where name = ?', [name])
  if (known) return known.id
  await query(tx, 'insert into statement_source (name) values (?) on conflict (name) do nothing', [name])
  const [created] = await query<{ id: number }>(tx, 'select id from statement_source where name = ?', [name])
  if (!created) throw new Error('a source that was just written is not there')
  return created.id
}
