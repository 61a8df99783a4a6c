/** Upserts and patches of lineage aspects: the edges, and the rest of the document. */
import type { Change, JsonValue } from '../../model/changes.ts'
import { assetOrSelf } from '../../model/change-facts.ts'
import { requiresEntity } from '../../model/aspect-registry.ts'
import { groupOfRecord, splitLineageDocument } from '../../model/lineage-document.ts'
import { lineageFieldByCode } from '../../model/lineage-fields.ts'
import { planLineagePatch } from '../../model/lineage-patch.ts'
import type { Order } from '../../model/order.ts'
import { applyAspectChange, countEdgeChange, currentRow, type AspectDraft } from './aspect-drafts.ts'
import { assertEntry, removeEdge, removeInto, replaceEdges } from '../../statements/merge.ts'
import { markCreated, countEdgesInAspect, ownerStatements, type Drafts } from './drafts.ts'
import { patchEdgeAttributes } from './patch-edges.ts'
import { resolveEntry } from './plan-records.ts'
import type { UnitOfWork } from './unit-of-work.ts'

export type Upsert = Extract<Change, { kind: 'upsertAspect' }>

export function upsertLineage(
  work: UnitOfWork,
  drafts: Drafts,
  change: Upsert,
  draft: AspectDraft,
  order: Order
): boolean {
  const { rest, entries } = splitLineageDocument(change.entityUrn, change.aspectName, change.value)
  const wasCreated = markCreatedBy(work, change)
  const restChanged = applyAspectChange(work, draft, { kind: 'put', value: rest }, order, {
    systemMetadata: change.headers?.systemMetadata ?? null
  })
  const edgesChanged = replaceEdges(
    work.merging,
    ownerStatements(drafts, draft.entityId, change.aspectName),
    { of: 'aspect', sourceId: work.replacesOwnEdges ? work.sourceId : null },
    entries.map((entry) => resolveEntry(work, entry)),
    order
  )
  if (edgesChanged && !restChanged) countEdgeChange(work, draft)
  return restChanged || edgesChanged || wasCreated
}

export function patchLineage(
  work: UnitOfWork,
  drafts: Drafts,
  change: Extract<Change, { kind: 'patchAspect' }>,
  draft: AspectDraft,
  order: Order
): boolean {
  const plan = planLineagePatch(change.entityUrn, change.aspectName, change.patch.patch)
  const wasCreated = markCreatedBy(work, change)
  // Any patch creates the aspect, as with every other aspect.
  const hasChanged = applyAspectChange(
    work,
    draft,
    { kind: 'patch', patch: { ...change.patch, patch: plan.rest } },
    order,
    { systemMetadata: change.headers?.systemMetadata ?? null }
  )
  let edgesChanged = false
  const statements = ownerStatements(drafts, draft.entityId, change.aspectName)
  for (const operation of plan.edges) {
    if (operation.op === 'add')
      edgesChanged =
        assertEntry(work.merging, statements, resolveEntry(work, operation.entry), order) || edgesChanged
    else if (operation.op === 'replaceList')
      edgesChanged =
        replaceEdges(
          work.merging,
          statements,
          { of: 'list', fieldCode: operation.fieldCode },
          operation.entries.map((entry) => resolveEntry(work, entry)),
          order
        ) || edgesChanged
    else {
      const downstreamId = work.entities.get(operation.downstreamUrn)?.id
      if (downstreamId === undefined) continue
      if (operation.op === 'removeInto') {
        edgesChanged =
          removeInto(work.merging, statements, operation.fieldCode, downstreamId, order) || edgesChanged
        continue
      }
      const upstreamId = work.entities.get(operation.upstreamUrn)?.id
      if (upstreamId === undefined) continue
      const altered =
        operation.op === 'remove'
          ? removeEdge(work.merging, statements, { downstreamId, upstreamId }, order, {
              ...operation,
              written: (recordKey) => groupOfRecord(writtenRecord(draft, operation.fieldCode, recordKey))
            })
          : patchEdgeAttributes(
              work,
              statements,
              { fieldCode: operation.fieldCode, downstreamId, upstreamId },
              operation.patch,
              order
            )
      edgesChanged = altered || edgesChanged
    }
  }
  return (
    countEdgesInAspect(
      work,
      drafts,
      statements,
      { isMade: false, hasChanged: edgesChanged && !hasChanged },
      order
    ) ||
    hasChanged ||
    wasCreated
  )
}

/** A column record of the document, found by the record key of its pairs. */
function writtenRecord(draft: AspectDraft, fieldCode: number, recordKey: number): JsonValue {
  const list = currentRow(draft)?.value?.[lineageFieldByCode(fieldCode).listName]
  return Array.isArray(list) ? (list[recordKey - 1] ?? null) : null
}

function markCreatedBy(
  work: UnitOfWork,
  change: Extract<Change, { kind: 'upsertAspect' | 'patchAspect' }>
): boolean {
  return requiresEntity(change.aspectName) ? false : markCreated(work, assetOrSelf(change.entityUrn))
}
