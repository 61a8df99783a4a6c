/** The snapshot_statement table: the keys that snapshot loads state, packed by chunk, until their sweep has compared them. */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'

/**
 * Keys with the same list and record key. `ownerIds` is null if each owner is the downstream. `newCount` is
 * the number of rows of the chunk that were new.
 */
export type StatedKeysRow = {
  field: number
  recordKey: number
  ownerIds: number[] | null
  downstreamIds: number[]
  upstreamIds: number[]
  newCount: number
}

export async function insertStatedKeys(
  tx: Tx,
  loadId: string,
  rows: readonly StatedKeysRow[]
): Promise<void> {
  for (const row of rows) {
    await query(
      tx,
      `
      insert into snapshot_statement (load_id, field, record_key, owner_ids, downstream_ids, upstream_ids, new_count)
      values (?::uuid, ?::smallint, ?::int, ?::int[], ?::int[], ?::int[], ?::int)`,
      [loadId, row.field, row.recordKey, row.ownerIds, row.downstreamIds, row.upstreamIds, row.newCount]
    )
  }
}

/** Deletes the keys that a load stated: after the comparison, or if there will be no comparison. */
export async function deleteStatedKeys(tx: Tx, loadId: string): Promise<void> {
  await query(tx, 'delete from snapshot_statement where snapshot_statement.load_id = ?::uuid', [loadId])
}
