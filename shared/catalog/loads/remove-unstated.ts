/**
 * The second half of the sweep of a snapshot: removes one chunk of the statements that the comparison found.
 *
 * Statements that something newer has made since then stay. Like every other removal, this one stores its
 * order: for each owner, a replacement of what the source states, at the end of the load.
 */
import type { Db, Tx } from '../../db/database.ts'
import { lineageFieldByCode } from '../../model/lineage-fields.ts'
import type { Order } from '../../model/order.ts'
import { bareRecordKey } from '../../model/record-keys.ts'
import { appendAudit } from '../../store/audit.ts'
import type { ClaimedChunk } from '../../store/chunks.ts'
import { edgePatchesOfOwners } from '../../store/edge-patches.ts'
import { lockEntities } from '../../store/entities.ts'
import { appendGraphChange } from '../../store/graph-changes.ts'
import { lockAsWriter, olderWork } from '../../store/order-of-changes.ts'
import { deleteRemoval, readRemoval } from '../../store/snapshot-removals.ts'
import { edgeKeys } from '../../statements/columns.ts'
import type { StatementRow } from '../../statements/rows.ts'
import { deleteStatementsBefore, statementsOfEdges, writeWatermarks } from '../../store/statements.ts'
import { countRemoved } from '../../store/sweeps.ts'
import { contextOf, holdChunk, type ChunkContext, type ChunkOptions } from './apply-chunk.ts'
import { openUnitOfWork } from '../write/apply-records.ts'
import {
  aspectDraftKey,
  countEdgeChange,
  readAspectDrafts,
  writeAspectDrafts
} from '../write/aspect-drafts.ts'
import { statedBefore } from '../write/write-statements.ts'
import { rememberEntity, type UnitOfWork } from '../write/unit-of-work.ts'
import type { ChunkGuards } from './chunk-guards.ts'
import { allGuards } from '../write/guards.ts'
import { settleChunk, type Settled } from './settle-chunk.ts'

/** A line after every line of a load. */
const lastLine = 2 ** 31 - 1
const noVerdicts = { counts: { applied: 0, unchanged: 0, rejected: 0 }, rejects: [] }

/** Throws as applyChunk does. */
export function removeUnstated(db: Db, claimed: ClaimedChunk, options: ChunkOptions): Promise<Settled> {
  const { guards } = options
  return holdChunk(db, claimed, options, async (tx, chunk) => {
    const removed = await removePiece(tx, contextOf(claimed, chunk), chunk.firstLine, guards)
    await appendAudit(tx, {
      actor: chunk.actor,
      tokenId: chunk.tokenId,
      operation: 'removeUnstated',
      seq: chunk.seq,
      loadId: chunk.loadId,
      chunkId: claimed.id,
      requestId: chunk.requestId,
      details: { source: chunk.source, statements: removed }
    })
    await countRemoved(tx, chunk.loadId, removed)
    return settleChunk(tx, claimed, chunk, noVerdicts, guards)
  })
}

/** Removes one chunk of the statements found, and returns how many it removed. */
export async function removePiece(
  tx: Tx,
  context: ChunkContext,
  piece: number,
  guards: ChunkGuards
): Promise<number> {
  const { seq, loadId } = context.chunk
  const order: Order = { seq, line: lastLine }
  await lockAsWriter(tx)
  const work = await openUnitOfWork(tx, context, [], allGuards, await olderWork(tx, seq, null))
  const keys = await readRemoval(tx, loadId, piece)
  for (const row of await lockEntities(tx, [...new Set(keys.map((key) => key.ownerId))]))
    rememberEntity(work, row)
  const removed = await deleteStatementsBefore(
    tx,
    work.sourceId,
    guards.sweepSparesNewer ? seq : Number.MAX_SAFE_INTEGER,
    keys
  )
  await showRemovals(tx, work, removed)
  const patches = await edgePatchesOfOwners(tx, ownersOf(removed))
  for (const row of removed)
    work.journal?.note({ kind: 'removed', key: row, before: statedBefore(row, patches) })
  await work.journal?.write(tx, context.chunk)
  if (work.older.isUnfinished)
    await writeWatermarks(
      tx,
      ownersOf(removed).map((owner) => ({
        ...owner,
        code: owner.aspectCode,
        sourceId: work.sourceId,
        ...order
      }))
    )
  for (const { downstreamId, upstreamId } of removed)
    work.graph.push({ kind: 'unstated', downstreamId, upstreamId })
  await appendGraphChange(tx, work.graph)
  await deleteRemoval(tx, loadId, piece)
  return removed.length
}

type Owner = { ownerId: number; aspectCode: number; aspectName: string }

function ownersOf(rows: readonly StatementRow[]): Owner[] {
  const owners = new Map<string, Owner>()
  for (const { ownerId, field } of rows)
    owners.set(`${ownerId} ${field >> 4}`, {
      ownerId,
      aspectCode: field >> 4,
      aspectName: lineageFieldByCode(field).aspectName
    })
  return [...owners.values()]
}

const keyOfEdge = (row: Pick<StatementRow, 'ownerId' | 'field' | 'downstreamId' | 'upstreamId'>): string =>
  `${row.ownerId} ${row.field >> 4} ${row.downstreamId} ${row.upstreamId}`

/**
 * An aspect gets another version if a reader can see the removal: of an edge that nobody states any more, or
 * of an entry of a list.
 */
async function showRemovals(tx: Tx, work: UnitOfWork, removed: readonly StatementRow[]): Promise<void> {
  const left = new Set(
    (
      await statementsOfEdges(tx, edgeKeys(removed.map((row) => ({ ...row, aspectCode: row.field >> 4 }))))
    ).map(keyOfEdge)
  )
  const seen = ownersOf(removed.filter((row) => row.recordKey !== bareRecordKey || !left.has(keyOfEdge(row))))
  // Changes that are newer than the load need no replay: only the version is incremented.
  const drafts = await readAspectDrafts(
    tx,
    work,
    seen.map(({ ownerId, aspectName }) => ({
      entityId: ownerId,
      aspectName,
      oldest: { seq: Number.MAX_SAFE_INTEGER, line: 0 }
    }))
  )
  for (const { ownerId, aspectName } of seen) {
    const draft = drafts.get(aspectDraftKey(ownerId, aspectName))
    if (draft) countEdgeChange(work, draft)
  }
  await writeAspectDrafts(tx, work, drafts)
}
