/**
 * The one form in which edges are stored in bulk, in chunks, the change log and journals: columns of numbers
 * with a checksum.
 *
 * The layout: kind, version, number of columns, number of rows, length of each column, a CRC-32 of everything
 * else, the columns as int-columns.ts packs them, and an appendix. The first byte distinguishes it from a
 * deflated stream, which cannot begin with such a byte: its block type does not exist.
 */
import { crc32 } from 'node:zlib'
import { packInts, unpackInts } from './int-columns.ts'

/**
 * First bytes, stored in Postgres: never renumber. The lowest three bits are set, so that none of them begins
 * a deflated stream.
 */
const storedKinds = { chunk: 0xff, changes: 0xf7, journal: 0xef, columnChunk: 0xe7 } as const
export type StoredKind = keyof typeof storedKinds

const codecVersion = 1
const [headBytes, lengthBytes, checksumBytes] = [7, 4, 4]
/** More rows than any chunk has: bytes that say more are damaged. */
const rowsMaxCount = 10_000_000

/** `appendix` is stored as it is. All columns must have the same number of rows. */
export function packColumns(
  kind: StoredKind,
  columns: readonly Int32Array[],
  appendix: Buffer = Buffer.alloc(0)
): Buffer {
  const packed = columns.map(packInts)
  const body = Buffer.concat([...packed, appendix])
  const head = Buffer.alloc(headBytes + lengthBytes * packed.length + checksumBytes)
  head.set([storedKinds[kind], codecVersion, columns.length])
  head.writeInt32LE(columns[0]?.length ?? 0, 3)
  for (const [at, { length }] of packed.entries()) head.writeInt32LE(length, headBytes + lengthBytes * at)
  head.writeUInt32LE(
    checksumOf(head.subarray(0, head.length - checksumBytes), body),
    head.length - checksumBytes
  )
  return Buffer.concat([head, body])
}

const checksumOf = (head: Buffer, body: Buffer): number => crc32(body, crc32(head))

export const isOfKind = (stored: Uint8Array, kind: StoredKind): boolean => stored[0] === storedKinds[kind]

/** Throws when packColumns did not make the bytes, or the number of columns differs. */
export function unpackColumns(
  kind: StoredKind,
  stored: Buffer,
  columnCount: number
): { columns: Int32Array[]; appendix: Buffer } {
  if (!isOfKind(stored, kind)) throw new Error(`not stored columns of kind ${kind}`)
  if (stored[1] !== codecVersion) throw new Error(`unknown version ${stored[1]} of stored columns`)
  const bodyAt = headBytes + lengthBytes * columnCount + checksumBytes
  if (stored[2] !== columnCount || stored.length < bodyAt) throw new Error('stored columns of another shape')
  const body = stored.subarray(bodyAt)
  if (
    checksumOf(stored.subarray(0, bodyAt - checksumBytes), body) !==
    stored.readUInt32LE(bodyAt - checksumBytes)
  )
    throw new Error('stored columns are damaged: their checksum differs')
  const count = stored.readInt32LE(3)
  if (count < 0 || count > rowsMaxCount) throw new Error(`stored columns of ${count} rows`)
  let at = 0
  const columns = Array.from({ length: columnCount }, (_, index) => {
    const length = stored.readInt32LE(headBytes + lengthBytes * index)
    if (length < 0 || at + length > body.length) throw new Error('stored columns are shorter than they say')
    return unpackInts(body.subarray(at, (at += length)), count)
  })
  return { columns, appendix: body.subarray(at) }
}
