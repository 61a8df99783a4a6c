/**
 * The rows of the change log, which tell in-memory graphs what has changed, as stored columns (codec.ts).
 *
 * Three numbers each: 1 edge stated (downstream, upstream), 2 edge no longer stated, 3 entity (id, flags: 1
 * present, 2 removed, 4 ever deleted), 4 domain of an asset (id, domain or 0), 5 parent of a domain (id,
 * parent or 0), 6 new entity (id; its URN is read from the table), 7 domain whose properties changed (id;
 * they are read from the table). An edge that two sources state is listed twice. Stated edges come last.
 */
import { packColumns, unpackColumns } from './codec.ts'

export type GraphDelta =
  | { kind: 'unstated'; downstreamId: number; upstreamId: number }
  | { kind: 'entity'; id: number; isPresent: boolean; isRemoved: boolean; isDeleted: boolean }
  | { kind: 'domain'; id: number; domainId: number | null }
  | { kind: 'parentDomain'; id: number; parentId: number | null }
  | { kind: 'created' | 'described'; id: number }

/** Edges that got one more statement. Each array has a value for each edge. */
export type StatedEdges = { downstreamIds: Int32Array; upstreamIds: Int32Array }

/** Stored in Postgres: never renumber. */
const codes = {
  stated: 1,
  unstated: 2,
  entity: 3,
  domain: 4,
  parentDomain: 5,
  created: 6,
  described: 7
} as const satisfies Record<GraphDelta['kind'] | 'stated', number>
const kindOfCode = new Map(
  Object.entries(codes).map(([kind, code]) => [code as number, kind as keyof typeof codes])
)

const columnCount = 3
const noEdges: StatedEdges = { downstreamIds: new Int32Array(0), upstreamIds: new Int32Array(0) }

/** Packs deltas in the order given, followed by the stated edges. */
export function packGraphChanges(deltas: readonly GraphDelta[], stated: StatedEdges = noEdges): Buffer {
  const count = deltas.length + stated.downstreamIds.length
  const [kinds, firsts, seconds] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)]
  for (const [at, delta] of deltas.entries()) {
    kinds[at] = codes[delta.kind]
    ;[firsts[at], seconds[at]] = numbersOf(delta)
  }
  kinds.fill(codes.stated, deltas.length)
  firsts.set(stated.downstreamIds, deltas.length)
  seconds.set(stated.upstreamIds, deltas.length)
  return packColumns('changes', [kinds, firsts, seconds])
}

function numbersOf(delta: GraphDelta): [number, number] {
  switch (delta.kind) {
    case 'unstated':
      return [delta.downstreamId, delta.upstreamId]
    case 'entity':
      return [delta.id, (delta.isPresent ? 1 : 0) | (delta.isRemoved ? 2 : 0) | (delta.isDeleted ? 4 : 0)]
    case 'domain':
      return [delta.id, delta.domainId ?? 0]
    case 'parentDomain':
      return [delta.id, delta.parentId ?? 0]
    case 'created':
    case 'described':
      return [delta.id, 0]
  }
}

/**
 * The content of a row: stated edges as columns, because there may be a million, and everything else one by
 * one.
 */
export type GraphChanges = { stated: StatedEdges; deltas: Iterable<GraphDelta> }

/** Throws if packGraphChanges did not make the bytes, or for an unknown kind. */
export function unpackGraphChanges(packed: Buffer): GraphChanges {
  const {
    columns: [kinds = new Int32Array(0), firsts = new Int32Array(0), seconds = new Int32Array(0)]
  } = unpackColumns('changes', packed, columnCount)
  let begin = kinds.length
  while (begin > 0 && kinds[begin - 1] === codes.stated) begin -= 1
  return {
    stated: { downstreamIds: firsts.subarray(begin), upstreamIds: seconds.subarray(begin) },
    deltas: deltasOf(kinds.subarray(0, begin), firsts, seconds)
  }
}

function* deltasOf(kinds: Int32Array, firsts: Int32Array, seconds: Int32Array): Generator<GraphDelta> {
  for (let at = 0; at < kinds.length; at += 1)
    yield deltaOf(kinds[at] ?? 0, firsts[at] ?? 0, seconds[at] ?? 0)
}

function deltaOf(code: number, first: number, second: number): GraphDelta {
  const kind = kindOfCode.get(code)
  switch (kind) {
    case undefined:
      throw new Error(`unknown kind ${code} in the change log`)
    case 'stated':
      throw new Error('an added edge before the end of a change log row')
    case 'unstated':
      return { kind, downstreamId: first, upstreamId: second }
    case 'entity':
      return {
        kind,
        id: first,
        isPresent: (second & 1) !== 0,
        isRemoved: (second & 2) !== 0,
        isDeleted: (second & 4) !== 0
      }
    case 'domain':
      return { kind, id: first, domainId: second || null }
    case 'parentDomain':
      return { kind, id: first, parentId: second || null }
    case 'created':
    case 'described':
      return { kind, id: first }
  }
}
