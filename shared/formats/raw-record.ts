/** Gathers the bytes of one record as they come, in bounded memory, and turns them into text. */
import { isUtf8 } from 'node:buffer'
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'

/** A record as it was sent. `fault` says why it cannot be parsed; `text` is then what is kept of it. */
export type RawRecord = { line: number; text: string; fault?: CatalogError }

/** Of a record that is too long only so much is kept: more than a reject keeps, so that it counts as cut. */
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
  /** Ends the record; null if it holds nothing but white space, which is left out at both ends. */
  end(line: number): RawRecord | null
  /** Ends the record, and gives it as it stands. */
  endWhole(line: number): RawRecord
}

/** The limit that a record is held to, in bytes. */
export type RecordLimit = 'recordMaxBytes' | 'openLineageEventMaxBytes' | 'dbtNodeMaxBytes'

/** At most as many bytes as the limit has are held, however long the record is. */
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
        // A body that drips in would else leave more objects than bytes.
        if (pieces.length >= piecesMaxCount) pieces = [Buffer.concat(pieces)]
      } else if (held < keptBytes) {
        const rest = bytes.subarray(0, keptBytes - held)
        pieces.push(rest)
        held += rest.length
      }
    },
    end(line) {
      const record = endWhole(line)
      // What is left of a record that is too long stays longer than a reject keeps.
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
    // What was not valid UTF-8 is kept as a lone surrogate, never as a character the client could have sent: the text cannot pass for the record.
    return {
      line,
      text: text.replaceAll('\ufffd', '\udcff'),
      fault: new CatalogError('BAD_REQUEST', 'The record is not UTF-8', { line })
    }
  }
  return { line, text }
}
