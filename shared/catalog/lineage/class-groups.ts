/** Groups many entities by their class, for who looks at what they have in common and not at each. */
import type { EntityClass } from './lineage-reader.ts'

/** Entities of one class; a class may have several groups. `entityClass` is null for entities that are not known. */
export type ClassGroup = { number: number; entityClass: EntityClass | null; count: number }

/** The group number of each id, in the order of the ids, and the groups that occur. Numbers are small and not negative. */
export type ClassGroups = { numbers: Int32Array; groups: readonly ClassGroup[] }

/** Groups entities by numbers. `classOf` is asked once for each number that occurs. */
export type GroupNumbers = (
  numbers: Int32Array,
  classOf: (number: number) => EntityClass | null
) => ClassGroups

/** Makes a GroupNumbers that counts in the same memory each time: there may be far more numbers than entities in a call. */
export function createGroupNumbers(): GroupNumbers {
  /** How often each number occurs. All 0 between calls. */
  let counts = new Uint32Array(1_024)
  return (numbers, classOf) => {
    // Hot loops: the first finds the greatest number, so that the second need not check.
    let greatest = 0
    for (let at = 0; at < numbers.length; at += 1) greatest = Math.max(greatest, numbers[at] ?? 0)
    if (greatest >= counts.length) counts = new Uint32Array(greatest * 2)
    const found: number[] = []
    for (let at = 0; at < numbers.length; at += 1) {
      const number = numbers[at] ?? 0
      const count = counts[number] ?? 0
      if (count === 0) found.push(number)
      counts[number] = count + 1
    }
    const foundCounts = found.map((number) => counts[number] ?? 0)
    for (const number of found) counts[number] = 0
    return {
      numbers,
      groups: found.map((number, at) => ({
        number,
        entityClass: classOf(number),
        count: foundCounts[at] ?? 0
      }))
    }
  }
}
