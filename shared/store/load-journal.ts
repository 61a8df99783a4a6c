/** The load_journal table: what each chunk of a load has changed, so that the load can be undone. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { PackedJournal } from '../statements/load-journal.ts'

export type JournalRow = PackedJournal & { id: number; seq: number }

/**
 * Call it while the locks of the changed rows are held. The journal rows about one entity or edge then have
 * ids in commit order.
 */
export async function insertJournal(
  tx: Tx,
  { loadId, seq, kinds, counts, payload }: Omit<JournalRow, 'id'> & { loadId: string }
): Promise<void> {
  await query(
    tx,
    'insert into load_journal (load_id, seq, kinds, counts, payload) values (?::uuid, ?::bigint, ?::smallint, ?::int[], ?::bytea)',
    [loadId, seq, kinds, counts, payload]
  )
}

/** The journal of a load without its entries, in the order in which its chunks were applied. */
export async function listJournal(db: Db | Tx, loadId: string): Promise<Omit<JournalRow, 'payload'>[]> {
  return query(db, 'select id, seq, kinds, counts from load_journal where load_id = ?::uuid order by id', [
    loadId
  ])
}

export async function findJournal(db: Db | Tx, loadId: string, id: number): Promise<JournalRow | null> {
  const [row] = await query<JournalRow>(
    db,
    'select id, seq, kinds, counts, payload from load_journal where load_id = ?::uuid and id = ?::bigint',
    [loadId, id]
  )
  return row ?? null
}
