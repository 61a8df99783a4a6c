/** The body of one load: one input, or several joined, opened again for each attempt. */
import { loadFormat } from '../../shared/formats/load-formats.ts'
import { nextFileLine } from '../../shared/formats/sql/options.ts'
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { Readable, type Duplex } from 'node:stream'
import { createGzip, gzipSync } from 'node:zlib'
import { reasonOf, Refusal } from '../failure.ts'
import type { LoadInput } from './find-inputs.ts'
import { BodyFailure, type LoadBody } from './send-load.ts'
import { openSpool, type Spool } from './spool.ts'

/** How much of the input has been sent. `lines` is not counted if the input is compressed. */
type SentSoFar = { bytes: number; lines: number; isArray?: boolean | undefined }

export type Upload = {
  /** The name to show. */
  name: string
  format: string | null
  /** Size of the input; null if it is not known. */
  totalBytes: number | null
  hasLines: boolean
  /** What the latest attempt has sent. */
  sent: () => SentSoFar
  /** The body, from its beginning. */
  body: () => LoadBody
  /** Why another attempt is not possible; null if it is. */
  problem: () => string | null
  /** The place of a line in the input, such as `line 4`, or for several files `b.ndjson line 1`; in an array `element 4`. */
  place: (line: number) => string
  close: () => Promise<void>
}

export type UploadOptions = {
  format: string | null
  /** Compresses plain input while sending. */
  pack: boolean
  input: () => Readable
}

/**
 * For a million edges (194 MB): level 1 compresses 12.9 times in 0.40 s of CPU (484 MB/s, four times a
 * gigabit), level 4 14.3 times in 0.97 s, level 6 16.1 times in 2.06 s. To a server on the same machine, even
 * level 1 costs more than it saves.
 */
const packLevel = 1

/** One load of one input. */
export function uploadOf(input: LoadInput, options: UploadOptions): Upload {
  const spool =
    input.bytes === null
      ? openSpool(input.path === '-' ? options.input() : createReadStream(input.path))
      : null
  return upload([input], spool, options)
}

/** One load of several inputs. Throws Refusal if they cannot be joined. */
export function joinedUpload(inputs: readonly LoadInput[], options: UploadOptions): Upload {
  const formats = new Set(inputs.map(({ format }) => options.format ?? format))
  const packings = new Set(inputs.map(({ packing }) => packing))
  const [format = null] = formats
  const why = 'A snapshot is one load of all that its source states, and'
  if (formats.size > 1 || format === null || loadFormat(format)?.isJoinable !== true) {
    throw new Refusal(
      `${why} only NDJSON files can be joined to one: join these yourself, or give each a --source of its own.`
    )
  }
  if (packings.size > 1 || packings.has('zstd'))
    throw new Refusal(`${why} files can be joined when all are plain, or all are .gz.`)
  if (inputs.some(({ bytes }) => bytes === null))
    throw new Refusal(`${why} standard input or a pipe cannot be joined with others.`)
  return upload(inputs, null, options)
}

function upload(inputs: readonly LoadInput[], spool: Spool | null, options: UploadOptions): Upload {
  const [first] = inputs
  const format = options.format ?? first?.format ?? null
  const packing = first?.packing ?? null
  const pack = options.pack && packing === null
  const parts =
    spool === null ? inputs.map((input, index) => partOf(input, index === inputs.length - 1, format)) : []
  const totalBytes =
    spool === null ? parts.reduce((sum, { bytes, end }) => sum + bytes + end.length, 0) : null
  const hasLines = packing === null
  let sent: SentSoFar = { bytes: 0, lines: 0 }
  // an array of proposals, or lines: the server decides
  const isJson = /\.json(\.gz|\.zst)?$/i.test(first?.path ?? '')
  const isJoined = inputs.length > 1
  return {
    name:
      first === undefined || first.path === '-'
        ? 'standard input'
        : isJoined
          ? `${inputs.length} files`
          : first.path,
    format,
    totalBytes,
    hasLines,
    sent: () => sent,
    body() {
      // new for each attempt, because an abandoned one may still count
      const counter: SentSoFar = { bytes: 0, lines: 0 }
      sent = counter
      const source =
        spool === null
          ? bytesOf(parts, counter, hasLines)
          : bytesOfSpool(spool, first?.path ?? '-', counter, hasLines)
      const stages: [Readable, ...Duplex[]] = [
        Readable.from(source, { objectMode: false, highWaterMark: readBytes })
      ]
      if (pack) stages.push(createGzip({ level: packLevel }))
      return {
        stages,
        contentType:
          format !== null ? (loadFormat(format)?.mediaTypes[0] ?? null) : isJson ? 'application/json' : null,
        packing: pack ? 'gzip' : packing,
        ...(totalBytes === null || pack ? {} : { bytes: totalBytes })
      }
    },
    problem: () => spool?.problem() ?? null,
    place(line) {
      if (sent.isArray === true) return `element ${line}`
      if (!isJoined || packing !== null) return `line ${line}`
      const part = parts.findLast(({ firstLine }) => firstLine <= line)
      return part === undefined ? `line ${line}` : `${part.path} line ${line - part.firstLine + 1}`
    },
    close: async () => {
      await spool?.close()
    }
  }
}

/** `firstLine` is known once it has been sent. */
type Part = { path: string; bytes: number; end: Buffer; firstLine: number }

const newline = 0x0a
const plainEnd = Buffer.from('\n')
/** Each file of SQL is a script of its own. */
const sqlEnd = Buffer.from(`\n${nextFileLine}\n`)
/** A gzip member of its own, because gzip members may be concatenated. */
const gzipEnd = gzipSync(plainEnd)
const readBytes = 256 * 1024

/** Adds a line end, if another part follows. */
function partOf({ path, bytes, packing }: LoadInput, isLast: boolean, format: string | null): Part {
  const size = bytes ?? 0
  if (format === 'sql' && !isLast)
    return { path, bytes: size, end: packing === 'gzip' ? gzipSync(sqlEnd) : sqlEnd, firstLine: 1 }
  const needsEnd = !isLast && size > 0 && (packing === 'gzip' || lastByte(path, size) !== newline)
  return {
    path,
    bytes: size,
    end: needsEnd ? (packing === 'gzip' ? gzipEnd : plainEnd) : Buffer.alloc(0),
    firstLine: 1
  }
}

function lastByte(path: string, size: number): number | null {
  if (size === 0) return null
  try {
    const file = openSync(path, 'r')
    try {
      const byte = Buffer.alloc(1)
      readSync(file, byte, 0, 1, size - 1)
      return byte[0] ?? null
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw unreadable(path, error)
  }
}

/**
 * As many bytes as the file had when it was found: later growth is not read, and a file that shrinks cannot
 * be sent.
 */
async function* bytesOf(parts: readonly Part[], sent: SentSoFar, hasLines: boolean): AsyncGenerator<Buffer> {
  for (const part of parts) {
    part.firstLine = sent.lines + 1
    let left = part.bytes
    try {
      if (left > 0) {
        for await (const chunk of createReadStream(part.path, {
          end: part.bytes - 1,
          highWaterMark: readBytes
        })) {
          if (!Buffer.isBuffer(chunk)) throw new TypeError('a file is read in buffers')
          left -= chunk.length
          count(sent, chunk, hasLines)
          yield chunk
        }
      }
    } catch (error) {
      throw unreadable(part.path, error)
    }
    if (left > 0) throw new BodyFailure(`The file ${part.path} became shorter while it was sent.`)
    if (part.end.length > 0) {
      count(sent, part.end, hasLines)
      yield part.end
    }
  }
}

async function* bytesOfSpool(
  spool: Spool,
  path: string,
  sent: SentSoFar,
  hasLines: boolean
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of spool.read()) {
      count(sent, chunk, hasLines)
      yield chunk
    }
  } catch (error) {
    throw unreadable(path === '-' ? 'standard input' : path, error)
  }
}

/** Undefined if the chunk contains only white space. */
function opensArray(chunk: Buffer): boolean | undefined {
  const first = chunk.find((byte) => byte > 0x20 && ![0xef, 0xbb, 0xbf].includes(byte))
  return first === undefined ? undefined : first === 0x5b
}

function count(sent: SentSoFar, chunk: Buffer, hasLines: boolean): void {
  sent.bytes += chunk.length
  if (hasLines) sent.isArray ??= opensArray(chunk)
  if (hasLines)
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) sent.lines += 1
}

function unreadable(path: string, error: unknown): BodyFailure {
  return new BodyFailure(`${path} cannot be read: ${reasonOf(error)}`, undefined, { cause: error })
}
