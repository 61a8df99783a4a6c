/** Reads one record from its text; a record with names where URNs are expected once the URNs are known. */
import { CatalogError } from '../errors.ts'
import type { ChangeRecord } from '../model/changes.ts'
import type { RecordParser } from './parse-record.ts'
import { copyOfText, type PlainEdge, type PlainEdgeReader } from './plain-edges.ts'
import type { SentName } from './sent-names.ts'

/**
 * A parsed record, or the error. `text` is the record as it was sent, or the beginning of a record that is
 * too long. A plain edge needs no text.
 */
export type SingleRecord =
  | { line: number; text: string; record: ChangeRecord }
  | { line: number; text: string; error: CatalogError }
  | PlainEdge

/** A record that contains names where URNs are expected. It is parsed once these are known. */
export type NamingRecord = {
  line: number
  text: string
  names: readonly SentName[]
  /** The record with these URNs in its fields. A refused one keeps its text. */
  withUrns: (urns: { readonly [field: string]: string }) => SingleRecord
  refused: (error: CatalogError) => SingleRecord
}

export type TextReader = { parser: RecordParser; readPlainEdge: PlainEdgeReader | null }

export function readText(reader: TextReader, text: string, line: number): SingleRecord | NamingRecord {
  const names = reader.parser.namesIn(text)
  if (names.length === 0) return parseOne(reader, text, line)
  return {
    line,
    text,
    names,
    withUrns(urns) {
      const changed = reader.parser.withUrns(text, urns)
      const entry = reader.readPlainEdge?.(changed, line) ?? parseOne(reader, changed, line)
      return 'error' in entry ? { ...entry, text: copyOfText(text) } : entry
    },
    refused({ code, message, details }) {
      const named = reader.parser.messageOf(text, message)
      return { line, text: copyOfText(text), error: new CatalogError(code, named, details) }
    }
  }
}

function parseOne({ parser }: TextReader, text: string, line: number): SingleRecord {
  try {
    return { line, text, record: parser.parse(text, line) }
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    return { line, text: copyOfText(text), error }
  }
}
