/**
 * Notes what a chunk changes while it is written, so that its load can be undone. Every function that writes
 * statements, aspects, associations or existence calls it.
 *
 * A row of which only the order is raised is not noted. A second change by the same load is not noted if the
 * first note is enough.
 */
import type { Tx } from '../../db/database.ts'
import { packJournal, type JournalEntry, type StatementKeyColumns } from '../../statements/load-journal.ts'
import { insertJournal } from '../../store/load-journal.ts'

export type Journal = {
  /** Notes added statements, in one call. Only their keys are kept; the statement table has the rest. */
  added(keys: StatementKeyColumns): void
  note(entry: Exclude<JournalEntry, { kind: 'stated' }>): void
  /**
   * Writes the notes in the transaction of the chunk, after its last change. Writes nothing if nothing has
   * changed.
   */
  write(tx: Tx, chunk: { loadId: string; seq: number }): Promise<void>
}

export function createJournal(): Journal {
  let stated: StatementKeyColumns | null = null
  const others: Exclude<JournalEntry, { kind: 'stated' }>[] = []
  return {
    added(keys) {
      if (stated) throw new Error('added statements are noted once')
      if (keys.downstreamIds.length > 0) stated = keys
    },
    note(entry) {
      others.push(entry)
    },
    async write(tx, chunk) {
      if (stated || others.length > 0)
        await insertJournal(tx, {
          loadId: chunk.loadId,
          seq: chunk.seq,
          ...packJournal(stated, others, chunk.seq)
        })
    }
  }
}
