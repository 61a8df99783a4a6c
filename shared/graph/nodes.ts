/**
 * The facts that filters need, by id: type, platform, environment, existence, soft deletion, domain.
 *
 * Few combinations occur, so each id has the number of its kind: filters are judged by kind, and one lookup
 * gives all facts. (Three tables, for flags, domains and templates, took 120 ns for each entity of a large
 * result, with five waits for memory.)
 */
import { Pages, pageBits, pageMask } from './pages.ts'
import type { UrnTemplate } from './urn-templates.ts'

export type NodeFlags = { isPresent: boolean; isRemoved: boolean; isDeleted: boolean }

/** Equal kinds are the same object. */
export type NodeKind = NodeFlags & {
  /** The number of the kind, counted up from 0, the kind of unknown entities. */
  index: number
  isKnown: boolean
  isColumn: boolean
  /** 0 means no domain. */
  domainId: number
  /** Null for unknown entities, and for columns, because their asset may become known after them. */
  template: UrnTemplate | null
}

type KindPage = Uint8Array | Uint16Array | Int32Array

/** `kinds` has, by id, a number in `table`, in pages. Kinds are never removed. */
export type NodesView = { kinds: readonly KindPage[]; table: readonly NodeKind[] }

/** Memory of a kind, including its entry in a map and a share of the map of its template. */
const kindBytes = 140
const kindsOfTemplateBytes = 150

const unknownKind: NodeKind = {
  index: 0,
  isKnown: false,
  isColumn: false,
  isPresent: false,
  isRemoved: false,
  isDeleted: false,
  domainId: 0,
  template: null
}

/** The facts about an entity that follow from its URN. */
export type NodeOrigin = { templateOf: (id: number) => UrnTemplate; isColumn: (id: number) => boolean }

export class Nodes {
  /**
   * Most catalogs have fewer than 256 kinds, so one byte for each id is enough, and a small table stays in
   * the processor's cache.
   */
  #kinds = new Pages<KindPage>(1, (length) => new Uint8Array(length))
  readonly #table: NodeKind[] = [unknownKind]
  /** The kinds by template (columns first), then by the other facts. */
  readonly #byFacts: Map<number, NodeKind>[] = []
  readonly #origin: NodeOrigin

  constructor(origin: NodeOrigin) {
    this.#origin = origin
  }

  view(): NodesView {
    return { kinds: this.#kinds.view(), table: this.#table }
  }

  freeze(): void {
    this.#kinds.freeze()
  }

  /** Throws for an id without a URN. */
  setFlags(id: number, flags: NodeFlags): void {
    this.#setKind(id, this.#kindOf(id, flags, this.#at(id).domainId))
  }

  /** 0 means no domain. Throws for an id without a URN. */
  setDomain(id: number, domainId: number): void {
    this.#setKind(id, this.#kindOf(id, this.#at(id), domainId))
  }

  #at(id: number): NodeKind {
    return this.#table[this.#kinds.at(id)] ?? unknownKind
  }

  #setKind(id: number, { index }: NodeKind): void {
    this.#kinds.toWrite(id)[id & pageMask] = index
  }

  #kindOf(id: number, { isPresent, isRemoved, isDeleted }: NodeFlags, domainId: number): NodeKind {
    const isColumn = this.#origin.isColumn(id)
    const template = isColumn ? null : this.#origin.templateOf(id)
    const ofTemplate = (this.#byFacts[template === null ? 0 : template.index + 1] ??= new Map())
    const key = domainId * 8 + (isDeleted ? 4 : 0) + (isRemoved ? 2 : 0) + (isPresent ? 1 : 0)
    const known = ofTemplate.get(key)
    if (known) return known
    const kind = {
      index: this.#table.length,
      isKnown: true,
      isColumn,
      isPresent,
      isRemoved,
      isDeleted,
      domainId,
      template
    }
    this.#table.push(kind)
    ofTemplate.set(key, kind)
    if (kind.index === 0x100) this.#kinds = this.#kinds.widened((length) => new Uint16Array(length))
    if (kind.index === 0x10000) this.#kinds = this.#kinds.widened((length) => new Int32Array(length))
    return kind
  }

  get bytes(): number {
    return this.#kinds.bytes + this.#table.length * kindBytes + this.#byFacts.length * kindsOfTemplateBytes
  }
}

export const kindIn = ({ kinds, table }: NodesView, id: number): NodeKind =>
  table[kinds[id >>> pageBits]?.[id & pageMask] ?? 0] ?? unknownKind

/**
 * The kinds of many ids, as numbers of `table`. A loop that does nothing else waits for many memory accesses
 * at once: 5 ns each instead of 50.
 */
export function kindNumbersIn({ kinds }: NodesView, ids: readonly number[] | Int32Array): Int32Array {
  const numbers = new Int32Array(ids.length)
  for (let index = 0; index < ids.length; index += 1) {
    const id = ids[index] ?? 0
    const page = kinds[id >>> pageBits]
    numbers[index] = page === undefined ? 0 : (page[id & pageMask] ?? 0)
  }
  return numbers
}

export const isKnownIn = (view: NodesView, id: number): boolean => kindIn(view, id).isKnown
export const isPresentIn = (view: NodesView, id: number): boolean => kindIn(view, id).isPresent
export const isRemovedIn = (view: NodesView, id: number): boolean => kindIn(view, id).isRemoved
export const isDeletedIn = (view: NodesView, id: number): boolean => kindIn(view, id).isDeleted

/** The domain that an entity is in; 0 for none. */
export const domainIn = (view: NodesView, id: number): number => kindIn(view, id).domainId
