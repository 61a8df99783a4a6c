/**
 * The arrays that a walk writes to, reused by the next walk. A short walk clears only what it touched; new
 * arrays would be two zeroed bits for each id of the catalog, and garbage afterwards.
 */

export type WalkScratch = {
  /** All ids with room are less than this. */
  idsEnd: number
  /** One bit for each id that has been seen. */
  seen: Uint32Array
  /** One bit for each id found in the present degree. */
  next: Uint32Array
  /** One bit for each word of `next` that is not 0. */
  summary: Uint32Array
  /** The ids found, in order, with room for `ids.length`. */
  ids: Int32Array
  /** Room for the heads of all lists. */
  heads: Int32Array
}

const idsAtFirst = 1_024
/**
 * Scratches kept while no walk runs. Few are enough, because fifty readers that one barrier releases walk one
 * after the other.
 */
const idleMaxCount = 4
/** Length of `ids` or `heads` beyond which only one scratch is kept: 1 MB. */
const manyInts = 262_144
/** Room for ids that are added before the arrays must be replaced. */
const spareIds = 65_536

const idle: WalkScratch[] = []

/**
 * A scratch without any bit set. Return it with `giveBackScratch` after a walk that has cleared it; `ids` may
 * have any content.
 */
export function takeScratch(idsEnd: number): WalkScratch {
  const known = idle.pop()
  if (known && known.idsEnd >= idsEnd) return known
  const wordCount = ((idsEnd + spareIds) >>> 5) + 1
  return {
    idsEnd: idsEnd + spareIds,
    seen: new Uint32Array(wordCount),
    next: new Uint32Array(wordCount),
    summary: new Uint32Array((wordCount >>> 5) + 1),
    ids: new Int32Array(idsAtFirst),
    heads: new Int32Array(0)
  }
}

export function giveBackScratch(scratch: WalkScratch): void {
  if (
    idle.length >= idleMaxCount ||
    (Math.max(scratch.ids.length, scratch.heads.length) > manyInts && idle.length > 0)
  )
    return
  idle.push(scratch)
}

/** Makes room for `needed` ids in total, keeping the content of `ids`. */
export function reserveIds(scratch: WalkScratch, needed: number): Int32Array {
  if (needed <= scratch.ids.length) return scratch.ids
  const larger = new Int32Array(Math.max(needed, scratch.ids.length * 2))
  larger.set(scratch.ids)
  return (scratch.ids = larger)
}
