/** Ends an upload that did not arrive completely, and frees its records and its key. */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { metrics } from '../../platform/metrics.ts'
import { deleteChunks } from '../../store/chunks.ts'
import { deleteDeclarations } from '../../store/declarations.ts'
import { abortLoad } from '../../store/loads.ts'
import { deleteRejects } from '../../store/rejects.ts'

/** Returns false when the load is no longer an upload. `reason` is shown to the client. */
export async function abortUpload(db: Db, id: string, reason: string): Promise<boolean> {
  const isMine = await inTransaction(db, async (tx) => {
    if (!(await abortLoad(tx, id, reason))) return false
    await deleteChunks(tx, id)
    await deleteDeclarations(tx, id)
    await deleteRejects(tx, id)
    return true
  })
  if (isMine) metrics.loads.inc({ state: 'aborted' })
  return isMine
}
