/** The rows of lineage: assertions of edges, and the removals, replacements and patches of them. */
import type { JsonObject, PatchOperation } from '../model/changes.ts'
import type { Order } from '../model/order.ts'

/** One assertion of one edge. The first six fields are its key. */
export type StatementRow = {
  downstreamId: number
  upstreamId: number
  ownerId: number
  field: number
  sourceId: number
  recordKey: number
  position: number
  seq: number
  line: number
  attributes: JsonObject | null
  /** The seq of the change that made the content of the row, if it is not `seq`. */
  changedSeq?: number | null
}

/** The key of a statement without its source. */
export type RemovedKey = Pick<StatementRow, 'downstreamId' | 'upstreamId' | 'ownerId' | 'field' | 'recordKey'>

/** An aspect of an owner; aspectCode is the statement's field >> 4. */
export type OwnerAspect = { ownerId: number; aspectCode: number }

/** An edge within an aspect of an owner. */
export type EdgeKey = OwnerAspect & { downstreamId: number; upstreamId: number }

/**
 * A removal. upstreamId 0 means every upstream of a column; `code` is the code of the aspect if all lists are
 * meant, otherwise removalCode.
 */
export type TombstoneRow = EdgeKey & Order & { code: number }

/**
 * A replacement. `code` is the code of the aspect or of the one list that was replaced (codes of lists are
 * greater than those of aspects); source 0 replaces what every source asserts.
 */
export type WatermarkRow = OwnerAspect & Order & { code: number; sourceId: number }

/** A patch of the attributes of an edge. `ordinal` is its place among the patches of one record. */
export type EdgePatchRow = EdgeKey &
  Order & { field: number; ordinal: number; operation: PatchOperation; changedSeq?: number | null }
