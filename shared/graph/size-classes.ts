/**
 * The sizes that lists are kept in: 1, 2, 3, 4, 6, 8, 12, 16, 24, 32… so that at most a third of a list's room is empty.
 *
 * The room of a list follows from its length alone, so nothing need be remembered of it, and a list that is given up
 * makes room for exactly those of its class.
 */

/** The class of a length: 0 for an empty list, then counting up with the size. */
export function sizeClassOf(length: number): number {
  if (length <= 2) return length
  const power = 31 - Math.clz32(length - 1)
  const isLowerHalf = length <= 3 * (1 << (power - 1))
  return 2 * power + (isLowerHalf ? 1 : 2)
}

/** How many ids a list of a class has room for. */
export function roomOf(sizeClass: number): number {
  if (sizeClass <= 2) return sizeClass
  const power = (sizeClass - 1) >>> 1
  return sizeClass % 2 === 1 ? 3 * (1 << (power - 1)) : 2 * (1 << power)
}
