/** How columns are made from others: the operations that statements of edges between columns have. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { columnFieldCodes } from '../model/lineage-fields.ts'
import type { EdgeEnds } from './edge-owners.ts'
import { idArray } from './id-array.ts'
import { asEdges, edgesOnlyThroughRows, halvesIntoRows } from './rows-of-tables.ts'

export type ColumnOperationRow = EdgeEnds & { operation: string }

/**
 * The operations of each edge, in alphabetical order, as their statements write them, except for NONE, which
 * DataHub writes where nobody knows. An edge that only the rows of a table join has those of its first half.
 */
export async function operationsOfColumnEdges(
  db: Db | Tx,
  edges: readonly EdgeEnds[]
): Promise<ColumnOperationRow[]> {
  if (edges.length === 0) return []
  const stated = await operationsOf(db, edges)
  const through = await edgesOnlyThroughRows(db, edges)
  return [...stated, ...asEdges(through, await operationsOf(db, halvesIntoRows(through)))]
}

const operationsOf = async (db: Db | Tx, edges: readonly EdgeEnds[]): Promise<ColumnOperationRow[]> =>
  edges.length === 0
    ? []
    : query<ColumnOperationRow>(
        db,
        `
        select distinct
          statement.upstream_id as "upstreamId",
          statement.downstream_id as "downstreamId",
          statement.attributes ->> 'transformOperation' as operation
        from unnest(?::int[], ?::int[]) as wanted (upstream_id, downstream_id)
        join statement on statement.upstream_id = wanted.upstream_id and statement.downstream_id = wanted.downstream_id
        where statement.field = any(?::smallint[])
          and statement.attributes ->> 'transformOperation' not in ('', 'NONE')
        order by "upstreamId", "downstreamId", operation`,
        [
          idArray(edges.map((edge) => edge.upstreamId)),
          idArray(edges.map((edge) => edge.downstreamId)),
          columnFieldCodes
        ]
      )
