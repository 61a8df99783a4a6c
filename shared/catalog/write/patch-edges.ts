/** Patches the attributes of single edges of a list. */
import type { JsonObject, PatchOperation } from '../../model/changes.ts'
import { checkCount } from '../../model/count-checks.ts'
import { equalJson } from '../../model/equal-json.ts'
import { patchedAttributes } from '../../model/edge-patches.ts'
import { explicitAttributes } from '../../model/lineage-document.ts'
import { lineageFieldByCode } from '../../model/lineage-fields.ts'
import { checkEdgeAttributes } from '../../model/lineage-patch.ts'
import { compareOrder, seqOfChange, type Order } from '../../model/order.ts'
import { countPatchValues } from '../../model/patch-work.ts'
import {
  addPatch,
  dropPatches,
  isOvertaken,
  patchesOfEdge,
  rowsOfEdge,
  type OwnerStatements
} from '../../statements/merge.ts'
import type { EdgePatchRow, StatementRow } from '../../statements/rows.ts'
import { checkDownstreamWithinLimit, urnOf, type UnitOfWork } from './unit-of-work.ts'

const everySource = 0

/**
 * Stores the patch with the edge, whether or not the edge is stated, until the edge is removed or written
 * again. Returns whether the list now looks different. Throws VALIDATION_FAILED if the list cannot contain
 * the resulting entry, LIMIT_EXCEEDED (patchesPerEdgeMaxCount), FORBIDDEN.
 */
export function patchEdgeAttributes(
  work: UnitOfWork,
  owner: OwnerStatements,
  edge: { fieldCode: number; downstreamId: number; upstreamId: number },
  operation: PatchOperation,
  order: Order
): boolean {
  const { fieldCode: field, downstreamId, upstreamId } = edge
  checkDownstreamWithinLimit(work, downstreamId)
  // A patch has no source: a replacement by one source does not undo it.
  if (isOvertaken(work.merging, owner, field, edge, order, everySource)) return false
  const rows = rowsOfEdge(owner, downstreamId, upstreamId).filter((row) => row.field === field)
  const before = rows.map((row) => attributesOf(work, owner, row))
  countPatchValues(work.patchBudget, 1 + owner.patches.length)
  const ordinal =
    1 +
    Math.max(
      0,
      ...owner.patches.filter((patch) => compareOrder(patch, order) === 0).map((patch) => patch.ordinal)
    )
  const added: EdgePatchRow = {
    ownerId: owner.ownerId,
    aspectCode: owner.aspectCode,
    field,
    downstreamId,
    upstreamId,
    ...order,
    ordinal,
    operation
  }
  const samePath = patchesOfEdge(owner, added).filter((patch) => patch.operation.path === operation.path)
  // The last patch that sets a path overrides the earlier patches of that path, so one is kept for each path.
  if (samePath.some((patch) => setsValue(patch.operation) && compareOrder(patch, order) > 0)) return false
  const superseded = setsValue(operation) ? samePath.filter((patch) => compareOrder(patch, order) <= 0) : []
  dropPatches(work.merging, owner, superseded)
  addPatch(work.merging, owner, added)
  const kept = patchesOfEdge(owner, added).length
  checkCount(kept, 'patchesPerEdgeMaxCount', { field: operation.path, what: `The edge has ${kept} patches` })
  const after = rows.map((row) => attributesOf(work, owner, row))
  const other = lineageFieldByCode(field).entryIs === 'upstream' ? upstreamId : downstreamId
  for (const attributes of after)
    checkEdgeAttributes(lineageFieldByCode(field), urnOf(work, owner.ownerId), urnOf(work, other), attributes)
  const hasChanged = !equalJson(before, after)
  // If nobody states the edge, a patch changes nothing only if it repeats the superseded patch.
  const isVisible =
    hasChanged ||
    (rows.length === 0 &&
      !(
        setsValue(operation) &&
        samePath.some((patch) => equalJson(patch.operation as JsonObject, operation as JsonObject))
      ))
  if (!isVisible) {
    // A patch without effect counts as the patch that it supersedes, if there is one.
    dropPatches(work.merging, owner, [added])
    addPatch(work.merging, owner, { ...added, changedSeq: Math.max(0, ...superseded.map(seqOfChange)) })
  }
  return hasChanged
}

const setsValue = ({ op }: PatchOperation): boolean => op === 'add' || op === 'replace'

/** The attributes that a list shows for the edge of a statement. */
const attributesOf = (work: UnitOfWork, owner: OwnerStatements, row: StatementRow) =>
  patchedAttributes(
    row,
    explicitAttributes(row.field, row.attributes),
    patchesOfEdge(owner, row),
    work.patchBudget
  )
