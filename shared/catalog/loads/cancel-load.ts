/** Ends a load before its time. What has been applied stays, and its counts say how much that is. */
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
 * Needs nobody to stop: a chunk that is just being applied finds the load ended when it settles, and is rolled back.
 * Throws NOT_FOUND, and CONFLICT for a load that has ended.
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

/** A chunk that is at work just now is rolled back, so that these counts are the last. */
function whatWasApplied({ state, received, applied, unchanged }: LoadRow): string {
  if (state === 'receiving' || applied + unchanged === 0) return 'Cancelled; nothing of it had been applied'
  return `Cancelled; ${applied} of ${received} records had been applied and stay, ${unchanged} had found nothing to change`
}

/** Records that a retry took up and did not get to are rejected still, for the reason they were. */
async function keepRejects(tx: Tx, id: string): Promise<void> {
  if (!(await hasRejectsAside(tx, id))) return
  const lines: number[] = []
  for (const payload of await unsettledPayloads(tx, id)) lines.push(...(await unpackLineNumbers(payload)))
  await recountRejects(tx, id, await restoreRejects(tx, id, lines))
}
