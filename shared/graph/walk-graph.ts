/**
 * The lineage walk in memory: breadth first over a frozen view, exact least degrees, bounded, in slices.
 *
 * Who has been seen is a bitmap. The ids of a degree come out ascending: a large level through a second bitmap that is read
 * from its low end (1 to 2 ms for 300,000; sorting them took 20), a small one by sorting. Measured on two cores against the
 * walk in SQL (shared/store/lineage-walk.ts): see docs/lineage.md.
 */
import type { Walk, WalkQuestion } from '../model/walk.ts'
import type { AdjacencyView } from './adjacency.ts'
import { pageBits, pageMask } from './pages.ts'
import type { Pause } from './turns.ts'

/** A level with more than one id for so many words of the bitmap is put in order by the bitmap, a smaller one by sorting. */
const wordsPerSortedId = 16
/** Ids followed between looks at the clock. */
const idsPerLook = 512
/** Edges followed between looks at the clock, but for the last list. */
const edgesPerLook = 65_536

/** Ids found, in one array that grows. */
class Found {
  ids: Int32Array = new Int32Array(256)
  count = 0
}

/** `adjacency` leads the way that is walked. All ids of the view are below `idsEnd`. Throws what `pause` throws. */
export async function walkGraph(adjacency: AdjacencyView, idsEnd: number, question: Omit<WalkQuestion, 'direction' | 'level'>, pause: Pause): Promise<Walk> {
  const { startIds, hopsWanted, bounds } = question
  const seen = new Uint32Array((idsEnd >>> 5) + 1)
  const putInOrder = orderer(idsEnd)
  const found = new Found()
  const starts = [...new Set(startIds)].filter((id) => id > 0 && id < idsEnd)
  for (const id of starts) mark(seen, id)
  const levelEnds: number[] = []
  let cutBy: Walk['cutBy'] = null
  let hops = 0
  let frontier: Int32Array = Int32Array.from(starts)

  for (let hop = 1; hop <= hopsWanted && frontier.length > 0; hop += 1) {
    const begin = found.count
    await follow(adjacency, frontier, seen, found, pause)
    if (hop > bounds.maxHops) {
      if (found.count > begin) cutBy = 'maxHops'
      found.count = begin
      break
    }
    await putInOrder(found.ids.subarray(begin, found.count), pause)
    if (found.count > bounds.maxEntities) {
      cutBy = 'maxEntities'
      found.count = bounds.maxEntities
    }
    levelEnds.push(found.count)
    if (cutBy) break
    hops = hop
    frontier = found.ids.slice(begin, found.count)
  }
  return { ids: found.ids.slice(0, found.count), degrees: degreesOf(levelEnds, found.count), hops, cutBy }
}

const mark = (bits: Uint32Array, id: number): void => { bits[id >>> 5] = (bits[id >>> 5] ?? 0) | (1 << (id & 31)) }

/** Adds the neighbours of a frontier that were not seen before. */
async function follow({ heads, pool }: AdjacencyView, frontier: Int32Array, seen: Uint32Array, found: Found, pause: Pause): Promise<void> {
  for (let begin = 0; begin < frontier.length;) {
    begin = followSome(heads, pool, frontier, begin, seen, found)
    if (begin < frontier.length || frontier.length > idsPerLook) await pause()
  }
}

/** The hot loop, free of awaits. Gives where to go on. */
function followSome(heads: readonly Int32Array[], pool: Int32Array, frontier: Int32Array, begin: number, seen: Uint32Array, found: Found): number {
  const end = Math.min(frontier.length, begin + idsPerLook)
  let { ids, count } = found
  let followed = 0
  for (let index = begin; index < end; index += 1) {
    const id = frontier[index] ?? 0
    const page = heads[id >>> pageBits]
    if (page === undefined) continue
    const at = (id & pageMask) * 2
    const listBegin = page[at] ?? 0
    const length = page[at + 1] ?? 0
    while (count + length > ids.length) {
      found.count = count
      ids = widen(found, count + length)
    }
    for (let place = listBegin; place < listBegin + length; place += 1) {
      const far = pool[place] ?? 0
      const word = seen[far >>> 5] ?? 0
      const bit = 1 << (far & 31)
      if ((word & bit) !== 0) continue
      seen[far >>> 5] = word | bit
      ids[count] = far
      count += 1
    }
    followed += length
    if (followed > edgesPerLook) {
      found.count = count
      return index + 1
    }
  }
  found.count = count
  return end
}

function widen(found: Found, needed: number): Int32Array {
  const larger = new Int32Array(Math.max(needed, found.ids.length * 2))
  larger.set(found.ids)
  found.ids = larger
  return larger
}

/** Makes what puts ids that are all different in ascending order. */
function orderer(idsEnd: number): (ids: Int32Array, pause: Pause) => Promise<void> {
  const wordCount = (idsEnd >>> 5) + 1
  let bits: Uint32Array | null = null
  return async (ids, pause) => {
    if (ids.length * wordsPerSortedId <= wordCount) {
      ids.sort()
      return
    }
    bits ??= new Uint32Array(wordCount)
    for (const id of ids) mark(bits, id)
    await pause()
    readInOrder(bits, ids)
    await pause()
  }
}

/** Writes the ids of a bitmap into `ids`, from the lowest, and empties the bitmap. 1 ms for a million words and ids. */
function readInOrder(bits: Uint32Array, ids: Int32Array): void {
  let count = 0
  for (let word = 0; count < ids.length; word += 1) {
    let left = bits[word] ?? 0
    if (left === 0) continue
    bits[word] = 0
    for (; left !== 0; left &= left - 1) {
      ids[count] = word * 32 + (31 - Math.clz32(left & -left))
      count += 1
    }
  }
}

function degreesOf(levelEnds: readonly number[], count: number): Uint16Array {
  const degrees = new Uint16Array(count)
  let begin = 0
  for (const [index, end] of levelEnds.entries()) {
    degrees.fill(index + 1, begin, end)
    begin = end
  }
  return degrees
}
