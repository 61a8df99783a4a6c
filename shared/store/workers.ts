/** The table worker: the heartbeat of each worker process. Only the clock of Postgres is used. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'

/** `name` is the host and process id, for operators. */
export type WorkerRow = { id: string; name: string; version: string; startedAt: Date; seenAt: Date }

/** Renews the heartbeat. Creates the row if it is missing: the worker then started `ageSeconds` ago. */
export async function touchWorker(
  db: Db,
  { id, name, version, ageSeconds }: { id: string; name: string; version: string; ageSeconds: number }
): Promise<void> {
  await query(
    db,
    `
    insert into worker (id, name, version, started_at)
    values (?::uuid, ?, ?, now() - ?::float8 * interval '1 second')
    on conflict (id) do update
    set seen_at = now()`,
    [id, name, version, ageSeconds]
  )
}

/** Call it when the worker has stopped. */
export async function deleteWorker(db: Db, id: string): Promise<void> {
  await query(db, 'delete from worker where worker.id = ?::uuid', [id])
}

/**
 * Workers with a heartbeat in the last `silentSeconds`: at most `limit`, beginning with those that started
 * first.
 */
export async function findLiveWorkers(db: Db, silentSeconds: number, limit: number): Promise<WorkerRow[]> {
  return query<WorkerRow>(
    db,
    `
    select
      worker.id,
      worker.name,
      worker.version,
      worker.started_at as "startedAt",
      worker.seen_at as "seenAt"
    from worker
    where worker.seen_at > now() - ?::int * interval '1 second'
    order by worker.started_at, worker.id
    limit ?::int`,
    [silentSeconds, limit]
  )
}

/** The number of workers that are alive, by version. */
export async function countLiveWorkers(
  db: Db,
  silentSeconds: number
): Promise<{ version: string; count: number }[]> {
  return query(
    db,
    `
    select worker.version, count(*)::int as count
    from worker
    where worker.seen_at > now() - ?::int * interval '1 second'
    group by worker.version
    order by worker.version`,
    [silentSeconds]
  )
}

/** Deletes at most `limit` workers that have been silent for longer than `keepSeconds`. Returns how many. */
export async function deleteOldWorkers(tx: Tx, keepSeconds: number, limit: number): Promise<number> {
  const rows = await query(
    tx,
    `
    with old as (
      select worker.id
      from worker
      where worker.seen_at < now() - ?::int * interval '1 second'
      order by worker.seen_at
      limit ?::int
      for update skip locked
    )
    delete from worker
    using old
    where worker.id = old.id
    returning worker.id`,
    [keepSeconds, limit]
  )
  return rows.length
}
