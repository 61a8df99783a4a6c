/** The path of a column by a naive walk, which the graph view is compared with. */
type Pairs = readonly (readonly [string, string])[]

/** Everything upstream or downstream of a name, including itself. */
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
