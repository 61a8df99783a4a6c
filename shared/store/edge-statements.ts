/** Who stated edges and associations: their statements, with the audit entries of their orders. */
import type { Db } from '../db/database.ts'
import { query } from '../db/query.ts'
import { idArray } from './id-array.ts'
import type { EdgeEnds } from './edge-owners.ts'
import { asEdges, edgesOnlyThroughRows, halvesIntoRows } from './rows-of-tables.ts'

/** `total` counts all statements of the edge, including those beyond the limit. */
export type EdgeStatementRow = EdgeEnds & {
  ownerId: number
  field: number
  source: string
  seq: number
  /**
   * When the edge was last used, in milliseconds since 1970, according to its owner; null if the owner does
   * not say.
   */
  lastUsed: number | null
  total: number
}

/**
 * The statements of edges, newest first, at most `limit` for each edge. An edge that only the rows of a table
 * join has those of its first half.
 */
export async function statementsOfEnds(
  db: Db,
  edges: readonly EdgeEnds[],
  limit: number
): Promise<EdgeStatementRow[]> {
  const stated = await statementsOf(db, edges, limit)
  const through = await edgesOnlyThroughRows(db, edges)
  return [...stated, ...asEdges(through, await statementsOf(db, halvesIntoRows(through), limit))]
}

async function statementsOf(db: Db, edges: readonly EdgeEnds[], limit: number): Promise<EdgeStatementRow[]> {
  if (edges.length === 0) return []
  return query<EdgeStatementRow>(
    db,
    `
    select stated."upstreamId", stated."downstreamId", stated."ownerId", stated.field, stated.source, stated.seq, stated."lastUsed", stated.total
    from (
      select
        statement.upstream_id as "upstreamId",
        statement.downstream_id as "downstreamId",
        statement.owner_id as "ownerId",
        statement.field,
        statement_source.name as source,
        statement.seq,
        coalesce(statement.attributes -> 'lastModified' ->> 'time', statement.attributes -> 'auditStamp' ->> 'time')::float8 as "lastUsed",
        row_number() over of_edge as place,
        count(*) over (partition by statement.upstream_id, statement.downstream_id)::int as total
      from unnest(?::int[], ?::int[]) as wanted (upstream_id, downstream_id)
      join statement on statement.upstream_id = wanted.upstream_id and statement.downstream_id = wanted.downstream_id
      join statement_source on statement_source.id = statement.source_id
      window of_edge as (partition by statement.upstream_id, statement.downstream_id order by statement.seq desc, statement.line desc, statement.field, statement.record_key, statement.source_id)
    ) as stated
    where stated.place <= ?::int
    order by stated."upstreamId", stated."downstreamId", stated.place`,
    [idArray(edges.map((edge) => edge.upstreamId)), idArray(edges.map((edge) => edge.downstreamId)), limit]
  )
}

/**
 * Who made the changes of an order, and when, by which operation and in which load. For a load in several
 * chunks, the time when the first was applied.
 */
export type OrderAuthor = { seq: number; actor: string; at: Date; operation: string; loadId: string | null }

/** The authors of orders. Orders that are no longer in the audit trail are missing. */
export async function authorsOfOrders(db: Db, seqs: readonly number[]): Promise<OrderAuthor[]> {
  if (seqs.length === 0) return []
  return query<OrderAuthor>(
    db,
    `
    select wanted.seq, first.actor, first.at, first.operation, first.load_id as "loadId"
    from unnest(?::bigint[]) as wanted (seq)
    cross join lateral (
      select audit.actor, audit.at, audit.operation, audit.load_id
      from audit
      where audit.seq = wanted.seq
      order by audit.id
      limit 1
    ) as first`,
    [idArray(seqs)]
  )
}
