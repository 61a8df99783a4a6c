/**
 * The neighbours of each entity in one direction: for each id a list of ids in one large pool.
 *
 * The list is a multiset that is changed in place. An edge with three statements is in the list three times,
 * so a new statement appends one id without any lookup; walks skip ids that they have seen. This takes about
 * 5 bytes for a statement and 8 for an id.
 *
 * A view does not change: it never reads beyond the old end of a list, so appending is safe. A list that
 * loses an id while a view is in use is written again elsewhere; its old room is reused when no view needs
 * it. (Rebuilding both directions from pairs takes 39 ms for 400,000 edges and 1.4 s for 5 million; 1,000
 * changes in place take 3 to 4 ms.)
 */
import { Pages, pageBits, pageMask } from './pages.ts'
import { roomOf, sizeClassOf } from './size-classes.ts'
import type { Pause } from './turns.ts'

/** `heads` has the offset and the length of each id's list in `pool`; `pool` is used below `poolEnd`. */
export type AdjacencyView = { heads: readonly Int32Array[]; pool: Int32Array; poolEnd: number }

/** Room given up in an era: free when no view of that era or an earlier one is in use. */
type GivenUp = { offset: number; sizeClass: number; era: number }

/** Offsets in a pool are int32. */
const largestPool = 2 ** 31 - 1
const idsPerPause = 16_384
const pairsPerPause = 16_384
const fewMembers = 16

export class Adjacency {
  readonly #heads = new Pages<Int32Array>(2, (length) => new Int32Array(length))
  #pool: Int32Array
  #end = 0
  /** Offsets of free room by size class. */
  readonly #free: number[][] = []
  #givenUp: GivenUp[] = []

  /**
   * Reserves addresses for `expectedIds`; memory is only used where the pool is written. When a pool had to
   * grow, it was in memory twice until garbage was collected (200 MB of the 740 that an API took while it
   * received ten million edges), and copying it blocked the process. A pool in segments of 65,536 avoids both
   * problems, but walks took an eighth longer.
   */
  constructor(expectedIds = 1_024) {
    this.#pool = poolFor(expectedIds, 1_024)
  }

  view(): AdjacencyView {
    return { heads: this.#heads.view(), pool: this.#pool, poolEnd: this.#end }
  }

  freeze(): void {
    this.#heads.freeze()
  }

  /** Frees room that was given up before `era`: no view in use is older. */
  reclaim(era: number): void {
    const kept = this.#givenUp.findIndex((block) => block.era >= era)
    if (kept === 0) return
    const freed = kept < 0 ? this.#givenUp : this.#givenUp.slice(0, kept)
    for (const { offset, sizeClass } of freed) this.#freeOf(sizeClass).push(offset)
    this.#givenUp = kept < 0 ? [] : this.#givenUp.slice(kept)
  }

  /**
   * Removes members of one id's list. `era` is null if no view is in use. Throws if a member is not in the
   * list.
   */
  remove(id: number, members: readonly number[], era: number | null): void {
    const page = this.#heads.toWrite(id)
    const at = (id & pageMask) * 2
    const offset = page[at] ?? 0
    const length = page[at + 1] ?? 0
    const newLength = length - members.length
    const sizeClass = sizeClassOf(length)
    const newClass = sizeClassOf(newLength)
    const isInPlace = newClass === sizeClass && era === null
    const newOffset = isInPlace ? offset : this.#takeRoom(newClass)
    this.#copyWithout(id, offset, length, newOffset, members)
    page[at] = newOffset
    page[at + 1] = newLength
    if (!isInPlace) this.#giveUp(offset, sizeClass, era)
  }

  /**
   * Adds members to many lists: the `far` of each pair to the list of its `near`. `order` sorts the pairs by
   * `near`. `era` as in `remove`.
   */
  append(near: Int32Array, far: Int32Array, order: Uint32Array, era: number | null): void {
    for (let begin = 0, end = 0; begin < order.length; begin = end) {
      const id = near[order[begin] ?? 0] ?? 0
      while (end < order.length && near[order[end] ?? 0] === id) end += 1
      let at = this.#extend(id, end - begin, era)
      for (let index = begin; index < end; index += 1) this.#pool[at++] = far[order[index] ?? 0] ?? 0
    }
  }

  /**
   * Makes a list longer and returns the offset of its first new member. Views do not read beyond the old
   * length.
   */
  #extend(id: number, count: number, era: number | null): number {
    const page = this.#heads.toWrite(id)
    const at = (id & pageMask) * 2
    const offset = page[at] ?? 0
    const length = page[at + 1] ?? 0
    page[at + 1] = length + count
    const sizeClass = sizeClassOf(length)
    const newClass = sizeClassOf(length + count)
    if (newClass === sizeClass) return offset + length
    const newOffset = this.#takeRoom(newClass)
    this.#copy(offset, length, newOffset)
    page[at] = newOffset
    this.#giveUp(offset, sizeClass, era)
    return newOffset + length
  }

  #giveUp(offset: number, sizeClass: number, era: number | null): void {
    if (sizeClass === 0) return
    if (era === null) this.#freeOf(sizeClass).push(offset)
    else this.#givenUp.push({ offset, sizeClass, era })
  }

  #copy(offset: number, length: number, newOffset: number): void {
    // For few members a loop is faster than the call.
    if (length > fewMembers) this.#pool.copyWithin(newOffset, offset, offset + length)
    else
      for (let index = 0; index < length; index += 1)
        this.#pool[newOffset + index] = this.#pool[offset + index] ?? 0
  }

  #copyWithout(
    id: number,
    offset: number,
    length: number,
    newOffset: number,
    removed: readonly number[]
  ): void {
    const toRemove = new Map<number, number>()
    for (const member of removed) toRemove.set(member, (toRemove.get(member) ?? 0) + 1)
    let missing = removed.length
    let kept = 0
    for (let index = offset; index < offset + length; index += 1) {
      const member = this.#pool[index] ?? 0
      const times = missing > 0 ? (toRemove.get(member) ?? 0) : 0
      if (times > 0) {
        toRemove.set(member, times - 1)
        missing -= 1
      } else {
        // If a member is missing, the new room is too small for the other members.
        if (kept === length - removed.length) break
        this.#pool[newOffset + kept] = member
        kept += 1
      }
    }
    if (missing > 0) throw new Error(`the list of ${id} lacks ${missing} of the members to be removed`)
  }

  #freeOf(sizeClass: number): number[] {
    return (this.#free[sizeClass] ??= [])
  }

  #takeRoom(sizeClass: number): number {
    const known = this.#freeOf(sizeClass).pop()
    if (known !== undefined) return known
    const offset = this.#end
    this.#reserve(offset + roomOf(sizeClass))
    this.#end = offset + roomOf(sizeClass)
    return offset
  }

  /** Views keep their pool, so it can be replaced by a larger one at any time. */
  #reserve(room: number): void {
    if (room <= this.#pool.length) return
    const larger = poolFor(Math.ceil(this.#pool.length * 1.25), room)
    larger.set(this.#pool)
    this.#pool = larger
  }

  /** Fills an empty adjacency from pairs. `near` and `far` are of the same length. */
  async fill(
    near: readonly Int32Array[],
    far: readonly Int32Array[],
    greatestId: number,
    pause: Pause
  ): Promise<void> {
    const lengths = new Int32Array(greatestId + 1)
    for (const ids of near) {
      count(ids, lengths)
      await pause()
    }
    let room = 0
    for (let id = 0; id <= greatestId; id += 1) room += roomOf(sizeClassOf(lengths[id] ?? 0))
    this.#reserve(room)
    for (let id = 0; id <= greatestId; id += 1) {
      this.#beginList(id, lengths)
      if (id % idsPerPause === 0) await pause()
    }
    // From here on, `lengths` has the offset of the next member of each list, filled from its end downwards.
    for (const [index, ids] of near.entries()) {
      const others = far[index] ?? ids
      for (let begin = 0; begin < ids.length; begin += pairsPerPause) {
        place(
          ids.subarray(begin, begin + pairsPerPause),
          others.subarray(begin, begin + pairsPerPause),
          lengths,
          this.#pool
        )
        await pause()
      }
    }
  }

  #beginList(id: number, lengths: Int32Array): void {
    const length = lengths[id] ?? 0
    if (length === 0) return
    const page = this.#heads.toWrite(id)
    const at = (id & pageMask) * 2
    page[at] = this.#end
    page[at + 1] = length
    lengths[id] = this.#end + length
    this.#end += roomOf(sizeClassOf(length))
  }

  get bytes(): number {
    return this.#heads.bytes + this.#end * Int32Array.BYTES_PER_ELEMENT
  }
}

/** The pool that is needed, if there are no addresses for a larger one. */
function poolFor(expectedIds: number, neededIds: number): Int32Array {
  try {
    return new Int32Array(Math.min(largestPool, Math.max(expectedIds, neededIds)))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return new Int32Array(neededIds)
  }
}

function count(ids: Int32Array, lengths: Int32Array): void {
  for (const id of ids) lengths[id] = (lengths[id] ?? 0) + 1
}

/** The hot loop of `fill`: two random memory accesses per pair. */
function place(ids: Int32Array, others: Int32Array, ends: Int32Array, pool: Int32Array): void {
  for (let index = 0; index < ids.length; index += 1) {
    const id = ids[index] ?? 0
    const end = (ends[id] ?? 0) - 1
    ends[id] = end
    pool[end] = others[index] ?? 0
  }
}

/** The members of an id's list in a view, unordered, each once for each statement. */
export function membersIn({ heads, pool }: AdjacencyView, id: number): Int32Array {
  const page = heads[id >>> pageBits]
  const at = (id & pageMask) * 2
  const offset = page?.[at] ?? 0
  return pool.subarray(offset, offset + (page?.[at + 1] ?? 0))
}
