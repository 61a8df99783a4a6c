/**
 * The body of an upload, read byte by byte: unpacked, with bounds on its size, its compression ratio, and its
 * time.
 *
 * Nothing is read before it is needed: the connection itself slows the client down.
 */
import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import { unpackerFor, type Unpacker } from './unpackers.ts'

/** The minimum speed of a client. Time in which the server does not read does not count. */
export type UploadPace = { idleMaxMs: number; windowMs: number; minBytesPerSecond: number }

export const uploadPace: UploadPace = { idleMaxMs: 60_000, windowMs: 60_000, minBytesPerSecond: 100 }

/** The ratio is only checked for larger bodies, where it is meaningful. */
const ratioCountsFromBytes = 1024 * 1024

/** The parts of a request that are used. */
export type Upload = Pick<IncomingMessage, 'headers' | 'iterator'>

/**
 * The bytes of the body. Throws UNSUPPORTED_MEDIA_TYPE at once for an unknown encoding. While reading, throws
 * BODY_TOO_LARGE (loadMaxBytes, loadMaxCompressionRatio), REQUEST_TIMEOUT, and BAD_REQUEST if the client has
 * disconnected or the bytes do not match the encoding. Stopping early leaves the connection open, so that an
 * answer can be sent.
 */
export function readBody(request: Upload, pace: UploadPace = uploadPace): AsyncIterable<Buffer> {
  const unpacker = unpackerFor(request.headers['content-encoding'])
  return bounded(unpacker ? unpacked(received(request, pace), unpacker()) : received(request, pace))
}

async function* received(request: Upload, pace: UploadPace): AsyncGenerator<Buffer> {
  const iterator: AsyncIterator<unknown> = request.iterator({ destroyOnReturn: false })
  let waitedMs = 0
  let bytes = 0
  try {
    for (;;) {
      const askedAt = performance.now()
      const next = await nextWithin(iterator, pace.idleMaxMs)
      if (next.done) return
      const chunk = next.value
      if (!Buffer.isBuffer(chunk)) throw new TypeError('the body of a request comes in buffers')
      waitedMs += performance.now() - askedAt
      bytes += chunk.length
      if (waitedMs >= pace.windowMs) {
        if (bytes * 1_000 < waitedMs * pace.minBytesPerSecond)
          throw tooSlow(`less than ${pace.minBytesPerSecond} bytes a second`)
        waitedMs = 0
        bytes = 0
      }
      yield chunk
    }
  } finally {
    // Not awaited: while a read is pending, as after a timeout, it resolves only when the connection ends.
    iterator.return?.().catch(() => {})
  }
}

async function nextWithin(
  iterator: AsyncIterator<unknown>,
  idleMaxMs: number
): Promise<IteratorResult<unknown>> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooSlow(`nothing for ${idleMaxMs / 1_000} seconds`)), idleMaxMs)
  })
  const next = iterator.next().catch((cause: unknown) => {
    throw new CatalogError('BAD_REQUEST', 'The upload was cut off', {}, { cause })
  })
  next.catch(() => {})
  try {
    return await Promise.race([next, late])
  } finally {
    clearTimeout(timer)
  }
}

async function* unpacked(packed: AsyncIterable<Buffer>, unpacker: Unpacker): AsyncGenerator<Buffer> {
  let bytesIn = 0
  let bytesOut = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of packed) {
      bytesIn += chunk.length
      yield chunk
    }
  }
  const feeding = pipeline(counted, unpacker)
  feeding.catch(() => {})
  try {
    for await (const chunk of unpacker) {
      if (!Buffer.isBuffer(chunk)) throw new TypeError('an unpacker gives buffers')
      bytesOut += chunk.length
      if (bytesOut > ratioCountsFromBytes && bytesOut > bytesIn * limits.loadMaxCompressionRatio)
        throw tooLarge('loadMaxCompressionRatio', 'The body unpacks to more than')
      yield chunk
    }
    // Unpackers ignore bytes after the end of the compressed data.
    if (unpacker.bytesWritten < bytesIn)
      throw new CatalogError('BAD_REQUEST', 'There is data after the end of the compressed body')
  } catch (error) {
    if (error instanceof CatalogError) throw error
    throw new CatalogError(
      'BAD_REQUEST',
      'The body does not match its Content-Encoding, or was cut off',
      {},
      { cause: error }
    )
  } finally {
    unpacker.destroy()
  }
}

async function* bounded(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > limits.loadMaxBytes) throw tooLarge('loadMaxBytes', 'The body has more bytes than')
    yield chunk
  }
}

function tooLarge(limit: 'loadMaxBytes' | 'loadMaxCompressionRatio', text: string): CatalogError {
  const unit = limit === 'loadMaxBytes' ? 'the allowed' : 'the allowed multiple of its size,'
  return new CatalogError('BODY_TOO_LARGE', `${text} ${unit} ${limits[limit]}`, {
    limit,
    maximum: limits[limit]
  })
}

const tooSlow = (text: string): CatalogError =>
  new CatalogError('REQUEST_TIMEOUT', `The body arrived too slowly: ${text}`)
