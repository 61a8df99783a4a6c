/**
 * Edges given by their two ends, as a chunk stores them: an edge is its line number and two numbers.
 *
 * An end is the id of a dataset if the process that receives the load knows the id; otherwise it is the index
 * of a URN, and each URN is stored once. This takes a fiftieth of the bytes of the lines, and the worker need
 * not parse anything. The worker still checks existence.
 *
 * The lines can be restored as they were sent, for rejects and for applying them record by record, because
 * the row of an entity is never deleted.
 */
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { textOfEdge, type EdgeShape } from '../../formats/plain-edges.ts'
import { isOfKind, packColumns, unpackColumns } from '../../statements/codec.ts'
import { PackedUrns, UrnPacker } from '../../urn/packed-urns.ts'
import type { Urn } from '../../urn/urn.ts'

/**
 * An end (`upstreams`, `downstreams`) is an index into `urns`, or a negated id of a dataset. `shapeOf`
 * contains indexes into `shapes`. The four arrays have an entry for each edge, in the order of the lines.
 * `isRemoval` says whether all edges are removed or all added.
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

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

const columnCount = 4
/**
 * The bytes before the shapes (JSON) and the URNs (deflated): whether the edges are removed, the length of
 * the shapes, and the length of the URNs before deflation.
 */
const headBytes = 9

/**
 * The numbers are stored as columns (codec.ts), the shapes as JSON, and the URNs one per line. Only the URNs
 * are deflated.
 */
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
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(isRemoval ? 1 : 0, 0)
  head.writeInt32LE(texts.length, 1)
  head.writeInt32LE(urns.bytes.length, 5)
  const kind = urns.types().names.includes('schemaField') ? 'columnChunk' : 'chunk'
  return packColumns(kind, [upstreams, downstreams, lines, shapeOf], Buffer.concat([head, texts, names]))
}

/**
 * Chunks with edges between columns are a kind of their own, because a worker of an older version would store
 * these edges under the wrong owner. It cannot read this kind, so the load fails and can be retried.
 */
const kindOf = (payload: Buffer): 'chunk' | 'columnChunk' | null =>
  isOfKind(payload, 'chunk') ? 'chunk' : isOfKind(payload, 'columnChunk') ? 'columnChunk' : null

export const holdsEdges = (payload: Buffer): boolean => kindOf(payload) !== null

/** Throws if the payload was not made by packEdges. */
export async function unpackEdges(payload: Buffer): Promise<EdgeBatch> {
  const { columns, appendix } = unpackColumns(kindOf(payload) ?? 'chunk', payload, columnCount)
  const [upstreams, downstreams, lines, shapeOf] = columns
  if (!upstreams || !downstreams || !lines || !shapeOf || appendix.length < headBytes)
    throw new Error('packed edges are shorter than they say')
  const isRemoval = appendix.readUInt8(0) === 1
  const namesAt = headBytes + appendix.readInt32LE(1)
  const shapes = shapesOf(appendix.subarray(headBytes, namesAt), isRemoval)
  const urns = await namesOf(appendix.subarray(namesAt), appendix.readInt32LE(5))
  if (
    !areWithin(upstreams, -greatestId, urns.length) ||
    !areWithin(downstreams, -greatestId, urns.length) ||
    !areWithin(shapeOf, 0, shapes.length)
  )
    throw new Error('packed edges refer to entries that they do not contain')
  return { isRemoval, urns, shapes, upstreams, downstreams, lines, shapeOf }
}

/** Reads the URNs. They were checked when they were packed. */
async function namesOf(packed: Buffer, length: number): Promise<PackedUrns> {
  const names = packed.length === 0 ? packed : await inflate(packed, { maxOutputLength: Math.max(1, length) })
  if (names.length !== length) throw new Error('the URNs of packed edges do not have the stored length')
  return new PackedUrns(names)
}

const shapesOf = (json: Buffer, isRemoval: boolean): EdgeShape[] =>
  (JSON.parse(json.toString('utf8')) as EdgeShape[]).map((shape) => ({ ...shape, isRemoval }))

const greatestId = 2 ** 31 - 1

function areWithin(places: Int32Array, least: number, behind: number): boolean {
  for (let at = 0; at < places.length; at += 1)
    if ((places[at] ?? 0) < least || (places[at] ?? 0) >= behind) return false
  return true
}

/** The ids among the ends, unordered and with repetitions. */
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

/** The distinct ids of the edges at these indexes. */
export function idsAmong({ upstreams, downstreams }: EdgeBatch, places: Iterable<number>): number[] {
  const ids = new Set<number>()
  for (const place of places) {
    for (const end of [upstreams[place] ?? 0, downstreams[place] ?? 0]) if (end < 0) ids.add(-end)
  }
  return [...ids]
}

/** A copy of the batch in which the ends given as ids are replaced by their URNs. */
export function withUrns(batch: EdgeBatch, urnOf: (id: number) => Urn): EdgeBatch {
  const packer = new UrnPacker()
  for (let place = 0; place < batch.urns.length; place += 1) packer.placeOf(batch.urns.at(place))
  const placed = (ends: Int32Array): Int32Array =>
    ends.map((end) => (end < 0 ? packer.placeOf(urnOf(-end)) : end))
  const [upstreams, downstreams] = [placed(batch.upstreams), placed(batch.downstreams)]
  return { ...batch, upstreams, downstreams, urns: packer.packed() }
}

/** The edges from `begin` up to but excluding `end`, with only their own URNs. */
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
