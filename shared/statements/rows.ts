/** The rows that lineage is made of: assertions of edges, and what is remembered of removals, replacements and patches of them. */
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
  /** The seq of the change that made it say so, where that is not `seq`. */
  changedSeq?: number | null
}

/** The key of a statement, its source left out. */
export type RemovedKey = Pick<StatementRow, 'downstreamId' | 'upstreamId' | 'ownerId' | 'field' | 'recordKey'>

/** An aspect of an owner; aspectCode is the statement's field >> 4. */
export type OwnerAspect = { ownerId: number; aspectCode: number }

/** An edge within an aspect of an owner. */
export type EdgeKey = OwnerAspect & { downstreamId: number; upstreamId: number }

/** A removal. upstreamId 0 stands for every upstream of a column; `code` is that of the aspect where all lists are meant, else removalCode. */
export type TombstoneRow = EdgeKey & Order & { code: number }

/**
 * A replacement. `code` is the aspect's, or that of the one list that was replaced (codes of lists begin where those of aspects end);
 * source 0 replaces what every source asserts.
 */
export type WatermarkRow = OwnerAspect & Order & { code: number; sourceId: number }

/** A patch of what an edge says beside its ends. `ordinal` is its place among the patches of one record. */
export type EdgePatchRow = EdgeKey &
  Order & { field: number; ordinal: number; operation: PatchOperation; changedSeq?: number | null }
