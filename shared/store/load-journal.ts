/** The load_journal table: what each chunk of a load has changed, so that the load can be taken back. */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { PackedJournal } from '../model/load-journal.ts'

export type JournalRow = PackedJournal & { id: number, loadId: string, seq: number }

/** Call it when the locks of what was changed are held: the ids of rows on one thing are then in the order of their commits. */
export async function insertJournal(tx: Tx, { loadId, seq, kinds, counts, payload }: Omit<JournalRow, 'id'>): Promise<void> {
  await query(tx, 'insert into load_journal (load_id, seq, kinds, counts, payload) values (?::uuid, ?::bigint, ?::smallint, ?::int[], ?::bytea)', [loadId, seq, kinds, counts, payload])
}
