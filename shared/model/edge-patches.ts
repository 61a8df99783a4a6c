/**
 * Patches of the attributes of an edge (`/upstreams/<urn>/type`). They are stored next to the statements and
 * applied when the aspect is read, so that statement and patch may arrive in any order. A patch changes what
 * older changes said about the edge, and nothing newer.
 */
import { CatalogError } from '../errors.ts'
import type { JsonObject, PatchOperation } from './changes.ts'
import { applyPatch } from './json-patch.ts'
import { compareOrder, type Order } from './order.ts'
import { TooMuchPatching, type PatchBudget } from './patch-work.ts'
import { bareRecordKey } from './record-keys.ts'

/**
 * `operation.path` is a JSON Pointer into the attributes. `ordinal` is the number of the patch in its record.
 */
export type EdgePatch = Order & { ordinal: number; operation: PatchOperation }

/**
 * Whether a patch of the same edge changes a statement. It always changes a statement of only the ends,
 * because that has no attributes that could be newer.
 */
export const patchesIt = (edge: Order & { recordKey: number }, patch: Order): boolean =>
  edge.recordKey === bareRecordKey || compareOrder(patch, edge) >= 0

/**
 * The attributes of a statement after the patches of its edge. A patch that no longer fits the attributes is
 * skipped.
 */
export function patchedAttributes(
  edge: Order & { recordKey: number },
  attributes: JsonObject,
  patches: readonly EdgePatch[],
  budget: PatchBudget | null = null
): JsonObject {
  const operations = patches
    .filter((patch) => patchesIt(edge, patch))
    .sort((a, b) => compareOrder(a, b) || a.ordinal - b.ordinal)
    .map((patch) => patch.operation)
  if (operations.length === 0) return attributes
  return (
    patchWith(attributes, operations, budget) ??
    operations.reduce((before, operation) => patchWith(before, [operation], budget) ?? before, attributes)
  )
}

/** The patched attributes; null if one of the operations does not fit them. */
function patchWith(
  attributes: JsonObject,
  operations: PatchOperation[],
  budget: PatchBudget | null
): JsonObject | null {
  try {
    return applyPatch('', attributes, { patch: operations }, budget)
  } catch (error) {
    if (error instanceof CatalogError && !(error instanceof TooMuchPatching)) return null
    throw error
  }
}
