/** Gathers the edges of an upload until they make a chunk: those of each run by the ids that are known for their ends. */
import type { EdgeRun } from '../../formats/edge-runs.ts'
import type { EdgeShape, PlainEdge } from '../../formats/plain-edges.ts'
import { GrowableInts } from '../../graph/growable.ts'
import { UrnPacker } from '../../urn/packed-urns.ts'
import type { Urn } from '../../urn/urn.ts'
import type { EdgeBatch } from '../write/edge-payload.ts'
import type { KnownIds } from '../lineage/known-ids.ts'

/** Gathers edges until there are enough for a chunk, again and again in the same memory (half a megabyte, for as long as the upload takes). All of them are to be added, or all removed. */
export type EdgeGatherer = {
  add(edge: PlainEdge): void
  /** Takes edges of a run from a place on, until there are so many of them or so many bytes. Gives the place of the next. */
  addRun(run: EdgeRun, from: number, most: { records: number; bytes: number }): number
  /** So far. */
  count: () => number
  bytes: () => number
  /** Whether `knownIds` has given others since: those that are held on to take as much memory as all URNs. */
  isOutdated: () => boolean
  /** What was gathered; the next edges are gathered anew. `ids` are those that gave the ids in it, null where there are none. */
  take(): { batch: EdgeBatch; ids: KnownIds | null }
}

/** Beside its URNs: a line, two places and a shape. */
const edgeBytes = 16

/** Asks `knownIds`, which gives the same object as long as it knows no others, until it gives some, for each chunk anew; what of a run these know is gathered by id. */
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

  /** Many a job goes through its tables one by one: what the line before named is not looked up. */
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

  /** Of an ordinary dataset, in ASCII. */
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
