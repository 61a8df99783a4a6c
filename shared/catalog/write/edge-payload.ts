/**
 * Edges given by their two ends alone, as a chunk stores them: an edge as its line and two numbers. An end is the id of a dataset
 * where the process that receives the load knows it, else the place of its URN, which is stored once.
 *
 * A fiftieth of the bytes of the lines, and nothing left to parse or to look up for the worker, which judges existence all the same.
 * The lines can be made again as they were sent, for rejects and for a second way of applying them: an entity's row is never deleted.
 */
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { textOfEdge, type EdgeShape } from '../../formats/plain-edges.ts'
import { packInts, unpackInts } from '../../model/int-columns.ts'
import { intsOfBytes } from '../../model/packed-ints.ts'
import { PackedUrns, UrnPacker } from '../../urn/packed-urns.ts'
import type { Urn } from '../../urn/urn.ts'

/**
 * Ends (`upstreams`, `downstreams`) are places in `urns` or, below zero, ids with the sign turned: those of datasets. `shapeOf` has places in
 * `shapes`. The four arrays have an entry for each edge, in the order of the lines. With `isRemoval` all of them are to be removed, else added.
 */
export type EdgeBatch = {
  isRemoval: boolean
  urns: PackedUrns
  shapes: EdgeShape[]
  upstreams: Int32Array
  downstreams: Int32Array
  lines: Int32Array
  shapeOf: Int32Array
}

/** The first byte of a payload of edges: no deflated stream begins with it (its block type does not exist). */
const edgesMark = 0xff
const columnsVersion = 4
/** What versions of the program before columns wrote: of chunks without ids, of those with, and of removals. */
const [textVersion, idsVersion, removalVersion] = [1, 2, 3]
const headBytes = 2
/** Whether edges are added or removed, so far apart that damage does not turn one into the other. */
const [added, removed] = [0x0f, 0xf0]
/** The head of a payload in columns: mark, version, added or removed, and eight counts. */
const columnsHeadBytes = 35
/** No chunk has so many; a payload that says so is damaged. */
const edgesMaxCount = 1_000_000

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** Head, the columns, shapes as JSON, and URNs a line each, which alone are deflated. */
export async function packEdges({
  isRemoval,
  urns,
  shapes,
  upstreams,
  downstreams,
  lines,
  shapeOf
}: EdgeBatch): Promise<Buffer> {
  const texts = Buffer.from(JSON.stringify(shapes), 'utf8')
  const names = urns.length === 0 ? urns.bytes : await deflate(urns.bytes, { level: 1 })
  const columns = [upstreams, downstreams, lines, shapeOf].map(packInts)
  const head = Buffer.alloc(columnsHeadBytes)
  head.set([edgesMark, columnsVersion, isRemoval ? removed : added])
  for (const [at, count] of [
    lines.length,
    ...columns.map(({ length }) => length),
    texts.length,
    names.length,
    urns.bytes.length
  ].entries())
    head.writeInt32LE(count, 3 + 4 * at)
  return Buffer.concat([head, ...columns, texts, names])
}

export const holdsEdges = (payload: Buffer): boolean => payload[0] === edgesMark

/** Throws where the payload is not what packEdges makes or made. */
export async function unpackEdges(payload: Buffer): Promise<EdgeBatch> {
  const version = payload[1] ?? 0
  if (
    version !== columnsVersion &&
    version !== textVersion &&
    version !== idsVersion &&
    version !== removalVersion
  )
    throw new Error(`unknown version ${version} of packed edges`)
  const batch = version === columnsVersion ? await inColumns(payload) : await inOneStream(payload)
  const least = version === textVersion ? 0 : -greatestId
  const { urns, shapes, upstreams, downstreams, shapeOf } = batch
  if (
    !areWithin(upstreams, least, urns.length) ||
    !areWithin(downstreams, least, urns.length) ||
    !areWithin(shapeOf, 0, shapes.length)
  )
    throw new Error('packed edges name what they do not hold')
  return batch
}

async function inColumns(payload: Buffer): Promise<EdgeBatch> {
  let at = columnsHeadBytes
  const count = payload.readInt32LE(3)
  const part = (place: number): Buffer => {
    const length = payload.readInt32LE(7 + 4 * place)
    if (length < 0 || at + length > payload.length) throw new Error('packed edges are shorter than they say')
    return payload.subarray(at, (at += length))
  }
  if (payload[2] !== added && payload[2] !== removed)
    throw new Error('packed edges are neither added nor removed')
  if (count < 0 || count > edgesMaxCount) throw new Error(`packed edges say that they are ${count}`)
  const [upstreams, downstreams, lines, shapeOf] = [
    unpackInts(part(0), count),
    unpackInts(part(1), count),
    unpackInts(part(2), count),
    unpackInts(part(3), count)
  ]
  const isRemoval = payload[2] === removed
  const [shapes, names] = [shapesOf(part(4), isRemoval), part(5)]
  const urns = await namesOf(names, payload.readInt32LE(columnsHeadBytes - 4))
  if (at !== payload.length) throw new Error('packed edges are longer than they say')
  return { isRemoval, urns, shapes, upstreams, downstreams, lines, shapeOf }
}

/** They were checked when they were packed. */
async function namesOf(packed: Buffer, length: number): Promise<PackedUrns> {
  const names = packed.length === 0 ? packed : await inflate(packed, { maxOutputLength: Math.max(1, length) })
  if (names.length !== length) throw new Error('the names of packed edges have another length than they say')
  return new PackedUrns(names)
}

/** Deflated as one: counts, the arrays, shapes, and URNs. */
async function inOneStream(payload: Buffer): Promise<EdgeBatch> {
  const bytes = await inflate(payload.subarray(headBytes))
  const count = bytes.readInt32LE(0)
  let at = 12
  const next = (length: number): Buffer => bytes.subarray(at, (at += length))
  const [upstreams, downstreams, lines] = [
    intsOfBytes(next(4 * count)),
    intsOfBytes(next(4 * count)),
    intsOfBytes(next(4 * count))
  ]
  const shapeOf = Int32Array.from(next(count))
  const isRemoval = payload[1] === removalVersion
  const shapes = shapesOf(next(bytes.readInt32LE(4)), isRemoval)
  const urns = new PackedUrns(next(bytes.readInt32LE(8)))
  if (at !== bytes.length) throw new Error('packed edges have another length than they say')
  return { isRemoval, urns, shapes, upstreams, downstreams, lines, shapeOf }
}

const shapesOf = (json: Buffer, isRemoval: boolean): EdgeShape[] =>
  (JSON.parse(json.toString('utf8')) as EdgeShape[]).map((shape) => ({ ...shape, isRemoval }))

const greatestId = 2 ** 31 - 1

function areWithin(places: Int32Array, least: number, behind: number): boolean {
  for (let at = 0; at < places.length; at += 1)
    if ((places[at] ?? 0) < least || (places[at] ?? 0) >= behind) return false
  return true
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
  const placed = (ends: Int32Array): Int32Array =>
    ends.map((end) => (end < 0 ? packer.placeOf(urnOf(-end)) : end))
  const [upstreams, downstreams] = [placed(batch.upstreams), placed(batch.downstreams)]
  return { ...batch, upstreams, downstreams, urns: packer.packed() }
}

/** Those from the `begin`th edge on and before the `end`th, with no URN but theirs. */
export function partOf(batch: EdgeBatch, begin: number, end: number): EdgeBatch {
  const packer = new UrnPacker()
  const placed = (ends: Int32Array): Int32Array =>
    ends.slice(begin, end).map((each) => (each < 0 ? each : packer.placeOf(batch.urns.at(each))))
  const [upstreams, downstreams] = [placed(batch.upstreams), placed(batch.downstreams)]
  return {
    ...batch,
    upstreams,
    downstreams,
    urns: packer.packed(),
    lines: batch.lines.slice(begin, end),
    shapeOf: batch.shapeOf.slice(begin, end)
  }
}

/** The line of an edge as it was sent. */
export function lineOfEdge(
  { urns, shapes, upstreams, downstreams, shapeOf }: EdgeBatch,
  index: number,
  urnOf: (id: number) => Urn
): string {
  const named = (end: number): Urn => (end < 0 ? urnOf(-end) : urns.at(end))
  const shape = shapes[shapeOf[index] ?? 0]
  if (!shape) throw new Error('an edge has no shape')
  return textOfEdge(shape, named(upstreams[index] ?? 0), named(downstreams[index] ?? 0))
}
