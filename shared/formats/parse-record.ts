/** Reads the records of a load by the name of its format: the same when it is received and when it is applied. */
import { CatalogError } from '../errors.ts'
import type { ChangeRecord } from '../model/changes.ts'
import { csvFieldOf, parseCsvRecord } from './csv.ts'
import { parseCsvHeader } from './csv-header.ts'
import { parseMcpRecord } from './mcp.ts'
import { parseNdjsonRecord } from './ndjson.ts'
import { parseUndoRecord } from './undo.ts'

export const recordFormats = ['ndjson', 'csv', 'mcp'] as const
export type RecordFormat = typeof recordFormats[number]

/** What is to be known to read the records of a load. `header` is the row with the names of the columns (csv). */
export type RecordShape = { format: string, header: string | null }

export type RecordParser = {
  /** Throws what the parser of the format throws. */
  parse: (text: string, line: number) => ChangeRecord
  /** What a record of this shape calls the field that an error names as it is called in NDJSON. */
  fieldOf: (field: string) => string
}

/** Throws UNSUPPORTED for a format that is not known, BAD_REQUEST for a header that is none. */
export function recordParser({ format, header }: RecordShape): RecordParser {
  const fieldOf = (field: string): string => field
  if (format === 'ndjson') return { parse: parseNdjsonRecord, fieldOf }
  if (format === 'undo') return { parse: parseUndoRecord, fieldOf }
  if (format === 'mcp') return { parse: parseMcpRecord, fieldOf }
  if (format === 'csv') {
    const columns = parseCsvHeader(header ?? '')
    return { parse: (text, line) => parseCsvRecord(columns, text, line), fieldOf: (field) => csvFieldOf(columns, field) }
  }
  throw new CatalogError('UNSUPPORTED', `The format ${format} is not known; there are ${recordFormats.join(', ')}`, { field: 'format', allowed: recordFormats })
}
