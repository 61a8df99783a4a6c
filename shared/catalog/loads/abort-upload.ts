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

/** Uploads that this process has refused while the database could not end them, with the reasons. */
const givenUp = new Map<string, string>()

export function giveUp(id: string, reason: string): void {
  givenUp.set(id, reason)
}

export function forgetGivenUp(id: string): void {
  givenUp.delete(id)
}

/** Why this process has given up an upload that may still look as if it were being received; null if it has not. */
export const reasonGivenUp = (id: string): string | null => givenUp.get(id) ?? null
