/**
 * Parses the records of a load by the name of its format, in the same way when they are received and when
 * they are applied.
 */
import { CatalogError } from '../errors.ts'
import type { ChangeRecord } from '../model/changes.ts'
import { csvFieldOf, parseCsvRecord } from './csv.ts'
import { parseCsvHeader } from './csv-header.ts'
import { namesInRow, rowWith } from './names-in-row.ts'
import { messageOfDbtRecord, parseDbtRecord } from './dbt/node-record.ts'
import { recordFormats, type RecordFormat } from './load-formats.ts'
import { parseMcpRecord } from './mcp.ts'
import { lineWith, namesInLine, parseNdjsonRecord } from './ndjson.ts'
import { parseOpenLineageRecord } from './openlineage.ts'
import type { SentName } from './sent-names.ts'
import { parseUndoRecord } from './undo.ts'

/** What is needed to read the records of a load. `header` is the first row of a CSV. */
export type RecordShape = { format: string; header: string | null }

export type RecordParser = {
  /** Throws what the parser of the format throws. */
  parse: (text: string, line: number) => ChangeRecord
  /** The field of this format for a field that an error names as in NDJSON. */
  fieldOf: (field: string) => string
  /** The names in a record where URNs are expected; none in a record that is not valid. */
  namesIn: (text: string) => SentName[]
  /** The record with the URNs of these fields instead of names. */
  withUrns: (text: string, urns: { readonly [field: string]: string }) => string
  /** The message of a reject, prefixed with the name of the record if it has one. */
  messageOf: (text: string, message: string) => string
}

const same = (field: string): string => field
const unnamed = (_text: string, message: string): string => message
const withoutNames = {
  fieldOf: same,
  namesIn: () => [],
  withUrns: same,
  messageOf: unnamed
}
const withNames = { ...withoutNames, namesIn: namesInLine, withUrns: lineWith }

/** The parser of each format, and of the records of an undo. */
const parsers: Readonly<Record<RecordFormat | 'undo', (header: string | null) => RecordParser>> = {
  ndjson: () => ({ ...withNames, parse: parseNdjsonRecord }),
  csv: parserOfCsv,
  mcp: () => ({ ...withoutNames, parse: parseMcpRecord }),
  openlineage: () => ({ ...withoutNames, parse: parseOpenLineageRecord }),
  dbt: () => ({ ...withNames, parse: parseDbtRecord, messageOf: messageOfDbtRecord }),
  // a record of all that one statement says, as a node of dbt is
  sql: () => ({ ...withoutNames, parse: parseDbtRecord, messageOf: messageOfDbtRecord }),
  undo: () => ({ ...withoutNames, parse: parseUndoRecord })
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
    namesIn: (text) => namesInRow(columns, text),
    withUrns: (text, urns) => rowWith(columns, text, urns),
    messageOf: unnamed
  }
}
