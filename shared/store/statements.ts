/** The statement table: lineage edges as rows, with the tombstones and watermarks that keep their order. */
import type { Db, Tx } from '../db/database.ts'
import { int4Array } from '../db/int4-array.ts'
import { query } from '../db/query.ts'
import type { JsonObject } from '../model/changes.ts'
import type { Order } from '../model/order.ts'

export type StatementRow = {
  downstreamId: number
  upstreamId: number
  ownerId: number
  field: number
  sourceId: number
  recordKey: number
  position: number
  seq: number
  line: number
  attributes: JsonObject | null
  /** The seq of the change that made it say so, where that is not `seq`. */
  changedSeq?: number | null
}

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

/** The key of a statement, its source left out. */
export type RemovedKey = Pick<StatementRow, 'downstreamId' | 'upstreamId' | 'ownerId' | 'field' | 'recordKey'>

/** An aspect of an owner; aspectCode is statement.field >> 4. */
export type OwnerAspect = { ownerId: number; aspectCode: number }

/** An edge within an aspect of an owner. */
export type EdgeKey = OwnerAspect & { downstreamId: number; upstreamId: number }

/**
 * All statements of aspects of owners. Two arms, because the owner's index leaves out owners that are the downstream.
 *
 * Lateral, so that each owner is a look-up whatever the planner knows: as a plain join, a table that has grown and not been
 * analyzed yet was read and sorted whole (500 owners of 500,000 statements: 698 ms against 24; with statistics 8 either way).
 */
export async function statementsOfOwners(
  db: Db | Tx,
  wanted: readonly OwnerAspect[]
): Promise<StatementRow[]> {
  if (wanted.length === 0) return []
  return query<StatementRow>(
    db,
    `
    select stated.*
    from unnest(?::int[], ?::int[]) as wanted (owner_id, aspect_code)
    cross join lateral (
      select ${columns}
      from statement
      where statement.downstream_id = wanted.owner_id
        and statement.owner_id = wanted.owner_id
        and statement.field >> 4 = wanted.aspect_code
      union all
      select ${columns}
      from statement
      where statement.owner_id = wanted.owner_id
        and statement.owner_id <> statement.downstream_id
        and statement.field >> 4 = wanted.aspect_code
    ) as stated`,
    [wanted.map((row) => row.ownerId), wanted.map((row) => row.aspectCode)]
  )
}

/** The statements of single edges. */
export async function statementsOfEdges(tx: Tx, edges: readonly EdgeKey[]): Promise<StatementRow[]> {
  if (edges.length === 0) return []
  return query<StatementRow>(
    tx,
    `
    select stated.*
    from unnest(?::int[], ?::int[], ?::int[], ?::int[]) as wanted (owner_id, aspect_code, downstream_id, upstream_id)
    cross join lateral (
      select ${columns}
      from statement
      where statement.downstream_id = wanted.downstream_id
        and statement.upstream_id = wanted.upstream_id
        and statement.owner_id = wanted.owner_id
        and statement.field >> 4 = wanted.aspect_code
      offset 0
    ) as stated`,
    edgeBindings(edges)
  )
}

const edgeBindings = (edges: readonly EdgeKey[]) => [
  int4Array(edges.map((edge) => edge.ownerId)),
  int4Array(edges.map((edge) => edge.aspectCode)),
  int4Array(edges.map((edge) => edge.downstreamId)),
  int4Array(edges.map((edge) => edge.upstreamId))
]

/** upstreamId 0 stands for every upstream of a column; `code` is that of the aspect where all lists are meant, else removalCode. */
export type TombstoneRow = EdgeKey & Order & { code: number }

/** The removals remembered for single edges. */
export async function tombstonesOfEdges(tx: Tx, edges: readonly EdgeKey[]): Promise<TombstoneRow[]> {
  if (edges.length === 0) return []
  return query<TombstoneRow>(
    tx,
    `
    select
      edge_tombstone.owner_id as "ownerId",
      wanted.aspect_code as "aspectCode",
      edge_tombstone.aspect_code as code,
      edge_tombstone.downstream_id as "downstreamId",
      edge_tombstone.upstream_id as "upstreamId",
      edge_tombstone.seq,
      edge_tombstone.line
    from unnest(?::int[], ?::int[], ?::int[], ?::int[]) as wanted (owner_id, aspect_code, downstream_id, upstream_id)
    join edge_tombstone on edge_tombstone.owner_id = wanted.owner_id
      and edge_tombstone.downstream_id = wanted.downstream_id
      and edge_tombstone.upstream_id = wanted.upstream_id
    -- Groups of column records are negative, and an owner has them in one aspect.
    where edge_tombstone.aspect_code = wanted.aspect_code or edge_tombstone.aspect_code >> 4 = wanted.aspect_code or edge_tombstone.aspect_code < 0`,
    edgeBindings(edges)
  )
}

/** `code` is the aspect's, or that of the one list that was replaced (codes of lists begin where those of aspects end). */
export type WatermarkRow = OwnerAspect & Order & { code: number; sourceId: number }

/** The replacements remembered for aspects of owners; source 0 is a replacement of every source's statements. */
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

const keyColumns = ['downstream_id', 'upstream_id', 'owner_id', 'field', 'source_id', 'record_key'] as const
const keyArrays = (rows: readonly StatementRow[]) => [
  int4Array(rows.map((row) => row.downstreamId)),
  int4Array(rows.map((row) => row.upstreamId)),
  int4Array(rows.map((row) => row.ownerId)),
  int4Array(rows.map((row) => row.field)),
  int4Array(rows.map((row) => row.sourceId)),
  int4Array(rows.map((row) => row.recordKey))
]
const keyTypes = '?::int[], ?::int[], ?::int[], ?::int[], ?::int[], ?::int[]'
const valueArrays = (rows: readonly StatementRow[]) => [
  int4Array(rows.map((row) => row.position)),
  rows.map((row) => row.seq),
  int4Array(rows.map((row) => row.line)),
  rows.map((row) => (row.attributes === null ? null : JSON.stringify(row.attributes))),
  rows.map((row) => row.changedSeq ?? null)
]

/** In key order: neighbouring keys share pages, and two writers meet in one order. */
export const inKeyOrder = (rows: readonly StatementRow[]): StatementRow[] =>
  rows.toSorted(
    (a, b) =>
      a.downstreamId - b.downstreamId ||
      a.upstreamId - b.upstreamId ||
      a.ownerId - b.ownerId ||
      a.field - b.field
  )

/** Writes what statements say and the order they say it in. */
export async function updateStatements(tx: Tx, rows: readonly StatementRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    update statement
    set position = changed.position, seq = changed.seq, line = changed.line, attributes = changed.attributes::jsonb, changed_seq = changed.changed_seq
    from unnest(${keyTypes}, ?::int[], ?::bigint[], ?::int[], ?::text[], ?::bigint[])
      as changed (${keyColumns.join(', ')}, position, seq, line, attributes, changed_seq)
    where ${keyColumns.map((column) => `statement.${column} = changed.${column}`).join(' and ')}`,
    [...keyArrays(rows), ...valueArrays(rows)]
  )
}

export async function deleteStatements(tx: Tx, rows: readonly StatementRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    delete from statement
    using unnest(${keyTypes}) as gone (${keyColumns.join(', ')})
    where ${keyColumns.map((column) => `statement.${column} = gone.${column}`).join(' and ')}`,
    keyArrays(rows)
  )
}

/** Deletes those of a source's statements that are older than the seq, and gives them. */
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
 * Removes what touches deleted entities and is not newer than their deletion, whoever owns it; gives the rows removed.
 * Three statements, because one with "or" would read the whole table.
 */
export async function deleteStatementsTouching(
  tx: Tx,
  gone: readonly (Order & { id: number })[]
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
        [gone.map((row) => row.id), gone.map((row) => row.seq), gone.map((row) => row.line)]
      ))
    )
  }
  return removed
}

/** Remembers removals; a newer one is kept. */
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
      ...edgeBindings(rows.map((row) => ({ ...row, aspectCode: row.code }))),
      rows.map((row) => row.seq),
      rows.map((row) => row.line)
    ]
  )
}

/** Remembers replacements; a newer one is kept. */
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

/** The names of sources by their numbers. */
export async function sourceNames(db: Db | Tx, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await query<{ id: number; name: string }>(
    db,
    'select id, name from statement_source where id = any(?::int[])',
    [ids]
  )
  return new Map(rows.map((row) => [row.id, row.name]))
}

/** The number of a source, given on its first use. */
export async function sourceId(tx: Tx, name: string): Promise<number> {
  const [known] = await query<{ id: number }>(tx, 'select id from statement_source where name = ?', [name])
  if (known) return known.id
  await query(tx, 'insert into statement_source (name) values (?) on conflict (name) do nothing', [name])
  const [fresh] = await query<{ id: number }>(tx, 'select id from statement_source where name = ?', [name])
  if (!fresh) throw new Error('a source that was just written is not there')
  return fresh.id
}
