/**
 * Gathers the edges of an upload until there are enough for a chunk. Ends with a known id are kept as ids.
 */
import type { EdgeRun } from '../../formats/edge-runs.ts'
import type { EdgeShape, PlainEdge } from '../../formats/plain-edges.ts'
import { GrowableInts } from '../../graph/growable.ts'
import { UrnPacker } from '../../urn/packed-urns.ts'
import type { Urn } from '../../urn/urn.ts'
import type { EdgeBatch } from '../write/edge-payload.ts'
import type { KnownIds } from '../lineage/known-ids.ts'

/**
 * Gathers edges until there are enough for a chunk, and reuses its memory for the next (half a megabyte for
 * the whole upload). The edges of a chunk are either all added or all removed.
 */
export type EdgeGatherer = {
  add(edge: PlainEdge): void
  /**
   * Takes edges of a run, beginning at an index, up to the maximum count or bytes. Returns the index of the
   * next edge.
   */
  addRun(run: EdgeRun, from: number, most: { records: number; bytes: number }): number
  /** The number of edges gathered so far. */
  count: () => number
  bytes: () => number
  /**
   * Whether `knownIds` now returns another object. Keeping the old object would take as much memory as all
   * URNs.
   */
  isOutdated: () => boolean
  /**
   * Returns the gathered edges and starts again. `ids` is the object that gave the ids in them, null if there
   * are none.
   */
  take(): { batch: EdgeBatch; ids: KnownIds | null }
}

/** The bytes of each edge besides its URNs: a line, two ends and a shape. */
const edgeBytes = 16

/**
 * Calls `knownIds` for each chunk until it returns an object. It returns the same object as long as it knows
 * the same ids.
 */
export function createEdgeGatherer(knownIds: () => KnownIds | null = () => null): EdgeGatherer {
  const packer = new UrnPacker()
  let shapes: EdgeShape[] = []
  const [upstreams, downstreams, lines, shapeOf] = [
    new GrowableInts(0),
    new GrowableInts(0),
    new GrowableInts(0),
    new GrowableInts(0)
  ]
  let count = 0
  let [lastUpstream, lastDownstream]: [Named | null, Named | null] = [null, null]
  let ids: KnownIds | null = null

  /** Many producers send one table after another, so the ends of the previous line need no lookup. */
  function named(urn: Urn, last: Named | null): Named {
    return last?.urn === urn ? last : { urn, place: packer.placeOf(urn) }
  }

  function shapePlace(shape: EdgeShape): number {
    const found = shapes.indexOf(shape)
    if (found >= 0) return found
    if (shapes[0] && shapes[0].isRemoval !== shape.isRemoval)
      throw new Error('edges to be added and removed in one chunk')
    return shapes.push(shape) - 1
  }

  /** Only for an ordinary dataset URN in ASCII. */
  const endOf = (id: number, body: DataView, begin: number, end: number): number =>
    id === 0 ? packer.placeOfBytes(body, begin, end) : -id

  const bytes = (): number => packer.bytesCount + edgeBytes * count

  function put(upstream: number, downstream: number, line: number, shapeAt: number): void {
    upstreams.set(count, upstream)
    downstreams.set(count, downstream)
    lines.set(count, line)
    shapeOf.set(count, shapeAt)
    count += 1
  }

  return {
    add({ line, shape, upstream, downstream }) {
      lastUpstream = named(upstream, lastUpstream)
      lastDownstream = named(downstream, lastDownstream)
      put(lastUpstream.place, lastDownstream.place, line, shapePlace(shape))
    },
    addRun(
      {
        firstLine,
        count: runCount,
        shape,
        view: body,
        upstreamBegins,
        upstreamEnds,
        downstreamBegins,
        downstreamEnds
      },
      from,
      most
    ) {
      const shapeAt = shapePlace(shape)
      const end = Math.min(runCount, from + most.records - count)
      const [upstreamIds, downstreamIds] = [new Int32Array(end), new Int32Array(end)]
      const known = (ids ??= knownIds())
      known?.idsOf(body, upstreamBegins, upstreamEnds, from, end, upstreamIds)
      known?.idsOf(body, downstreamBegins, downstreamEnds, from, end, downstreamIds)
      let [upstreamBegin, upstream, downstreamBegin, downstream] = [-1, 0, -1, 0]
      let index = from
      while (index < end && bytes() < most.bytes) {
        const [nextUpstream, nextDownstream] = [upstreamBegins[index] ?? 0, downstreamBegins[index] ?? 0]
        if (nextUpstream !== upstreamBegin)
          upstream = endOf(upstreamIds[index] ?? 0, body, nextUpstream, upstreamEnds[index] ?? 0)
        if (nextDownstream !== downstreamBegin)
          downstream = endOf(downstreamIds[index] ?? 0, body, nextDownstream, downstreamEnds[index] ?? 0)
        ;[upstreamBegin, downstreamBegin] = [nextUpstream, nextDownstream]
        put(upstream, downstream, firstLine + index, shapeAt)
        index += 1
      }
      return index
    },
    count: () => count,
    bytes,
    isOutdated: () => ids !== null && ids !== knownIds(),
    take() {
      const taken = {
        ids,
        batch: {
          isRemoval: shapes[0]?.isRemoval === true,
          urns: packer.packed(),
          shapes,
          upstreams: upstreams.first(count),
          downstreams: downstreams.first(count),
          lines: lines.first(count),
          shapeOf: shapeOf.first(count)
        }
      }
      packer.clear()
      ids = null
      shapes = []
      count = 0
      ;[lastUpstream, lastDownstream] = [null, null]
      return taken
    }
  }
}

type Named = { urn: Urn; place: number }
