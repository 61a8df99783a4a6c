/** Reads one record of a load by the name of its format: the same when it is received and when it is applied. */
import { CatalogError } from '../errors.ts'
import type { ChangeRecord } from '../model/changes.ts'
import { parseMcpRecord } from './mcp.ts'
import { parseNdjsonRecord } from './ndjson.ts'

export type RecordFormat = 'ndjson' | 'mcp'

const parsers = new Map<string, (text: string, line: number) => ChangeRecord>([['ndjson', parseNdjsonRecord], ['mcp', parseMcpRecord]])

/** Throws UNSUPPORTED for a format that is not known, and what the parser of the format throws. */
export function parseRecord(format: string, text: string, line: number): ChangeRecord {
  const parse = parsers.get(format)
  if (!parse) throw new CatalogError('UNSUPPORTED', `The format ${format} is not known; there are ${[...parsers.keys()].join(', ')}`, { field: 'format', allowed: [...parsers.keys()] })
  return parse(text, line)
}
