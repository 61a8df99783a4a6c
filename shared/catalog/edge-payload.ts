/**
 * Edges given by their two ends alone, as a chunk stores them: each URN once, and an edge as its line and two numbers.
 *
 * Half the bytes of the lines, and nothing left to parse: the worker looks up each URN once. The lines can be made again
 * as they were sent, for rejects and for a second way of applying them.
 */
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { textOfEdge, type EdgeShape, type PlainEdge } from '../formats/plain-edges.ts'
import type { Urn } from '../urn/urn.ts'

/** Numbers are places in `urns` and `shapes`; the four arrays have an entry for each edge, in the order of the lines. */
export type EdgeBatch = { urns: Urn[], shapes: EdgeShape[], upstreams: Int32Array, downstreams: Int32Array, lines: Int32Array, shapeOf: Uint8Array }

/** Gathers edges until there are enough for a chunk. */
export type EdgeGatherer = {
  add(edge: PlainEdge): void
  /** So far. */
  count: () => number
  bytes: () => number
  take(): EdgeBatch
}

export function createEdgeGatherer(): EdgeGatherer {
  const places = new Map<Urn, number>()
  const shapes: EdgeShape[] = []
  const urns: Urn[] = []
  const [upstreams, downstreams, lines, shapeOf]: number[][] = [[], [], [], []]
  let bytes = 0

  function placeOf(urn: Urn): number {
    const found = places.get(urn)
    if (found !== undefined) return found
    // A slice of the piece of the body that it came in would keep all of that in memory.
    const own = ` ${urn}`.slice(1) as Urn
    places.set(own, urns.length)
    bytes += own.length
    return urns.push(own) - 1
  }

  /** Many a job goes through its tables one by one: what the line before named is not looked up. */
  function rememberPlace(): (urn: Urn) => number {
    let last: Urn | undefined
    let place = 0
    return (urn) => {
      if (urn !== last) {
        last = urn
        place = placeOf(urn)
      }
      return place
    }
  }

  const upstreamPlace = rememberPlace()
  const downstreamPlace = rememberPlace()

  function shapePlace(shape: EdgeShape): number {
    const found = shapes.indexOf(shape)
    return found >= 0 ? found : shapes.push(shape) - 1
  }

  return {
    add({ line, shape, upstream, downstream }) {
      upstreams?.push(upstreamPlace(upstream))
      downstreams?.push(downstreamPlace(downstream))
      lines?.push(line)
      shapeOf?.push(shapePlace(shape))
      bytes += 13
    },
    count: () => lines?.length ?? 0,
    bytes: () => bytes,
    take: () => ({ urns, shapes, upstreams: Int32Array.from(upstreams ?? []), downstreams: Int32Array.from(downstreams ?? []), lines: Int32Array.from(lines ?? []), shapeOf: Uint8Array.from(shapeOf ?? []) })
  }
}

/** The first byte of a payload of edges: no deflated stream begins with it (its block type does not exist). */
const edgesMark = 0xff
const edgesVersion = 1
const headBytes = 2

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** Mark, version, then deflated: counts, shapes as JSON, URNs a line each, and the arrays. */
export async function packEdges({ urns, shapes, upstreams, downstreams, lines, shapeOf }: EdgeBatch): Promise<Buffer> {
  const shapesText = Buffer.from(JSON.stringify(shapes), 'utf8')
  // A URN holds no line break.
  const urnsText = Buffer.from(urns.join('\n'), 'utf8')
  const counts = Buffer.alloc(12)
  counts.writeInt32LE(lines.length, 0)
  counts.writeInt32LE(shapesText.length, 4)
  counts.writeInt32LE(urnsText.length, 8)
  const packed = await deflate(Buffer.concat([counts, bytesOf(upstreams), bytesOf(downstreams), bytesOf(lines), shapeOf, shapesText, urnsText]), { level: 1 })
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
  const shapeOf = Uint8Array.from(next(count))
  const shapes = JSON.parse(next(bytes.readInt32LE(4)).toString('utf8')) as EdgeShape[]
  // They were checked when they were packed.
  const urns = next(bytes.readInt32LE(8)).toString('utf8').split('\n') as Urn[]
  if (at !== bytes.length) throw new Error('packed edges have another length than they say')
  if (!arePlaces(upstreams, urns) || !arePlaces(downstreams, urns) || !arePlaces(shapeOf, shapes)) throw new Error('packed edges name what they do not hold')
  return { urns, shapes, upstreams, downstreams, lines, shapeOf }
}

const arePlaces = (places: Int32Array | Uint8Array, { length }: readonly unknown[]): boolean => places.every((place) => place >= 0 && place < length)

const bytesOf = (numbers: Int32Array): Buffer => Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)

/** Copied, since the bytes may begin anywhere. Both ends of the wire are little-endian, as every platform of Node is. */
const intsOf = (bytes: Buffer): Int32Array => new Int32Array(Uint8Array.from(bytes).buffer)

/** The line of an edge as it was sent. */
export function lineOfEdge({ urns, shapes, upstreams, downstreams, shapeOf }: EdgeBatch, index: number): string {
  const shape = shapes[shapeOf[index] ?? 0]
  if (!shape) throw new Error('an edge has no shape')
  return textOfEdge(shape, urns[upstreams[index] ?? 0] ?? '', urns[downstreams[index] ?? 0] ?? '')
}
