/**
 * URN to id and back, for all entities, packed: about 95 bytes for a URN of 120 characters; strings in a Map
 * take 250.
 *
 * A URN is stored as its template and its name; a column as its asset's id and its path. A lookup takes a
 * hash table of ids (open addressing) and one comparison of the text. Nothing is ever removed, because ids
 * are never reused.
 */
import { areSame } from '../urn/byte-words.ts'
import { hashOfBytes, hashOfText } from '../urn/text-hash.ts'
import { toUrn, type Urn } from '../urn/urn.ts'
import { BytesPool } from './bytes-pool.ts'
import { GrowableInts } from './growable.ts'
import { createUrnTemplates, type UrnTemplate } from './urn-templates.ts'

const columnBegin = 'urn:li:schemaField:('

/** Number of URNs that are looked up together. */
const lookupMaxCount = 256

export class UrnTable {
  readonly #templates = createUrnTemplates()
  readonly #texts = new BytesPool()
  /** By id: the index of the template + 1; 0 for unused ids; columns have `columnTemplate`. */
  readonly #templateOf: GrowableInts
  readonly #textAt: GrowableInts
  readonly #parentOf = new GrowableInts(0)
  /** Pairs of an id and its hash; a pair with id 0 is free. */
  #slots: Int32Array
  /** The URNs being looked up: their entry, hash, id, template and text. */
  readonly #asked = new Int32Array(lookupMaxCount)
  readonly #hashes = new Int32Array(lookupMaxCount)
  readonly #found = new Int32Array(lookupMaxCount)
  readonly #templatesFound = new Int32Array(lookupMaxCount)
  readonly #textsFound = new Int32Array(lookupMaxCount)
  /** Never read. It keeps the compiler from removing the reads that fill it. */
  readonly #lengths = new Int32Array(lookupMaxCount)
  #count = 0
  static readonly #columnTemplate = 0x7fffffff

  /** Room for `expectedCount` entities before anything has to grow. */
  constructor(expectedCount: number, greatestId: number) {
    this.#templateOf = new GrowableInts(greatestId + 1)
    this.#textAt = new GrowableInts(greatestId + 1)
    this.#slots = new Int32Array(slotsFor(expectedCount))
  }

  get count(): number {
    return this.#count
  }

  get bytes(): number {
    return (
      this.#templates.bytes +
      this.#texts.bytes +
      this.#templateOf.bytes +
      this.#textAt.bytes +
      this.#parentOf.bytes +
      this.#slots.byteLength
    )
  }

  has(id: number): boolean {
    return this.#templateOf.at(id) !== 0
  }

  /** `parentId` is the asset of a column, otherwise 0. An id that is already in the table is not changed. */
  add(id: number, urn: Urn, parentId: number): void {
    if (this.has(id)) return
    if (urn.startsWith(columnBegin) && parentId !== 0) {
      this.#templateOf.set(id, UrnTable.#columnTemplate)
      this.#textAt.set(id, this.#texts.add(columnPath(urn)))
    } else {
      const { template, name } = this.#templates.of(urn)
      this.#templateOf.set(id, template.index + 1)
      this.#textAt.set(id, this.#texts.add(name))
    }
    if (parentId !== 0) this.#parentOf.set(id, parentId)
    this.#count += 1
    if (this.#count * 3 > this.#slots.length) this.#rehash()
    put(this.#slots, id, hashOfText(urn))
  }

  /** The id of a URN; 0 for an unknown one. */
  idOf(urn: Urn): number {
    const [hash, slots, mask] = [hashOfText(urn), this.#slots, this.#slots.length - 1]
    for (let at = slotOf(hash, mask); ; at = (at + 2) & mask) {
      const id = slots[at] ?? 0
      if (id === 0 || (slots[at + 1] === hash && this.#textOf(id) === urn)) return id
    }
  }

  /**
   * Writes into `ids` the id of each ASCII URN of `bytes`, or 0 if it is unknown. `begins` and `ends` say
   * where each URN is, for the entries `from` to before `to`. An entry with the same beginning as the one
   * before is the same URN.
   *
   * A lookup waits for memory five times. Here many lookups wait together, in loops that do nothing else:
   * 0.28 us each in a table of 100,000. One lookup after the other took 0.9 us; loops of two waits each, 64
   * lookups at once, 0.42 us.
   */
  idsOfBytes(
    bytes: DataView,
    begins: Int32Array,
    ends: Int32Array,
    from: number,
    to: number,
    ids: Int32Array
  ): void {
    let last = -1
    for (let index = from; index < to;) {
      const first = index
      let count = 0
      for (; index < to && count < lookupMaxCount; index += 1) {
        const begin = begins[index] ?? 0
        if (begin === last) continue
        last = begin
        this.#asked[count] = index
        count += 1
      }
      this.#lookUp(bytes, begins, ends, count)
      for (let at = first, next = 0; at < index; at += 1) {
        if (next < count && this.#asked[next] === at) ids[at] = this.#found[next++] ?? 0
        else ids[at] = ids[at - 1] ?? 0
      }
    }
  }

  /** Looks up the entries in `#asked`; the ids are written to `#found`. */
  #lookUp(bytes: DataView, begins: Int32Array, ends: Int32Array, count: number): void {
    const [asked, found, hashes, templates, texts] = [
      this.#asked,
      this.#found,
      this.#hashes,
      this.#templatesFound,
      this.#textsFound
    ]
    for (let at = 0; at < count; at += 1) {
      const index = asked[at] ?? 0
      hashes[at] = hashOfBytes(bytes, begins[index] ?? 0, ends[index] ?? 0)
    }
    // Nearly always the first id with the hash is the right id.
    this.#lookInSlots(count)
    for (let at = 0; at < count; at += 1) {
      const id = found[at] ?? 0
      templates[at] = this.#templateOf.at(id)
      texts[at] = this.#textAt.at(id)
    }
    this.#lookAtLengths(count)
    for (let at = 0; at < count; at += 1) {
      const index = asked[at] ?? 0
      const [begin, end] = [begins[index] ?? 0, ends[index] ?? 0]
      const id = found[at] ?? 0
      if (id !== 0 && !this.#isText(id, templates[at] ?? 0, texts[at] ?? 0, bytes, begin, end))
        found[at] = this.#find(bytes, begin, end, hashes[at] ?? 0)
    }
  }

  #lookInSlots(count: number): void {
    const [found, hashes, slots, mask] = [this.#found, this.#hashes, this.#slots, this.#slots.length - 1]
    for (let at = 0; at < count; at += 1) {
      const hash = hashes[at] ?? 0
      let slot = slotOf(hash, mask)
      while (slots[slot] !== 0 && slots[slot + 1] !== hash) slot = (slot + 2) & mask
      found[at] = slots[slot] ?? 0
    }
  }

  /** Reads one value of each text, so that its memory is in the cache when it is compared. */
  #lookAtLengths(count: number): void {
    const texts = this.#textsFound
    for (let at = 0; at < count; at += 1)
      if (texts[at] !== 0) this.#lengths[at] = this.#texts.lengthAt((texts[at] ?? 0) >>> 0)
  }

  #find(bytes: DataView, begin: number, end: number, hash: number): number {
    const [slots, mask] = [this.#slots, this.#slots.length - 1]
    for (let at = slotOf(hash, mask); ; at = (at + 2) & mask) {
      const id = slots[at] ?? 0
      if (id === 0 || (slots[at + 1] === hash && this.#isAt(id, bytes, begin, end))) return id
    }
  }

  /** Null for an unknown id. */
  urnOf(id: number): Urn | null {
    // The text is byte for byte the URN that was checked when it was written.
    return this.has(id) ? (this.#textOf(id) as Urn) : null
  }

  /** What the URN of a known entity has between beginning and end of its template; of a column, its path. */
  nameOf(id: number): string {
    return this.#texts.at(this.#textAt.at(id) >>> 0)
  }

  /** The asset of a column; 0 for any other entity. */
  parentOf(id: number): number {
    return this.#parentOf.at(id)
  }

  isColumn(id: number): boolean {
    return this.#templateOf.at(id) === UrnTable.#columnTemplate
  }

  /**
   * The template of an entity; for a column, the template of the asset at the end of its parents. Throws for
   * an unknown id.
   */
  templateOf(id: number): UrnTemplate {
    let at = id
    while (this.isColumn(at)) at = this.#parentOf.at(at)
    return this.#templates.at(this.#templateOf.at(at) - 1)
  }

  #textOf(id: number): string {
    const text = this.nameOf(id)
    if (this.isColumn(id)) return `${columnBegin}${this.#textOf(this.#parentOf.at(id))},${text})`
    const template = this.#templates.at(this.#templateOf.at(id) - 1)
    return template.begin + text + template.end
  }

  #isAt(id: number, bytes: DataView, begin: number, end: number): boolean {
    return this.#isText(id, this.#templateOf.at(id), this.#textAt.at(id), bytes, begin, end)
  }

  /** Compares a text with the text of an id whose place is known. */
  #isText(
    id: number,
    templateIndex: number,
    textAt: number,
    bytes: DataView,
    begin: number,
    end: number
  ): boolean {
    if (templateIndex === UrnTable.#columnTemplate)
      return (
        this.#textOf(id) ===
        Buffer.from(bytes.buffer, bytes.byteOffset + begin, end - begin).toString('latin1')
      )
    const { beginBytes, beginLength, endBytes, endLength } = this.#templates.at(templateIndex - 1)
    const nameBegin = begin + beginLength
    const nameEnd = end - endLength
    return (
      nameBegin <= nameEnd &&
      areSame(beginBytes, 0, bytes, begin, beginLength) &&
      areSame(endBytes, 0, bytes, nameEnd, endLength) &&
      this.#texts.isAt(textAt >>> 0, bytes, nameBegin, nameEnd)
    )
  }

  /** Takes 20 ms for a million ids: hashes are stored, so no text is read. */
  #rehash(): void {
    const larger = new Int32Array(this.#slots.length * 2)
    for (let at = 0; at < this.#slots.length; at += 2)
      if (this.#slots[at] !== 0) put(larger, this.#slots[at] ?? 0, this.#slots[at + 1] ?? 0)
    this.#slots = larger
  }
}

const slotOf = (hash: number, mask: number): number => (hash << 1) & mask

function put(slots: Int32Array, id: number, hash: number): void {
  const mask = slots.length - 1
  let at = slotOf(hash, mask)
  while (slots[at] !== 0) at = (at + 2) & mask
  slots[at] = id
  slots[at + 1] = hash
}

/** Length of an array of pairs that is at most two thirds full: a power of two. */
const slotsFor = (count: number): number => 2 * 2 ** Math.ceil(Math.log2(Math.max(1_024, count * 1.5 + 1)))

/** The text after the first comma outside the parentheses of the asset, up to the last parenthesis. */
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
