/** Finds the assets with the most neighbours in one view of the graph. */
import { membersIn, type AdjacencyView } from './adjacency.ts'
import type { GraphView } from './lineage-graph.ts'
import { kindIn, type NodesView } from './nodes.ts'
import type { Pause } from './turns.ts'

export type Connected = { id: number; upstreamCount: number; downstreamCount: number }

const idsPerPause = 65_536
const membersPerPause = 16_384

/**
 * The `count` assets with the most neighbours one hop away, upstream and downstream together, most first and
 * then by id. Soft-deleted assets and neighbours do not count. The length of a list, which repeats a
 * neighbour for each statement, is at least the number of neighbours. So only lists that are longer than the
 * number of neighbours at the last place so far are examined.
 */
export async function mostConnected(view: GraphView, count: number, pause: Pause): Promise<Connected[]> {
  const countOf = createNeighbourCount(view.nodes, view.idsEnd, pause)
  const places: Connected[] = []
  let leastCount = 1
  for (let id = 1; id < view.idsEnd; id += 1) {
    if (id % idsPerPause === 0) await pause()
    const bound = membersIn(view.upstream, id).length + membersIn(view.downstream, id).length
    if (bound < leastCount || !isListed(view.nodes, id)) continue
    const found = {
      id,
      upstreamCount: await countOf(view.upstream, id),
      downstreamCount: await countOf(view.downstream, id)
    }
    if (sumOf(found) < leastCount) continue
    const place = places.findIndex((other) => sumOf(other) < sumOf(found))
    places.splice(place < 0 ? places.length : place, 0, found)
    places.length = Math.min(places.length, count)
    const last = places.at(-1)
    // An id that comes later loses if both have the same number of neighbours.
    if (last && places.length === count) leastCount = sumOf(last) + 1
  }
  return places
}

const sumOf = ({ upstreamCount, downstreamCount }: Connected): number => upstreamCount + downstreamCount

function isListed(nodes: NodesView, id: number): boolean {
  const { isKnown, isColumn, isPresent, isDeleted, isRemoved } = kindIn(nodes, id)
  return isKnown && !isColumn && !isRemoved && (isPresent || !isDeleted)
}

function createNeighbourCount(nodes: NodesView, idsEnd: number, pause: Pause) {
  /** By id, the number of the last list in which it was seen. */
  const seenIn = new Uint32Array(idsEnd)
  let list = 0
  return async (adjacency: AdjacencyView, id: number): Promise<number> => {
    list += 1
    seenIn[id] = list
    let count = 0
    for (const [at, member] of membersIn(adjacency, id).entries()) {
      if (at % membersPerPause === membersPerPause - 1) await pause()
      if (seenIn[member] === list) continue
      seenIn[member] = list
      if (!kindIn(nodes, member).isRemoved) count += 1
    }
    return count
  }
}
