/** Reads the records of a load by the name of its format: the same when it is received and when it is applied. */
import { CatalogError } from '../errors.ts'
import type { ChangeRecord } from '../model/changes.ts'
import { isObject } from '../model/json-values.ts'
import { csvFieldOf, meaningOfCsvField, parseCsvRecord } from './csv.ts'
import { printCells, splitCells } from './csv-cells.ts'
import { parseCsvHeader } from './csv-header.ts'
import { messageOfDbtRecord, parseDbtRecord } from './dbt/node-record.ts'
import { recordFormats, type RecordFormat } from './load-formats.ts'
import { parseMcpRecord } from './mcp.ts'
import { parseNdjsonRecord } from './ndjson.ts'
import { parseOpenLineageRecord } from './openlineage.ts'
import { parseUndoRecord } from './undo.ts'

/** What is to be known to read the records of a load. `header` is the row with the names of the columns (csv). */
export type RecordShape = { format: string; header: string | null }

export type RecordParser = {
  /** Throws what the parser of the format throws. */
  parse: (text: string, line: number) => ChangeRecord
  /** What a record of this shape calls the field that an error names as it is called in NDJSON. */
  fieldOf: (field: string) => string
  /** What NDJSON calls the field that a record of this shape calls so. */
  meaningOf: (field: string) => string
  /** What is in a field of a record that could be taken apart; null if the record has no such field at its top. */
  valueOf: (text: string, field: string) => string | null
  /** The record with another text in that field. */
  withValue: (text: string, field: string, value: string) => string
  /** The message of a refusal, with what the record is called where it has a name. */
  messageOf: (text: string, message: string) => string
}

const same = (field: string): string => field
const unnamed = (_text: string, message: string): string => message
const inJson = {
  fieldOf: same,
  meaningOf: same,
  valueOf: textInJson,
  withValue: withTextInJson,
  messageOf: unnamed
}

/** The parser of each format, and of the records that an undo consists of. */
const parsers: Readonly<Record<RecordFormat | 'undo', (header: string | null) => RecordParser>> = {
  ndjson: () => ({ parse: parseNdjsonRecord, ...inJson }),
  csv: parserOfCsv,
  mcp: () => ({ parse: parseMcpRecord, ...inJson }),
  openlineage: () => ({ parse: parseOpenLineageRecord, ...inJson }),
  dbt: () => ({ ...inJson, parse: parseDbtRecord, messageOf: messageOfDbtRecord }),
  undo: () => ({ parse: parseUndoRecord, ...inJson })
}

/** Throws UNSUPPORTED for an unknown format, BAD_REQUEST for an invalid header. */
export function recordParser({ format, header }: RecordShape): RecordParser {
  if (Object.hasOwn(parsers, format)) return parsers[format as keyof typeof parsers](header)
  throw new CatalogError(
    'UNSUPPORTED',
    `The format ${format} is not known; there are ${recordFormats.join(', ')}`,
    { field: 'format', allowed: recordFormats }
  )
}

function parserOfCsv(header: string | null): RecordParser {
  const columns = parseCsvHeader(header ?? '')
  return {
    parse: (text, line) => parseCsvRecord(columns, text, line),
    fieldOf: (field) => csvFieldOf(columns, field),
    meaningOf: (field) => meaningOfCsvField(columns, field),
    valueOf: (text, field) => splitCells(text)[columns.names.indexOf(field)] ?? null,
    withValue: (text, field, value) =>
      printCells(splitCells(text).map((cell, index) => (columns.names[index] === field ? value : cell))),
    messageOf: unnamed
  }
}

function textInJson(text: string, field: string): string | null {
  const value: unknown = JSON.parse(text)
  const found = isObject(value) && Object.hasOwn(value, field) ? value[field] : null
  return typeof found === 'string' ? found : null
}

function withTextInJson(text: string, field: string, value: string): string {
  const record: unknown = JSON.parse(text)
  return JSON.stringify(isObject(record) ? { ...record, [field]: value } : record)
}
