/** The benchmark's own walk, as simple as possible: every other answer is checked against it. */
import type { EdgeList } from './project-graph.ts'

/** The neighbours of each node are from `begins[node]` to `begins[node + 1]`. */
export type Adjacency = { begins: Int32Array; neighbours: Int32Array }

/** The nodes that a walk reached, nearest first, with the smallest number of hops to each. */
export type Reach = { nodes: Int32Array; degrees: Int32Array; depth: number }

export function adjacencyOf(nodeCount: number, from: Int32Array, to: Int32Array): Adjacency {
  const begins = new Int32Array(nodeCount + 1)
  for (const node of from) begins[node + 1] = (begins[node + 1] ?? 0) + 1
  for (let node = 0; node < nodeCount; node += 1)
    begins[node + 1] = (begins[node + 1] ?? 0) + (begins[node] ?? 0)
  const next = begins.slice()
  const neighbours = new Int32Array(to.length)
  from.forEach((node, edge) => {
    const at = next[node] ?? 0
    neighbours[at] = to[edge] ?? 0
    next[node] = at + 1
  })
  return { begins, neighbours }
}

export const downstreamsOf = (nodeCount: number, edges: EdgeList): Adjacency =>
  adjacencyOf(nodeCount, edges.upstream, edges.downstream)

/** `maxCount` ends the walk at that many nodes. */
export type Walker = (start: number, maxCount?: number) => Reach

/** A walker over one graph. Its results do not contain the start. */
export function walker({ begins, neighbours }: Adjacency): Walker {
  const seenIn = new Int32Array(begins.length)
  const queue = new Int32Array(begins.length)
  const degreeOf = new Int32Array(begins.length)
  let walk = 0
  return (start, maxCount = Infinity) => {
    walk += 1
    let end = 1
    queue[0] = start
    degreeOf[start] = 0
    seenIn[start] = walk
    for (let at = 0; at < end && end <= maxCount; at += 1) {
      const node = queue[at] ?? 0
      const degree = (degreeOf[node] ?? 0) + 1
      for (let edge = begins[node] ?? 0; edge < (begins[node + 1] ?? 0); edge += 1) {
        const next = neighbours[edge] ?? 0
        if (seenIn[next] === walk) continue
        seenIn[next] = walk
        degreeOf[next] = degree
        queue[end] = next
        end += 1
      }
    }
    const nodes = queue.slice(1, end)
    const degrees = nodes.map((node) => degreeOf[node] ?? 0)
    return { nodes, degrees, depth: degrees.at(-1) ?? 0 }
  }
}
