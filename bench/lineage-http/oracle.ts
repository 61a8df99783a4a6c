/**
 * The correct lineage: breadth-first search over the generated edges and those that the bench has written.
 * Simple enough to be obviously right, and independent of the product's code.
 */
import type { LineageDirection } from '../../shared/model/walk.ts'
import { adjacencyOf, type Adjacency } from '../lineage/adjacency.ts'
import type { BenchGraph } from '../lineage/graphs.ts'

/** Nodes without the start, nearest first, and by number within a degree. */
export type Reached = { nodes: Int32Array; degrees: Uint16Array }

export type Oracle = {
  /** Up to `degreeMax` hops away. */
  reach: (start: number, direction: LineageDirection, degreeMax?: number) => Reached
  add: (upstream: number, downstream: number) => void
  /** Removes an added edge. */
  remove: (upstream: number, downstream: number) => void
}

type Side = { drawn: Adjacency; written: Map<number, Set<number>> }

export function createOracle({ assetCount, edges: { upstream, downstream } }: BenchGraph): Oracle {
  const forward: Side = { drawn: adjacencyOf(assetCount, upstream, downstream), written: new Map() }
  const backward: Side = { drawn: adjacencyOf(assetCount, downstream, upstream), written: new Map() }
  return {
    reach: (start, direction, degreeMax = Infinity) =>
      reach(direction === 'DOWNSTREAM' ? forward : backward, start, assetCount, degreeMax),
    add(from, to) {
      forward.written.set(from, (forward.written.get(from) ?? new Set()).add(to))
      backward.written.set(to, (backward.written.get(to) ?? new Set()).add(from))
    },
    remove(from, to) {
      forward.written.get(from)?.delete(to)
      backward.written.get(to)?.delete(from)
    }
  }
}

const drawnFrom = ({ drawn }: Side, node: number): Int32Array =>
  drawn.neighbours.subarray(drawn.begins[node], drawn.begins[node + 1])

function reach(side: Side, start: number, assetCount: number, degreeMax: number): Reached {
  const seen = new Uint8Array(assetCount)
  seen[start] = 1
  const nodes: number[] = []
  const degrees: number[] = []
  let level = [start]
  for (let degree = 1; level.length > 0 && degree <= degreeMax; degree += 1) {
    const next: number[] = []
    const find = (node: number) => {
      if (seen[node] === 1) return
      seen[node] = 1
      next.push(node)
    }
    for (const node of level) {
      for (const neighbour of drawnFrom(side, node)) find(neighbour)
      for (const neighbour of side.written.get(node) ?? []) find(neighbour)
    }
    level = next.sort((a, b) => a - b)
    for (const node of level) {
      nodes.push(node)
      degrees.push(degree)
    }
  }
  return { nodes: Int32Array.from(nodes), degrees: Uint16Array.from(degrees) }
}
