/**
 * Notes what a chunk changes while it is written, so that its load can be taken back.
 *
 * Whoever writes statements, aspects, associations or existence tells it, and what only raises an order is not told. What the
 * same load has changed before is not noted again, where the first note says it all.
 */
import type { Tx } from '../../db/database.ts'
import {
  packJournal,
  type JournalEntry,
  type StatedColumns,
  type StatementKey
} from '../../model/load-journal.ts'
import { insertJournal } from '../../store/load-journal.ts'

export type Journal = {
  /** Statements that were added. The rows of the statement table do: only their keys are kept. */
  addedEdges(rows: readonly StatementKey[]): void
  /** The same for many of one source, column by column. */
  addedColumns(columns: StatedColumns): void
  note(entry: Exclude<JournalEntry, { kind: 'stated' }>): void
  /** Writes what was noted in the transaction of the chunk, after its last change; nothing where nothing has changed. */
  write(tx: Tx, chunk: { loadId: string; seq: number }): Promise<void>
}

export function createJournal(): Journal {
  const stated: StatementKey[] = []
  const columns: StatedColumns[] = []
  const others: Exclude<JournalEntry, { kind: 'stated' }>[] = []
  return {
    addedEdges(rows) {
      for (const row of rows) stated.push(row)
    },
    addedColumns(added) {
      if (added.downstreamIds.length > 0) columns.push(added)
    },
    note(entry) {
      others.push(entry)
    },
    async write(tx, chunk) {
      if (stated.length + columns.length + others.length > 0)
        await insertJournal(tx, {
          loadId: chunk.loadId,
          seq: chunk.seq,
          ...packJournal(stated, others, chunk.seq, columns)
        })
    }
  }
}
