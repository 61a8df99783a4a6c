/** The reject table: the records of a load that were not applied, each with the reason and the record itself. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'

/**
 * `isWhole` is false if the record was cut, or could not be stored as it was: it cannot be sent again from
 * here.
 */
export type Reject = {
  line: number
  code: string
  message: string
  field: string | null
  record: string | null
  isWhole: boolean
}

/**
 * Keeps the first verdict on a line: unless the record was retried, a chunk that is applied again has the
 * same verdicts.
 */
export async function insertRejects(tx: Tx, loadId: string, rejects: readonly Reject[]): Promise<void> {
  if (rejects.length === 0) return
  await query(
    tx,
    `
    insert into reject (load_id, line, code, message, field, record, is_whole)
    select ?::uuid, refused.line, refused.code, refused.message, refused.field, refused.record, refused.is_whole
    from unnest(?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::boolean[]) as refused (line, code, message, field, record, is_whole)
    on conflict (load_id, line) do update
    set code = excluded.code, message = excluded.message, field = excluded.field, record = excluded.record, is_whole = excluded.is_whole, is_retried = false
    where reject.is_retried`,
    [
      loadId,
      rejects.map((row) => row.line),
      rejects.map((row) => row.code),
      rejects.map((row) => row.message),
      rejects.map((row) => row.field),
      rejects.map((row) => row.record),
      rejects.map((row) => row.isWhole)
    ]
  )
}

/** Rejects by line, after a given line, without those that are being retried. */
export async function listRejects(
  db: Db | Tx,
  loadId: string,
  page: { after: number; limit: number; onlyWhole?: boolean }
): Promise<Reject[]> {
  return query<Reject>(
    db,
    `
    select reject.line, reject.code, reject.message, reject.field, reject.record, reject.is_whole as "isWhole"
    from reject
    where reject.load_id = ?::uuid
      and reject.line > ?::int
      and not reject.is_retried
      and (reject.is_whole or not ?::boolean)
    order by reject.line
    limit ?::int`,
    [loadId, page.after, page.onlyWhole ?? false, page.limit]
  )
}

/** Deletes all rejects of a load that was aborted. */
export async function deleteRejects(tx: Tx, loadId: string): Promise<void> {
  await query(tx, 'delete from reject where reject.load_id = ?::uuid', [loadId])
}

/** Sets the rejects of retried records aside. They count again if the records are not tried in the end. */
export async function setRejectsAside(tx: Tx, loadId: string, lines: readonly number[]): Promise<void> {
  await query(
    tx,
    'update reject set is_retried = true where reject.load_id = ?::uuid and reject.line = any(?::int[])',
    [loadId, lines]
  )
}

/**
 * Restores rejects whose records were not tried in the end, deletes the others that were set aside, and
 * returns how many were restored.
 */
export async function restoreRejects(tx: Tx, loadId: string, lines: readonly number[]): Promise<number> {
  const restored = await query(
    tx,
    `
    update reject
    set is_retried = false
    where reject.load_id = ?::uuid and reject.is_retried and reject.line = any(?::int[])
    returning 1`,
    [loadId, lines]
  )
  await query(tx, 'delete from reject where reject.load_id = ?::uuid and reject.is_retried', [loadId])
  return restored.length
}

export async function hasRejectsAside(tx: Tx, loadId: string): Promise<boolean> {
  return (
    (
      await query(tx, 'select 1 from reject where reject.load_id = ?::uuid and reject.is_retried limit 1', [
        loadId
      ])
    ).length > 0
  )
}
