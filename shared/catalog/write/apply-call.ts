/** Applies the changes of one synchronous call: one transaction, all or nothing, committed before it returns. */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { ChangeRecord, Verdict } from '../../model/changes.ts'
import { applyRecords, type ApplyContext } from './apply-records.ts'

/** Throws the CatalogError of the first record that cannot be applied; nothing is then changed. */
export const applyCall = (
  db: Db,
  records: readonly ChangeRecord[],
  context: ApplyContext
): Promise<Verdict[]> => inTransaction(db, (tx) => applyRecords(tx, records, context))
