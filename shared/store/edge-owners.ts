/** The owners of the statements of edges, with the queries and records that the statements come from. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { idArray } from './id-array.ts'
import { asEdges, edgesThroughRows, halvesIntoRows } from './rows-of-tables.ts'

export type EdgeEnds = { upstreamId: number; downstreamId: number }

/**
 * `recordKey` above 0 is the number, from 1, of the record in the owner's list, for a statement from a column
 * record.
 */
export type EdgeOwnerRow = EdgeEnds & {
  ownerId: number
  field: number
  recordKey: number
  queryUrn: string | null
}

/** The owners of edges, one row for each statement. An edge through the rows of a table has those of its first half. */
export async function ownersOfEdges(db: Db | Tx, edges: readonly EdgeEnds[]): Promise<EdgeOwnerRow[]> {
  const through = await edgesThroughRows(db, edges)
  return [
    ...(await ownersOfStatements(db, edges)),
    ...asEdges(through, await ownersOfStatements(db, halvesIntoRows(through)))
  ]
}

async function ownersOfStatements(db: Db | Tx, edges: readonly EdgeEnds[]): Promise<EdgeOwnerRow[]> {
  if (edges.length === 0) return []
  return query<EdgeOwnerRow>(
    db,
    `
    select
      statement.upstream_id as "upstreamId",
      statement.downstream_id as "downstreamId",
      statement.owner_id as "ownerId",
      statement.field,
      statement.record_key as "recordKey",
      statement.attributes ->> 'query' as "queryUrn"
    from unnest(?::int[], ?::int[]) as wanted (upstream_id, downstream_id)
    join statement on statement.upstream_id = wanted.upstream_id and statement.downstream_id = wanted.downstream_id`,
    [idArray(edges.map((edge) => edge.upstreamId)), idArray(edges.map((edge) => edge.downstreamId))]
  )
}
