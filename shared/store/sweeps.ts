/**
 * The columns of the load table about a snapshot's sweep: what it waits for, its progress, and how much it
 * removes.
 */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { isUnfinishedLoad, type LoadRow } from './loads.ts'

type Snapshot = Pick<LoadRow, 'id' | 'source' | 'seq'>

/**
 * Marks the older failed loads of the source: nothing waits for them any more, and they can no longer be
 * retried. Locks each row and checks its state again, so that a concurrent retry and this call see each
 * other.
 */
export async function supersedeFailed(tx: Tx, { id, source, seq }: Snapshot): Promise<void> {
  await query(
    tx,
    `
    update load
    set superseded_by = ?::uuid
    where load.source = ? and load.state = 'failed' and load.seq < ?::bigint and load.id <> ?::uuid`,
    [id, source, seq, id]
  )
}

/**
 * Whether an older load of the source is unfinished. A load whose body has ended counts although it has no
 * seq yet. Call it after supersedeFailed.
 */
export async function hasOlderOfSource(db: Db | Tx, { id, source, seq }: Snapshot): Promise<boolean> {
  const rows = await query(
    db,
    `
    select 1
    from load
    where load.source = ?
      and load.id <> ?::uuid
      and not load.is_dry_run
      and ((load.state in ('accepted', 'applying') and load.seq < ?::bigint) or (load.state = 'receiving' and load.body_ended_at is not null))
    limit 1`,
    [source, id, seq]
  )
  return rows.length > 0
}

/**
 * Whether any load of the source is unfinished or failed, so that the source's statements may still change.
 */
export async function isSourceBusy(db: Db, source: string): Promise<boolean> {
  const rows = await query(
    db,
    `
    select 1
    from load
    where load.source = ? and ${isUnfinishedLoad}
    limit 1`,
    [source]
  )
  return rows.length > 0
}

/** Ends the load without a sweep: nothing is removed. */
export async function holdSweep(tx: Tx, id: string): Promise<void> {
  await query(tx, "update load set sweep = 'held', sweep_removed = 0 where load.id = ?::uuid", [id])
}

export type Compared = { stated: number; removable: number }

/**
 * Notes that the comparison is done, and makes a waiting chunk of each of the pieces. Call it in the
 * transaction that made the pieces.
 */
export async function beginRemoving(
  tx: Tx,
  id: string,
  { stated, removable, pieces, pass }: Compared & { pieces: number; pass: number }
): Promise<void> {
  await query(
    tx,
    `
    insert into chunk (load_id, pass, first_line, record_count)
    select ?::uuid, ?::smallint, piece, 0
    from generate_series(0, ?::int - 1) as piece`,
    [id, pass, pieces]
  )
  await query(
    tx,
    `
    update load
    set sweep = 'removing', sweep_stated = ?::bigint, sweep_removable = ?::bigint, sweep_removed = 0, remaining = remaining + ?::int
    where load.id = ?::uuid`,
    [stated, removable, pieces, id]
  )
}

/** Stores what the comparison found although nothing is removed. */
export async function noteCompared(tx: Tx, id: string, { stated, removable }: Compared): Promise<void> {
  await query(
    tx,
    'update load set sweep_stated = ?::bigint, sweep_removable = ?::bigint, sweep_removed = 0 where load.id = ?::uuid',
    [stated, removable, id]
  )
}

/** Notes the sweep of a load with one chunk, which was done or tried in one transaction. */
export async function noteWhole(
  tx: Tx,
  id: string,
  { stated, removable, mayNameAnyEdge }: Compared & { mayNameAnyEdge: boolean }
): Promise<void> {
  if (mayNameAnyEdge) return holdSweep(tx, id)
  await noteCompared(tx, id, { stated, removable })
  await query(tx, "update load set sweep = 'done', sweep_removed = ?::bigint where load.id = ?::uuid", [
    removable,
    id
  ])
}

export async function countRemoved(tx: Tx, id: string, rows: number): Promise<void> {
  await query(tx, 'update load set sweep_removed = sweep_removed + ?::bigint where load.id = ?::uuid', [
    rows,
    id
  ])
}

/** From now on nothing stops the sweep. The `force` that the load was sent with does not change. */
export async function forceSweep(tx: Tx, id: string): Promise<void> {
  await query(tx, 'update load set sweep_max_share = null where load.id = ?::uuid', [id])
}
