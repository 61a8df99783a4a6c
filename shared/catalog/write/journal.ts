/**
 * Notes what a chunk changes while it is written, so that its load can be taken back.
 *
 * Whoever writes statements, aspects, associations or existence tells it, and what only raises an order is not told. What the
 * same load has changed before is not noted again, where the first note says it all.
 */
import type { Tx } from '../../db/database.ts'
import { packJournal, type JournalEntry, type StatementKeyColumns } from '../../statements/load-journal.ts'
import { insertJournal } from '../../store/load-journal.ts'

export type Journal = {
  /** The statements that were added, in one call: their keys are kept, the rows of the statement table say the rest. */
  added(keys: StatementKeyColumns): void
  note(entry: Exclude<JournalEntry, { kind: 'stated' }>): void
  /** Writes what was noted in the transaction of the chunk, after its last change; nothing where nothing has changed. */
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
