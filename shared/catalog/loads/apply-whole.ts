/**
 * Applies a load that is one chunk: all of it or nothing (atomic), or only to see what would come of it (dry run).
 *
 * Both go the way of every chunk, with its locks, passes and order. What is taken back is taken back by rolling back, so
 * nothing is left of it, and nobody is told of it.
 */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { limits } from '../../limits.ts'
import { appendAudit } from '../../store/audit.ts'
import { endChunk, lockChunk, type ClaimedChunk, type LockedChunk } from '../../store/chunks.ts'
import { recountRejects, setReport, stopLoad } from '../../store/loads.ts'
import { insertRejects, type Reject } from '../../store/rejects.ts'
import { noteWhole } from '../../store/sweeps.ts'
import { applyStored, contextOf, holdChunk, type ApplyOptions, type Judged } from './apply-chunk.ts'
import { sweepWhole, type Swept } from './compare-snapshot.ts'
import { changesOfTransaction, dryRunReport, type TrialChanges } from './dry-run-report.ts'
import { assertHeld, ChunkOvertaken, LoadEnded, settleChunk, type Settled } from './settle-chunk.ts'

/** Rolls a transaction back and brings out what was found in it. */
class TakenBack extends Error {
  readonly judged: Judged
  readonly changes: TrialChanges | null
  readonly swept: Swept | null

  constructor(judged: Judged, changes: TrialChanges | null, swept: Swept | null) {
    super('what was applied is taken back')
    this.name = 'TakenBack'
    this.judged = judged
    this.changes = changes
    this.swept = swept
  }
}

/** The load was not applied: it has failed, and says why. */
export type NotApplied = { failedWith: string }

/** Throws what applyChunk throws. */
export async function applyWhole(
  db: Db,
  claimed: ClaimedChunk,
  options: ApplyOptions
): Promise<Settled | NotApplied> {
  try {
    return await holdChunk(db, claimed, options, async (tx, chunk) => {
      const judged = await applyStored(tx, claimed, chunk, options)
      if (!chunk.isDryRun && judged.counts.rejected + chunk.rejected > 0)
        throw new TakenBack(judged, null, null)
      const swept =
        chunk.mode === 'snapshot'
          ? await sweepWhole(tx, contextOf(claimed, chunk), judged.rejects, options.guards)
          : null
      if (chunk.isDryRun) throw new TakenBack(judged, await changesOfTransaction(tx), swept)
      if (swept) await noteWhole(tx, chunk.loadId, swept)
      return settleChunk(tx, claimed, chunk, judged, options.guards)
    })
  } catch (error) {
    if (!(error instanceof TakenBack)) throw error
    return error.changes
      ? settleDryRun(db, claimed, error.judged, error.changes, error.swept, options)
      : refuseAtomic(db, claimed, error.judged, options)
  }
}

/** The report is made when nothing is locked any more: it may walk far. */
async function settleDryRun(
  db: Db,
  claimed: ClaimedChunk,
  judged: Judged,
  changes: TrialChanges,
  swept: Swept | null,
  options: ApplyOptions
): Promise<Settled> {
  const report = await dryRunReport(db, changes)
  return inTransaction(db, async (tx) => {
    const chunk = await lockChunk(tx, claimed.id)
    assertHeld(chunk, claimed, options.guards)
    const wouldFail =
      (chunk.isAtomic && judged.counts.rejected + chunk.rejected > 0) || swept?.isTooMuch === true
    if (swept) await noteWhole(tx, chunk.loadId, swept)
    await setReport(tx, chunk.loadId, { ...report, wouldFail })
    return settleChunk(tx, claimed, chunk, judged, options.guards)
  })
}

async function refuseAtomic(
  db: Db,
  claimed: ClaimedChunk,
  { rejects }: Judged,
  options: ApplyOptions
): Promise<NotApplied> {
  return endUnapplied(
    db,
    claimed,
    rejects,
    options,
    (rejected, received) =>
      `${rejected} of ${received} records were rejected, so nothing was applied; the rejects say why`
  )
}

/** Ends a load that cannot be applied at all: an error that comes again, or workers that die of it. */
export const failWhole = (
  db: Db,
  claimed: ClaimedChunk,
  reason: string,
  options: ApplyOptions
): Promise<NotApplied> => endUnapplied(db, claimed, [], options, () => `${reason}; nothing was applied`)

/**
 * Such a load has ended for good: nothing of it was applied and its client has it, so nothing is kept for a retry, and no
 * newer change has to allow for it. Throws ChunkOvertaken, LoadEnded.
 */
async function endUnapplied(
  db: Db,
  claimed: ClaimedChunk,
  rejects: readonly Reject[],
  options: ApplyOptions,
  say: (rejected: number, received: number) => string
): Promise<NotApplied> {
  return inTransaction(db, async (tx) => {
    const chunk = await lockChunk(tx, claimed.id)
    assertHeld(chunk, claimed, options.guards)
    // Nothing is applied, but the audit trail says who sent the load that ended so.
    if (!chunk.isDryRun) await auditUnapplied(tx, claimed, chunk)
    await insertRejects(
      tx,
      chunk.loadId,
      rejects.slice(0, Math.max(0, limits.rejectsKeptMaxCount - chunk.rejected))
    )
    if (!(await endChunk(tx, claimed.id, claimed.fence, 'dropped'))) throw new ChunkOvertaken()
    const failedWith = say(rejects.length + chunk.rejected, chunk.received)
    if (!(await stopLoad(tx, chunk.loadId, 'failed', failedWith))) throw new LoadEnded()
    await recountRejects(tx, chunk.loadId, rejects.length)
    return { failedWith }
  })
}

const auditUnapplied = (
  tx: Tx,
  claimed: ClaimedChunk,
  { actor, tokenId, seq, loadId, requestId, recordCount }: LockedChunk
): Promise<void> =>
  appendAudit(tx, {
    actor,
    tokenId,
    operation: 'load',
    seq,
    loadId,
    chunkId: claimed.id,
    requestId,
    details: { records: recordCount, applied: 0, unchanged: 0, rejected: 0, hasFailed: true }
  })
