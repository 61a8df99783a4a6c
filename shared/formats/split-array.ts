/**
 * Splits a JSON array into its elements, or JSON objects that are written over several lines one after
 * another, while they stream in.
 *
 * It only understands enough JSON to find where an element ends: strings with escapes, and nesting. The
 * parser of the element checks whether it is JSON.
 */
import { CatalogError } from '../errors.ts'
import { createRecordBuffer, type RawRecord, type RecordLimit } from './raw-record.ts'

const quote = 0x22
const comma = 0x2c
export const opensArray = 0x5b
const backslash = 0x5c
const closesArray = 0x5d
const opensObject = 0x7b
const closesObject = 0x7d

export const isSpace = (byte: number): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/**
 * Elements are numbered from 1, and grouped by the piece of the body in which they end. At most one element
 * is in memory. An array must begin with `[`, apart from white space. Throws BAD_REQUEST if the array or an
 * object does not end, or if there is text behind the array or between objects.
 */
export async function* splitArray(
  chunks: AsyncIterable<Buffer>,
  { limit, isArray = true }: { limit: RecordLimit; isArray?: boolean }
): AsyncGenerator<RawRecord[]> {
  const buffer = createRecordBuffer(limit)
  const scan = {
    state: isArray ? 'before' : 'inside',
    depth: 0,
    isInText: false,
    isEscaped: false,
    elements: 0
  }
  for await (const chunk of chunks) {
    const records: RawRecord[] = []
    let start = 0
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0
      if (scan.state !== 'inside') {
        if (isSpace(byte)) continue
        if (scan.state === 'after' || byte !== opensArray)
          throw new CatalogError(
            'BAD_REQUEST',
            scan.state === 'after'
              ? 'There is text after the end of the array'
              : 'The body is not a JSON array'
          )
        scan.state = 'inside'
        start = index + 1
      } else if (scan.isInText) {
        if (scan.isEscaped) scan.isEscaped = false
        else if (byte === backslash) scan.isEscaped = true
        else if (byte === quote) scan.isInText = false
      } else if (!isArray && scan.depth === 0 && byte !== opensObject) {
        if (!isSpace(byte))
          throw new CatalogError('BAD_REQUEST', 'There is text between the objects, or after the last one')
        start = index + 1
      } else if (byte === quote) {
        scan.isInText = true
      } else if (byte === opensObject || byte === opensArray) {
        scan.depth += 1
      } else if (scan.depth > 0) {
        if (byte !== closesObject && byte !== closesArray) continue
        scan.depth -= 1
        if (isArray || scan.depth > 0) continue
        buffer.add(chunk.subarray(start, index + 1))
        start = index + 1
        const record = endElement(scan, buffer.end(scan.elements + 1), false)
        if (record) records.push(record)
      } else if (byte === comma || byte === closesArray) {
        buffer.add(chunk.subarray(start, index))
        start = index + 1
        const record = endElement(scan, buffer.end(scan.elements + 1), byte === closesArray)
        if (record) records.push(record)
      }
    }
    if (scan.state === 'inside' && start < chunk.length) buffer.add(chunk.subarray(start))
    if (records.length > 0) yield records
  }
  if (!isArray && scan.depth > 0)
    throw new CatalogError(
      'BAD_REQUEST',
      'The last object has no end: the upload was cut off, or its brackets do not match'
    )
  if (isArray && scan.state !== 'after')
    throw new CatalogError(
      'BAD_REQUEST',
      scan.state === 'before'
        ? 'The body is empty'
        : 'The array has no end: the upload was cut off, or its brackets do not match'
    )
}

/** An empty element gets an error of its own, except in an empty array. */
function endElement(
  scan: { state: string; elements: number },
  record: RawRecord | null,
  isLast: boolean
): RawRecord | null {
  if (isLast) scan.state = 'after'
  const line = scan.elements + 1
  if (!record && isLast && scan.elements === 0) return null
  scan.elements += 1
  return (
    record ?? { line, text: '', fault: new CatalogError('BAD_REQUEST', 'The element is empty', { line }) }
  )
}
