/** Gathers the bytes of one record as they arrive, in bounded memory, and decodes them. */
import { isUtf8 } from 'node:buffer'
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'

/** A record as it was sent. `fault` says why it cannot be parsed; `text` is then the part that was kept. */
export type RawRecord = { line: number; text: string; fault?: CatalogError }

/**
 * The part that is kept of a record that is too long. It is more than a reject keeps, so that the reject is
 * marked as cut.
 */
const keptBytes = limits.rejectRecordMaxBytes + 1024

const piecesMaxCount = 1024

/** Line numbers are stored as int4. */
const lineMaxCount = 2 ** 31 - 1

/** Throws LIMIT_EXCEEDED (loadMaxRecords) for a line number that cannot be stored. */
export function checkedLine(line: number): number {
  if (line > lineMaxCount)
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `A load has at most ${limits.loadMaxRecords} records; send several`,
      { limit: 'loadMaxRecords', maximum: limits.loadMaxRecords }
    )
  return line
}

export type RecordBuffer = {
  add(bytes: Buffer): void
  /** Ends the record and trims it; null if it contains only white space. */
  end(line: number): RawRecord | null
  /** Ends the record and returns it unchanged. */
  endWhole(line: number): RawRecord
}

/** The limit in bytes that applies to a record. */
export type RecordLimit = 'recordMaxBytes' | 'openLineageEventMaxBytes' | 'dbtNodeMaxBytes'

/** Keeps no more bytes than the limit, however long the record is. */
export function createRecordBuffer(limit: RecordLimit = 'recordMaxBytes'): RecordBuffer {
  const maximum = limits[limit]
  let pieces: Buffer[] = []
  let held = 0
  let total = 0

  function endWhole(line: number): RawRecord {
    checkedLine(line)
    const [first] = pieces
    const bytes = pieces.length === 1 && first ? first : Buffer.concat(pieces)
    const actual = total
    pieces = []
    held = 0
    total = 0
    return toRawRecord(bytes, actual, line, limit)
  }

  return {
    add(bytes) {
      total += bytes.length
      if (total <= maximum) {
        pieces.push(bytes)
        held += bytes.length
        // A body that arrives a few bytes at a time would otherwise need more memory for objects than for
        // bytes.
        if (pieces.length >= piecesMaxCount) pieces = [Buffer.concat(pieces)]
      } else if (held < keptBytes) {
        const rest = bytes.subarray(0, keptBytes - held)
        pieces.push(rest)
        held += rest.length
      }
    },
    end(line) {
      const record = endWhole(line)
      // Not trimmed, so that it stays longer than a reject keeps.
      if (record.fault?.code === 'LIMIT_EXCEEDED') return record
      const text = record.text.trim()
      return text === '' && !record.fault ? null : { ...record, text }
    },
    endWhole
  }
}

function toRawRecord(bytes: Buffer, actual: number, line: number, limit: RecordLimit): RawRecord {
  const maximum = limits[limit]
  if (actual > maximum) {
    const text = bytes.subarray(0, keptBytes).toString('utf8')
    return {
      line,
      text,
      fault: new CatalogError(
        'LIMIT_EXCEEDED',
        `The record has ${actual} bytes; at most ${maximum} are allowed`,
        { line, limit, maximum, actual }
      )
    }
  }
  const text = bytes.toString('utf8')
  if (!isUtf8(bytes)) {
    // Invalid UTF-8 becomes a lone surrogate, which a client cannot send, so that this text cannot be
    // mistaken for the record.
    return {
      line,
      text: text.replaceAll('\ufffd', '\udcff'),
      fault: new CatalogError('BAD_REQUEST', 'The record is not UTF-8; save the file in UTF-8', { line })
    }
  }
  return { line, text }
}
