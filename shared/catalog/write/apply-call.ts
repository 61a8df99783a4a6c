/** Applies the changes of one synchronous call: one transaction, all or nothing, committed before it returns. */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { inWriteTurn } from '../../db/write-turns.ts'
import type { ChangeRecord, Verdict } from '../../model/changes.ts'
import { applyRecords, type ApplyContext } from './apply-records.ts'
import { keysLocked } from './plan-records.ts'
import { removalWarnings } from './stays-removed.ts'

/**
 * Throws the CatalogError of the first record that cannot be applied, and OVERLOADED if the call waited too long
 * for others; nothing is then changed.
 */
export async function applyCall(
  db: Db,
  records: readonly ChangeRecord[],
  context: ApplyContext
): Promise<Verdict[]> {
  const keys = keysLocked(records.flatMap(({ changes }) => changes))
  const verdicts = await inWriteTurn(db, { actor: context.actor, keys }, () =>
    inTransaction(db, (tx) => applyRecords(tx, records, context))
  )
  const warnings = removalWarnings(verdicts)
  if (warnings.count > 0) context.warn?.(warnings)
  return verdicts
}
