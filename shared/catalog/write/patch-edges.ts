/** Patches what single edges of a list say beside their ends. */
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
import { checkDownstreamWithinLimit, urnOf, type WorkingSet } from './working-set.ts'

const everySource = 0

/**
 * Keeps the patch beside the edge, stated or not, until the edge is removed or written anew. Says whether anything that
 * the list shows has changed. Throws VALIDATION_FAILED where an entry would be none that its list can hold, LIMIT_EXCEEDED (patchesPerEdgeMaxCount), FORBIDDEN.
 */
export function patchEdgeAttributes(
  set: WorkingSet,
  owner: OwnerStatements,
  edge: { fieldCode: number; downstreamId: number; upstreamId: number },
  operation: PatchOperation,
  order: Order
): boolean {
  const { fieldCode: field, downstreamId, upstreamId } = edge
  checkDownstreamWithinLimit(set, downstreamId)
  // A patch is nobody's: what one source replaces does not undo it.
  if (isOvertaken(set.merging, owner, field, edge, order, everySource)) return false
  const rows = rowsOfEdge(owner, downstreamId, upstreamId).filter((row) => row.field === field)
  const before = rows.map((row) => attributesOf(set, owner, row))
  countPatchValues(set.patchBudget, 1 + owner.patches.length)
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
  // Whoever sets what stands at a path last makes the others at that path idle: one is kept for each.
  if (samePath.some((patch) => sets(patch.operation) && compareOrder(patch, order) > 0)) return false
  const outdone = sets(operation) ? samePath.filter((patch) => compareOrder(patch, order) <= 0) : []
  dropPatches(set.merging, owner, outdone)
  addPatch(set.merging, owner, added)
  const kept = patchesOfEdge(owner, added).length
  checkCount(kept, 'patchesPerEdgeMaxCount', { field: operation.path, what: `The edge has ${kept} patches` })
  const after = rows.map((row) => attributesOf(set, owner, row))
  const other = lineageFieldByCode(field).entryIs === 'upstream' ? upstreamId : downstreamId
  for (const attributes of after)
    checkEdgeAttributes(lineageFieldByCode(field), urnOf(set, owner.ownerId), urnOf(set, other), attributes)
  const hasChanged = !equalJson(before, after)
  // Of an edge that nobody states only what takes the place of the same is no news.
  const isNews =
    hasChanged ||
    (rows.length === 0 &&
      !(
        sets(operation) &&
        samePath.some((patch) => equalJson(patch.operation as JsonObject, operation as JsonObject))
      ))
  if (!isNews) {
    // What found all as it says is the work of what it took the place of, if of anything.
    dropPatches(set.merging, owner, [added])
    addPatch(set.merging, owner, { ...added, changedSeq: Math.max(0, ...outdone.map(seqOfChange)) })
  }
  return hasChanged
}

const sets = ({ op }: PatchOperation): boolean => op === 'add' || op === 'replace'

/** What a list says about a statement's edge beside its ends. */
const attributesOf = (set: WorkingSet, owner: OwnerStatements, row: StatementRow) =>
  patchedAttributes(
    row,
    explicitAttributes(row.field, row.attributes),
    patchesOfEdge(owner, row),
    set.patchBudget
  )
