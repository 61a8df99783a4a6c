/**
 * Brings back what was soft-deleted when something newer describes it again.
 *
 * The return is a change of the aspect `status` at the place of the description, so that history, undo and the
 * order of arrival treat it as they treat any other. Within one call or load, a status that it states itself
 * decides, wherever it is: a copy of a catalog contains both.
 */
import type { Tx } from '../../db/database.ts'
import { assetOrSelf, describedBy, isDescribingPatch, isDescriptive } from '../../model/change-facts.ts'
import type { Change, ChangeRecord } from '../../model/changes.ts'
import { isNewer, type Order } from '../../model/order.ts'
import { findAspectsSince } from '../../store/aspects.ts'
import {
  applyAspectChange,
  aspectDraftKey,
  changeOfRow,
  type AspectChange,
  type AspectDraft
} from './aspect-drafts.ts'
import type { Drafts } from './drafts.ts'
import { softDeletes } from './plan-records.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** By entity, the seq of the newest description that was applied before an older change of this chunk. */
export type NewerDescriptions = ReadonlyMap<number, number>

/** A call is newer than everything, so only a chunk can soft-delete what has been described since. */
export async function readNewerDescriptions(
  tx: Tx,
  work: UnitOfWork,
  records: readonly ChangeRecord[],
  isCall: boolean
): Promise<NewerDescriptions> {
  const ids = isCall
    ? []
    : records.flatMap(({ changes }) =>
        changes.flatMap((change) => {
          const urn = softDeletes(change)
          return urn === null ? [] : (work.entities.get(urn)?.id ?? [])
        })
      )
  const newest = new Map<number, number>()
  for (const row of await findAspectsSince(tx, [...new Set(ids)], work.seq))
    if (isDescriptive(row.aspectName) && describes(row.aspectName, changeOfRow(row)))
      newest.set(row.entityId, Math.max(row.seq, newest.get(row.entityId) ?? 0))
  return newest
}

/** What an undo restores was described before. An aspect that exists for the edges of others describes nothing. */
function describes(aspectName: string, change: AspectChange): boolean {
  switch (change.kind) {
    case 'put':
      return change.restores === undefined
    case 'merge':
      return Object.keys(change.fields).length > 0
    case 'patch':
      return isDescribingPatch(aspectName, change.patch)
    case 'several':
      return change.changes.some((each) => describes(aspectName, each))
    case 'delete':
      return false
  }
}

/** Returns whether the described entity, or the asset of the column, is back. */
export function bringBack(work: UnitOfWork, drafts: Drafts, change: Change, order: Order): boolean {
  const urn = describedBy(change)
  if (urn === null) return false
  let isBack = false
  for (const each of new Set([urn, assetOrSelf(urn)])) {
    const entity = work.entities.get(each)
    const draft = entity && drafts.aspects.get(aspectDraftKey(entity.id, 'status'))
    if (draft) isBack = restore(work, draft, order.seq) || isBack
  }
  return isBack
}

/** Returns whether an entity that this change would soft-delete stays, because it was described later. */
export function keepBack(work: UnitOfWork, drafts: Drafts, change: Change, order: Order): boolean {
  const urn = softDeletes(change)
  const entity = urn === null ? undefined : work.entities.get(urn)
  const seq = entity && drafts.newerDescriptions.get(entity.id)
  if (!entity || seq === undefined || !isNewer({ seq, line: 0 }, order)) return false
  const draft = drafts.aspects.get(aspectDraftKey(entity.id, 'status'))
  return draft !== undefined && restore(work, draft, seq)
}

function restore(work: UnitOfWork, draft: AspectDraft, seq: number): boolean {
  const before = draft.rows.findLast((row) => row.seq < seq)
  if (before?.value?.removed !== true || draft.rows.some((row) => row.seq === seq)) return false
  const order = { seq, line: 0 }
  return applyAspectChange(work, draft, { kind: 'merge', fields: { removed: false } }, order, {
    systemMetadata: null
  })
}
