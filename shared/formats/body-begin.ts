/**
 * Looks at the beginning of a body: whether it is compressed or in another encoding, and its first byte or
 * line.
 */
import { TextDecoder } from 'node:util'
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import { isAboveHeader, rowsLookedAt } from './csv-header.ts'
import { isSpace, opensArray } from './split-array.ts'

const newline = 0x0a

/** How much white space is skipped in search of the first other byte. */
const blankMaxBytes = 64 * 1024
/** How much of an array is read, so that its first element can be examined. */
const arrayBeginBytes = 64 * 1024
/**
 * How much is read of a JSON document that is written over several lines, so that its first members can be
 * examined.
 */
const documentBeginBytes = 8 * 1024
/** The length of the longest of the marks below. */
const marksMaxBytes = 4

/**
 * `first` is the first byte that is not white space; undefined if there is none. `text` is what was read from
 * that byte on. Call `close` if the body will not be read.
 */
export type BodyBegin = {
  first: number | undefined
  firstLine: string
  /**
   * The text that was read so far: at least arrayBeginBytes of an array, and documentBeginBytes of a document
   * over several lines, or all of it if it is shorter.
   */
  text: string
  body: AsyncGenerator<Buffer>
  close: () => Promise<void>
}

/** A body that begins with one of these marks is not UTF-8 text, even if its Content-Type says so. */
const marks: readonly { bytes: readonly number[]; is: string }[] = [
  { bytes: [0x1f, 0x8b], is: 'packed with gzip: send it with Content-Encoding: gzip' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], is: 'packed with zstd: send it with Content-Encoding: zstd' },
  { bytes: [0x50, 0x4b, 0x03, 0x04], is: 'a zip file, as spreadsheets are: save it as CSV in UTF-8' },
  { bytes: [0xff, 0xfe, 0, 0], is: 'in UTF-32: save it in UTF-8' },
  { bytes: [0, 0, 0xfe, 0xff], is: 'in UTF-32: save it in UTF-8' }
]

/** Excel saves "Unicode text" in UTF-16, and PowerShell redirects into it. */
const utf16Marks = [
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' }
] as const

/**
 * Reads up to the first byte that is not white space or, if `wants` is 'line', to the end of its line, or of
 * the header below it.
 * Returns the whole body with it in UTF-8, without its byte order mark. `firstLine` is cut at recordMaxBytes.
 *
 * Throws BAD_REQUEST for a body that is compressed or in another encoding than UTF-8 and UTF-16, and the errors
 * of the source of the bytes. Reading the body throws BAD_REQUEST for invalid UTF-16.
 */
export async function beginOf(chunks: AsyncIterable<Buffer>, wants: 'byte' | 'line'): Promise<BodyBegin> {
  const iterator = inUtf8(chunks)
  const close = async (): Promise<void> => {
    await iterator.return(undefined)
  }
  const pieces: Buffer[] = []
  let length = 0
  let first: number | undefined
  let lineCount = 0
  let hasLine = false
  const isEnough = (): boolean =>
    first !== undefined &&
    length >= marksMaxBytes &&
    (wants === 'byte' ||
      (first === opensArray
        ? length >= arrayBeginBytes
        : hasLine && (length >= documentBeginBytes || !opensDocument(pieces))))
  while (!isEnough() && length < (first === undefined ? blankMaxBytes : limits.recordMaxBytes)) {
    const next = await iterator.next()
    if (next.done) break
    pieces.push(next.value)
    length += next.value.length
    const from = first === undefined ? next.value.findIndex((byte) => !isSpace(byte)) : 0
    first ??= next.value[from]
    if (first !== undefined && !hasLine && next.value.includes(newline, from)) {
      lineCount += 1
      hasLine = lineCount >= rowsLookedAt || !isAboveHeader(Buffer.concat(pieces).toString('utf8'))
    }
  }
  const begin = Buffer.concat(pieces)
  const mark = marks.find(({ bytes }) => startsWith(begin, bytes))
  if (mark) {
    await close()
    throw new CatalogError('BAD_REQUEST', `The body is ${mark.is}`)
  }
  const text = wants === 'line' ? begin.toString('utf8').trimStart() : ''
  const end = text.indexOf('\n')
  return {
    first,
    firstLine: (end < 0 ? text : text.slice(0, end)).trimEnd(),
    text,
    body: resume(pieces, iterator),
    close
  }
}

/** Whether the first line contains only the opening brace of an object. */
const opensDocument = (pieces: readonly Buffer[]): boolean =>
  /^\s*\{[ \t\r]*\n/.test(Buffer.concat(pieces).toString('utf8'))

async function* resume(begin: readonly Buffer[], iterator: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* begin
  yield* iterator
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

const startsWith = (bytes: Buffer, mark: Iterable<number>): boolean =>
  [...mark].every((byte, index) => bytes[index] === byte)

/** The body without its byte order mark, in UTF-8 if the mark says UTF-16. */
async function* inUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0)
  let decoder: TextDecoder | null = null
  for await (const chunk of chunks) {
    const bytes: Buffer = head === null ? chunk : Buffer.concat([head, chunk])
    if (head !== null && bytes.length < marksMaxBytes) {
      head = bytes
      continue
    }
    if (head !== null) decoder = decoderOf(bytes)
    yield decoder ? decoded(decoder, bytes) : head === null ? bytes : withoutMark(bytes)
    head = null
  }
  if (head) {
    decoder = decoderOf(head)
    yield decoder ? decoded(decoder, head) : withoutMark(head)
  }
  if (decoder) yield decoded(decoder, null)
}

const withoutMark = (bytes: Buffer): Buffer =>
  startsWith(bytes, byteOrderMark) ? bytes.subarray(byteOrderMark.length) : bytes

/**
 * Null for a body that is not in UTF-16. Throws BAD_REQUEST for one that is, as its zero bytes show, but has no
 * byte order mark.
 */
function decoderOf(bytes: Buffer): TextDecoder | null {
  if (marks.some((mark) => startsWith(bytes, mark.bytes))) return null
  if (bytes.length > 1 && (bytes[0] === 0) !== (bytes[1] === 0))
    throw new CatalogError('BAD_REQUEST', 'The body is in UTF-16 without a byte order mark: save it in UTF-8')
  const mark = utf16Marks.find((each) => startsWith(bytes, each.bytes))
  return mark ? new TextDecoder(mark.encoding, { fatal: true }) : null
}

/** `bytes` is null at the end. The decoder leaves out the mark. */
function decoded(decoder: TextDecoder, bytes: Buffer | null): Buffer {
  try {
    return Buffer.from(bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode(), 'utf8')
  } catch {
    throw new CatalogError(
      'BAD_REQUEST',
      'The body is not valid UTF-16, which it begins as: save it in UTF-8'
    )
  }
}
