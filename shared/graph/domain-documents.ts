/** The domainProperties of each domain, if they are small enough to keep in memory. */
import type { JsonObject } from '../model/changes.ts'

/** `value` is null if the document is too large to keep. */
export type DomainDocument = { value: JsonObject | null; bytes: number }

/**
 * Room for a name, a description and more. The documents of a few domains with very long texts are read from
 * the database.
 */
export const domainDocumentMaxBytes = 8_192

/** Memory of a small object without its texts. */
const objectBytes = 200

export class DomainDocuments {
  readonly #documents = new Map<number, DomainDocument>()
  #bytes = 0

  /** Stores the document of a domain; null removes it. */
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

  /** The document of a domain; undefined if it has none. */
  get(domainId: number): DomainDocument | undefined {
    return this.#documents.get(domainId)
  }

  get bytes(): number {
    return this.#bytes
  }
}

const sizeOf = ({ value, bytes }: DomainDocument): number => objectBytes + (value === null ? 0 : bytes * 2)
