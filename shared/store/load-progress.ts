/** The progress of a load as its chunks settle: counts, passes, and the end. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'

export type Counts = { applied: number; unchanged: number; rejected: number }

/** The work left after a chunk settled; null if the load is no longer being applied. */
export type Progress = { remaining: number; currentPass: number; rejected: number }

/**
 * Counts one settled chunk. The row stays locked until the commit, so this is one of the last steps of a
 * chunk. If two chunks settle at once, the second sees the count of the first, so exactly one of them ends
 * the load.
 */
export async function countSettled(tx: Tx, loadId: string, counts: Counts): Promise<Progress | null> {
  const [row] = await query<Progress>(
    tx,
    `
    update load
    set remaining = remaining - 1,
      applied = applied + ?::bigint,
      unchanged = unchanged + ?::bigint,
      rejected = rejected + ?::bigint
    where load.id = ?::uuid and load.state in ('accepted', 'applying')
    returning load.remaining, load.current_pass as "currentPass", load.rejected`,
    [counts.applied, counts.unchanged, counts.rejected, loadId]
  )
  return row ?? null
}

/**
 * Counts a chunk that was split in two, so one more must settle. Returns false if the load is no longer being
 * applied.
 */
export async function countSplit(tx: Tx, loadId: string): Promise<boolean> {
  const rows = await query(
    tx,
    "update load set remaining = remaining + 1 where load.id = ?::uuid and load.state in ('accepted', 'applying') returning load.id",
    [loadId]
  )
  return rows.length > 0
}

/**
 * Moves to the first pass with an unsettled chunk, if the current one has none left. The row of the load must
 * be locked.
 */
export async function advancePass(tx: Tx, loadId: string): Promise<number | null> {
  const [row] = await query<{ currentPass: number }>(
    tx,
    `
    with next as (
      select min(chunk.pass) as pass
      from chunk
      where chunk.load_id = ?::uuid and chunk.state in ('waiting', 'applying')
    )
    update load
    set current_pass = next.pass
    from next
    where load.id = ?::uuid and next.pass > load.current_pass
    returning load.current_pass as "currentPass"`,
    [loadId, loadId]
  )
  return row?.currentPass ?? null
}

/** Ends a load that was applied completely. */
export async function finishLoad(tx: Tx, loadId: string): Promise<void> {
  await query(
    tx,
    "update load set state = 'done', finished_at = now(), sweep = case sweep when 'removing' then 'done' else sweep end where load.id = ?::uuid and load.state = 'applying'",
    [loadId]
  )
}

/** The number of records that are accepted but not applied, over all loads. */
export async function countWaitingRecords(db: Db): Promise<number> {
  const [row] = await query<{ records: number }>(
    db,
    `
    select coalesce(sum(chunk.record_count), 0)::bigint as records
    from chunk
    where chunk.state in ('waiting', 'applying')`
  )
  return row?.records ?? 0
}

/** How many loads are accepted but not finished, or about to be accepted. Stops counting at `maximum`. */
export async function countUnfinishedLoads(db: Db, maximum: number): Promise<number> {
  const [row] = await query<{ loads: number }>(
    db,
    `
    select count(*)::int as loads
    from (
      select 1
      from load
      where load.state in ('accepted', 'applying') or (load.state = 'receiving' and load.body_ended_at is not null)
      limit ?::int
    ) as unfinished`,
    [maximum]
  )
  return row?.loads ?? 0
}
