/**
 * Retries a load: a failed one continues where it stopped; for a done one, its rejected records are applied
 * again.
 */
import { CatalogError } from '../../errors.ts'
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { recordParser, type RecordParser } from '../../formats/parse-record.ts'
import type { Actor, ChangeRecord, MissingReferences } from '../../model/changes.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { nudgeLoad } from '../../store/chunk-nudges.ts'
import { resetChunks } from '../../store/chunks.ts'
import { deleteDeclarations } from '../../store/declarations.ts'
import {
  lockLoad,
  markDestructive,
  setMissingReferences,
  reopenLoad,
  resumeLoad,
  uncountRejects,
  type LoadRow
} from '../../store/loads.ts'
import { listRejects, setRejectsAside } from '../../store/rejects.ts'
import { forceSweep } from '../../store/sweeps.ts'
import { acceptReceivedLoad, nudgesPerLoad } from './accept-load.ts'
import { createChunkWriter, recordsPerChunk } from './chunk-writer.ts'
import { isVisible, noSuchLoad, readLoad, type LoadView } from './read-load.ts'

const rejectsPerRead = 500

export type RetryOptions = {
  /** Lets the sweep of a snapshot remove any share. */
  force?: boolean
  /** What happens from now on if references are missing; null: what the load was sent with. */
  missingReferences?: MissingReferences | null
}

/**
 * A failed load keeps its seq; with `force` its sweep removes everything it finds. The rejected records of a
 * done load are accepted with a new seq, so they are newer than everything that has happened until now.
 * Records that do not parse, or were not kept whole, stay rejected. Throws NOT_FOUND, and CONFLICT if there
 * is nothing to retry.
 */
export async function retryLoad(
  db: Db,
  queue: ChunkQueue,
  actor: Actor,
  id: string,
  { force = false, missingReferences = null }: RetryOptions = {}
): Promise<LoadView> {
  await readLoad(db, actor, id)
  const reopened = await inTransaction(db, async (tx) => {
    const load = await lockLoad(tx, id)
    if (!load || !isVisible(load, actor)) throw noSuchLoad(id)
    if (load.isDryRun)
      throw new CatalogError('CONFLICT', 'The load is a dry run: send it again to see what it would do now')
    if (load.isAtomic)
      throw new CatalogError('CONFLICT', `The load is atomic and ${load.state}: send it again as a whole`)
    if (load.undoneBy !== null)
      throw new CatalogError('CONFLICT', `The load has been undone by the load ${load.undoneBy}`)
    if (force) checkForce(load)
    if (missingReferences !== null) await setMissingReferences(tx, id, missingReferences)
    if (load.state === 'failed') {
      if (load.supersededBy !== null)
        throw new CatalogError(
          'CONFLICT',
          `A newer snapshot of ${load.source}, the load ${load.supersededBy}, has replaced this load; send it again if it is still wanted`
        )
      if (force) await forceSweep(tx, id)
      await resetChunks(tx, id)
      await resumeLoad(tx, id)
      return { nudges: await nudgeLoad(tx, id, nudgesPerLoad) }
    }
    if (load.state !== 'done')
      throw new CatalogError(
        'CONFLICT',
        `The load is ${load.state}; only one that failed, or is done with rejects, can be retried`
      )
    if ((await reopenRejects(tx, load)) === 0)
      throw new CatalogError('CONFLICT', 'The load has no rejected records that could be sent again')
    return null
  })
  // A load that receives again has no seq until this is committed. If this process dies, the sweeper accepts
  // it like any other load.
  if (reopened) await queue.nudge(reopened.nudges)
  else await acceptReceivedLoad(db, queue, id)
  return readLoad(db, actor, id)
}

/** `force` only has an effect on a snapshot whose sweep is not done. */
function checkForce({ mode, state, sweep }: LoadRow): void {
  if (mode !== 'snapshot') throw new CatalogError('BAD_REQUEST', 'force is for snapshots', { field: 'force' })
  if (state === 'done')
    throw new CatalogError(
      'CONFLICT',
      sweep === 'held'
        ? 'The load has ended; send the snapshot again with force=true'
        : 'The load has ended, and has removed what its source no longer states'
    )
}

/** Makes chunks of the rejected records, a page at a time. Returns how many records there are. */
async function reopenRejects(tx: Tx, load: LoadRow): Promise<number> {
  await deleteDeclarations(tx, load.id)
  const writer = createChunkWriter(
    load.id,
    async (work, stored) => {
      await work(tx)
      if (stored.isDestructive) await markDestructive(tx, load.id)
    },
    { maxRecords: recordsPerChunk(load.format) }
  )
  const parser = recordParser(load)
  let count = 0
  for (let after = 0; ;) {
    const rejects = await listRejects(tx, load.id, { after, limit: rejectsPerRead, onlyWhole: true })
    const retried: number[] = []
    for (const { line, record } of rejects) {
      after = line
      const parsed = parseAgain(parser, record ?? '', line)
      if (!parsed) continue
      await writer.add({ line, text: record ?? '' }, parsed.changes)
      retried.push(line)
    }
    await setRejectsAside(tx, load.id, retried)
    count += retried.length
    if (rejects.length < rejectsPerRead) break
  }
  if (count === 0) return 0
  await writer.flush()
  await uncountRejects(tx, load.id, count)
  await reopenLoad(tx, load.id)
  return count
}

/** The parsed record; null if it still does not parse. */
function parseAgain({ parse }: RecordParser, text: string, line: number): ChangeRecord | null {
  try {
    return parse(text, line)
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}
