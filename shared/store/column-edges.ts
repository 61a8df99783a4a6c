/** The edges between columns that one source states, by the tables of the columns. */
import type { Db } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { Urn } from '../urn/urn.ts'

export type ColumnEdgeRow = { ownerId: number; upstreamUrn: Urn; downstreamUrn: Urn }

/** The owner of such an edge is its downstream table. */
export const columnEdgesBetween = async (
  db: Db,
  source: string,
  pairs: readonly { upstreamId: number; downstreamId: number }[]
): Promise<ColumnEdgeRow[]> =>
  pairs.length === 0
    ? []
    : query<ColumnEdgeRow>(
        db,
        `
        select distinct statement.owner_id as "ownerId", up.urn as "upstreamUrn", down.urn as "downstreamUrn"
        from unnest(?::int[], ?::int[]) as pair (upstream_id, downstream_id)
        join entity as down on down.parent_id = pair.downstream_id
        join statement on statement.downstream_id = down.id and statement.owner_id = pair.downstream_id
        join entity as up on up.id = statement.upstream_id and up.parent_id = pair.upstream_id
        where statement.source_id = (select statement_source.id from statement_source where statement_source.name = ?)
        order by "ownerId", "upstreamUrn", "downstreamUrn"`,
        [pairs.map((pair) => pair.upstreamId), pairs.map((pair) => pair.downstreamId), source]
      )
