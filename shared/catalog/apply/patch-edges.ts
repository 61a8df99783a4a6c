/** Patches what single edges of a list say beside their ends. */
import type { PatchOperation } from '../../model/changes.ts'
import { equalJson } from '../../model/equal-json.ts'
import { patchedAttributes } from '../../model/edge-patches.ts'
import { explicitAttributes } from '../../model/lineage-document.ts'
import { lineageFieldByCode } from '../../model/lineage-fields.ts'
import { checkEdgeAttributes } from '../../model/lineage-patch.ts'
import type { Order } from '../../model/order.ts'
import type { StatementRow } from '../../store/statements.ts'
import { addPatch, edgeKey, isOvertaken, patchesOfEdge, rowsOfEdge, type EdgeCell } from './edge-cells.ts'
import { urnOf, type WorkingSet } from './working-set.ts'

/**
 * An edge that is not stated is left alone, but for what an older load may yet state. Says whether anything that the list
 * shows has changed. Throws VALIDATION_FAILED where an entry would be none that its list can hold.
 */
export function patchEdgeAttributes(set: WorkingSet, cell: EdgeCell, edge: { fieldCode: number, downstreamId: number, upstreamId: number }, operation: PatchOperation, order: Order): boolean {
  const { fieldCode: field, downstreamId, upstreamId } = edge
  if (isOvertaken(set, cell, field, edge, order, set.sourceId)) return false
  const rows = rowsOfEdge(cell, downstreamId, upstreamId).filter((row) => row.field === field)
  const before = rows.map((row) => attributesOf(cell, row))
  const ordinal = [...cell.patches].filter((patch) => patch.seq === order.seq && patch.line === order.line).length
  addPatch(set, cell, { ownerId: cell.ownerId, aspectCode: cell.aspectCode, field, downstreamId, upstreamId, ...order, ordinal, operation })
  const after = rows.map((row) => attributesOf(cell, row))
  const other = lineageFieldByCode(field).entryIs === 'upstream' ? upstreamId : downstreamId
  for (const attributes of after) checkEdgeAttributes(lineageFieldByCode(field), urnOf(set, cell.ownerId), urnOf(set, other), attributes)
  return !equalJson(before, after)
}

/** What a list says about a statement's edge beside its ends. */
export const attributesOf = (cell: EdgeCell, row: StatementRow) => patchedAttributes(row, explicitAttributes(row.field, row.attributes), patchesOfEdge(cell, row))

/** Makes what patches say part of what they patch, as far as that was read: nothing is left that could come between. */
export function settlePatches(cell: EdgeCell): void {
  const settled = [...cell.patches].filter((patch) => cell.isWhole || cell.edgesRead.has(edgeKey(patch.downstreamId, patch.upstreamId)))
  if (settled.length === 0) return
  for (const [key, row] of cell.rows) {
    const attributes = attributesOf(cell, row)
    if (!equalJson(attributes, explicitAttributes(row.field, row.attributes))) cell.rows.set(key, { ...row, attributes })
  }
  for (const patch of settled) cell.patches.delete(patch)
}
