/**
 * The packed rows of the change log: what an in-memory graph must be told, as little-endian integers.
 *
 * A row is a version byte and then entries, each a byte of kind followed by int32s: 1 edge stated (downstream, upstream),
 * 2 edge unstated, 3 entity (id, flags: 1 present, 2 removed, 4 once deleted), 4 domain of an asset (id, domain or 0), 5 parent of a
 * domain (id, parent or 0), 6 new entity (id; its URN is read from the table), 7 domain
 * whose properties changed (id; they are read from the table), 8 many edges stated (their count, all downstreams, all upstreams).
 * Edges count: one that two sources state is stated twice.
 */
import { bytesOfInts, intsOfBytes } from './packed-ints.ts'

export type GraphDelta =
  | { kind: 'stated' | 'unstated'; downstreamId: number; upstreamId: number }
  | { kind: 'entity'; id: number; isPresent: boolean; isRemoved: boolean; isDeleted: boolean }
  | { kind: 'domain'; id: number; domainId: number | null }
  | { kind: 'parentDomain'; id: number; parentId: number | null }
  | { kind: 'created' | 'described'; id: number }

const graphDeltaVersion = 1

/** Packs deltas in the order given. */
export function packGraphDeltas(deltas: readonly GraphDelta[]): Buffer {
  const buffer = Buffer.allocUnsafe(1 + deltas.length * 9)
  let end = buffer.writeUInt8(graphDeltaVersion, 0)
  const put = (code: number, ...numbers: number[]) => {
    end = buffer.writeUInt8(code, end)
    for (const number of numbers) end = buffer.writeInt32LE(number, end)
  }
  for (const delta of deltas) {
    switch (delta.kind) {
      case 'stated':
        put(1, delta.downstreamId, delta.upstreamId)
        break
      case 'unstated':
        put(2, delta.downstreamId, delta.upstreamId)
        break
      case 'entity':
        put(3, delta.id, (delta.isPresent ? 1 : 0) | (delta.isRemoved ? 2 : 0) | (delta.isDeleted ? 4 : 0))
        break
      case 'domain':
        put(4, delta.id, delta.domainId ?? 0)
        break
      case 'parentDomain':
        put(5, delta.id, delta.parentId ?? 0)
        break
      case 'created':
        put(6, delta.id)
        break
      case 'described':
        put(7, delta.id)
        break
    }
  }
  return buffer.subarray(0, end)
}

/** An entry of each array for each edge. */
export type StatedEdges = { downstreamIds: Int32Array; upstreamIds: Int32Array }

const manyStated = 8
const manyHeadBytes = 6

/** Packs edges that are stated once more: a row of their own, which unpackStatedEdges reads at once. */
export function packStatedEdges({ downstreamIds, upstreamIds }: StatedEdges): Buffer {
  const head = Buffer.alloc(manyHeadBytes)
  head.writeUInt8(graphDeltaVersion, 0)
  head.writeUInt8(manyStated, 1)
  head.writeInt32LE(downstreamIds.length, 2)
  return Buffer.concat([head, bytesOfInts(downstreamIds), bytesOfInts(upstreamIds)])
}

/** The edges of a row that holds nothing else; null for any other. */
export function unpackStatedEdges(packed: Buffer): StatedEdges | null {
  if (packed[0] !== graphDeltaVersion || packed[1] !== manyStated) return null
  const count = packed.readInt32LE(2)
  if (packed.length !== manyHeadBytes + 8 * count) throw new Error(`${count} edges in ${packed.length} bytes`)
  const ints = intsOfBytes(packed.subarray(manyHeadBytes))
  return { downstreamIds: ints.subarray(0, count), upstreamIds: ints.subarray(count) }
}

/** Reads a packed row back, one delta at a time: a row may hold a million. Throws on a version or kind that this program does not know. */
export function* unpackGraphDeltas(packed: Buffer): Generator<GraphDelta> {
  if (packed.readUInt8(0) !== graphDeltaVersion)
    throw new Error(`unknown graph delta version ${packed.readUInt8(0)}`)
  const many = unpackStatedEdges(packed)
  if (many) {
    for (const [index, downstreamId] of many.downstreamIds.entries())
      yield { kind: 'stated', downstreamId, upstreamId: many.upstreamIds[index] ?? 0 }
    return
  }
  let at = 1
  const int = () => {
    at += 4
    return packed.readInt32LE(at - 4)
  }
  while (at < packed.length) {
    const code = packed.readUInt8(at++)
    if (code === 1 || code === 2)
      yield { kind: code === 1 ? 'stated' : 'unstated', downstreamId: int(), upstreamId: int() }
    else if (code === 3) {
      const id = int()
      const flags = int()
      yield {
        kind: 'entity',
        id,
        isPresent: (flags & 1) !== 0,
        isRemoved: (flags & 2) !== 0,
        isDeleted: (flags & 4) !== 0
      }
    } else if (code === 4) yield { kind: 'domain', id: int(), domainId: int() || null }
    else if (code === 5) yield { kind: 'parentDomain', id: int(), parentId: int() || null }
    else if (code === 6) yield { kind: 'created', id: int() }
    else if (code === 7) yield { kind: 'described', id: int() }
    else throw new Error(`unknown graph delta kind ${code}`)
  }
}
