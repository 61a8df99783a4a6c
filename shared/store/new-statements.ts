/**
 * Adds statements that are not there, thousands at a time, by COPY.
 *
 * 10,000 at a time into a million, with all indexes: 8.5 us a statement, against 11.5 for an insert from arrays of numbers (and
 * `insert … on conflict do nothing` was slower again). The index on upstream_id, whose keys come in no order, takes 5 of them:
 * in the order of upstreams it was 9.3, without deduplication of its items 8.7, both within the noise, and fifty thousand at a time no less.
 */
import { copyIn } from '../db/copy-in.ts'
import type { Tx } from '../db/database.ts'

/** In key order; an entry of each array for each statement. `attributes` are places in `texts` (of JSON) from 1, and 0 where there are none. */
export type NewStatements = {
  downstreamIds: Int32Array
  upstreamIds: Int32Array
  ownerIds: Int32Array
  fields: Int32Array
  positions: Int32Array
  lines: Int32Array
  attributes: Int32Array
  texts: readonly string[]
}

/** What all of them have in common. */
export type StatementStamp = { sourceId: number; recordKey: number; seq: number }

/** Columns and the bytes of their values; behind them may come `attributes`. */
const widths = {
  downstream_id: 4,
  upstream_id: 4,
  owner_id: 4,
  field: 2,
  source_id: 4,
  record_key: 4,
  position: 4,
  seq: 8,
  line: 4
} as const
const fixed = Object.keys(widths) as (keyof typeof widths)[]
/** A row is the count of its columns in two bytes, and the length of each in four before its value. */
const [countBytes, lengthBytes] = [2, 4]
const fixedBytes = fixed.reduce((sum, name) => sum + lengthBytes + widths[name], countBytes)
/** Where in a row the value of a column stands. */
const placeOf = (column: keyof typeof widths): number =>
  fixed.slice(0, fixed.indexOf(column)).reduce((sum, name) => sum + lengthBytes + widths[name], countBytes) +
  lengthBytes
const [downstreamAt, upstreamAt, ownerAt, fieldAt, positionAt, lineAt] = [
  placeOf('downstream_id'),
  placeOf('upstream_id'),
  placeOf('owner_id'),
  placeOf('field'),
  placeOf('position'),
  placeOf('line')
]
const jsonbVersion = 1

/** Throws what the server says where one is there. Needs the owners locked. */
export async function insertNewStatements(
  tx: Tx,
  statements: NewStatements,
  stamp: StatementStamp
): Promise<void> {
  const sent = statements.texts.length === 0 ? fixed : [...fixed, 'attributes']
  if (statements.lines.length > 0)
    await copyIn(
      tx,
      `copy statement (${sent.join(', ')}) from stdin (format binary)`,
      packed(statements, rowOf(stamp, sent.length))
    )
}

/** What all rows have in common. */
function rowOf({ sourceId, recordKey, seq }: StatementStamp, columnCount: number): Buffer {
  const row = Buffer.alloc(fixedBytes + lengthBytes * (columnCount - fixed.length))
  row.writeInt16BE(columnCount, 0)
  for (const name of fixed) row.writeInt32BE(widths[name], placeOf(name) - lengthBytes)
  row.writeInt32BE(sourceId, placeOf('source_id'))
  row.writeInt32BE(recordKey, placeOf('record_key'))
  row.writeBigInt64BE(BigInt(seq), placeOf('seq'))
  // No attributes.
  if (columnCount > fixed.length) row.writeInt32BE(-1, fixedBytes)
  return row
}

/** Each row is a copy of `row` in which what is its own is written: half of the time of writing all of it. */
function packed(
  { downstreamIds, upstreamIds, ownerIds, fields, positions, lines, attributes, texts }: NewStatements,
  row: Buffer
): Buffer {
  const documents = texts.map((text) => Buffer.from(`${String.fromCharCode(jsonbVersion)}${text}`, 'utf8'))
  let size = row.length * lines.length
  if (documents.length > 0) for (const place of attributes) size += documents[place - 1]?.length ?? 0
  const buffer = documents.length > 0 ? Buffer.allocUnsafe(size) : Buffer.alloc(size, row)
  // Not by writeInt32BE, which checks what is known here: half of the time.
  const view = new DataView(buffer.buffer, buffer.byteOffset, size)
  for (let index = 0, at = 0; index < lines.length; index += 1, at += row.length) {
    if (documents.length > 0) buffer.set(row, at)
    view.setInt32(at + downstreamAt, downstreamIds[index] ?? 0)
    view.setInt32(at + upstreamAt, upstreamIds[index] ?? 0)
    view.setInt32(at + ownerAt, ownerIds[index] ?? 0)
    view.setInt16(at + fieldAt, fields[index] ?? 0)
    view.setInt32(at + positionAt, positions[index] ?? 0)
    view.setInt32(at + lineAt, lines[index] ?? 0)
    const document = documents[(attributes[index] ?? 0) - 1]
    if (!document) continue
    view.setInt32(at + fixedBytes, document.length)
    at += document.copy(buffer, at + row.length)
  }
  return buffer
}
