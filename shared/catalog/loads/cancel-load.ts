/** Cancels a load. What has been applied stays, and the counts of the load say how much. */
import { CatalogError } from '../../errors.ts'
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { Actor } from '../../model/changes.ts'
import { metrics } from '../../platform/metrics.ts'
import { dropChunks, unsettledPayloads } from '../../store/chunks.ts'
import { deleteDeclarations } from '../../store/declarations.ts'
import { lockLoad, recountRejects, stopLoad, type LoadRow } from '../../store/loads.ts'
import { hasRejectsAside, restoreRejects } from '../../store/rejects.ts'
import { deleteRemovals } from '../../store/snapshot-removals.ts'
import { deleteStatedKeys } from '../../store/snapshot-statements.ts'
import { unpackLineNumbers } from './chunk-payload.ts'
import { isVisible, noSuchLoad, readLoad, type LoadView } from './read-load.ts'

/**
 * No worker is stopped: a worker that is applying a chunk finds the load ended when it settles, and rolls
 * back. Throws NOT_FOUND, and CONFLICT for a load that has ended.
 */
export async function cancelLoad(db: Db, actor: Actor, id: string): Promise<LoadView> {
  await readLoad(db, actor, id)
  await inTransaction(db, async (tx) => {
    const load = await lockLoad(tx, id)
    if (!load || !isVisible(load, actor)) throw noSuchLoad(id)
    if (!(await stopLoad(tx, id, 'cancelled', whatWasApplied(load))))
      throw new CatalogError(
        'CONFLICT',
        `The load is ${load.state}; only one that has not ended can be cancelled`
      )
    await keepRejects(tx, id)
    await dropChunks(tx, id)
    await deleteDeclarations(tx, id)
    await deleteStatedKeys(tx, id)
    await deleteRemovals(tx, id)
  })
  metrics.loads.inc({ state: 'cancelled' })
  return readLoad(db, actor, id)
}

/** A chunk that is being applied now will be rolled back, so these counts are final. */
function whatWasApplied({ state, received, applied, unchanged }: LoadRow): string {
  if (state === 'receiving' || applied + unchanged === 0) return 'Cancelled; nothing of it had been applied'
  return `Cancelled; ${applied} of ${received} records had been applied and stay applied, ${unchanged} were unchanged`
}

/**
 * Records that a retry began to process but did not apply are rejected again, for the same reason as before.
 */
async function keepRejects(tx: Tx, id: string): Promise<void> {
  if (!(await hasRejectsAside(tx, id))) return
  const lines: number[] = []
  for (const payload of await unsettledPayloads(tx, id)) lines.push(...(await unpackLineNumbers(payload)))
  await recountRejects(tx, id, await restoreRejects(tx, id, lines))
}
