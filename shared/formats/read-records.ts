/** Reads the records of a load from its bytes as they come, one by one, in bounded memory. */
import { CatalogError } from '../errors.ts'
import type { ChangeRecord } from '../model/changes.ts'
import { parseRecord, type RecordFormat } from './parse-record.ts'
import { createPlainEdgeReader, type PlainEdge } from './plain-edges.ts'
import type { RawRecord } from './raw-record.ts'
import { isSpace, opensArray, splitArray } from './split-array.ts'
import { splitLines } from './split-lines.ts'

/** A record that was understood, or the reason why not. `text` is the record as sent; of one too long, its begin. Edges given by their ends alone need no more. */
export type ReadRecord = { line: number, text: string, record: ChangeRecord } | { line: number, text: string, error: CatalogError } | PlainEdge

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/** So much white space is held while the first byte that says what the body is has not come. */
const blankMaxBytes = 64 * 1024

/**
 * The records of each piece of the body together, one wait for all of them.
 * `line` is the line number (ndjson, and mcp in lines) or the number of the element (mcp as an array), from 1. A record
 * that cannot be read is an entry with its error, never an exception.
 * Throws BAD_REQUEST where an array is cut off or followed by something, LIMIT_EXCEEDED (loadMaxRecords), and what the bytes' source throws.
 */
export async function* readRecords(format: RecordFormat, chunks: AsyncIterable<Buffer>): AsyncGenerator<ReadRecord[]> {
  const readPlainEdge = format === 'ndjson' ? createPlainEdgeReader() : null
  const read = (raw: RawRecord): ReadRecord => (raw.fault ? null : readPlainEdge?.(raw.text, raw.line)) ?? readOne(format, raw)
  for await (const records of splitRecords(format, chunks)) yield records.map(read)
}

function readOne(format: RecordFormat, { line, text, fault }: RawRecord): ReadRecord {
  if (fault) return { line, text, error: fault }
  try {
    return { line, text, record: parseRecord(format, text, line) }
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    return { line, text, error }
  }
}

function splitRecords(format: RecordFormat, chunks: AsyncIterable<Buffer>): AsyncIterable<RawRecord[]> {
  const bytes = withoutMark(chunks)
  return format === 'mcp' ? splitMcp(bytes) : splitLines(bytes)
}

async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (head === null) {
      yield chunk
      continue
    }
    head = Buffer.concat([head, chunk])
    if (head.length < byteOrderMark.length) continue
    yield stripMark(head)
    head = null
  }
  if (head) yield stripMark(head)
}

const stripMark = (bytes: Buffer): Buffer => bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? bytes.subarray(byteOrderMark.length) : bytes

/** Proposals come as one array or one a line; the first byte that is no white space says which. */
async function* splitMcp(chunks: AsyncIterable<Buffer>): AsyncGenerator<RawRecord[]> {
  const iterator = chunks[Symbol.asyncIterator]()
  try {
    const begin: Buffer[] = []
    let first: number | undefined
    for (let length = 0; first === undefined && length < blankMaxBytes;) {
      const next = await iterator.next()
      if (next.done) break
      begin.push(next.value)
      length += next.value.length
      first = next.value.find((byte) => !isSpace(byte))
    }
    const all = resume(begin, iterator)
    yield* first === opensArray ? splitArray(all) : splitLines(all)
  } finally {
    await iterator.return?.()
  }
}

async function* resume(begin: readonly Buffer[], iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* begin
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
}
