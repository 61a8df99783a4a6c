/** The edge_patch table: patches of the attributes of single edges, kept until the edge is removed. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { Order } from '../model/order.ts'
import type { EdgePatchRow, OwnerAspect } from '../statements/rows.ts'

/** All patches of aspects of owners, in no particular order. */
export async function edgePatchesOfOwners(
  db: Db | Tx,
  wanted: readonly OwnerAspect[]
): Promise<EdgePatchRow[]> {
  if (wanted.length === 0) return []
  return query<EdgePatchRow>(
    db,
    `
    select
      edge_patch.owner_id as "ownerId",
      edge_patch.aspect_code as "aspectCode",
      edge_patch.field,
      edge_patch.downstream_id as "downstreamId",
      edge_patch.upstream_id as "upstreamId",
      edge_patch.seq,
      edge_patch.line,
      edge_patch.ordinal,
      edge_patch.operation,
      edge_patch.changed_seq as "changedSeq"
    from unnest(?::int[], ?::int[]) as wanted (owner_id, aspect_code)
    join edge_patch on edge_patch.owner_id = wanted.owner_id and edge_patch.aspect_code = wanted.aspect_code`,
    [wanted.map((row) => row.ownerId), wanted.map((row) => row.aspectCode)]
  )
}

const keyColumns = [
  'owner_id',
  'aspect_code',
  'field',
  'downstream_id',
  'upstream_id',
  'seq',
  'line',
  'ordinal'
] as const
const keyTypes = '?::int[], ?::int[], ?::int[], ?::int[], ?::int[], ?::bigint[], ?::int[], ?::int[]'
const keyArrays = (rows: readonly EdgePatchRow[]) => [
  rows.map((row) => row.ownerId),
  rows.map((row) => row.aspectCode),
  rows.map((row) => row.field),
  rows.map((row) => row.downstreamId),
  rows.map((row) => row.upstreamId),
  rows.map((row) => row.seq),
  rows.map((row) => row.line),
  rows.map((row) => row.ordinal)
]

export async function insertEdgePatches(tx: Tx, rows: readonly EdgePatchRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    insert into edge_patch (${keyColumns.join(', ')}, operation, changed_seq)
    select ${keyColumns.map((column) => `fresh.${column}`).join(', ')}, fresh.operation::jsonb, fresh.changed_seq
    from unnest(${keyTypes}, ?::text[], ?::bigint[]) as fresh (${keyColumns.join(', ')}, operation, changed_seq)
    on conflict do nothing`,
    [
      ...keyArrays(rows),
      rows.map((row) => JSON.stringify(row.operation)),
      rows.map((row) => row.changedSeq ?? null)
    ]
  )
}

export async function deleteEdgePatches(tx: Tx, rows: readonly EdgePatchRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    delete from edge_patch
    using unnest(${keyTypes}) as gone (${keyColumns.join(', ')})
    where ${keyColumns.map((column) => `edge_patch.${column} = gone.${column}`).join(' and ')}`,
    keyArrays(rows)
  )
}

/**
 * Deletes patches of edges of deleted entities that are not newer than the deletion. Reads the whole table:
 * deletions are rare and it is small.
 */
export async function deleteEdgePatchesTouching(
  tx: Tx,
  gone: readonly (Order & { id: number })[]
): Promise<void> {
  await query(
    tx,
    `
    delete from edge_patch
    using unnest(?::int[], ?::bigint[], ?::int[]) as gone (id, seq, line)
    where gone.id in (edge_patch.owner_id, edge_patch.downstream_id, edge_patch.upstream_id)
      and (edge_patch.seq, edge_patch.line) <= (gone.seq, gone.line)`,
    [gone.map((row) => row.id), gone.map((row) => row.seq), gone.map((row) => row.line)]
  )
}
