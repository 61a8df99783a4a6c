/** Edges with resolved ends, column by column, so that thousands need no object each. */
import type { EdgeKey } from './rows.ts'

/**
 * Each array has a value for each edge, in the order of the lines. All of the edges are removed, or all are
 * added.
 */
export type EdgeColumns = {
  isRemoval: boolean
  lines: Int32Array
  downstreamIds: Int32Array
  upstreamIds: Int32Array
  ownerIds: Int32Array
  fields: Int32Array
}

/** The distinct numbers without 0, ascending. */
export function distinct(numbers: Int32Array): Int32Array {
  const sorted = isAscending(numbers) ? numbers.slice() : numbers.toSorted()
  let count = 0
  for (let index = 0; index < sorted.length; index += 1) {
    const number = sorted[index] ?? 0
    if (number !== 0 && (count === 0 || sorted[count - 1] !== number)) sorted[count++] = number
  }
  return sorted.subarray(0, count)
}

function isAscending(numbers: Int32Array): boolean {
  for (let at = 1; at < numbers.length; at += 1) if ((numbers[at] ?? 0) < (numbers[at - 1] ?? 0)) return false
  return true
}

/** The keys of edges within aspects of owners. Each array has a value for each edge. */
export type EdgeKeyColumns = {
  ownerIds: Int32Array
  aspectCodes: Int32Array
  downstreamIds: Int32Array
  upstreamIds: Int32Array
}

/** The keys of single edges, followed by those of edges in columns. */
export function edgeKeys(
  singleEdges: readonly EdgeKey[],
  columns: EdgeColumns | null = null
): EdgeKeyColumns {
  const count = singleEdges.length + (columns?.lines.length ?? 0)
  const keys = {
    ownerIds: new Int32Array(count),
    aspectCodes: new Int32Array(count),
    downstreamIds: new Int32Array(count),
    upstreamIds: new Int32Array(count)
  }
  for (const [at, edge] of singleEdges.entries()) {
    keys.ownerIds[at] = edge.ownerId
    keys.aspectCodes[at] = edge.aspectCode
    keys.downstreamIds[at] = edge.downstreamId
    keys.upstreamIds[at] = edge.upstreamId
  }
  if (!columns) return keys
  keys.ownerIds.set(columns.ownerIds, singleEdges.length)
  keys.aspectCodes.set(
    columns.fields.map((field) => field >> 4),
    singleEdges.length
  )
  keys.downstreamIds.set(columns.downstreamIds, singleEdges.length)
  keys.upstreamIds.set(columns.upstreamIds, singleEdges.length)
  return keys
}
