/** A set of entity ids as a bitmap that grows: 125 kB for a million ids, where a Set takes 30 MB. */
export type IdSet = {
  /** Adds an id; returns false if the set already has it. Ids are positive int4. */
  add: (id: number) => boolean
  has: (id: number) => boolean
}

export function idSet(): IdSet {
  let bits = new Uint8Array(1024)
  return {
    add: (id) => {
      const at = id >>> 3
      if (at >= bits.length) {
        const grown = new Uint8Array(Math.max(at + 1, bits.length * 2))
        grown.set(bits)
        bits = grown
      }
      const bit = 1 << (id & 7)
      const byte = bits[at] ?? 0
      if ((byte & bit) !== 0) return false
      bits[at] = byte | bit
      return true
    },
    has: (id) => ((bits[id >>> 3] ?? 0) & (1 << (id & 7))) !== 0
  }
}
