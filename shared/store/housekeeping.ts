/**
 * Deletes data that is kept only for a time: the order of removals, the change log, loads that ended long
 * ago.
 */
import type { Db, Tx } from '../db/database.ts'
import { advisoryLocks } from '../db/advisory-locks.ts'
import { query } from '../db/query.ts'
import { isUnfinishedLoad } from './loads.ts'

/** Admits one sweeper at a time, until the transaction ends; false if another process is sweeping. */
export async function trySweeperLock(tx: Tx): Promise<boolean> {
  const [row] = await query<{ isMine: boolean }>(
    tx,
    'select pg_try_advisory_xact_lock(?::int, ?::int) as "isMine"',
    advisoryLocks.sweeper
  )
  return row?.isMine ?? false
}

/**
 * A lower bound of the order of all changes that are still to be applied; null if it is unknown, because a
 * load is between the end of its body and its seq. The sequence is read first: every later draw is greater.
 */
export async function orderHorizon(db: Db): Promise<number | null> {
  const [drawn] = await query<{ seq: number }>(db, 'select last_value as seq from change_seq')
  const [unfinished] = await query<{ seq: number | null; isUnknown: boolean }>(
    db,
    `
    select min(load.seq) as seq, coalesce(bool_or(load.seq is null), false) as "isUnknown"
    from load
    where ${isUnfinishedLoad}`
  )
  if (!drawn || !unfinished || unfinished.isUnknown) return null
  return Math.min(drawn.seq, unfinished.seq ?? drawn.seq)
}

/**
 * Deletes the stored order of removals and replacements below the horizon, at most `limit` rows of each.
 * Returns how many.
 */
export async function pruneOrder(tx: Tx, horizon: number, limit: number): Promise<number> {
  let pruned = 0
  for (const table of ['edge_tombstone', 'replace_watermark']) {
    const rows = await query(
      tx,
      `
      with old as (
        select ${table}.ctid as place
        from ${table}
        where ${table}.seq < ?::bigint
        order by ${table}.seq
        limit ?::int
        for update skip locked
      )
      delete from ${table}
      using old
      where ${table}.ctid = old.place
      returning ${table}.owner_id`,
      [horizon, limit]
    )
    pruned += rows.length
  }
  return pruned
}

/**
 * Prunes the oldest rows of the change log, and moves the horizon past them in the same transaction: a reader
 * whose snapshot did not include all of them loads its graph again. Examines only the oldest `limit` rows.
 *
 * Rows that are newer than the oldest open transaction stay. Every snapshot counts changes after that
 * transaction as unseen, so without these rows even a graph that was just loaded would be too old.
 */
export async function pruneGraphChanges(tx: Tx, keepSeconds: number, limit: number): Promise<number> {
  const [row] = await query<{ pruned: number }>(
    tx,
    `
    with oldest as (
      select graph_change.id, graph_change.at
      from graph_change
      order by graph_change.id
      limit ?::int
    ), gone as (
      delete from graph_change
      using oldest
      where graph_change.id = oldest.id
        and oldest.at < now() - ?::int * interval '1 second'
        and graph_change.xid < pg_snapshot_xmin(pg_current_snapshot())
      returning graph_change.xid
    ), moved as (
      update graph_horizon
      set horizon = greatest(graph_horizon.horizon::text::bigint, newest.xid + 1)::text::xid8
      from (select max(gone.xid::text::bigint) as xid from gone) as newest
      where newest.xid is not null
      returning graph_horizon.horizon
    )
    select count(*)::int as pruned, (select count(*) from moved) as moved
    from gone`,
    [limit, keepSeconds]
  )
  return row?.pruned ?? 0
}

/** Uploads that have been silent for `seconds`: their client or their API process must be dead. */
export async function findSilentUploads(db: Db, seconds: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `
    select load.id
    from load
    where load.state = 'receiving'
      and load.body_ended_at is null
      and load.touched_at < now() - ?::int * interval '1 second'
    limit 100`,
    [seconds]
  )
  return rows.map((row) => row.id)
}

/** Loads whose body ended, but whose API process died before it could accept them. */
export async function findUnaccepted(db: Db, seconds: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `
    select load.id
    from load
    where load.state = 'receiving'
      and load.body_ended_at < now() - ?::int * interval '1 second'
    limit 100`,
    [seconds]
  )
  return rows.map((row) => row.id)
}

/** Ended loads that still have chunks: one was being applied when the load was cancelled or failed. */
export async function findEndedWithChunks(db: Db): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `
    select distinct load.id
    from chunk
    join load on load.id = chunk.load_id
    where chunk.state in ('waiting', 'applying') and load.state in ('done', 'aborted', 'cancelled')
    limit 100`
  )
  return rows.map((row) => row.id)
}

/** Deletes loads that ended long ago, with their chunks and rejects. Their audit rows stay. */
export async function deleteOldLoads(tx: Tx, keepDays: number, limit: number): Promise<number> {
  const rows = await query(
    tx,
    `
    with old as (
      select load.id
      from load
      where load.finished_at < now() - ?::int * interval '1 day' and (load.state <> 'failed' or load.is_atomic or load.is_dry_run)
      order by load.finished_at
      limit ?::int
      for update skip locked
    )
    delete from load
    using old
    where load.id = old.id
    returning load.id`,
    [keepDays, limit]
  )
  return rows.length
}
