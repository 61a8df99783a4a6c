/**
 * Edges given by their two ends alone, as a chunk stores them: an edge as its line and two numbers. An end is the id of a dataset
 * where the process that receives the load knows it, else the place of its URN, which is stored once.
 *
 * A tenth of the bytes of the lines, and nothing left to parse or to look up for the worker, which judges existence all the same.
 * The lines can be made again as they were sent, for rejects and for a second way of applying them: an entity's row is never deleted.
 */
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { EdgeRun } from '../formats/edge-runs.ts'
import { textOfEdge, type EdgeShape, type PlainEdge } from '../formats/plain-edges.ts'
import { bytesOfInts, intsOfBytes } from '../model/packed-ints.ts'
import { PackedUrns, UrnPacker } from '../urn/packed-urns.ts'
import type { Urn } from '../urn/urn.ts'
import type { KnownIds } from './known-ids.ts'

/**
 * Ends (`upstreams`, `downstreams`) are places in `urns` or, below zero, ids with the sign turned: those of datasets. `shapeOf` has places in
 * `shapes`. The four arrays have an entry for each edge, in the order of the lines. With `isRemoval` all of them are to be removed, else added.
 */
export type EdgeBatch = { isRemoval: boolean, urns: PackedUrns, shapes: EdgeShape[], upstreams: Int32Array, downstreams: Int32Array, lines: Int32Array, shapeOf: Uint8Array }

/** Gathers edges until there are enough for a chunk, again and again in the same memory. All of them are to be added, or all removed. */
export type EdgeGatherer = {
  add(edge: PlainEdge): void
  /** Takes edges of a run from a place on, until there are so many of them or so many bytes. Gives the place of the next. */
  addRun(run: EdgeRun, from: number, most: { records: number, bytes: number }): number
  /** So far. */
  count: () => number
  bytes: () => number
  /** Whether `knownIds` has given others since: those that are held on to take as much memory as all URNs. */
  isOutdated: () => boolean
  /** What was gathered; the next edges are gathered anew. `ids` are those that gave the ids in it, null where there are none. */
  take(): { batch: EdgeBatch, ids: KnownIds | null }
}

/** Beside its URNs: a line, two places and a shape. */
const edgeBytes = 13

/** Asks `knownIds`, which gives the same object as long as it knows no others, until it gives some, for each chunk anew; what of a run these know is gathered by id. */
export function createEdgeGatherer(knownIds: () => KnownIds | null = () => null): EdgeGatherer {
  const packer = new UrnPacker()
  let shapes: EdgeShape[] = []
  let [upstreams, downstreams, lines, shapeOf]: [number[], number[], number[], number[]] = [[], [], [], []]
  let [lastUpstream, lastDownstream]: [Named | null, Named | null] = [null, null]
  let ids: KnownIds | null = null

  /** Many a job goes through its tables one by one: what the line before named is not looked up. */
  function named(urn: Urn, last: Named | null): Named {
    return last?.urn === urn ? last : { urn, place: packer.placeOf(urn) }
  }

  function shapePlace(shape: EdgeShape): number {
    const found = shapes.indexOf(shape)
    if (found >= 0) return found
    if (shapes[0] && shapes[0].isRemoval !== shape.isRemoval) throw new Error('edges to be added and removed in one chunk')
    return shapes.push(shape) - 1
  }

  /** Of an ordinary dataset, in ASCII. */
  const endOf = (id: number, body: DataView, begin: number, end: number): number => id === 0 ? packer.placeOfBytes(body, begin, end) : -id

  const bytes = (): number => packer.bytesCount + edgeBytes * lines.length

  return {
    add({ line, shape, upstream, downstream }) {
      lastUpstream = named(upstream, lastUpstream)
      lastDownstream = named(downstream, lastDownstream)
      upstreams.push(lastUpstream.place)
      downstreams.push(lastDownstream.place)
      lines.push(line)
      shapeOf.push(shapePlace(shape))
    },
    addRun({ firstLine, count, shape, view: body, upstreamBegins, upstreamEnds, downstreamBegins, downstreamEnds }, from, most) {
      const shapeAt = shapePlace(shape)
      const end = Math.min(count, from + most.records - lines.length)
      const [upstreamIds, downstreamIds] = [new Int32Array(count), new Int32Array(count)]
      const known = ids ??= knownIds()
      known?.idsOf(body, upstreamBegins, upstreamEnds, from, end, upstreamIds)
      known?.idsOf(body, downstreamBegins, downstreamEnds, from, end, downstreamIds)
      let [upstreamBegin, upstream, downstreamBegin, downstream] = [-1, 0, -1, 0]
      let index = from
      while (index < end && bytes() < most.bytes) {
        const [nextUpstream, nextDownstream] = [upstreamBegins[index] ?? 0, downstreamBegins[index] ?? 0]
        if (nextUpstream !== upstreamBegin) upstream = endOf(upstreamIds[index] ?? 0, body, nextUpstream, upstreamEnds[index] ?? 0)
        if (nextDownstream !== downstreamBegin) downstream = endOf(downstreamIds[index] ?? 0, body, nextDownstream, downstreamEnds[index] ?? 0)
        ;[upstreamBegin, downstreamBegin] = [nextUpstream, nextDownstream]
        upstreams.push(upstream)
        downstreams.push(downstream)
        lines.push(firstLine + index)
        shapeOf.push(shapeAt)
        index += 1
      }
      return index
    },
    count: () => lines.length,
    bytes,
    isOutdated: () => ids !== null && ids !== knownIds(),
    take() {
      const taken = { ids, batch: { isRemoval: shapes[0]?.isRemoval === true, urns: packer.packed(), shapes, upstreams: new Int32Array(upstreams), downstreams: new Int32Array(downstreams), lines: new Int32Array(lines), shapeOf: new Uint8Array(shapeOf) } }
      packer.clear()
      ids = null
      shapes = []
      ;[upstreams, downstreams, lines, shapeOf] = [[], [], [], []]
      ;[lastUpstream, lastDownstream] = [null, null]
      return taken
    }
  }
}

type Named = { urn: Urn, place: number }

/** The first byte of a payload of edges: no deflated stream begins with it (its block type does not exist). */
const edgesMark = 0xff
/** Of chunks without ids, which versions of the program before ids read as well; of those with; and of removals, with ids or without, which versions before them must not take for additions. */
const [textVersion, idsVersion, removalVersion] = [1, 2, 3]
const headBytes = 2

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** Mark, version, then deflated: counts, shapes as JSON, URNs a line each, and the arrays. */
export async function packEdges({ isRemoval, urns, shapes, upstreams, downstreams, lines, shapeOf }: EdgeBatch): Promise<Buffer> {
  const shapesText = Buffer.from(JSON.stringify(shapes), 'utf8')
  const counts = Buffer.alloc(12)
  counts.writeInt32LE(lines.length, 0)
  counts.writeInt32LE(shapesText.length, 4)
  counts.writeInt32LE(urns.bytes.length, 8)
  const packed = await deflate(Buffer.concat([counts, bytesOfInts(upstreams), bytesOfInts(downstreams), bytesOfInts(lines), shapeOf, shapesText, urns.bytes]), { level: 1 })
  const version = isRemoval ? removalVersion : isNumbered(upstreams) || isNumbered(downstreams) ? idsVersion : textVersion
  return Buffer.concat([Buffer.from([edgesMark, version]), packed])
}

export const holdsEdges = (payload: Buffer): boolean => payload[0] === edgesMark

/** Throws where the payload is not what packEdges makes. */
export async function unpackEdges(payload: Buffer): Promise<EdgeBatch> {
  const version = payload[1]
  if (version !== textVersion && version !== idsVersion && version !== removalVersion) throw new Error(`unknown version ${payload[1]} of packed edges`)
  const bytes = await inflate(payload.subarray(headBytes))
  const count = bytes.readInt32LE(0)
  let at = 12
  const next = (length: number): Buffer => bytes.subarray(at, at += length)
  const [upstreams, downstreams, lines] = [intsOfBytes(next(4 * count)), intsOfBytes(next(4 * count)), intsOfBytes(next(4 * count))]
  const shapeOf = new Uint8Array(next(count))
  const isRemoval = version === removalVersion
  const shapes = (JSON.parse(next(bytes.readInt32LE(4)).toString('utf8')) as EdgeShape[]).map((shape) => ({ ...shape, isRemoval }))
  // They were checked when they were packed.
  const urns = new PackedUrns(next(bytes.readInt32LE(8)))
  if (at !== bytes.length) throw new Error('packed edges have another length than they say')
  const least = version === textVersion ? 0 : -greatestId
  if (!areWithin(upstreams, least, urns.length) || !areWithin(downstreams, least, urns.length) || !areWithin(shapeOf, 0, shapes.length)) throw new Error('packed edges name what they do not hold')
  return { isRemoval, urns, shapes, upstreams, downstreams, lines, shapeOf }
}

const greatestId = 2 ** 31 - 1

function areWithin(places: Int32Array | Uint8Array, least: number, behind: number): boolean {
  for (let at = 0; at < places.length; at += 1) if ((places[at] ?? 0) < least || (places[at] ?? 0) >= behind) return false
  return true
}

/** Whether there are ids among the ends. */
function isNumbered(ends: Int32Array): boolean {
  for (let at = 0; at < ends.length; at += 1) if ((ends[at] ?? 0) < 0) return true
  return false
}

/** The ids among ends, in no order and not each once. */
export function idsOf(...columns: readonly Int32Array[]): Int32Array {
  const ids = new Int32Array(columns.reduce((sum, { length }) => sum + length, 0))
  let count = 0
  for (const ends of columns) {
    for (let at = 0; at < ends.length; at += 1) {
      const end = ends[at] ?? 0
      if (end < 0 && end !== ends[at - 1]) ids[count++] = -end
    }
  }
  return ids.subarray(0, count)
}

/** Those of the edges at these places, each once. */
export function idsAmong({ upstreams, downstreams }: EdgeBatch, places: Iterable<number>): number[] {
  const ids = new Set<number>()
  for (const place of places) {
    for (const end of [upstreams[place] ?? 0, downstreams[place] ?? 0]) if (end < 0) ids.add(-end)
  }
  return [...ids]
}

/** The same edges with the URNs of all that are given by their ids. */
export function withUrns(batch: EdgeBatch, urnOf: (id: number) => Urn): EdgeBatch {
  const packer = new UrnPacker()
  for (let place = 0; place < batch.urns.length; place += 1) packer.placeOf(batch.urns.at(place))
  const placed = (ends: Int32Array): Int32Array => ends.map((end) => end < 0 ? packer.placeOf(urnOf(-end)) : end)
  const [upstreams, downstreams] = [placed(batch.upstreams), placed(batch.downstreams)]
  return { ...batch, upstreams, downstreams, urns: packer.packed() }
}

/** Those from the `begin`th edge on and before the `end`th, with no URN but theirs. */
export function partOf(batch: EdgeBatch, begin: number, end: number): EdgeBatch {
  const packer = new UrnPacker()
  const placed = (ends: Int32Array): Int32Array => ends.slice(begin, end).map((each) => each < 0 ? each : packer.placeOf(batch.urns.at(each)))
  const [upstreams, downstreams] = [placed(batch.upstreams), placed(batch.downstreams)]
  return { ...batch, upstreams, downstreams, urns: packer.packed(), lines: batch.lines.slice(begin, end), shapeOf: batch.shapeOf.slice(begin, end) }
}

/** The line of an edge as it was sent. */
export function lineOfEdge({ urns, shapes, upstreams, downstreams, shapeOf }: EdgeBatch, index: number, urnOf: (id: number) => Urn): string {
  const named = (end: number): Urn => end < 0 ? urnOf(-end) : urns.at(end)
  const shape = shapes[shapeOf[index] ?? 0]
  if (!shape) throw new Error('an edge has no shape')
  return textOfEdge(shape, named(upstreams[index] ?? 0), named(downstreams[index] ?? 0))
}
