/** The entities one hop away, with how their edges are stated. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { JsonObject } from '../model/changes.ts'
import { columnFieldCodes } from '../model/lineage-fields.ts'
import type { Urn } from '../urn/urn.ts'
import { idArray } from './id-array.ts'
import type { LineageDirection } from '../model/walk.ts'

export type NeighbourRow = { nearId: number, farId: number, field: number, urn: Urn, exists: boolean, isRemoved: boolean }

const ends = (direction: LineageDirection) => direction === 'DOWNSTREAM' ? ['upstream_id', 'downstream_id'] : ['downstream_id', 'upstream_id']

/** One row for each neighbour and list that names it, by neighbour. Edges of an entity to itself are left out. */
export async function neighboursOf(db: Db | Tx, ids: readonly number[], direction: LineageDirection, level: 'asset' | 'column'): Promise<NeighbourRow[]> {
  const [near, far] = ends(direction)
  return query<NeighbourRow>(db, `
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
    order by "farId", statement.field`, [idArray(ids), columnFieldCodes])
}

/** `isManual`: stated by people, not by a program under a name of its own. */
export type StatedByRow = { nearId: number, farId: number, field: number, attributes: JsonObject | null, isManual: boolean }

/** How edges are stated: one row for each statement. */
export async function statementsBetween(db: Db | Tx, edges: readonly { nearId: number, farId: number }[], direction: LineageDirection): Promise<StatedByRow[]> {
  if (edges.length === 0) return []
  const [near, far] = ends(direction)
  return query<StatedByRow>(db, `
    select
      statement.${near} as "nearId",
      statement.${far} as "farId",
      statement.field,
      statement.attributes,
      statement_source.name = 'manual' as "isManual"
    from unnest(?::int[], ?::int[]) as wanted (near_id, far_id)
    join statement on statement.${near} = wanted.near_id and statement.${far} = wanted.far_id
    join statement_source on statement_source.id = statement.source_id`, [idArray(edges.map((edge) => edge.nearId)), idArray(edges.map((edge) => edge.farId))])
}
