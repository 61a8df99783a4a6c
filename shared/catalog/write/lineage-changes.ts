/** A lineage aspect that is upserted or patched: what is left of the document, and its edges. */
import type { Change, JsonValue } from '../../model/changes.ts'
import { standsOn } from '../../model/change-facts.ts'
import { requiresEntity } from '../../model/aspect-registry.ts'
import { groupOfRecord, splitLineageDocument } from '../../model/lineage-document.ts'
import { lineageFieldByCode } from '../../model/lineage-fields.ts'
import { planLineagePatch } from '../../model/lineage-patch.ts'
import type { Order } from '../../model/order.ts'
import { applyAspectChange, countEdgeChange, currentRow, type AspectCell } from './aspect-cells.ts'
import { assertEntry, removeEdge, removeInto, replaceEdges } from '../../statements/merge.ts'
import { markCreated, showEdges, statementsOf, type Cells } from './cells.ts'
import { patchEdgeAttributes } from './patch-edges.ts'
import { resolveEntry } from './plan-records.ts'
import type { WorkingSet } from './working-set.ts'

export type Upsert = Extract<Change, { kind: 'upsertAspect' }>

export function upsertLineage(
  set: WorkingSet,
  cells: Cells,
  change: Upsert,
  cell: AspectCell,
  order: Order
): boolean {
  const { rest, entries } = splitLineageDocument(change.entityUrn, change.aspectName, change.value)
  const wasCreated = markCreatedBy(set, change)
  const restChanged = applyAspectChange(set, cell, { kind: 'put', value: rest }, order, {
    systemMetadata: change.headers?.systemMetadata ?? null
  })
  const edgesChanged = replaceEdges(
    set.merging,
    statementsOf(cells, cell.entityId, change.aspectName),
    { of: 'aspect', sourceId: set.stated ? set.sourceId : null },
    entries.map((entry) => resolveEntry(set, entry)),
    order
  )
  if (edgesChanged && !restChanged) countEdgeChange(set, cell)
  return restChanged || edgesChanged || wasCreated
}

export function patchLineage(
  set: WorkingSet,
  cells: Cells,
  change: Extract<Change, { kind: 'patchAspect' }>,
  cell: AspectCell,
  order: Order
): boolean {
  const plan = planLineagePatch(change.entityUrn, change.aspectName, change.patch.patch)
  const wasCreated = markCreatedBy(set, change)
  // A patch makes the aspect, whatever it says, as it does of every other aspect.
  const hasChanged = applyAspectChange(
    set,
    cell,
    { kind: 'patch', patch: { ...change.patch, patch: plan.rest } },
    order,
    { systemMetadata: change.headers?.systemMetadata ?? null }
  )
  let edgesChanged = false
  const statements = statementsOf(cells, cell.entityId, change.aspectName)
  for (const operation of plan.edges) {
    if (operation.op === 'add')
      edgesChanged =
        assertEntry(set.merging, statements, resolveEntry(set, operation.entry), order) || edgesChanged
    else if (operation.op === 'replaceList')
      edgesChanged =
        replaceEdges(
          set.merging,
          statements,
          { of: 'list', fieldCode: operation.fieldCode },
          operation.entries.map((entry) => resolveEntry(set, entry)),
          order
        ) || edgesChanged
    else {
      const downstreamId = set.entities.get(operation.downstreamUrn)?.id
      if (downstreamId === undefined) continue
      if (operation.op === 'removeInto') {
        edgesChanged =
          removeInto(set.merging, statements, operation.fieldCode, downstreamId, order) || edgesChanged
        continue
      }
      const upstreamId = set.entities.get(operation.upstreamUrn)?.id
      if (upstreamId === undefined) continue
      const altered =
        operation.op === 'remove'
          ? removeEdge(set.merging, statements, { downstreamId, upstreamId }, order, {
              ...operation,
              written: (recordKey) => groupOfRecord(writtenRecord(cell, operation.fieldCode, recordKey))
            })
          : patchEdgeAttributes(
              set,
              statements,
              { fieldCode: operation.fieldCode, downstreamId, upstreamId },
              operation.patch,
              order
            )
      edgesChanged = altered || edgesChanged
    }
  }
  return (
    showEdges(set, cells, statements, { isMade: false, hasChanged: edgesChanged && !hasChanged }, order) ||
    hasChanged ||
    wasCreated
  )
}

/** A column record of the document, by the record key of its pairs. */
function writtenRecord(cell: AspectCell, fieldCode: number, recordKey: number): JsonValue {
  const list = currentRow(cell)?.value?.[lineageFieldByCode(fieldCode).listName]
  return Array.isArray(list) ? (list[recordKey - 1] ?? null) : null
}

export function markCreatedBy(
  set: WorkingSet,
  change: Extract<Change, { kind: 'upsertAspect' | 'patchAspect' }>
): boolean {
  return requiresEntity(change.aspectName) ? false : markCreated(set, standsOn(change.entityUrn))
}
