/** The columns of each asset as linked lists: one number for each entity; nothing is ever removed. */
import { GrowableInts } from './growable.ts'

export class ColumnLists {
  /**
   * For an asset, its newest column; for a column, the next older column of its asset. A column that has
   * columns is both, so there are two tables.
   */
  readonly #newest = new GrowableInts(0)
  readonly #next = new GrowableInts(0)

  add(assetId: number, columnId: number): void {
    this.#next.set(columnId, this.#newest.at(assetId))
    this.#newest.set(assetId, columnId)
  }

  /** The columns of an asset, ascending. */
  of(assetId: number): number[] {
    const columns: number[] = []
    for (let id = this.#newest.at(assetId); id !== 0; id = this.#next.at(id)) columns.push(id)
    return columns.sort((a, b) => a - b)
  }

  get bytes(): number {
    return this.#newest.bytes + this.#next.bytes
  }
}
