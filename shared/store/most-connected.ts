/** The assets with the most neighbours, counted in SQL. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { columnFieldCodes } from '../model/lineage-fields.ts'

/**
 * The assets with the most neighbours first, then by id. Reads all statements, so it is only for the time
 * until the graph is in memory.
 */
export const findMostConnected = (
  db: Db | Tx,
  count: number
): Promise<{ id: number; upstreamCount: number; downstreamCount: number }[]> =>
  query(
    db,
    `
    with edge as (
      select distinct statement.upstream_id, statement.downstream_id
      from statement
      where statement.upstream_id <> statement.downstream_id
        and statement.field <> all(?::smallint[])
    ),
    neighbour as (
      select edge.downstream_id as near_id, edge.upstream_id as far_id, true as is_upstream
      from edge
      union all
      select edge.upstream_id, edge.downstream_id, false
      from edge
    )
    select
      near.id,
      count(*) filter (where neighbour.is_upstream)::int as "upstreamCount",
      count(*) filter (where not neighbour.is_upstream)::int as "downstreamCount"
    from neighbour
    join entity near on near.id = neighbour.near_id
    join entity far on far.id = neighbour.far_id
    where not near.is_removed
      and not far.is_removed
      and (near.is_present or near.deleted_seq is null)
    group by near.id
    order by count(*) desc, near.id
    limit ?`,
    [columnFieldCodes, count]
  )
