/**
 * Decides, between the first and the second pass of a load, which of the entities it declares will be
 * created.
 */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import {
  deleteDangling,
  forgetPresentReferences,
  hasDanglingReference,
  markDeclarationsSettled
} from '../../store/declarations.ts'
import { lockLoad } from '../../store/loads.ts'
import { olderWork } from '../../store/order-of-changes.ts'
import { WaitForOlderLoad } from '../write/wait-for-older-load.ts'

/**
 * Removes declarations until each remaining one refers only to entities that exist or are declared too.
 * References may point in any direction, also in cycles. A declaration that depends on a removed one is also
 * removed. Runs once for a load; later calls do nothing. Throws WaitForOlderLoad while an older load may
 * still create a missing entity.
 */
export async function settleDeclarations(db: Db, loadId: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    const load = await lockLoad(tx, loadId)
    if (!load || load.declarationsSettled || load.seq === null) return
    if (load.missingReferences === 'reject') {
      await forgetPresentReferences(tx, loadId)
      if (await hasDanglingReference(tx, loadId)) {
        const older = await olderWork(tx, load.seq, loadId)
        if (older.isCreating) throw new WaitForOlderLoad()
        // An older load may have created the missing entity between the two reads.
        await forgetPresentReferences(tx, loadId)
        while ((await deleteDangling(tx, loadId)) > 0);
      }
    }
    await markDeclarationsSettled(tx, loadId)
  })
}
