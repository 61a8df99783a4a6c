/**
 * URN to id and back, for all entities, packed: about 80 bytes for a URN of 120 characters, where strings in a Map take 250.
 *
 * A URN is kept as its mould and its name; a column as its asset's id and its path. Finding one takes a hash table of ids
 * (open addressing) and one comparison of the text. Nothing is ever taken out: ids are never used again.
 */
import { hashOfBytes, hashOfText } from '../urn/text-hash.ts'
import { toUrn, type Urn } from '../urn/urn.ts'
import { BytesPool } from './bytes-pool.ts'
import { GrowableInts } from './growable.ts'
import { createUrnMoulds, type UrnMould } from './urn-moulds.ts'

const columnBegin = 'urn:li:schemaField:('

export class UrnTable {
  readonly #moulds = createUrnMoulds()
  readonly #texts = new BytesPool()
  /** By id: the mould's index + 1; 0 is no entity; columns have `columnMould`. */
  readonly #mouldOf: GrowableInts
  readonly #textAt: GrowableInts
  readonly #parentOf = new GrowableInts(0)
  readonly #hashOf: GrowableInts
  #slots: Int32Array
  #count = 0
  static readonly #columnMould = 0x7fffffff

  /** `expectedCount` entities fit before anything has to grow. */
  constructor(expectedCount: number, greatestId: number) {
    this.#mouldOf = new GrowableInts(greatestId + 1)
    this.#textAt = new GrowableInts(greatestId + 1)
    this.#hashOf = new GrowableInts(greatestId + 1)
    this.#slots = new Int32Array(slotsFor(expectedCount))
  }

  get count(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#moulds.bytes + this.#texts.bytes + this.#mouldOf.bytes + this.#textAt.bytes + this.#parentOf.bytes + this.#hashOf.bytes + this.#slots.byteLength
  }

  has(id: number): boolean {
    return this.#mouldOf.at(id) !== 0
  }

  /** `parentId` is the asset of a column, else 0. An id that is there already stays as it is. */
  add(id: number, urn: Urn, parentId: number): void {
    if (this.has(id)) return
    if (urn.startsWith(columnBegin) && parentId !== 0) {
      this.#mouldOf.set(id, UrnTable.#columnMould)
      this.#textAt.set(id, this.#texts.add(columnPath(urn)))
    } else {
      const { mould, name } = this.#moulds.of(urn)
      this.#mouldOf.set(id, mould.index + 1)
      this.#textAt.set(id, this.#texts.add(name))
    }
    if (parentId !== 0) this.#parentOf.set(id, parentId)
    const hash = hashOfText(urn)
    this.#hashOf.set(id, hash)
    this.#count += 1
    if (this.#count * 3 > this.#slots.length * 2) this.#rehash()
    this.#put(this.#slots, id, hash)
  }

  /** The id of a URN; 0 for one that is not here. */
  idOf(urn: Urn): number {
    const hash = hashOfText(urn)
    const mask = this.#slots.length - 1
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const id = this.#slots[at] ?? 0
      if (id === 0) return 0
      if (this.#hashOf.at(id) === hash && this.#textOf(id) === urn) return id
    }
  }

  /** The same of bytes, all of them ASCII; the places are those where the URN begins and ends. */
  idOfBytes(bytes: Uint8Array, begin: number, end: number): number {
    const hash = hashOfBytes(bytes, begin, end)
    const mask = this.#slots.length - 1
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const id = this.#slots[at] ?? 0
      if (id === 0) return 0
      if (this.#hashOf.at(id) === hash && this.#isAt(id, bytes, begin, end)) return id
    }
  }

  /** Null for an id that is not here. */
  urnOf(id: number): Urn | null {
    // What was checked when it was written need not be parsed again: the text is the same, byte for byte.
    return this.has(id) ? this.#textOf(id) as Urn : null
  }

  /** The asset of a column; 0 for everything else. */
  parentOf(id: number): number {
    return this.#parentOf.at(id)
  }

  isColumn(id: number): boolean {
    return this.#mouldOf.at(id) === UrnTable.#columnMould
  }

  /** The mould of an entity or, for a column, of the asset that it belongs to in the end. Throws for an id that is not here. */
  mouldOf(id: number): UrnMould {
    let at = id
    while (this.isColumn(at)) at = this.#parentOf.at(at)
    return this.#moulds.at(this.#mouldOf.at(at) - 1)
  }

  #textOf(id: number): string {
    const text = this.#texts.at(this.#textAt.at(id) >>> 0)
    if (this.isColumn(id)) return `${columnBegin}${this.#textOf(this.#parentOf.at(id))},${text})`
    const mould = this.#moulds.at(this.#mouldOf.at(id) - 1)
    return mould.begin + text + mould.end
  }

  #isAt(id: number, bytes: Uint8Array, begin: number, end: number): boolean {
    if (this.isColumn(id)) return this.#textOf(id) === Buffer.from(bytes.buffer, bytes.byteOffset + begin, end - begin).toString('latin1')
    const mould = this.#moulds.at(this.#mouldOf.at(id) - 1)
    const [nameBegin, nameEnd] = [begin + mould.begin.length, end - mould.end.length]
    return nameBegin <= nameEnd && isText(mould.begin, bytes, begin) && isText(mould.end, bytes, nameEnd)
      && this.#texts.isAt(this.#textAt.at(id) >>> 0, bytes, nameBegin, nameEnd)
  }

  #put(slots: Int32Array, id: number, hash: number): void {
    const mask = slots.length - 1
    let at = hash & mask
    while (slots[at] !== 0) at = (at + 1) & mask
    slots[at] = id
  }

  /** 20 ms for a million: the hashes are kept, so no text is read. */
  #rehash(): void {
    const larger = new Int32Array(this.#slots.length * 2)
    for (const id of this.#slots) if (id !== 0) this.#put(larger, id, this.#hashOf.at(id))
    this.#slots = larger
  }
}

/** At most two thirds full, a power of two. */
const slotsFor = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(1_024, count * 1.5 + 1)))

function isText(text: string, bytes: Uint8Array, begin: number): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) !== bytes[begin + index]) return false
  return true
}

/** What follows the first comma outside the asset's own parentheses, up to the last parenthesis. */
function columnPath(urn: Urn): string {
  let depth = 0
  for (let index = columnBegin.length; index < urn.length; index += 1) {
    const code = urn.charCodeAt(index)
    if (code === 0x28) depth += 1
    else if (code === 0x29) depth -= 1
    else if (code === 0x2c && depth === 0) return urn.slice(index + 1, -1)
  }
  throw new Error(`${toUrn(urn)} names no column`)
}
