/**
 * A table by id that can be frozen for readers while it is written on: pages of 256 ids, copied when first written after
 * somebody has begun to look at them.
 *
 * A page is small because changes hit ids at random: a thousand of them copy a thousand pages, 2 MB in all; with pages
 * of 4,096 ids it would be 32 MB and 10 ms.
 */
export type PageArray = Int32Array | Uint16Array | Uint8Array

export const pageBits = 8
const pageIds = 1 << pageBits
export const pageMask = pageIds - 1

/** `width` values for each id, zero at first. */
export class Pages<Page extends PageArray> {
  readonly width: number
  #pages: Page[] = []
  /** In which era each page was made: pages of an earlier era may be looked at and are never written. */
  #madeIn: number[] = []
  #era = 0
  readonly #make: (length: number) => Page

  constructor(width: number, make: (length: number) => Page) {
    this.width = width
    this.#make = make
  }

  /** The pages as they are now; they stay so once `freeze` has been called. */
  view(): readonly Page[] {
    return [...this.#pages]
  }

  /** From now on the pages that exist are copied before they are written. */
  freeze(): void {
    this.#era += 1
  }

  /** The page of an id, to be written at `(id & pageMask) * width`. Good until the next `freeze`. */
  toWrite(id: number): Page {
    const at = id >>> pageBits
    while (this.#pages.length <= at) {
      this.#pages.push(this.#make(pageIds * this.width))
      this.#madeIn.push(this.#era)
    }
    const page = this.#pages[at] ?? this.#make(pageIds * this.width)
    if (this.#madeIn[at] === this.#era) return page
    // a typed array's slice is of its own kind
    const copy = page.slice() as Page
    this.#pages[at] = copy
    this.#madeIn[at] = this.#era
    return copy
  }

  /** The value of an id in a table of width 1. */
  at(id: number): number {
    return this.#pages[id >>> pageBits]?.[id & pageMask] ?? 0
  }

  /** The same in pages of another kind, that nobody looks at yet. */
  widened(make: (length: number) => Page): Pages<Page> {
    const wide = new Pages<Page>(this.width, make)
    for (const [at, page] of this.#pages.entries()) wide.toWrite(at * pageIds).set(page)
    return wide
  }

  get bytes(): number {
    return this.#pages.length * (this.#pages[0]?.byteLength ?? 0)
  }
}
