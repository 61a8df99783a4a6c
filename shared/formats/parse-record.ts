/**
 * Parses the records of a load by the name of its format, in the same way when they are received and when
 * they are applied.
 */
import { CatalogError } from '../errors.ts'
import type { ChangeRecord } from '../model/changes.ts'
import { isObject } from '../model/json-values.ts'
import { csvFieldOf, meaningOfCsvField, parseCsvRecord } from './csv.ts'
import { printCells } from './csv-cells.ts'
import { cellsOfRow, parseCsvHeader } from './csv-header.ts'
import { messageOfDbtRecord, parseDbtRecord } from './dbt/node-record.ts'
import { recordFormats, type RecordFormat } from './load-formats.ts'
import { parseMcpRecord } from './mcp.ts'
import { parseNdjsonRecord } from './ndjson.ts'
import { parseOpenLineageRecord } from './openlineage.ts'
import { parseUndoRecord } from './undo.ts'

/** What is needed to read the records of a load. `header` is the first row of a CSV. */
export type RecordShape = { format: string; header: string | null }

export type RecordParser = {
  /** Throws what the parser of the format throws. */
  parse: (text: string, line: number) => ChangeRecord
  /** The field of this format for a field that an error names as in NDJSON. */
  fieldOf: (field: string) => string
  /** The NDJSON name of a field of this format. */
  meaningOf: (field: string) => string
  /**
   * The text of a field of a well-formed record; null if the record does not have this field at its top
   * level.
   */
  valueOf: (text: string, field: string) => string | null
  /** The record with that field replaced by another text. */
  withValue: (text: string, field: string, value: string) => string
  /** The message of a reject, prefixed with the name of the record if it has one. */
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

/** The parser of each format, and of the records of an undo. */
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
    valueOf: (text, field) => cellsOfRow(columns, text)[columns.names.indexOf(field)] ?? null,
    withValue: (text, field, value) =>
      printCells(
        cellsOfRow(columns, text).map((cell, index) => (columns.names[index] === field ? value : cell)),
        columns.separator
      ),
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
