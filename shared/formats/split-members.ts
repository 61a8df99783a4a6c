/**
 * Splits consecutive JSON documents into the wanted members while they stream in, without building the
 * documents.
 *
 * It only understands enough JSON to find where a member ends. The reader of a member checks whether it is
 * JSON. Other members are skipped and never held.
 */
import { CatalogError } from '../errors.ts'
import { createRecordBuffer, type RawRecord } from './raw-record.ts'
import { isSpace } from './split-array.ts'

/**
 * Members in `whole` are returned in one piece. Those in `opened` are objects or lists, and each of their
 * members or elements is returned.
 */
export type WantedMembers = { whole: ReadonlySet<string>; opened: ReadonlySet<string> }

/**
 * A member of the document: the value under `key` in `section`. `key` is null if the value is the section
 * itself.
 */
export type Member = { section: string; key: string | null; value: RawRecord }

/** `end` marks the end of a document. */
export type SplitPiece = Member | 'end'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const [opensObject, closesObject, opensArray, closesArray] = [0x7b, 0x7d, 0x5b, 0x5d]

const isOpener = (byte: number): boolean => byte === opensObject || byte === opensArray
const isCloser = (byte: number): boolean => byte === closesObject || byte === closesArray

/** What may come next. `value` is before a value, `inside` within a value, `after` behind a section. */
type Expected = 'document' | 'key' | 'colon' | 'value' | 'inside' | 'after'

/**
 * The pieces of each chunk, in one list. Throws BAD_REQUEST if a document is not an object, or does not end.
 * A member that is longer than dbtNodeMaxBytes, or is not UTF-8, has a fault.
 */
export async function* splitMembers(
  chunks: AsyncIterable<Buffer>,
  wanted: WantedMembers
): AsyncGenerator<SplitPiece[]> {
  const splitter = createSplitter(wanted)
  for await (const chunk of chunks) {
    const pieces = splitter.read(chunk)
    if (pieces.length > 0) yield pieces
  }
  splitter.end()
}

function createSplitter({ whole, opened }: WantedMembers): {
  read: (chunk: Buffer) => SplitPiece[]
  end: () => void
} {
  const buffer = createRecordBuffer('dbtNodeMaxBytes')
  let expected: Expected = 'document'
  let documentCount = 0
  /** The name of the open section, and how many of its elements have begun; null directly in the document. */
  let section: { name: string; isArray: boolean; count: number } | null = null
  let key = ''
  let mayClose = false
  let [depth, isInText, isEscaped, isKept] = [0, false, false, false]

  function read(chunk: Buffer): SplitPiece[] {
    const pieces: SplitPiece[] = []
    /** The beginning of the part of this chunk that is kept. */
    let start = 0

    function endValue(index: number): void {
      if (!isKept) return
      buffer.add(chunk.subarray(start, index))
      const value = buffer.end(1)
      if (!value) throw notJson('a value is missing')
      pieces.push(
        section === null ? { section: key, key: null, value } : { section: section.name, key, value }
      )
    }

    function next(): void {
      if (section?.isArray) {
        key = String(section.count)
        section.count += 1
        expected = 'value'
      } else expected = 'key'
    }

    function close(byte: number): void {
      if (byte !== (section?.isArray ? closesArray : closesObject)) throw notJson('brackets do not match')
      if (section !== null) {
        section = null
        expected = 'after'
      } else {
        expected = 'document'
        pieces.push('end')
      }
    }

    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) {
          isInText = false
          if (expected !== 'key') continue
          buffer.add(chunk.subarray(start, index + 1))
          key = keyIn(buffer.endWhole(1))
          expected = 'colon'
        }
        continue
      }
      if (expected === 'inside') {
        if (byte === quote) isInText = true
        else if (isOpener(byte)) depth += 1
        else if (depth > 0) depth -= isCloser(byte) ? 1 : 0
        else if (byte === comma || isCloser(byte)) {
          endValue(index)
          mayClose = false
          if (byte === comma) next()
          else close(byte)
        }
        continue
      }
      if (isSpace(byte)) continue
      if (expected === 'value' && !(isCloser(byte) && mayClose)) {
        if (byte === comma || byte === colon || isCloser(byte)) throw notJson('a value is missing')
        mayClose = false
        if (section === null && opened.has(key) && isOpener(byte)) {
          section = { name: key, isArray: byte === opensArray, count: 0 }
          mayClose = true
          next()
          continue
        }
        isKept = section !== null || whole.has(key)
        start = index
        expected = 'inside'
        isInText = byte === quote
        depth = isOpener(byte) ? 1 : 0
      } else if (expected === 'document' && byte === opensObject) {
        documentCount += 1
        mayClose = true
        next()
      } else if (expected === 'key' && byte === quote) {
        mayClose = false
        isInText = true
        start = index
      } else if (expected === 'colon' && byte === colon) expected = 'value'
      else if (expected === 'after' && byte === comma) next()
      else if (isCloser(byte) && (mayClose || expected === 'after')) {
        mayClose = false
        close(byte)
      } else
        throw notJson(
          expected === 'document' ? 'each document must be an object' : `${expected} expected, not found`
        )
    }
    if ((expected === 'key' && isInText) || (expected === 'inside' && isKept))
      buffer.add(chunk.subarray(start))
    return pieces
  }

  return {
    read,
    end() {
      if (documentCount === 0) throw notJson('it is empty')
      if (expected !== 'document')
        throw notJson('a document has no end: the upload was cut off, or its brackets do not match')
    }
  }
}

function keyIn({ text, fault }: RawRecord): string {
  if (fault) throw fault
  try {
    return String(JSON.parse(text))
  } catch (cause) {
    throw notJson('a key is not a text', cause)
  }
}

const notJson = (why: string, cause?: unknown): CatalogError =>
  new CatalogError('BAD_REQUEST', `The body is not JSON: ${why}`, {}, { cause })
