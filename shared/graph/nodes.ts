/** What filters ask of an entity, by id: existence, soft deletion, what was deleted, and the domain it is in. */
import { Pages, pageBits, pageMask } from './pages.ts'

const isKnownFlag = 8
const isDeletedFlag = 4
const isRemovedFlag = 2
const isPresentFlag = 1

export type NodeFlags = { isPresent: boolean, isRemoved: boolean, isDeleted: boolean }

/** `flags` and `domains` by id, in pages. */
export type NodesView = { flags: readonly Uint8Array[], domains: readonly Int32Array[] }

export class Nodes {
  readonly #flags = new Pages<Uint8Array>(1, (length) => new Uint8Array(length))
  readonly #domains = new Pages<Int32Array>(1, (length) => new Int32Array(length))

  view(): NodesView {
    return { flags: this.#flags.view(), domains: this.#domains.view() }
  }

  freeze(): void {
    this.#flags.freeze()
    this.#domains.freeze()
  }

  setFlags(id: number, { isPresent, isRemoved, isDeleted }: NodeFlags): void {
    this.#flags.toWrite(id)[id & pageMask] = isKnownFlag | (isPresent ? isPresentFlag : 0) | (isRemoved ? isRemovedFlag : 0) | (isDeleted ? isDeletedFlag : 0)
  }

  /** 0 is no domain. */
  setDomain(id: number, domainId: number): void {
    this.#domains.toWrite(id)[id & pageMask] = domainId
  }

  get bytes(): number {
    return this.#flags.bytes + this.#domains.bytes
  }
}

const flagsIn = ({ flags }: NodesView, id: number): number => flags[id >>> pageBits]?.[id & pageMask] ?? 0

export const isKnownIn = (view: NodesView, id: number): boolean => (flagsIn(view, id) & isKnownFlag) !== 0
export const isPresentIn = (view: NodesView, id: number): boolean => (flagsIn(view, id) & isPresentFlag) !== 0
export const isRemovedIn = (view: NodesView, id: number): boolean => (flagsIn(view, id) & isRemovedFlag) !== 0
export const isDeletedIn = (view: NodesView, id: number): boolean => (flagsIn(view, id) & isDeletedFlag) !== 0

/** The domain an entity is in; 0 for none. */
export const domainIn = ({ domains }: NodesView, id: number): number => domains[id >>> pageBits]?.[id & pageMask] ?? 0
