/** The one row that says which entities from before the migration still have no search document. */
import { int4sOf } from '../db/int4-array.ts'
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'

/**
 * The next ids, and the last of them; null if none are left, or another transaction is working on them. Locks
 * the row.
 */
export async function nextOfBacklog(
  tx: Tx,
  count: number
): Promise<{ ids: number[]; lastId: number } | null> {
  const [backlog] = await query<{ nextId: number; lastId: number }>(
    tx,
    'select next_id as "nextId", last_id as "lastId" from search_backlog for update skip locked'
  )
  if (!backlog) return null
  const [row] = await query<{ ids: Buffer | null }>(
    tx,
    `
    select string_agg(int4send(found.id), '' order by found.id) as ids
    from (
      select entity.id
      from entity
      where entity.id between ?::int and ?::int
      order by entity.id
      limit ?::int
    ) as found`,
    [backlog.nextId, backlog.lastId, count]
  )
  const ids = [...int4sOf(row?.ids ?? null)]
  if (ids.length > 0) return { ids, lastId: ids.at(-1) ?? 0 }
  await query(tx, 'delete from search_backlog')
  return null
}

/** Continues after an id. */
export async function advanceBacklog(tx: Tx, lastId: number): Promise<void> {
  await query(tx, 'update search_backlog set next_id = ?::int', [lastId + 1])
}
