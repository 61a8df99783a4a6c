/**
 * What a walk writes on while it is under way, kept for the next walk: clearing what was touched costs a short walk
 * nothing, where arrays of its own would be two bits for each id of the catalog, zeroed, and garbage afterwards.
 */

export type WalkScratch = {
  /** All ids that it has room for are below. */
  idsEnd: number
  /** Who has been seen, a bit for each id. */
  seen: Uint32Array
  /** Who has been found in the degree at hand. */
  next: Uint32Array
  /** Which words of `next` hold something, a bit for each word. */
  summary: Uint32Array
  /** Ids found, in order, with room for `ids.length` of them. */
  ids: Int32Array
  /** Room for the heads of all lists, one behind the other. */
  heads: Int32Array
}

const idsAtFirst = 1_024
/** Scratches that are kept while nobody walks. Fifty readers that one barrier releases walk one after the other. */
const idleMaxCount = 4
/** Size of ids or heads beyond which only one scratch is kept: 1 MB. */
const manyInts = 262_144
/** Ids that may be added before scratches are made again. */
const spareIds = 65_536

const idle: WalkScratch[] = []

/** Clean: no bit is set. Give it back to `giveBackScratch` after a walk that ended well, clean again except for `ids`. */
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

/** Room for `needed` ids in all; what `ids` holds stays. */
export function reserveIds(scratch: WalkScratch, needed: number): Int32Array {
  if (needed <= scratch.ids.length) return scratch.ids
  const larger = new Int32Array(Math.max(needed, scratch.ids.length * 2))
  larger.set(scratch.ids)
  return (scratch.ids = larger)
}
