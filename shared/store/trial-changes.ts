/**
 * Reads what a transaction has changed so far, from inside it, for the report of a dry run that will be
 * rolled back.
 */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { idArray } from './id-array.ts'

/** The rows of the change log that this transaction wrote, in its order. */
export async function ownGraphChanges(tx: Tx): Promise<Buffer[]> {
  const rows = await query<{ delta: Buffer }>(
    tx,
    `
    select graph_change.delta
    from graph_change
    where graph_change.xid = pg_current_xact_id()
    order by graph_change.id`
  )
  return rows.map((row) => row.delta)
}

/** How many statements each pair of ends has, in the order of the pairs. */
export async function countStatements(
  tx: Tx,
  downstreamIds: readonly number[],
  upstreamIds: readonly number[]
): Promise<number[]> {
  if (downstreamIds.length === 0) return []
  const rows = await query<{ count: number }>(
    tx,
    `
    select (
      select count(*)::int
      from statement
      where statement.downstream_id = pair.downstream_id and statement.upstream_id = pair.upstream_id
    ) as count
    from unnest(?::int[], ?::int[]) with ordinality as pair (downstream_id, upstream_id, place)
    order by pair.place`,
    [idArray(downstreamIds), idArray(upstreamIds)]
  )
  return rows.map((row) => row.count)
}
