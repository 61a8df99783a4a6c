/** Refuses a snapshot at the end of its body if it states so little that too much would be removed. */
import type { Db } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import type { RecordShape } from '../../formats/parse-record.ts'
import type { ParsedRecord } from '../../formats/read-records.ts'
import { countStatementsOf } from '../../store/snapshot-removals.ts'
import { isSourceBusy } from '../../store/sweeps.ts'
import { tooMuch } from './compare-snapshot.ts'
import { edgesOf, namedByReject } from './named-edges.ts'

/**
 * Counts the statements that the records read so far keep from being removed. The count is an upper bound.
 */
export type SnapshotTally = {
  add(entry: ParsedRecord): void
  /** The number of statements kept; null if a rejected record may keep any number of them. */
  statedMaxCount(): number | null
}

export function createSnapshotTally(shape: RecordShape): SnapshotTally {
  let count = 0
  let isBounded = true
  return {
    add(entry) {
      // An edge that the load itself removes is counted too, because the sweep does not remove it again.
      if ('shape' in entry) count += 'count' in entry ? entry.count : 1
      else if ('error' in entry) {
        const named = namedByReject(shape, { line: entry.line, record: entry.text, isWhole: true })
        if (named === 'everything' || named.touching.length > 0) isBounded = false
        else count += named.edges.length
      } else {
        for (const change of entry.record.changes) count += edgesOf(change).length
      }
    },
    statedMaxCount: () => (isBounded ? count : null)
  }
}

/**
 * Throws SNAPSHOT_REMOVES_TOO_MUCH. A snapshot that passes is compared exactly after its records are applied.
 * An exact comparison is not possible here, because unfinished loads may still change what the source states.
 */
export async function refuseSmallSnapshot(
  db: Db,
  source: string,
  statedMaxCount: number | null,
  maxShare: number
): Promise<void> {
  if (statedMaxCount === null || (await isSourceBusy(db, source))) return
  const stated = await countStatementsOf(db, source)
  const removable = stated - statedMaxCount
  if (removable <= stated * maxShare) return
  throw new CatalogError(
    'SNAPSHOT_REMOVES_TOO_MUCH',
    `${tooMuch(source, { stated, removable }, maxShare).replace('remove ', 'remove at least ')} Send it with force=true if this is intended.`,
    { field: 'force', maximum: Math.floor(stated * maxShare), actual: removable }
  )
}
