/**
 * The edges between the nodes of a lineage graph, and the number of neighbours of each node that are not in
 * it.
 */
import { limits } from '../../limits.ts'
import { checkCount } from '../../model/count-checks.ts'
import type { LineageDirection, LineageLevel } from '../../model/walk.ts'
import { nodesSliceCount, type Looks } from './graph-nodes.ts'
import type { LineageReader } from './lineage-reader.ts'
import { throughHidden } from './through-hidden.ts'

/** `between` has the first edgeViaMaxCount hidden entities on the way; `betweenCount` counts them all. */
export type IdEdge = {
  upstreamId: number
  downstreamId: number
  between: readonly number[]
  betweenCount: number
}

/** The first graphEdgesMaxCount edges, ordered by their ends, and the number of all edges. */
export type EdgesFound = { edges: IdEdge[]; total: number }

export type Rim = { count: number; hidden: number }

/** How many neighbours each node has, and how many of them are not shown. */
export type Rims = { UPSTREAM: Map<number, Rim>; DOWNSTREAM: Map<number, Rim> }

const noLoops: ReadonlySet<number> = new Set()

/** A loop is drawn, but an entity is not counted among its own neighbours. */
export async function readEdges(
  reader: LineageReader,
  shown: ReadonlySet<number>,
  looks: Looks,
  level: LineageLevel
): Promise<EdgesFound & { rims: Rims }> {
  const ids = [...shown].sort((a, b) => a - b)
  const found: EdgesFound = { edges: [], total: 0 }
  const rims: Rims = { UPSTREAM: new Map(), DOWNSTREAM: new Map() }
  for (const direction of ['UPSTREAM', 'DOWNSTREAM'] as const) {
    for (let begin = 0; begin < ids.length; begin += nodesSliceCount) {
      const slice = ids.slice(begin, begin + nodesSliceCount)
      const { beyond } = await looks[direction](slice)
      const loops = direction === 'DOWNSTREAM' ? await reader.loops(slice, level) : noLoops
      for (const id of slice) {
        const { met, between } = beyond(id)
        const near = met.filter((far) => shown.has(far))
        rims[direction].set(id, { count: met.length, hidden: met.length - near.length })
        if (direction === 'DOWNSTREAM')
          for (const far of near) if (addEdge(found, id, far, between)) await reader.pause()
        if (loops.has(id)) addEdge(found, id, id, () => [])
        await reader.pause()
      }
    }
  }
  return { ...found, rims }
}

/**
 * Counts the edge and, up to graphEdgesMaxCount, lists it. Returns whether it was listed: a listed edge takes
 * longer, because everything between its ends is looked up.
 */
function addEdge(
  found: EdgesFound,
  upstreamId: number,
  downstreamId: number,
  between: (id: number) => readonly number[]
): boolean {
  found.total += 1
  if (found.edges.length >= limits.graphEdgesMaxCount) return false
  const hidden = between(downstreamId)
  found.edges.push({
    upstreamId,
    downstreamId,
    between: hidden.slice(0, limits.edgeViaMaxCount),
    betweenCount: hidden.length
  })
  return true
}

const columnsSliceCount = 1_000

/**
 * The edges between columns of the shown assets; soft-deleted columns are bridged. `columnsOf` has the
 * columns with a listed edge, by asset; `rims` the neighbours of every named column; `namedOf` the named
 * columns, by asset. Throws LIMIT_EXCEEDED (graphColumnsMaxCount).
 */
export async function readColumnEdges(
  reader: LineageReader,
  assetIds: ReadonlySet<number>
): Promise<EdgesFound & { columnsOf: Map<number, number[]>; rims: Rims; namedOf: NamedColumns }> {
  const { assetOf, namedOf } = await namedColumns(reader, [...assetIds])
  const lookTo = (direction: LineageDirection) =>
    throughHidden(reader, {
      direction,
      level: 'column',
      fateOf: ({ isRemoved }) => (isRemoved ? 'through' : 'shown')
    })
  const rims: Rims = { UPSTREAM: new Map(), DOWNSTREAM: new Map() }
  const setRim = (direction: LineageDirection, id: number, met: readonly number[] | Int32Array): void => {
    let near = 0
    for (const far of met) if (assetOf.has(far)) near += 1
    rims[direction].set(id, { count: met.length, hidden: met.length - near })
  }
  const found: EdgesFound = { edges: [], total: 0 }
  const ids = [...assetOf.keys()].sort((a, b) => a - b)
  const [lookUp, lookDown] = [lookTo('UPSTREAM'), lookTo('DOWNSTREAM')]
  for (let begin = 0; begin < ids.length; begin += columnsSliceCount) {
    const slice = ids.slice(begin, begin + columnsSliceCount)
    const upstream = await lookUp(slice)
    for (const id of slice) setRim('UPSTREAM', id, upstream.beyond(id).met)
    await reader.pause()
    const { beyond } = await lookDown(slice)
    const loops = await reader.loops(slice, 'column')
    for (const id of slice) {
      const { met, between } = beyond(id)
      setRim('DOWNSTREAM', id, met)
      for (const far of met) if (assetOf.has(far) && addEdge(found, id, far, between)) await reader.pause()
      if (loops.has(id)) addEdge(found, id, id, () => [])
    }
  }
  const columnsOf = new Map<number, number[]>()
  for (const columnId of [
    ...new Set(found.edges.flatMap((edge) => [edge.upstreamId, edge.downstreamId]))
  ].sort((a, b) => a - b)) {
    const assetId = assetOf.get(columnId) ?? 0
    const own = columnsOf.get(assetId)
    if (own) own.push(columnId)
    else columnsOf.set(assetId, [columnId])
  }
  return { ...found, columnsOf, rims, namedOf }
}

/** For each asset, the columns that anything names. */
export type NamedColumns = Map<number, { visible: number[]; removed: number[] }>

/** `assetOf` maps each column that is not soft-deleted to its asset. */
async function namedColumns(
  reader: LineageReader,
  assetIds: readonly number[]
): Promise<{ assetOf: Map<number, number>; namedOf: NamedColumns }> {
  const assetOf = new Map<number, number>()
  const namedOf: NamedColumns = new Map()
  const columnsOf = await reader.columns(assetIds)
  for (const assetId of assetIds) {
    const columns = columnsOf(assetId)
    checkCount(assetOf.size + columns.length, 'graphColumnsMaxCount', {
      field: 'input.columns',
      what: 'the assets shown have more columns than a graph can',
      wayOut: 'Ask for fewer nodes, or without columns'
    })
    const classOf = await reader.classes(columns)
    const own = { visible: new Array<number>(), removed: new Array<number>() }
    for (const id of columns) {
      const isRemoved = classOf(id)?.isRemoved
      if (isRemoved === false) assetOf.set(id, assetId)
      if (isRemoved !== undefined) own[isRemoved ? 'removed' : 'visible'].push(id)
    }
    namedOf.set(assetId, own)
    await reader.pause()
  }
  return { assetOf, namedOf }
}
