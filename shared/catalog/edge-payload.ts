/**
 * Edges given by their two ends alone, as a chunk stores them: each URN once, and an edge as its line and two numbers.
 *
 * Half the bytes of the lines, and nothing left to parse: the worker looks up each URN once. The lines can be made again
 * as they were sent, for rejects and for a second way of applying them.
 */
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { EdgeRun } from '../formats/edge-runs.ts'
import { textOfEdge, type EdgeShape, type PlainEdge } from '../formats/plain-edges.ts'
import { PackedUrns, UrnPacker } from '../urn/packed-urns.ts'
import type { Urn } from '../urn/urn.ts'

/** Numbers are places in `urns` and `shapes`; the four arrays have an entry for each edge, in the order of the lines. */
export type EdgeBatch = { urns: PackedUrns, shapes: EdgeShape[], upstreams: Int32Array, downstreams: Int32Array, lines: Int32Array, shapeOf: Uint8Array }

/** Gathers edges until there are enough for a chunk, again and again in the same memory. */
export type EdgeGatherer = {
  add(edge: PlainEdge): void
  /** Takes edges of a run from a place on, until there are so many of them or so many bytes. Gives the place of the next. */
  addRun(run: EdgeRun, from: number, most: { records: number, bytes: number }): number
  /** So far. */
  count: () => number
  bytes: () => number
  /** What was gathered; the next edges are gathered anew. */
  take(): EdgeBatch
}

/** Beside its URNs: a line, two places and a shape. */
const edgeBytes = 13

export function createEdgeGatherer(): EdgeGatherer {
  const packer = new UrnPacker()
  let shapes: EdgeShape[] = []
  let [upstreams, downstreams, lines, shapeOf]: [number[], number[], number[], number[]] = [[], [], [], []]
  let [lastUpstream, lastDownstream]: [Named | null, Named | null] = [null, null]

  /** Many a job goes through its tables one by one: what the line before named is not looked up. */
  function named(urn: Urn, last: Named | null): Named {
    return last?.urn === urn ? last : { urn, place: packer.placeOf(urn) }
  }

  function shapePlace(shape: EdgeShape): number {
    const found = shapes.indexOf(shape)
    return found >= 0 ? found : shapes.push(shape) - 1
  }

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
    addRun({ firstLine, count, shape, bytes: body, upstreamBegins, upstreamEnds, downstreamBegins, downstreamEnds }, from, most) {
      const shapeAt = shapePlace(shape)
      let [upstreamBegin, upstream, downstreamBegin, downstream] = [-1, 0, -1, 0]
      let index = from
      while (index < count && lines.length < most.records && bytes() < most.bytes) {
        const [nextUpstream, nextDownstream] = [upstreamBegins[index] ?? 0, downstreamBegins[index] ?? 0]
        if (nextUpstream !== upstreamBegin) upstream = packer.placeOfBytes(body, nextUpstream, upstreamEnds[index] ?? 0)
        if (nextDownstream !== downstreamBegin) downstream = packer.placeOfBytes(body, nextDownstream, downstreamEnds[index] ?? 0)
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
    take() {
      const batch = { urns: packer.packed(), shapes, upstreams: new Int32Array(upstreams), downstreams: new Int32Array(downstreams), lines: new Int32Array(lines), shapeOf: new Uint8Array(shapeOf) }
      packer.clear()
      shapes = []
      ;[upstreams, downstreams, lines, shapeOf] = [[], [], [], []]
      ;[lastUpstream, lastDownstream] = [null, null]
      return batch
    }
  }
}

type Named = { urn: Urn, place: number }

/** The first byte of a payload of edges: no deflated stream begins with it (its block type does not exist). */
const edgesMark = 0xff
const edgesVersion = 1
const headBytes = 2

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** Mark, version, then deflated: counts, shapes as JSON, URNs a line each, and the arrays. */
export async function packEdges({ urns, shapes, upstreams, downstreams, lines, shapeOf }: EdgeBatch): Promise<Buffer> {
  const shapesText = Buffer.from(JSON.stringify(shapes), 'utf8')
  const counts = Buffer.alloc(12)
  counts.writeInt32LE(lines.length, 0)
  counts.writeInt32LE(shapesText.length, 4)
  counts.writeInt32LE(urns.bytes.length, 8)
  const packed = await deflate(Buffer.concat([counts, bytesOf(upstreams), bytesOf(downstreams), bytesOf(lines), shapeOf, shapesText, urns.bytes]), { level: 1 })
  return Buffer.concat([Buffer.from([edgesMark, edgesVersion]), packed])
}

export const holdsEdges = (payload: Buffer): boolean => payload[0] === edgesMark

/** Throws where the payload is not what packEdges makes. */
export async function unpackEdges(payload: Buffer): Promise<EdgeBatch> {
  if (payload[1] !== edgesVersion) throw new Error(`unknown version ${payload[1]} of packed edges`)
  const bytes = await inflate(payload.subarray(headBytes))
  const count = bytes.readInt32LE(0)
  let at = 12
  const next = (length: number): Buffer => bytes.subarray(at, at += length)
  const [upstreams, downstreams, lines] = [intsOf(next(4 * count)), intsOf(next(4 * count)), intsOf(next(4 * count))]
  const shapeOf = new Uint8Array(next(count))
  const shapes = JSON.parse(next(bytes.readInt32LE(4)).toString('utf8')) as EdgeShape[]
  // They were checked when they were packed.
  const urns = new PackedUrns(next(bytes.readInt32LE(8)))
  if (at !== bytes.length) throw new Error('packed edges have another length than they say')
  if (!arePlaces(upstreams, urns) || !arePlaces(downstreams, urns) || !arePlaces(shapeOf, shapes)) throw new Error('packed edges name what they do not hold')
  return { urns, shapes, upstreams, downstreams, lines, shapeOf }
}

const arePlaces = (places: Int32Array | Uint8Array, { length }: { length: number }): boolean => places.every((place) => place >= 0 && place < length)

const bytesOf = (numbers: Int32Array): Buffer => Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)

/** Copied, since the bytes may begin anywhere. Both ends of the wire are little-endian, as every platform of Node is. */
const intsOf = (bytes: Buffer): Int32Array => new Int32Array(new Uint8Array(bytes).buffer)

/** The line of an edge as it was sent. */
export function lineOfEdge({ urns, shapes, upstreams, downstreams, shapeOf }: EdgeBatch, index: number): string {
  const shape = shapes[shapeOf[index] ?? 0]
  if (!shape) throw new Error('an edge has no shape')
  return textOfEdge(shape, urns.at(upstreams[index] ?? 0), urns.at(downstreams[index] ?? 0))
}
