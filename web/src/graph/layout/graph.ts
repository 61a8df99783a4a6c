/**
 * A graph as the layout uses it: nodes and edges are numbers, and the edges of a node are a slice of one
 * list.
 */

/** Nodes are 0 to `count - 1`; edge `e` leads from `from[e]` to `to[e]`. */
export type IndexGraph = { count: number; from: Int32Array; to: Int32Array }

/** The edge numbers of each node: those of node `n` are in `list` from `begins[n]` to `begins[n + 1]`. */
export type EdgeLists = { begins: Int32Array; list: Int32Array }

/** The edges of each node at the given end, in the order of their numbers. Edges in `skips` are left out. */
export function edgesBy(
  ends: Int32Array,
  count: number,
  skips: (edge: number) => boolean = () => false
): EdgeLists {
  const begins = new Int32Array(count + 1)
  for (let edge = 0; edge < ends.length; edge += 1) {
    if (!skips(edge)) begins[at(ends, edge) + 1] = at(begins, at(ends, edge) + 1) + 1
  }
  for (let node = 0; node < count; node += 1) begins[node + 1] = at(begins, node + 1) + at(begins, node)
  const next = begins.slice(0, count)
  const list = new Int32Array(at(begins, count))
  for (let edge = 0; edge < ends.length; edge += 1) {
    if (skips(edge)) continue
    const node = at(ends, edge)
    const place = at(next, node)
    list[place] = edge
    next[node] = place + 1
  }
  return { begins, list }
}

/** The number at an index; 0 beyond the end, which no caller reads. */
export const at = (numbers: Int32Array | Float64Array, place: number): number => numbers[place] ?? 0
