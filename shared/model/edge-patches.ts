/**
 * Patches of what an edge says beside its ends (`/upstreams/<urn>/type`).
 *
 * They are kept beside the statements and applied when the aspect is read, so that it does not matter which of the two
 * comes first: a patch counts for what was said about the edge before it, and for nothing that is said after.
 */
import { CatalogError } from '../errors.ts'
import type { JsonObject, PatchOperation } from './changes.ts'
import { applyPatch } from './json-patch.ts'
import { compareOrder, type Order } from './order.ts'
import { TooMuchPatching, type PatchBudget } from './patch-work.ts'
import { bareRecordKey } from './record-keys.ts'

/** `operation.path` is a JSON Pointer into the attributes; `ordinal` is the place among the patches of one record. */
export type EdgePatch = Order & { ordinal: number; operation: PatchOperation }

/** Whether a patch of the same edge changes a statement. A patch of only the ends has no attributes that could be newer. */
export const patchesIt = (edge: Order & { recordKey: number }, patch: Order): boolean =>
  edge.recordKey === bareRecordKey || compareOrder(patch, edge) >= 0

/** The attributes of a statement after the patches of its edge. One that no longer fits what it meets is left out. */
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

/** Null if one of the operations does not fit what it meets. */
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
