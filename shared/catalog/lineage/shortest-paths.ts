/**
 * Finds all shortest paths between two entities by searching from both ends, and keeps the edges on any of
 * them.
 */
import type { LineageDirection, LineageLevel, Walk, WalkBounds } from '../../model/walk.ts'
import { isInSorted } from '../../model/first-index.ts'
import { idSet } from '../../store/id-set.ts'
import type { LineageReader } from './lineage-reader.ts'
import { stepsInto, type Steps } from './path-steps.ts'

export type ShortestPaths = {
  /** Length of every shortest path; null if there is none, or none within the bounds. */
  hops: number | null
  cutBy: Walk['cutBy']
  visited: number
  /** The next entities on shortest paths, ascending; empty at the end. */
  nextOf: (id: number) => readonly number[]
  /** Number of shortest paths; Number.MAX_SAFE_INTEGER also means more. */
  total: number
}

/** One side of the search: the ids reached at each hop, ascending; hop 0 is the end itself. */
type Side = { direction: LineageDirection; levels: Int32Array[]; reached: ReturnType<typeof idSet> }

const idsPerSlice = 5_000
/** The result if there is nothing to search from. */
export const noPaths: ShortestPaths = { hops: null, cutBy: null, visited: 0, nextOf: () => [], total: 0 }

/**
 * The shortest paths from `fromId` downstream to `toId`, which must differ. Both sides advance a hop at a
 * time, the smaller one next, until they meet. Every shortest path then contains an entity where they met.
 * Throws DEADLINE_EXCEEDED.
 */
export async function shortestPaths(
  reader: LineageReader,
  fromId: number,
  toId: number,
  level: LineageLevel,
  bounds: WalkBounds
): Promise<ShortestPaths> {
  const ahead = sideFrom(fromId, 'DOWNSTREAM')
  const back = sideFrom(toId, 'UPSTREAM')
  let visited = 0
  for (let hops = 1; ; hops += 1) {
    const side = last(ahead).length <= last(back).length ? ahead : back
    const other = side === ahead ? back : ahead
    const found = await nextLevel(reader, side, level)
    if (found.length === 0) return { ...noPaths, visited }
    if (hops > bounds.maxHops) return { ...noPaths, visited, cutBy: 'maxHops' }
    visited += found.length
    if (visited > bounds.maxEntities) return { ...noPaths, visited, cutBy: 'maxEntities' }
    side.levels.push(found)
    if (found.some((id) => other.reached.has(id))) {
      const next = await edgesOnPaths(reader, ahead, back, level)
      return {
        hops,
        cutBy: null,
        visited,
        nextOf: (id) => next.get(id) ?? [],
        total: countPaths(next, fromId)
      }
    }
  }
}

function sideFrom(id: number, direction: LineageDirection): Side {
  const reached = idSet()
  reached.add(id)
  return { direction, levels: [Int32Array.of(id)], reached }
}

const last = ({ levels }: Side): Int32Array => levels.at(-1) ?? new Int32Array()

async function nextLevel(
  reader: LineageReader,
  { direction, levels, reached }: Side,
  level: LineageLevel
): Promise<Int32Array> {
  const frontier = levels.at(-1) ?? new Int32Array()
  const found: number[] = []
  for (let begin = 0; begin < frontier.length; begin += idsPerSlice) {
    const slice = frontier.subarray(begin, begin + idsPerSlice)
    const near = await reader.neighbours(slice, direction, level)
    for (const id of slice) for (const far of near(id)) if (reached.add(far)) found.push(far)
    await reader.pause()
  }
  return Int32Array.from(found).sort()
}

/**
 * The edges of all shortest paths, from each entity to the next ones. The last levels of both sides contain
 * the middle of every path. From there the search goes back through the levels that each side reached one hop
 * earlier.
 */
async function edgesOnPaths(
  reader: LineageReader,
  ahead: Side,
  back: Side,
  level: LineageLevel
): Promise<Steps> {
  const middle = last(ahead).filter((id) => isInSorted(last(back), id))
  const before: [number, readonly number[]][] = []
  for (let on = middle, hop = ahead.levels.length - 2; hop >= 0; hop -= 1) {
    const within = ahead.levels[hop] ?? new Int32Array()
    const edges = await stepsInto(reader, on, { direction: 'UPSTREAM', level }, within)
    const next = new Map<number, number[]>()
    for (const [id, earlier] of edges) for (const near of earlier) pushTo(next, near, id)
    for (const [id, ids] of next) before.push([id, ids.sort((a, b) => a - b)])
    on = Int32Array.from(next.keys()).sort()
  }
  const next = new Map(before)
  for (let on = middle, hop = back.levels.length - 2; hop >= 0; hop -= 1) {
    const within = back.levels[hop] ?? new Int32Array()
    const edges = await stepsInto(reader, on, { direction: 'DOWNSTREAM', level }, within)
    for (const [id, later] of edges) next.set(id, later)
    on = Int32Array.from(new Set([...edges.values()].flat())).sort()
  }
  return next
}

function pushTo(lists: Map<number, number[]>, key: number, value: number): void {
  const own = lists.get(key)
  if (own) own.push(value)
  else lists.set(key, [value])
}

/**
 * Counts paths from the last hop backwards: each entity has the sum of the paths of the entities after it.
 */
function countPaths(nextOf: ReadonlyMap<number, readonly number[]>, fromId: number): number {
  const hops: number[][] = [[fromId]]
  for (let on = [fromId]; on.length > 0; hops.push(on))
    on = [...new Set(on.flatMap((id) => nextOf.get(id) ?? []))]
  const paths = new Map<number, number>()
  for (const id of hops.reverse().flat()) {
    const next = nextOf.get(id) ?? []
    paths.set(
      id,
      next.length === 0
        ? 1
        : next.reduce((sum, after) => Math.min(Number.MAX_SAFE_INTEGER, sum + (paths.get(after) ?? 0)), 0)
    )
  }
  return paths.get(fromId) ?? 0
}
