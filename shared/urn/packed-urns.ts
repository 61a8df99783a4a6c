/**
 * URNs as bytes, one per line, so that thousands can be looked up, counted and compared without creating a
 * string for each.
 */
import { viewOf } from './byte-words.ts'
import { entityTypeOf, type Urn } from './urn.ts'

const newline = 0x0a

export class PackedUrns {
  readonly bytes: Buffer
  /** A DataView of the same memory. */
  readonly view: DataView
  readonly #ends: Int32Array

  /** `bytes` are checked URNs, separated by line breaks. No URN contains a line break. */
  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.view = viewOf(bytes)
    const ends: number[] = []
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, end + 1)) ends.push(end)
    if (bytes.length > 0) ends.push(bytes.length)
    this.#ends = new Int32Array(ends)
  }

  get length(): number {
    return this.#ends.length
  }

  beginOf(place: number): number {
    return place === 0 ? 0 : (this.#ends[place - 1] ?? 0) + 1
  }

  endOf(place: number): number {
    return this.#ends[place] ?? 0
  }

  at(place: number): Urn {
    return this.bytes.toString('utf8', this.beginOf(place), this.endOf(place)) as Urn
  }

  /** These URNs and then the others, of which neither list is empty. */
  followedBy(others: PackedUrns): PackedUrns {
    return new PackedUrns(Buffer.concat([this.bytes, Buffer.of(newline), others.bytes]))
  }

  /** The names of all types, and for each URN the index of its type in `names`. */
  types(): { names: string[]; typeOf: Int32Array } {
    const names: string[] = []
    const begins: Buffer[] = []
    const typeOf = new Int32Array(this.length)
    let last = -1
    for (let place = 0; place < typeOf.length; place += 1) {
      if (last < 0 || !this.#beginsWith(place, begins[last])) {
        const name = entityTypeOf(this.at(place))
        last = names.indexOf(name)
        if (last < 0) {
          last = names.push(name) - 1
          begins.push(Buffer.from(`urn:li:${name}:`, 'utf8'))
        }
      }
      typeOf[place] = last
    }
    return { names, typeOf }
  }

  #beginsWith(place: number, text: Buffer | undefined): boolean {
    const begin = this.beginOf(place)
    if (!text || this.endOf(place) - begin < text.length) return false
    for (let index = 0; index < text.length; index += 1)
      if (this.bytes[begin + index] !== text[index]) return false
    return true
  }
}

/** Packs URNs, each once, in the order in which they are first added. */
export class UrnPacker {
  readonly #places = new Map<string, number>()
  #bytesCount = 0

  get count(): number {
    return this.#places.size
  }

  /** The number of bytes, with a line break after each URN. */
  get bytesCount(): number {
    return this.#bytesCount
  }

  placeOf(urn: Urn): number {
    const known = this.#places.get(urn)
    return known ?? this.#add(urn)
  }

  /** The place of a URN in ASCII. */
  placeOfBytes(bytes: DataView, begin: number, end: number): number {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + begin, end - begin).toString('latin1')
    return this.#places.get(text) ?? this.#add(text)
  }

  #add(text: string): number {
    const place = this.#places.size
    this.#places.set(text, place)
    this.#bytesCount += Buffer.byteLength(text) + 1
    return place
  }

  /** A copy of the packed URNs. */
  packed(): PackedUrns {
    return new PackedUrns(Buffer.from([...this.#places.keys()].join('\n'), 'utf8'))
  }

  clear(): void {
    this.#places.clear()
    this.#bytesCount = 0
  }
}
