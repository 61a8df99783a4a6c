/** An Int32 array, indexed from 0 (by id, for example), that grows with the index. */

export class GrowableInts {
  #values: Int32Array

  /** Begin with room 0 if few ids will be used. */
  constructor(room: number) {
    this.#values = new Int32Array(room)
  }

  at(id: number): number {
    return id < this.#values.length ? (this.#values[id] ?? 0) : 0
  }

  set(id: number, value: number): void {
    if (id >= this.#values.length) {
      const larger = new Int32Array(Math.max(id + 1, Math.ceil(this.#values.length * 1.5), 1_024))
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[id] = value
  }

  /** A copy of the first `count` values, all of which must have been set. */
  first(count: number): Int32Array {
    return this.#values.slice(0, count)
  }

  get bytes(): number {
    return this.#values.byteLength
  }
}
