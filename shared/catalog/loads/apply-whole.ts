/**
 * Applies a load that is one chunk: everything or nothing (atomic), or only to find out what would change
 * (dry run).
 *
 * Both use the same locks, passes and order as every other chunk. A rollback undoes the work, so nothing of
 * it remains and nothing else sees it.
 */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { limits } from '../../limits.ts'
import { appendAudit } from '../../store/audit.ts'
import { endChunk, lockChunk, type ClaimedChunk, type LockedChunk } from '../../store/chunks.ts'
import { recountRejects, setReport, stopLoad } from '../../store/loads.ts'
import { insertRejects, type Reject } from '../../store/rejects.ts'
import { noteWhole } from '../../store/sweeps.ts'
import {
  applyStoredRecords,
  contextOf,
  holdChunk,
  type ApplyOptions,
  type ChunkVerdicts
} from './apply-chunk.ts'
import { sweepWhole, type Swept } from './compare-snapshot.ts'
import { changesOfTransaction, dryRunReport, type TrialChanges } from './dry-run-report.ts'
import { assertHeld, ChunkOvertaken, LoadEnded, settleChunk, type Settled } from './settle-chunk.ts'

/** Rolls a transaction back and carries the result out of it. */
class RolledBack extends Error {
  readonly verdicts: ChunkVerdicts
  readonly changes: TrialChanges | null
  readonly swept: Swept | null

  constructor(verdicts: ChunkVerdicts, changes: TrialChanges | null, swept: Swept | null) {
    super('the applied changes are rolled back')
    this.name = 'TakenBack'
    this.verdicts = verdicts
    this.changes = changes
    this.swept = swept
  }
}

/** The load was not applied: it has failed, for the reason in `failedWith`. */
export type NotApplied = { failedWith: string }

/** Throws what applyChunk throws. */
export async function applyWhole(
  db: Db,
  claimed: ClaimedChunk,
  options: ApplyOptions
): Promise<Settled | NotApplied> {
  try {
    return await holdChunk(db, claimed, options, async (tx, chunk) => {
      const verdicts = await applyStoredRecords(tx, claimed, chunk, options)
      if (!chunk.isDryRun && verdicts.counts.rejected + chunk.rejected > 0)
        throw new RolledBack(verdicts, null, null)
      const swept =
        chunk.mode === 'snapshot'
          ? await sweepWhole(tx, contextOf(claimed, chunk), verdicts.rejects, options.guards)
          : null
      if (chunk.isDryRun) throw new RolledBack(verdicts, await changesOfTransaction(tx), swept)
      if (swept) await noteWhole(tx, chunk.loadId, swept)
      return settleChunk(tx, claimed, chunk, verdicts, options.guards)
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
    return error.changes
      ? settleDryRun(db, claimed, error.verdicts, error.changes, error.swept, options)
      : refuseAtomic(db, claimed, error.verdicts, options)
  }
}

/** The report is made after all locks are released, because its walks may take long. */
async function settleDryRun(
  db: Db,
  claimed: ClaimedChunk,
  verdicts: ChunkVerdicts,
  changes: TrialChanges,
  swept: Swept | null,
  options: ApplyOptions
): Promise<Settled> {
  const report = await dryRunReport(db, changes)
  return inTransaction(db, async (tx) => {
    const chunk = await lockChunk(tx, claimed.id)
    assertHeld(chunk, claimed, options.guards)
    const wouldFail =
      (chunk.isAtomic && verdicts.counts.rejected + chunk.rejected > 0) || swept?.isTooMuch === true
    if (swept) await noteWhole(tx, chunk.loadId, swept)
    await setReport(tx, chunk.loadId, { ...report, wouldFail })
    return settleChunk(tx, claimed, chunk, verdicts, options.guards)
  })
}

async function refuseAtomic(
  db: Db,
  claimed: ClaimedChunk,
  { rejects }: ChunkVerdicts,
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

/**
 * Ends a load that cannot be applied, because the same error would be repeated, or because it kills its
 * workers.
 */
export const failWhole = (
  db: Db,
  claimed: ClaimedChunk,
  reason: string,
  options: ApplyOptions
): Promise<NotApplied> =>
  endUnapplied(db, claimed, [], options, () =>
    reason.endsWith('.') ? `${reason} Nothing was applied.` : `${reason}; nothing was applied`
  )

/**
 * The load has ended for good. Nothing of it was applied and its client still has it, so nothing is kept for
 * a retry, and newer changes need not wait for it. Throws ChunkOvertaken, LoadEnded.
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
    // Nothing is applied, but the audit trail names the sender of the load.
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
