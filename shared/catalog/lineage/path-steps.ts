/**
 * The steps of shortest paths: from each entity to its neighbours in the next level, and the first paths
 * along them.
 */
import { isInSorted } from '../../model/first-index.ts'
import type { LineageDirection, LineageLevel } from '../../model/walk.ts'
import type { LineageReader } from './lineage-reader.ts'

/** The ids of the next step, ascending, by id. */
export type Steps = ReadonlyMap<number, readonly number[]>

const idsPerSlice = 5_000
const looksBetweenPauses = 5_000

/** The neighbours of each id that are in `within` (ascending), at most `maxCount` of them, the least ids first. */
export async function stepsInto(
  reader: LineageReader,
  ids: readonly number[] | Int32Array,
  { direction, level }: { direction: LineageDirection; level: LineageLevel },
  within: Int32Array,
  maxCount = Infinity
): Promise<Steps> {
  const steps = new Map<number, readonly number[]>()
  let looks = 0
  for (let begin = 0; begin < ids.length; begin += idsPerSlice) {
    const slice = ids.slice(begin, begin + idsPerSlice)
    const neighboursOf = await reader.neighbours(slice, direction, level)
    for (const id of slice) {
      const found: number[] = []
      for (const neighbour of neighboursOf(id)) {
        looks += 1
        if (!isInSorted(within, neighbour)) continue
        found.push(neighbour)
        if (found.length === maxCount) break
      }
      steps.set(id, found)
      if (looks < looksBetweenPauses) continue
      looks = 0
      await reader.pause()
    }
  }
  return steps
}

/** A path as a linked list from its last entity back, so paths share their beginnings. */
type Path = { id: number; before: Path | null }

/**
 * The first `count` paths of `hops` hops from an entity, ordered by the ids of their steps. Every entity
 * before the last hop must have a next step, so that all paths are complete. Each path is a list of hops + 1
 * ids.
 */
export function firstPaths(
  fromId: number,
  hops: number,
  nextOf: (id: number, hop: number) => readonly number[],
  count: number
): number[][] {
  let paths: Path[] = [{ id: fromId, before: null }]
  for (let hop = 0; hop < hops; hop += 1) {
    const longer: Path[] = []
    for (const path of paths) {
      for (const id of nextOf(path.id, hop)) {
        if (longer.length === count) break
        longer.push({ id, before: path })
      }
    }
    paths = longer
  }
  return paths.slice(0, count).map((last) => {
    const ids: number[] = []
    for (let path: Path | null = last; path; path = path.before) ids.push(path.id)
    return ids.reverse()
  })
}
