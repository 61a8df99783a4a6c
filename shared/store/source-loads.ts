/** Whether loads of a source may still change, or have just changed, what another load of it compares with. */
import { advisoryLocks } from '../db/advisory-locks.ts'
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'

export type SourceLoads = {
  /** The time of the database at which this was true, as exact as the database has it. */
  readAt: string
  isChanging: boolean
}

/**
 * A load that failed or was cancelled counts no more, although a person may continue it: nothing may wait for a
 * person. With `since`, loads that have ended since then count too.
 */
export async function loadsOfSource(
  db: Db | Tx,
  source: string,
  since: string | null = null
): Promise<SourceLoads> {
  const [row] = await query<SourceLoads>(
    db,
    `
    select now()::text as "readAt", exists (
      select 1
      from load
      where load.source = ?
        and not load.is_dry_run
        and (load.state in ('receiving', 'accepted', 'applying') or load.finished_at >= ?::timestamptz)
    ) as "isChanging"`,
    [source, since]
  )
  if (!row) throw new Error('a query for one row returned none')
  return row
}

/** Until the transaction ends, no other load of a dbt project begins. */
export async function lockDbtLoads(tx: Tx): Promise<void> {
  await query(tx, 'select pg_advisory_xact_lock(?::int, ?::int)', advisoryLocks.dbtLoads)
}
