/**
 * The wrong rule of freshness, for tests that show why it is wrong: reads the rows of the change log after
 * the greatest id seen.
 */
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import {
  readUnseenChanges,
  type GraphPosition,
  type UnseenChanges
} from '../../shared/store/graph-changes.ts'

/** Makes such a reader for one graph. It never sees a row that commits after one with a greater id. */
export function readAfterMaxId(): typeof readUnseenChanges {
  let maxId: number | null = null
  return async (db: Db, position: GraphPosition): Promise<UnseenChanges> => {
    maxId ??= await maxIdSeenBy(db, position)
    const rows = await query<{ id: number; delta: Buffer }>(
      db,
      'select id, delta from graph_change where id > ?::bigint order by id',
      [maxId]
    )
    maxId = rows.at(-1)?.id ?? maxId
    const { position: now, horizonIsPast } = await readUnseenChanges(db, position)
    return { position: now, horizonIsPast, rows }
  }
}

async function maxIdSeenBy(db: Db, { snapshot }: GraphPosition): Promise<number> {
  const [row] = await query<{ id: number }>(
    db,
    'select coalesce(max(id), 0) as id from graph_change where pg_visible_in_snapshot(xid, ?::pg_snapshot)',
    [snapshot]
  )
  return row?.id ?? 0
}
