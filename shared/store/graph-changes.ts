/** The change log of the lineage graph: one packed row for each writing transaction. */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { packGraphDeltas, type GraphDelta } from '../model/graph-delta.ts'

/**
 * Appends what this transaction changed; call it last, so that the row's id is drawn while all locks are held: for two
 * transactions on one edge, log order is then commit order.
 */
export async function appendGraphChange(tx: Tx, deltas: readonly GraphDelta[]): Promise<void> {
  if (deltas.length > 0) await query(tx, 'insert into graph_change (delta) values (?::bytea)', [packGraphDeltas(deltas)])
}
