/**
 * Texts, each once and with a place, packed as bytes and found by their bytes: no string is made to look one up.
 *
 * A Map of as many strings takes no longer to look one up; but the strings that are made for that, and that it keeps, take the garbage
 * collector as long again, and three times the memory.
 */
import { areSame, viewOf } from './byte-words.ts'
import { hashOfBytes } from './text-hash.ts'

const separator = 0x0a

export class TextTable {
  #bytes = Buffer.allocUnsafeSlow(1 << 12)
  #view = viewOf(this.#bytes)
  #length = 0
  /** Where each text ends; the next begins one byte further. */
  #ends = new Int32Array(64)
  #hashes = new Int32Array(64)
  /** Open addressing, at most half full: places from 1, 0 is free. */
  #slots = new Int32Array(256)
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Of the texts, each with a separator. */
  get length(): number {
    return this.#length
  }

  /** The place of a text; -1 where it is not here. `hash` is what hashOfBytes says of it. */
  find(bytes: DataView, begin: number, end: number, hash: number): number {
    const [slots, mask] = [this.#slots, this.#slots.length - 1]
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const place = (slots[at] ?? 0) - 1
      if (place < 0) return -1
      if (this.#hashes[place] === hash && this.#isAt(place, bytes, begin, end)) return place
    }
  }

  /** The place of a text, which must hold no line break; made where it is not here. */
  placeOf(bytes: DataView, begin: number, end: number): number {
    const hash = hashOfBytes(bytes, begin, end)
    const known = this.find(bytes, begin, end, hash)
    return known >= 0 ? known : this.add(bytes, begin, end, hash)
  }

  /** Takes a text that is not here. */
  add(bytes: DataView, begin: number, end: number, hash: number): number {
    const place = this.#count
    this.#makeRoom(end - begin + 1)
    const own = this.#bytes
    let at = this.#length
    for (let from = begin; from < end; from += 1) own[at++] = bytes.getUint8(from)
    own[at] = separator
    this.#ends[place] = at
    this.#hashes[place] = hash
    this.#length = at + 1
    this.#count = place + 1
    put(this.#slots, place, hash)
    return place
  }

  /** All texts in the order of their places, each followed by a line break: the table's own memory. */
  lines(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Holds nothing any more, and keeps its memory for what comes. */
  clear(): void {
    this.#slots.fill(0)
    this.#length = 0
    this.#count = 0
  }

  #isAt(place: number, bytes: DataView, begin: number, end: number): boolean {
    const at = place === 0 ? 0 : (this.#ends[place - 1] ?? 0) + 1
    return (this.#ends[place] ?? 0) - at === end - begin && areSame(this.#view, at, bytes, begin, end - begin)
  }

  #makeRoom(length: number): void {
    if (this.#length + length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + length))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
      this.#view = viewOf(larger)
    }
    if (this.#count === this.#ends.length) {
      this.#ends = twice(this.#ends)
      this.#hashes = twice(this.#hashes)
    }
    if (this.#count * 2 < this.#slots.length) return
    this.#slots = new Int32Array(this.#slots.length * 2)
    for (let place = 0; place < this.#count; place += 1) put(this.#slots, place, this.#hashes[place] ?? 0)
  }
}

function twice(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2)
  larger.set(numbers)
  return larger
}

function put(slots: Int32Array, place: number, hash: number): void {
  const mask = slots.length - 1
  let at = hash & mask
  while (slots[at] !== 0) at = (at + 1) & mask
  slots[at] = place + 1
}
