/** Groups many entities by their class, so that code can decide once per class instead of once per entity. */
import type { EntityClass } from './lineage-reader.ts'

/** Entities of one class. A class may have several groups. `entityClass` is null for unknown entities. */
export type ClassGroup = { number: number; entityClass: EntityClass | null; count: number }

/**
 * The group number of each id, in the order of the ids, and the groups that occur. Numbers are small and at
 * least 0.
 */
export type ClassGroups = { numbers: Int32Array; groups: readonly ClassGroup[] }

/** Groups entities by numbers. `classOf` is asked once for each number that occurs. */
export type GroupNumbers = (
  numbers: Int32Array,
  classOf: (number: number) => EntityClass | null
) => ClassGroups

/**
 * Makes a GroupNumbers that reuses its array of counts: numbers may be far larger than a call has entities.
 */
export function createGroupNumbers(): GroupNumbers {
  /** How often each number occurs. All 0 between calls. */
  let counts = new Uint32Array(1_024)
  return (numbers, classOf) => {
    // Two hot loops: the first finds the largest number, so that the second does not need to check bounds.
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
