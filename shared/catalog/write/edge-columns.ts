/** Edges with their ends resolved, column by column: thousands are sorted, picked and counted without an object for each. */
import { orderedBy, placesUpTo } from '../../model/digit-order.ts'

/** An entry of each array for each edge. `places` are those in what the edges were read from; ids are 0 where there are none. */
export type EdgeColumns = {
  places: Int32Array
  lines: Int32Array
  downstreamIds: Int32Array
  upstreamIds: Int32Array
  ownerIds: Int32Array
  fields: Int32Array
}

export const emptyColumns = (length: number): Omit<EdgeColumns, 'lines'> => ({
  places: new Int32Array(length),
  downstreamIds: new Int32Array(length),
  upstreamIds: new Int32Array(length),
  ownerIds: new Int32Array(length),
  fields: new Int32Array(length)
})

/** Those without 0, ascending. */
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

export const reorder = (columns: EdgeColumns, order: Uint32Array | Int32Array): EdgeColumns => {
  // By hand: Int32Array.from goes through an iterator, and takes five times as long.
  const take = (column: Int32Array): Int32Array => {
    const taken = new Int32Array(order.length)
    for (let index = 0; index < taken.length; index += 1) taken[index] = column[order[index] ?? 0] ?? 0
    return taken
  }
  const { places, lines, downstreamIds, upstreamIds, ownerIds, fields } = columns
  return {
    places: take(places),
    lines: take(lines),
    downstreamIds: take(downstreamIds),
    upstreamIds: take(upstreamIds),
    ownerIds: take(ownerIds),
    fields: take(fields)
  }
}

export const pick = (columns: EdgeColumns, isTaken: (at: number) => boolean): EdgeColumns =>
  reorder(columns, placesWhere(columns.places.length, isTaken))

export function placesWhere(length: number, isTaken: (at: number) => boolean): Uint32Array<ArrayBuffer> {
  const places = new Uint32Array(length)
  let count = 0
  for (let at = 0; at < length; at += 1) if (isTaken(at)) places[count++] = at
  return places.slice(0, count)
}

/** Neighbouring keys share pages, and two writers meet in one order; the lines of one edge ascend. */
export function inKeyOrder(columns: EdgeColumns): EdgeColumns {
  const { lines, upstreamIds, downstreamIds } = columns
  return reorder(
    columns,
    orderedBy(downstreamIds, orderedBy(upstreamIds, orderedBy(lines, placesUpTo(lines.length))))
  )
}

/** Each edge once, by its last line (1) or its first (-1). The columns are in key order. */
export function pickOfRepeats(sorted: EdgeColumns, side: 1 | -1): EdgeColumns {
  const { downstreamIds, upstreamIds } = sorted
  const isRepeated = (at: number): boolean =>
    downstreamIds[at] === downstreamIds[at + side] && upstreamIds[at] === upstreamIds[at + side]
  return downstreamIds.some((_, at) => isRepeated(at)) ? pick(sorted, (at) => !isRepeated(at)) : sorted
}

export function without(columns: EdgeColumns, ...taken: readonly Int32Array[]): EdgeColumns {
  if (taken.every((each) => each.length === 0)) return columns
  const isTaken = new Uint8Array(columns.places.length)
  for (const each of taken) for (const at of each) isTaken[at] = 1
  return pick(columns, (at) => isTaken[at] === 0)
}
