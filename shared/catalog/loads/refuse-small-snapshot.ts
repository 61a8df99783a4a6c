/** Refuses a snapshot as early as can be: at the end of its body, where it states so little that too much would have to go. */
import type { Db } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import type { RecordShape } from '../../formats/parse-record.ts'
import type { ReadRecord } from '../../formats/read-records.ts'
import { countStatementsOf } from '../../store/snapshot-removals.ts'
import { isSourceBusy } from '../../store/sweeps.ts'
import { tooMuch } from './compare-snapshot.ts'
import { edgesOf, namedByReject } from './named-edges.ts'

/** Counts how many statements the records read so far can spare at most. */
export type SnapshotTally = {
  add(entry: ReadRecord): void
  /** Null where a rejected record may spare any number. */
  most(): number | null
}

export function createSnapshotTally(shape: RecordShape): SnapshotTally {
  let count = 0
  let isBounded = true
  return {
    add(entry) {
      // What is removed by name is not there to be swept either.
      if ('shape' in entry) count += 'count' in entry ? entry.count : 1
      else if ('error' in entry) {
        const named = namedByReject(shape, { line: entry.line, record: entry.text, isWhole: true })
        if (named === 'everything' || named.touching.length > 0) isBounded = false
        else count += named.edges.length
      } else {
        for (const change of entry.record.changes) count += edgesOf(change).length
      }
    },
    most: () => (isBounded ? count : null)
  }
}

/**
 * Throws SNAPSHOT_REMOVES_TOO_MUCH. What is not refused here is counted exactly when its records are applied: while other
 * loads of the source are unfinished, what it states is not known.
 */
export async function refuseSmallSnapshot(
  db: Db,
  source: string,
  most: number | null,
  maxShare: number
): Promise<void> {
  if (most === null || (await isSourceBusy(db, source))) return
  const stated = await countStatementsOf(db, source)
  const removable = stated - most
  if (removable <= stated * maxShare) return
  throw new CatalogError(
    'SNAPSHOT_REMOVES_TOO_MUCH',
    tooMuch(source, { stated, removable }, maxShare).replace('remove ', 'remove at least '),
    { field: 'force', maximum: Math.floor(stated * maxShare), actual: removable }
  )
}
