/**
 * What filters ask of an entity, by id: type, platform, environment, existence, soft deletion, and the domain it is in.
 *
 * Few combinations of these occur, so an id has the number of its kind: filters are judged by kind, and one look says
 * all of an entity. (Flags and domains in tables of their own, and the template in a third, took 120 ns an entity of a
 * large result, waiting for memory five times.)
 */
import { Pages, pageBits, pageMask } from './pages.ts'
import type { UrnTemplate } from './urn-templates.ts'

export type NodeFlags = { isPresent: boolean; isRemoved: boolean; isDeleted: boolean }

/** Equal kinds are the same object. */
export type NodeKind = NodeFlags & {
  /** Counts up from 0: the kind of who is not known. */
  index: number
  isKnown: boolean
  isColumn: boolean
  /** 0 is not a domain. */
  domainId: number
  /** Null of a column, whose asset may become known after it, and of who is not known. */
  template: UrnTemplate | null
}

type KindPage = Uint8Array | Uint16Array | Int32Array

/** `kinds` by id, in pages of numbers of `table`. Kinds are only ever added. */
export type NodesView = { kinds: readonly KindPage[]; table: readonly NodeKind[] }

/** What a kind takes, its place in a map included, and what the map of a template does. */
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

/** What a URN says of its entity. */
export type NodeOrigin = { templateOf: (id: number) => UrnTemplate; isColumn: (id: number) => boolean }

export class Nodes {
  /** A byte for each id suffices most catalogs: what is small stays near the processor. */
  #kinds = new Pages<KindPage>(1, (length) => new Uint8Array(length))
  readonly #table: NodeKind[] = [unknownKind]
  /** By template, columns first, then by all else. */
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

  /** Throws for an id that has no URN. */
  setFlags(id: number, flags: NodeFlags): void {
    this.#setKind(id, this.#kindOf(id, flags, this.#at(id).domainId))
  }

  /** 0 is not a domain. Throws for an id that has no URN. */
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

/** The kinds of many, as numbers of `table`. A loop that does nothing else waits for many of them at once: 5 ns each, else 50. */
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

/** The domain an entity is in; 0 for none. */
export const domainIn = (view: NodesView, id: number): number => kindIn(view, id).domainId
