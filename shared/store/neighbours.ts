/** The entities one hop away, with how their edges are stated. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { patchedAttributes, type EdgePatch } from '../model/edge-patches.ts'
import type { StampedStatement } from '../model/edge-stamps.ts'
import { explicitAttributes } from '../model/lineage-document.ts'
import { columnFieldCodes } from '../model/lineage-fields.ts'
import type { Order } from '../model/order.ts'
import type { LineageDirection } from '../model/walk.ts'
import type { Urn } from '../urn/urn.ts'
import type { EdgeEnds } from './edge-owners.ts'
import { idArray } from './id-array.ts'
import { asEdges, edgesThroughRows, halvesIntoRows } from './rows-of-tables.ts'

export type NeighbourRow = {
  nearId: number
  farId: number
  field: number
  urn: Urn
  exists: boolean
  isRemoved: boolean
}

/** The columns of a statement with the near and the far end, as seen from the start of a step. */
export const endsOf = (
  direction: LineageDirection
): ['upstream_id', 'downstream_id'] | ['downstream_id', 'upstream_id'] =>
  direction === 'DOWNSTREAM' ? ['upstream_id', 'downstream_id'] : ['downstream_id', 'upstream_id']

/**
 * One row for each neighbour and list that names it, ordered by neighbour. Edges of an entity to itself are
 * left out.
 */
export async function neighboursOf(
  db: Db | Tx,
  ids: readonly number[],
  direction: LineageDirection,
  level: 'asset' | 'column'
): Promise<NeighbourRow[]> {
  const [near, far] = endsOf(direction)
  return query<NeighbourRow>(
    db,
    `
    select distinct
      statement.${near} as "nearId",
      statement.${far} as "farId",
      statement.field,
      entity.urn,
      coalesce(parent.is_present, entity.is_present) as exists,
      entity.is_removed or coalesce(parent.is_removed, false) as "isRemoved"
    from statement
    join entity on entity.id = statement.${far}
    left join entity parent on parent.id = entity.parent_id
    where statement.${near} = any(?::int[])
      and statement.${near} <> statement.${far}
      and statement.field ${level === 'column' ? '= any' : '<> all'}(?::smallint[])
    order by "farId", statement.field`,
    [idArray(ids), columnFieldCodes]
  )
}

export type StatedByRow = StampedStatement & { nearId: number; farId: number; field: number }

/** The statements of edges, with their patches applied. */
export async function statementsBetween(
  db: Db | Tx,
  edges: readonly { nearId: number; farId: number }[],
  direction: LineageDirection
): Promise<StatedByRow[]> {
  if (edges.length === 0) return []
  const [near, far] = endsOf(direction)
  const rows = await query<StatedByRow & Order & { recordKey: number; patches: EdgePatch[] | null }>(
    db,
    `
    select
      statement.${near} as "nearId",
      statement.${far} as "farId",
      statement.field,
      statement.record_key as "recordKey",
      statement.seq,
      statement.line,
      statement.attributes,
      statement_source.name = 'manual' as "isFromPeople",
      (
        select jsonb_agg(jsonb_build_object('seq', edge_patch.seq, 'line', edge_patch.line, 'ordinal', edge_patch.ordinal, 'operation', edge_patch.operation))
        from edge_patch
        where edge_patch.owner_id = statement.owner_id
          and edge_patch.aspect_code = statement.field >> 4
          and edge_patch.field = statement.field
          and edge_patch.downstream_id = statement.downstream_id
          and edge_patch.upstream_id = statement.upstream_id
      ) as patches
    from unnest(?::int[], ?::int[]) as wanted (near_id, far_id)
    join statement on statement.${near} = wanted.near_id and statement.${far} = wanted.far_id
    join statement_source on statement_source.id = statement.source_id`,
    [idArray(edges.map((edge) => edge.nearId)), idArray(edges.map((edge) => edge.farId))]
  )
  return rows.map(({ patches, ...row }) =>
    patches
      ? { ...row, attributes: patchedAttributes(row, explicitAttributes(row.field, row.attributes), patches) }
      : row
  )
}

/** The statements into the rows of a table through which edges between columns lead, as those of the edges. */
export async function statementsIntoRows(
  db: Db | Tx,
  edges: readonly EdgeEnds[],
  direction: LineageDirection
): Promise<StatedByRow[]> {
  const through = await edgesThroughRows(db, edges)
  const halves = halvesIntoRows(through)
  const statements = await statementsBetween(
    db,
    halves.map(({ upstreamId, downstreamId }) => ({ nearId: upstreamId, farId: downstreamId })),
    'DOWNSTREAM'
  )
  return asEdges(
    through,
    statements.map((row) => ({ ...row, upstreamId: row.nearId, downstreamId: row.farId }))
  ).map(({ upstreamId, downstreamId, ...row }) =>
    direction === 'DOWNSTREAM'
      ? { ...row, nearId: upstreamId, farId: downstreamId }
      : { ...row, nearId: downstreamId, farId: upstreamId }
  )
}
