/** Finds the edges that must be reversed so that the graph has no cycle. */
import { at, edgesBy, type EdgeLists, type IndexGraph } from './graph.ts'

/**
 * True for edges that lead back. Only an edge within a strongly connected component can lead back. Each
 * component is searched first from the nodes that have edges from outside it, so that the edges into it are
 * drawn forwards. The other edges form no cycle.
 */
export function backEdges(graph: IndexGraph): boolean[] {
  const { count, from, to } = graph
  const outgoing = edgesBy(from, count)
  const component = components(graph, outgoing)
  const isBack = Array.from(from, (node, edge) => node === to[edge])
  const isInner = (edge: number): boolean =>
    !isBack[edge] && component[at(from, edge)] === component[at(to, edge)]

  const isEntry = new Uint8Array(count)
  const isCyclic = new Uint8Array(count)
  for (let edge = 0; edge < from.length; edge += 1) {
    if (isInner(edge)) isCyclic[at(from, edge)] = 1
    else if (!isBack[edge]) isEntry[at(to, edge)] = 1
  }
  const starts = [
    ...nodesWhere(count, (node) => isCyclic[node] === 1 && isEntry[node] === 1),
    ...nodesWhere(count, (node) => isCyclic[node] === 1 && isEntry[node] === 0)
  ]
  const state = new Uint8Array(count)
  for (const start of starts) {
    if (state[start] === 0) markBack(start, outgoing, to, isInner, state, isBack)
  }
  return isBack
}

const nodesWhere = (count: number, holds: (node: number) => boolean): number[] => {
  const found: number[] = []
  for (let node = 0; node < count; node += 1) if (holds(node)) found.push(node)
  return found
}

const [open, closed] = [1, 2]

/** Depth-first search: an edge to an open node closes a cycle. */
function markBack(
  start: number,
  { begins, list }: EdgeLists,
  to: Int32Array,
  isInner: (edge: number) => boolean,
  state: Uint8Array,
  isBack: boolean[]
): void {
  const path = [start]
  const next = [at(begins, start)]
  state[start] = open
  while (path.length > 0) {
    const node = path[path.length - 1] ?? 0
    const place = next[next.length - 1] ?? 0
    if (place === at(begins, node + 1)) {
      state[node] = closed
      path.pop()
      next.pop()
      continue
    }
    next[next.length - 1] = place + 1
    const edge = at(list, place)
    if (!isInner(edge)) continue
    const far = at(to, edge)
    if (state[far] === open) isBack[edge] = true
    else if (state[far] !== closed) {
      state[far] = open
      path.push(far)
      next.push(at(begins, far))
    }
  }
}

/** The number of each node's strongly connected component, by Tarjan's algorithm without recursion. */
function components({ count, to }: IndexGraph, { begins, list }: EdgeLists): Int32Array {
  const component = new Int32Array(count).fill(-1)
  const order = new Int32Array(count).fill(-1)
  const low = new Int32Array(count)
  const waiting: number[] = []
  let visited = 0
  let found = 0
  for (let start = 0; start < count; start += 1) {
    if (order[start] !== -1) continue
    const path = [start]
    const next = [at(begins, start)]
    order[start] = low[start] = visited++
    waiting.push(start)
    while (path.length > 0) {
      const node = path[path.length - 1] ?? 0
      const place = next[next.length - 1] ?? 0
      if (place < at(begins, node + 1)) {
        next[next.length - 1] = place + 1
        const far = at(to, at(list, place))
        if (order[far] === -1) {
          order[far] = low[far] = visited++
          waiting.push(far)
          path.push(far)
          next.push(at(begins, far))
        } else if (component[far] === -1) low[node] = Math.min(at(low, node), at(order, far))
        continue
      }
      path.pop()
      next.pop()
      const parent = path[path.length - 1]
      if (parent !== undefined) low[parent] = Math.min(at(low, parent), at(low, node))
      if (low[node] !== order[node]) continue
      for (let member = waiting.pop(); member !== undefined; member = waiting.pop()) {
        component[member] = found
        if (member === node) break
      }
      found += 1
    }
  }
  return component
}
