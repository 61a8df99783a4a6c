/**
 * The sizes of the rooms of lists: 1, 2, 3, 4, 6, 8, 12, 16, 24, 32… so at most a third of a room is empty.
 * The room follows from the length of the list, so it need not be stored, and the room of a list that moved
 * fits any list of its class.
 */

/** The class of a length: 0 for an empty list, then counting up with the size. */
export function sizeClassOf(length: number): number {
  if (length <= 2) return length
  const power = 31 - Math.clz32(length - 1)
  const isLowerHalf = length <= 3 * (1 << (power - 1))
  return 2 * power + (isLowerHalf ? 1 : 2)
}

/** Number of ids in the room of a class. */
export function roomOf(sizeClass: number): number {
  if (sizeClass <= 2) return sizeClass
  const power = (sizeClass - 1) >>> 1
  return sizeClass % 2 === 1 ? 3 * (1 << (power - 1)) : 2 * (1 << power)
}
