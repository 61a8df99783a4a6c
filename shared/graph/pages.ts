/**
 * A table by id that can be frozen for readers while it is written: pages of 256 ids, each copied on its
 * first write after a freeze. Pages are small because changes are to random ids: a thousand changes copy a
 * thousand pages, 2 MB in all. With pages of 4,096 ids it would be 32 MB and 10 ms.
 */
export type PageArray = Int32Array | Uint16Array | Uint8Array

export const pageBits = 8
const pageIds = 1 << pageBits
export const pageMask = pageIds - 1

/** A table with `width` values for each id, initially zero. */
export class Pages<Page extends PageArray> {
  readonly width: number
  #pages: Page[] = []
  /**
   * The era in which each page was made. Pages of an earlier era may be in use by views and are never
   * written.
   */
  #madeIn: number[] = []
  #era = 0
  readonly #make: (length: number) => Page

  constructor(width: number, make: (length: number) => Page) {
    this.width = width
    this.#make = make
  }

  /** The present pages. They do not change after `freeze`. */
  view(): readonly Page[] {
    return [...this.#pages]
  }

  /** From now on, existing pages are copied before they are written. */
  freeze(): void {
    this.#era += 1
  }

  /** The page of an id, to be written at `(id & pageMask) * width`. Valid until the next `freeze`. */
  toWrite(id: number): Page {
    const at = id >>> pageBits
    while (this.#pages.length <= at) {
      this.#pages.push(this.#make(pageIds * this.width))
      this.#madeIn.push(this.#era)
    }
    const page = this.#pages[at] ?? this.#make(pageIds * this.width)
    if (this.#madeIn[at] === this.#era) return page
    // the slice of a typed array is of the same type
    const copy = page.slice() as Page
    this.#pages[at] = copy
    this.#madeIn[at] = this.#era
    return copy
  }

  /** The value of an id, in a table of width 1. */
  at(id: number): number {
    return this.#pages[id >>> pageBits]?.[id & pageMask] ?? 0
  }

  /** A table with the same values in wider pages, which no view uses yet. */
  widened(make: (length: number) => Page): Pages<Page> {
    const wide = new Pages<Page>(this.width, make)
    for (const [at, page] of this.#pages.entries()) wide.toWrite(at * pageIds).set(page)
    return wide
  }

  get bytes(): number {
    return this.#pages.length * (this.#pages[0]?.byteLength ?? 0)
  }
}
