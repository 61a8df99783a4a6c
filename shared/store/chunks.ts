/**
 * The chunk table: each row contains up to a few thousand records of a load, and decides whether they are
 * applied.
 */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { MissingReferences, Scope, UpsertReplaces } from '../model/changes.ts'
import { domainUrnsOfLoad, type LoadMode, type SweepState } from './loads.ts'

export type ChunkState = 'waiting' | 'applying' | 'settled' | 'split' | 'dropped'

export type NewChunk = {
  loadId: string
  pass: number
  firstLine: number
  recordCount: number
  payload: Buffer | null
  isIsolated?: boolean
}

export async function insertChunk(tx: Tx, chunk: NewChunk): Promise<number> {
  const [row] = await query<{ id: number }>(
    tx,
    `
    insert into chunk (load_id, pass, first_line, record_count, payload, is_isolated)
    values (?::uuid, ?::smallint, ?::int, ?::int, ?::bytea, ?::boolean)
    returning chunk.id`,
    [chunk.loadId, chunk.pass, chunk.firstLine, chunk.recordCount, chunk.payload, chunk.isIsolated ?? false]
  )
  if (!row) throw new Error('no chunk was inserted')
  return row.id
}

/** A chunk that a worker has claimed; `fence` proves the claim. */
export type ClaimedChunk = {
  id: number
  loadId: string
  fence: number
  pass: number
  recordCount: number
  attempts: number
  faults: number
  crashes: number
  isIsolated: boolean
  /** Whether the chunk is a whole atomic load or dry run, which is never split or settled in part. */
  isWhole: boolean
  /** The trace that the load was sent in; null without one. */
  traceparent: string | null
  /** The milliseconds since workers were last told of the chunk; null if they never were. */
  queuedMs: number | null
}

const claimedColumns = `
  chunk.id,
  chunk.load_id as "loadId",
  chunk.fence,
  chunk.pass,
  chunk.record_count as "recordCount",
  chunk.attempts,
  chunk.faults,
  chunk.crashes,
  chunk.is_isolated as "isIsolated"`

/**
 * Claims a chunk that is waiting, or whose lease ran out. In the second case its holder is dead, and a crash
 * is counted. It is not counted if Postgres was started after the holder's last renewal: such a restart ends
 * all work, and says nothing about the chunk.
 *
 * Returns null if the chunk cannot be claimed: it is settled, claimed, not due, of a later pass, of a load
 * that ended, or locked by a worker that is still applying it. Never waits for a lock.
 */
export async function claimChunk(
  tx: Tx,
  id: number,
  terms: { leaseSeconds: number; anyPass: boolean; anyHolder: boolean; holder: string }
): Promise<ClaimedChunk | null> {
  const [row] = await query<ClaimedChunk>(
    tx,
    `
    with free as (
      select
        chunk.id,
        chunk.state = 'applying' and chunk.lease_until - ?::int * interval '1 second' > pg_postmaster_start_time() as is_crash,
        load.is_atomic or load.is_dry_run as is_whole,
        load.traceparent
      from chunk
      join load on load.id = chunk.load_id
      where chunk.id = ?::bigint
        and load.state in ('accepted', 'applying')
        and (chunk.pass = load.current_pass or ?::boolean)
        and (
          (chunk.state = 'waiting' and chunk.next_at <= now())
          or (chunk.state = 'applying' and (chunk.lease_until < now() or ?::boolean))
        )
      for update of chunk skip locked
    )
    update chunk
    set state = 'applying',
      fence = chunk.fence + 1,
      crashes = chunk.crashes + case when free.is_crash then 1 else 0 end,
      lease_until = now() + ?::int * interval '1 second',
      claimed_by = ?
    from free
    where chunk.id = free.id
    returning ${claimedColumns},
      free.is_whole as "isWhole",
      free.traceparent,
      (extract(epoch from now() - chunk.nudged_at) * 1000)::double precision as "queuedMs"`,
    [terms.leaseSeconds, id, terms.anyPass, terms.anyHolder, terms.leaseSeconds, terms.holder]
  )
  return row ?? null
}

/**
 * Extends the lease. Skips a row that is locked by its own worker, which is applying the chunk, because no
 * other worker can then take it. Does nothing if the claim was lost.
 */
export async function renewLease(db: Db, id: number, fence: number, leaseSeconds: number): Promise<void> {
  await query(
    db,
    `
    with held as (
      select chunk.id
      from chunk
      where chunk.id = ?::bigint and chunk.fence = ?::int and chunk.state = 'applying'
      for update skip locked
    )
    update chunk
    set lease_until = now() + ?::int * interval '1 second'
    from held
    where chunk.id = held.id`,
    [id, fence, leaseSeconds]
  )
}

/** A chunk, with the facts about its load that are needed to apply it. */
export type LockedChunk = {
  state: ChunkState
  fence: number
  pass: number
  firstLine: number
  recordCount: number
  isIsolated: boolean
  payload: Buffer | null
  loadId: string
  loadState: string
  format: string
  mode: LoadMode
  sweep: SweepState | null
  header: string | null
  source: string
  missingReferences: MissingReferences
  upsertReplaces: UpsertReplaces
  actor: string
  tokenId: string | null
  scopes: Scope[]
  domainUrns: readonly string[] | null
  requestId: string | null
  seq: number | null
  received: number
  rejected: number
  isAtomic: boolean
  isDryRun: boolean
  declarationsSettled: boolean
  /** The transaction that holds the lock: its process on the server, and when it began. */
  backendPid: number
  begunAt: string
}

/** Locks the chunk until the transaction ends, and reads its load unlocked. */
export async function lockChunk(tx: Tx, id: number): Promise<LockedChunk | null> {
  const [row] = await query<LockedChunk>(
    tx,
    `
    select
      chunk.state,
      chunk.fence,
      chunk.pass,
      chunk.first_line as "firstLine",
      chunk.record_count as "recordCount",
      chunk.is_isolated as "isIsolated",
      chunk.payload,
      chunk.load_id as "loadId",
      load.state as "loadState",
      load.format,
      load.mode,
      load.sweep,
      load.header,
      load.source,
      load.missing_references as "missingReferences",
      load.upsert_replaces as "upsertReplaces",
      load.actor,
      load.token_id as "tokenId",
      load.scopes,
      ${domainUrnsOfLoad} as "domainUrns",
      load.request_id as "requestId",
      load.seq,
      load.received,
      load.rejected,
      load.is_atomic as "isAtomic",
      load.is_dry_run as "isDryRun",
      load.declarations_settled as "declarationsSettled",
      pg_backend_pid() as "backendPid",
      now()::text as "begunAt"
    from chunk
    join load on load.id = chunk.load_id
    where chunk.id = ?::bigint
    for update of chunk`,
    [id]
  )
  return row ?? null
}

/**
 * Ends the chunk as settled, split or dropped, and frees its records. Returns false if another worker has
 * claimed it since then.
 */
export async function endChunk(
  tx: Tx,
  id: number,
  fence: number | null,
  state: 'settled' | 'split' | 'dropped'
): Promise<boolean> {
  const rows = await query(
    tx,
    `
    update chunk
    set state = ?, settled_at = now(), lease_until = null, payload = null
    where chunk.id = ?::bigint and chunk.state = 'applying' and (?::int is null or chunk.fence = ?::int)
    returning chunk.id`,
    [state, id, fence, fence]
  )
  return rows.length > 0
}

export type Release = {
  delayMs: number
  lastError: string | null
  attempts?: number
  faults?: number
  crashes?: number
  forgetCrashes?: boolean
}

/**
 * Puts a chunk back, to be claimed again after the delay. Adds `attempts`, `faults` and `crashes` to the
 * counts. Returns false if another worker has claimed it since then.
 */
export async function releaseChunk(
  db: Db | Tx,
  id: number,
  fence: number,
  release: Release
): Promise<boolean> {
  const rows = await query(
    db,
    `
    update chunk
    set state = 'waiting',
      lease_until = null,
      next_at = now() + ?::int * interval '1 millisecond',
      attempts = attempts + ?::int,
      faults = case when ?::int = 0 then 0 else faults + ?::int end,
      crashes = case when ?::boolean then 0 else crashes + ?::int end,
      last_error = coalesce(?, last_error)
    where chunk.id = ?::bigint and chunk.fence = ?::int and chunk.state = 'applying'
    returning chunk.id`,
    [
      release.delayMs,
      release.attempts ?? 0,
      release.faults ?? 0,
      release.faults ?? 0,
      release.forgetCrashes ?? false,
      release.crashes ?? 0,
      release.lastError,
      id,
      fence
    ]
  )
  return rows.length > 0
}

/** The stored records of the unsettled chunks of a load, chunk by chunk. */
export async function unsettledPayloads(tx: Tx, loadId: string): Promise<Buffer[]> {
  const rows = await query<{ payload: Buffer }>(
    tx,
    `
    select chunk.payload
    from chunk
    where chunk.load_id = ?::uuid and chunk.state in ('waiting', 'applying') and chunk.payload is not null
    order by chunk.id`,
    [loadId]
  )
  return rows.map((row) => row.payload)
}

/**
 * Drops the unsettled chunks of a load that has ended for good, and frees their records. A failed load keeps
 * them for a retry. Skips a chunk that is being applied: its worker will find that the load has ended, and so
 * fail to settle the chunk.
 */
export async function dropChunks(db: Db | Tx, loadId: string): Promise<number> {
  const rows = await query(
    db,
    `
    with unsettled as (
      select chunk.id
      from chunk
      join load on load.id = chunk.load_id
      where chunk.load_id = ?::uuid
        and chunk.state in ('waiting', 'applying')
        and load.state in ('done', 'aborted', 'cancelled')
      order by chunk.id
      for update of chunk skip locked
    )
    update chunk
    set state = 'dropped', lease_until = null, payload = null
    from unsettled
    where chunk.id = unsettled.id
    returning chunk.id`,
    [loadId]
  )
  return rows.length
}

/** Deletes all chunks of a load that was never accepted. */
export async function deleteChunks(tx: Tx, loadId: string): Promise<void> {
  await query(tx, 'delete from chunk where chunk.load_id = ?::uuid', [loadId])
}

/** Resets the counts and delays of the unsettled chunks of a failed load. */
export async function resetChunks(tx: Tx, loadId: string): Promise<void> {
  await query(
    tx,
    `
    update chunk
    set state = 'waiting', next_at = now(), lease_until = null, attempts = 0, faults = 0, crashes = 0
    where chunk.load_id = ?::uuid and chunk.state in ('waiting', 'applying')`,
    [loadId]
  )
}

/** From now on the chunk runs alone in its process, and its crashes are counted from zero. */
export async function isolateChunk(tx: Tx, id: number): Promise<void> {
  await query(tx, 'update chunk set is_isolated = true, crashes = 0 where chunk.id = ?::bigint', [id])
}

/**
 * Cancels the running statement of a transaction, but not that of a later transaction: behind a pooler, the
 * process may by now serve another client.
 */
export async function cancelTransaction(
  db: Db,
  { pid, begunAt }: { pid: number; begunAt: string }
): Promise<void> {
  await query(
    db,
    `
    select pg_cancel_backend(activity.pid)
    from pg_stat_activity activity
    where activity.pid = ?::int and activity.xact_start = ?::timestamptz`,
    [pid, begunAt]
  )
}
