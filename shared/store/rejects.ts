/** The reject table: the records of a load that were not applied, each with the reason and the record itself. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'

/** `isWhole` is false where the record was cut (or could not be stored as it was): it cannot be sent again from here. */
export type Reject = { line: number, code: string, message: string, field: string | null, record: string | null, isWhole: boolean }

/** Keeps the first verdict on a line: a chunk that is applied again says the same. */
export async function insertRejects(tx: Tx, loadId: string, rejects: readonly Reject[]): Promise<void> {
  if (rejects.length === 0) return
  await query(tx, `
    insert into reject (load_id, line, code, message, field, record, is_whole)
    select ?::uuid, refused.line, refused.code, refused.message, refused.field, refused.record, refused.is_whole
    from unnest(?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::boolean[]) as refused (line, code, message, field, record, is_whole)
    on conflict (load_id, line) do nothing`, [
    loadId, rejects.map((row) => row.line), rejects.map((row) => row.code), rejects.map((row) => row.message), rejects.map((row) => row.field),
    rejects.map((row) => row.record), rejects.map((row) => row.isWhole)])
}

/** In line order, those after a line. */
export async function listRejects(db: Db | Tx, loadId: string, page: { after: number, limit: number, onlyWhole?: boolean }): Promise<Reject[]> {
  return query<Reject>(db, `
    select reject.line, reject.code, reject.message, reject.field, reject.record, reject.is_whole as "isWhole"
    from reject
    where reject.load_id = ?::uuid
      and reject.line > ?::int
      and (reject.is_whole or not ?::boolean)
    order by reject.line
    limit ?::int`, [loadId, page.after, page.onlyWhole ?? false, page.limit])
}

export async function deleteRejects(tx: Tx, loadId: string, lines: readonly number[] | 'all'): Promise<void> {
  if (lines === 'all') await query(tx, 'delete from reject where reject.load_id = ?::uuid', [loadId])
  else await query(tx, 'delete from reject where reject.load_id = ?::uuid and reject.line = any(?::int[])', [loadId, lines])
}
