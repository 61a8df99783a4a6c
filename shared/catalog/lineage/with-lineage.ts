/**
 * Opens a lineage reader for one piece of work: the graph in memory if it can answer, otherwise a transaction
 * in SQL.
 */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { TimeWindow } from '../../model/walk.ts'
import { followAliases } from './follow-aliases.ts'
import type { HeldResults } from './held-results.ts'
import type { LineageOpener } from './lineage-memory.ts'
import type { LineageReader } from './lineage-reader.ts'
import type { FoundHits } from './find-hits.ts'
import type { ReadWork } from './read-work.ts'
import { sqlLineageReader } from './sql-lineage-reader.ts'
import { throughRows } from './through-rows.ts'

/**
 * `memory` is null in processes that keep no graph; without `held`, each page of a search walks again. `work`
 * is the budget of the request.
 */
export type LineageSources = {
  db: Db
  memory: LineageOpener | null
  held?: HeldResults<FoundHits>
  work?: ReadWork
}

/**
 * The reader is valid until `work` ends. `units` is the cost that the read takes from the budget of the
 * request. A time window needs SQL, because memory has no times. Throws what `work` and the budget throw,
 * UNAVAILABLE if the database does not answer, DEADLINE_EXCEEDED.
 */
export async function withLineage<T>(
  sources: LineageSources,
  work: (reader: LineageReader) => Promise<T>,
  { window = null, units = 0 }: { window?: TimeWindow | null; units?: number } = {}
): Promise<T> {
  const read = (): Promise<T> => openFor(sources, work, window)
  // In SQL a walk occupies a connection until it ends.
  const isInSql = window !== null || sources.memory === null
  return sources.work && (units > 0 || isInSql) ? sources.work.run(Math.max(1, units), read) : read()
}

async function openFor<T>(
  { db, memory }: LineageSources,
  work: (reader: LineageReader) => Promise<T>,
  window: TimeWindow | null
): Promise<T> {
  const opened = window === null ? await memory?.open() : null
  if (opened) {
    try {
      return await work(followAliases(throughRows(opened.reader), db))
    } finally {
      opened.release()
    }
  }
  return inTransaction(db, (tx) => work(followAliases(throughRows(sqlLineageReader(tx, window)), tx)), {
    readOnly: true,
    isolation: 'repeatable read'
  })
}
