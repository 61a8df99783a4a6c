/** The one binary search in sorted data. */

/**
 * The first index from `begin` and before `end` that fulfils the condition, or `end`. All later indexes must
 * fulfil it too.
 */
export function firstIndex(begin: number, end: number, isReached: (index: number) => boolean): number {
  let [low, high] = [begin, end]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isReached(middle)) high = middle
    else low = middle + 1
  }
  return low
}

type Sorted = Int32Array | Uint16Array

/** The index of the first of ascending numbers that is at least the value; their count if there is none. */
export const firstAtLeast = (sorted: Sorted, value: number): number =>
  firstIndex(0, sorted.length, (index) => (sorted[index] ?? 0) >= value)

export const isInSorted = (sorted: Sorted, value: number): boolean =>
  sorted[firstAtLeast(sorted, value)] === value
