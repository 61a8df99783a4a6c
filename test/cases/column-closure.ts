/** The path of a column as a naive walk has it: what the graph view is held against. */
type Pairs = readonly (readonly [string, string])[]

/** All that is upstream or downstream of a name, itself included. */
export function naiveClosure(pairs: Pairs, start: string): Set<string> {
  const walk = (near: 0 | 1): Set<string> => {
    let found = new Set([start])
    for (;;) {
      const next = new Set([
        ...found,
        ...pairs.filter((pair) => found.has(pair[near])).map((pair) => pair[1 - near] ?? '')
      ])
      if (next.size === found.size) return found
      found = next
    }
  }
  return new Set([...walk(0), ...walk(1)])
}
