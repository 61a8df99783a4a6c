/** The streams that unpack a body, for each Content-Encoding that this version of Node supports. */
import * as zlib from 'node:zlib'
import { CatalogError } from '../../shared/errors.ts'

/** Unpacks what is written to it; `bytesWritten` counts the input consumed. */
export type Unpacker = zlib.Gunzip

const chunkSize = 64 * 1024
/**
 * 8 MiB, which every zstd decoder supports and the usual compression levels need. Without this limit, a frame
 * may ask for 128 MiB.
 */
const zstdWindowLogMax = 23
/** The number of that option in zstd. */
const zstdWindowLogOption = 100

const isFactory = (value: unknown): value is (options: object) => Unpacker => typeof value === 'function'
const createZstd: unknown = Reflect.get(zlib, 'createZstdDecompress')

/** One byte, compressed with zstd. */
const zstdFrame = Buffer.from('28b52ffd200109000061', 'hex')

/**
 * Whether this Node unpacks zstd and reports a truncated frame. Node 22 has the decoder, but ends such a
 * stream as if it were complete, so part of a load would be lost without an error.
 */
function hasSafeZstd(): boolean {
  const unpack: unknown = Reflect.get(zlib, 'zstdDecompressSync')
  if (typeof unpack !== 'function') return false
  try {
    unpack(zstdFrame.subarray(0, -1))
    return false
  } catch {
    return true
  }
}

const gunzip = (): Unpacker => zlib.createGunzip({ chunkSize })
const unpackers = new Map<string, (() => Unpacker) | null>([
  ['', null],
  ['identity', null],
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ...(isFactory(createZstd) && hasSafeZstd()
    ? [
        [
          'zstd',
          (): Unpacker => createZstd({ chunkSize, params: { [zstdWindowLogOption]: zstdWindowLogMax } })
        ] as const
      ]
    : [])
])

const allowed = [...unpackers.keys()].filter((encoding) => encoding !== '' && encoding !== 'x-gzip')

/** Null for a body that is not compressed. Throws UNSUPPORTED_MEDIA_TYPE with the supported encodings. */
export function unpackerFor(contentEncoding: string | undefined): (() => Unpacker) | null {
  const encoding = contentEncoding?.trim().toLowerCase() ?? ''
  const found = unpackers.get(encoding)
  if (found !== undefined) return found
  const why = encoding.includes(',')
    ? 'A body may be compressed only once'
    : `Bodies with Content-Encoding ${encoding.slice(0, 100)} are not read`
  throw new CatalogError('UNSUPPORTED_MEDIA_TYPE', `${why}; there are ${allowed.join(', ')}`, {
    field: 'Content-Encoding',
    allowed
  })
}
