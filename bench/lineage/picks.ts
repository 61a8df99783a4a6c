/**
 * Chooses the starts of walks on a graph: nodes that reach about a hundred, a thousand and fifty thousand
 * nodes, and the hub.
 */
import { randomFrom } from '../../test/torture/workload.ts'
import type { Walker } from './adjacency.ts'

/**
 * A start, and the reach of a walk downstream from it: the number of nodes, and the `depth` of the farthest.
 */
export type Pick = { name: string; node: number; reach: number; depth: number }

const wanted = [
  ['100', 100],
  ['1k', 1_000],
  ['50k', 50_000]
] as const
const sampleCount = 1_000
const sampleMaxReach = 100_000

/**
 * For each wanted reach the sample (a node with downstreams) that comes nearest; none if it differs by more
 * than a third.
 */
export function choosePicks(walk: Walker, candidates: Int32Array, hub: number): Pick[] {
  const random = randomFrom(7)
  const samples = Array.from({ length: sampleCount }, () => {
    const node = candidates[Math.floor(random() * candidates.length)] ?? 0
    const { nodes, depth } = walk(node, sampleMaxReach)
    return { node, reach: nodes.length, depth }
  })
  const picks = wanted.flatMap(([name, count]) => {
    const [nearest] = samples.toSorted((a, b) => Math.abs(a.reach - count) - Math.abs(b.reach - count))
    return nearest && Math.abs(nearest.reach - count) * 3 < count ? [{ name, ...nearest }] : []
  })
  const { nodes, depth } = walk(hub)
  return [...picks.filter(({ node }) => node !== hub), { name: 'hub', node: hub, reach: nodes.length, depth }]
}
