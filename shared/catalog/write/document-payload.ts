/**
 * Lineage documents as a chunk stores them: what they say in columns, which is all that is needed to apply them, and behind it
 * their texts, for rejects and for the general way of applying them.
 */
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { PlainDocument } from '../../formats/plain-documents.ts'
import { bytesOfInts, intsOfBytes } from '../../model/packed-ints.ts'
import { viewOf } from '../../urn/byte-words.ts'
import { PackedUrns, UrnPacker } from '../../urn/packed-urns.ts'
import type { Urn } from '../../urn/urn.ts'
import type { KnownIds } from '../lineage/known-ids.ts'

/**
 * Ends (`owners`, `upstreams`) are places in `urns` or, below zero, ids with the sign turned, as in an EdgeBatch. `lines`, `owners`, `counts` (of
 * upstreams) and `metadata` have an entry for each document, in the order of the lines; `upstreams` and `attributes` one for each upstream, in
 * the order of the lists. `metadata` and `attributes` are places in `texts` (of JSON) from 1, and 0 where there are none.
 */
export type DocumentBatch = {
  urns: PackedUrns
  lines: Int32Array
  owners: Int32Array
  counts: Int32Array
  metadata: Int32Array
  upstreams: Int32Array
  attributes: Int32Array
  texts: string[]
}

/** Gathers documents until there are enough for a chunk, again and again. */
export type DocumentGatherer = {
  add(document: PlainDocument): void
  /** As that of an EdgeGatherer. */
  isOutdated: () => boolean
  /** What was gathered; the next are gathered anew. `ids` are those that gave the ids in it, null where there are none. */
  take(): { batch: DocumentBatch; ids: KnownIds | null }
}

/** Asks `knownIds` until it gives some, for each chunk anew. */
export function createDocumentGatherer(knownIds: () => KnownIds | null = () => null): DocumentGatherer {
  const packer = new UrnPacker()
  const columns = {
    lines: [] as number[],
    owners: [] as number[],
    counts: [] as number[],
    metadata: [] as number[],
    upstreams: [] as number[],
    attributes: [] as number[]
  }
  let texts = new Map<string, number>()
  let ids: KnownIds | null = null
  let scratch = Buffer.allocUnsafeSlow(1 << 14)
  let view = viewOf(scratch)

  /** Of ordinary datasets: their URNs are in ASCII. */
  function endsOf(urns: readonly Urn[], known: KnownIds | null): number[] {
    if (!known) return urns.map((urn) => packer.placeOf(urn))
    const [begins, ends, found] = [
      new Int32Array(urns.length),
      new Int32Array(urns.length),
      new Int32Array(urns.length)
    ]
    let length = 0
    for (const urn of urns) length += urn.length
    if (length > scratch.length) {
      scratch = Buffer.allocUnsafeSlow(length)
      view = viewOf(scratch)
    }
    let end = 0
    for (const [at, urn] of urns.entries()) {
      begins[at] = end
      end += scratch.write(urn, end, 'latin1')
      ends[at] = end
    }
    known.idsOf(view, begins, ends, 0, urns.length, found)
    return urns.map((urn, at) => -(found[at] ?? 0) || packer.placeOf(urn))
  }

  function placeOf(value: object | null): number {
    if (value === null) return 0
    const text = JSON.stringify(value)
    const known = texts.get(text) ?? texts.size + 1
    texts.set(text, known)
    return known
  }

  return {
    add({ line, ownerUrn, upstreamUrns, attributes, systemMetadata }) {
      const known = (ids ??= knownIds())
      columns.lines.push(line)
      const [owner = 0, ...upstreams] = endsOf([ownerUrn, ...upstreamUrns], known)
      columns.owners.push(owner)
      columns.counts.push(upstreamUrns.length)
      columns.metadata.push(placeOf(systemMetadata))
      for (const [at, upstream] of upstreams.entries()) {
        columns.upstreams.push(upstream)
        columns.attributes.push(placeOf(attributes[at] ?? null))
      }
    },
    isOutdated: () => ids !== null && ids !== knownIds(),
    take() {
      const { lines, owners, counts, metadata, upstreams, attributes } = columns
      const batch = {
        urns: packer.packed(),
        texts: [...texts.keys()],
        lines: new Int32Array(lines),
        owners: new Int32Array(owners),
        counts: new Int32Array(counts),
        metadata: new Int32Array(metadata),
        upstreams: new Int32Array(upstreams),
        attributes: new Int32Array(attributes)
      }
      const taken = { batch, ids }
      for (const column of Object.values(columns)) column.length = 0
      packer.clear()
      texts = new Map()
      ids = null
      return taken
    }
  }
}

/** The first byte of a payload of documents: no deflated stream begins with it (its block type does not exist), and no payload of edges. */
const documentsMark = 0xfe
const documentsVersion = 2
const markBytes = 2
const headBytes = 6
const countsBytes = 16

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** Mark, version, the length of the columns, the columns deflated, and behind them `lines`, as packLines has packed them. */
export async function packDocuments(
  { urns, texts, lines, owners, counts, metadata, upstreams, attributes }: DocumentBatch,
  sent: Buffer
): Promise<Buffer> {
  const textsJson = Buffer.from(JSON.stringify(texts), 'utf8')
  const head = Buffer.alloc(countsBytes)
  for (const [index, count] of [
    lines.length,
    upstreams.length,
    textsJson.length,
    urns.bytes.length
  ].entries())
    head.writeInt32LE(count, index * 4)
  const packed = await deflate(
    Buffer.concat([
      head,
      ...[lines, owners, counts, metadata, upstreams, attributes].map(bytesOfInts),
      textsJson,
      urns.bytes
    ]),
    { level: 1 }
  )
  const begin = Buffer.from([documentsMark, documentsVersion, 0, 0, 0, 0])
  begin.writeInt32LE(packed.length, markBytes)
  return Buffer.concat([begin, packed, sent])
}

export const holdsDocuments = (payload: Buffer): boolean => payload[0] === documentsMark

/** Their texts, as packLines has packed them. */
export const packedLinesOf = (payload: Buffer): Buffer =>
  payload.subarray(headBytes + payload.readInt32LE(markBytes))

/** Throws where the payload is not what packDocuments makes. */
export async function unpackDocuments(payload: Buffer): Promise<DocumentBatch> {
  if (payload[1] !== documentsVersion) throw new Error(`unknown version ${payload[1]} of packed documents`)
  const bytes = await inflate(payload.subarray(headBytes, headBytes + payload.readInt32LE(markBytes)))
  let at = countsBytes
  const next = (length: number): Buffer => {
    if (length < 0 || at + length > bytes.length)
      throw new Error('packed documents are shorter than they say')
    return bytes.subarray(at, (at += length))
  }
  const [count, edgeCount] = [bytes.readInt32LE(0), bytes.readInt32LE(4)]
  const ints = (length: number): Int32Array => intsOfBytes(next(4 * length))
  const [lines, owners, counts, metadata, upstreams, attributes] = [
    ints(count),
    ints(count),
    ints(count),
    ints(count),
    ints(edgeCount),
    ints(edgeCount)
  ]
  const texts = JSON.parse(next(bytes.readInt32LE(8)).toString('utf8')) as string[]
  const urns = new PackedUrns(next(bytes.readInt32LE(12)))
  const isWhole =
    at === bytes.length &&
    counts.every((each) => each >= 0) &&
    counts.reduce((sum, each) => sum + each, 0) === edgeCount
  const areKnown =
    [owners, upstreams].every((ends) => ends.every((end) => end < urns.length && end > -(2 ** 31))) &&
    [metadata, attributes].every((places) => places.every((place) => place >= 0 && place <= texts.length))
  if (!isWhole || !areKnown) throw new Error('packed documents name what they do not hold')
  return { urns, texts, lines, owners, counts, metadata, upstreams, attributes }
}
