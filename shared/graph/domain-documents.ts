/** What domainProperties says of each domain, as far as it is small enough to be held. */
import type { JsonObject } from '../model/changes.ts'

/** `value` is null if the document is too large to be held. */
export type DomainDocument = { value: JsonObject | null; bytes: number }

/** A name and a description, and some more; a few domains with books in them are read from the database. */
export const domainDocumentMaxBytes = 8_192

/** What a small object takes beside its texts. */
const objectBytes = 200

export class DomainDocuments {
  readonly #documents = new Map<number, DomainDocument>()
  #bytes = 0

  /** Null removes the document: the domain has none. */
  set(domainId: number, document: DomainDocument | null): void {
    const before = this.#documents.get(domainId)
    if (before) this.#bytes -= sizeOf(before)
    if (document === null) {
      this.#documents.delete(domainId)
      return
    }
    this.#documents.set(domainId, document)
    this.#bytes += sizeOf(document)
  }

  /** Undefined for a domain that has no document. */
  get(domainId: number): DomainDocument | undefined {
    return this.#documents.get(domainId)
  }

  get bytes(): number {
    return this.#bytes
  }
}

const sizeOf = ({ value, bytes }: DomainDocument): number => objectBytes + (value === null ? 0 : bytes * 2)
