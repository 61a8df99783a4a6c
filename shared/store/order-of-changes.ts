/** The order of acceptance: its sequence, and the locks and queries that keep changes in that order. */
import type { Db, Tx } from '../db/database.ts'
import { advisoryLocks } from '../db/advisory-locks.ts'
import { query } from '../db/query.ts'
import { isLockTimeout } from '../db/sql-errors.ts'
import { isUnfinishedLoad } from './loads.ts'

/** A lock shared by all writers: while it is held, no entity is deleted. It ends with the transaction. */
export async function lockAsWriter(tx: Tx): Promise<void> {
  await query(tx, 'select pg_advisory_xact_lock_shared(?::int, ?::int)', advisoryLocks.writers)
}

/**
 * Takes the lock exclusively, for a deletion: no writer is then between its check of existence and its
 * commit. Each try is short, because writers queue behind it while it waits for a long chunk.
 */
export async function tryLockOutWriters(tx: Tx): Promise<boolean> {
  await query(tx, 'savepoint before_lock')
  try {
    const [before] = await query<{ timeout: string }>(tx, "select current_setting('lock_timeout') as timeout")
    await query(tx, "set local lock_timeout = '250ms'")
    await query(tx, 'select pg_advisory_xact_lock(?::int, ?::int)', advisoryLocks.writers)
    await query(tx, "select set_config('lock_timeout', ?, true)", [before?.timeout ?? '0'])
    await query(tx, 'release savepoint before_lock')
    return true
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    await query(tx, 'rollback to savepoint before_lock')
    return false
  }
}

/**
 * Takes the lock exclusively, for changes of the domain tree, which check sibling names, cycles and children
 * under it.
 */
export async function lockDomainTree(tx: Tx): Promise<void> {
  await query(tx, 'select pg_advisory_xact_lock(?::int, ?::int)', advisoryLocks.domainTree)
}

/** The next number in the order of acceptance. A synchronous call draws it when it holds its locks. */
export async function drawSeq(tx: Tx): Promise<number> {
  const [row] = await query<{ seq: number }>(tx, "select nextval('change_seq') as seq")
  if (!row) throw new Error('no sequence number')
  return row.seq
}

/** The time when the transaction began, by the clock of the database: the same for everything it writes. */
export async function transactionTime(tx: Tx): Promise<Date> {
  const [row] = await query<{ now: Date }>(tx, 'select now() as now')
  if (!row) throw new Error('no clock')
  return row.now
}

/**
 * Whether another load that was accepted earlier is still to be applied. A failed load, which waits for a
 * retry, does not count.
 */
export async function hasOlderUnfinished(tx: Tx, seq: number, loadId: string): Promise<boolean> {
  const rows = await query(
    tx,
    `
    select 1
    from load
    where (load.state in ('accepted', 'applying') or (load.state = 'receiving' and load.body_ended_at is not null))
      and (load.seq is null or load.seq < ?::bigint)
      and load.id <> ?::uuid
    limit 1`,
    [seq, loadId]
  )
  return rows.length > 0
}

/**
 * The unfinished work that was accepted before a change. Read it after the seq of the change is drawn, never
 * before.
 */
export type OlderWork = {
  /**
   * Whether something older may still be applied, so that removals and replacements must store their order.
   */
  isUnfinished: boolean
  /**
   * Whether something older may still remove or overwrite, so that a change without effect must still raise
   * the order.
   */
  isDestructive: boolean
  /**
   * Whether something older may still create entities or placeholders, so that a missing reference may still
   * appear.
   */
  isCreating: boolean
  /** No change that is still to be applied has a smaller seq. */
  horizonSeq: number
}

/**
 * A load whose body has ended counts although it has no seq yet: it may have drawn a seq that is not visible.
 * A failed load counts because a retry continues with its old seq, unless it is atomic and cannot be retried.
 * A dry run never counts, because it changes nothing.
 *
 * `loadId` is the load of the chunk that asks. Its other chunks all count, because each is older or newer by
 * line. The sweep of an older snapshot may remove a statement that a newer change found unchanged. The load's
 * own sweep keeps what the load states.
 */
export async function olderWork(db: Db | Tx, seq: number, loadId: string | null): Promise<OlderWork> {
  const [row] = await query<OlderWork>(
    db,
    `
    with unfinished as (
      select load.id, load.seq, load.state, load.is_destructive, load.sweep in ('pending', 'removing') as is_sweeping, load.current_pass < 3 or load.missing_references = 'create' as is_creating, load.remaining
      from load
      where ${isUnfinishedLoad}
    ), older as (
      select unfinished.state, unfinished.is_destructive or coalesce(unfinished.is_sweeping, false) as is_destructive, unfinished.is_creating, false as is_own
      from unfinished
      where (unfinished.seq is null or unfinished.seq < ?::bigint) and unfinished.id is distinct from ?::uuid
      union all
      select unfinished.state, unfinished.is_destructive, unfinished.is_creating, true as is_own
      from unfinished
      where unfinished.id = ?::uuid and unfinished.remaining > 1
    )
    select
      exists (select 1 from older) as "isUnfinished",
      exists (select 1 from older where older.is_destructive) as "isDestructive",
      exists (select 1 from older where not older.is_own and older.state <> 'failed' and older.is_creating) as "isCreating",
      coalesce((select min(coalesce(unfinished.seq, 0)) from unfinished), ?::bigint) as "horizonSeq"`,
    [seq, loadId, loadId, seq]
  )
  if (!row) throw new Error('no answer about older work')
  return row
}
