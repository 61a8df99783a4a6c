/** Reads the records of a load one by one from its bytes as they arrive, in bounded memory. */
import { beginOf, type BodyBegin } from './body-begin.ts'
import { openProject } from './dbt/read-project.ts'
import { defaultDbtOptions, type DbtReading } from './dbt/options.ts'
import { printCsvHeader } from './csv-header.ts'
import { recordParser, type RecordShape } from './parse-record.ts'
import type { RecordFormat } from './load-formats.ts'
import { createPlainCsvReader } from './plain-csv-edges.ts'
import { createEdgeRunReader, type EdgeRun } from './edge-runs.ts'
import { createEdgeShapes, createPlainEdgeReader } from './plain-edges.ts'
import type { RawRecord } from './raw-record.ts'
import { readText, type NamingRecord, type SingleRecord, type TextReader } from './read-text.ts'
import { recordOfReject } from './reject-line.ts'
import { opensArray, splitArray } from './split-array.ts'
import { openCsvRows } from './split-csv.ts'
import { splitLines } from './split-lines.ts'
import { openSql } from './sql/open-sql.ts'
import type { SqlReading } from './sql/options.ts'
import { detectFormat, opensDocument, refuseWrapped } from './detect-format.ts'

/** A record, or the edges of several lines. */
export type ParsedRecord = SingleRecord | EdgeRun
export type ReadRecord = ParsedRecord | NamingRecord

/** The format of a body, or the formats among which the body decides. */
export type SentFormat = RecordFormat | readonly [RecordFormat, ...RecordFormat[]]

/**
 * The records come in one list per piece of the body, to save awaits. `source` is the name under which the
 * body says it states its edges; the load is then a snapshot of that source.
 */
export type OpenedRecords = RecordShape & {
  format: RecordFormat
  source?: string
  /** What the load cannot use of the body although nothing of it is rejected. */
  warnings?: readonly string[]
  records: AsyncGenerator<ReadRecord[]>
}

/**
 * Opens a body: recognises its format if it is not given, and reads the header of a CSV. The `line` of a
 * record is its line number, or from 1 the number of its object in an array or among objects over several
 * lines. An unreadable record becomes an entry with its error, never an exception.
 *
 * Throws UNSUPPORTED_MEDIA_TYPE if the format cannot be recognised, BAD_REQUEST for a body that is not UTF-8
 * text and for an invalid CSV header, and what openProject throws for a dbt project, which is read completely
 * here. Reading the records throws BAD_REQUEST if an array is cut off or followed by more text,
 * LIMIT_EXCEEDED (loadMaxRecords), and the errors of the source of the bytes.
 */
export async function openRecords(
  sent: SentFormat,
  chunks: AsyncIterable<Buffer>,
  dbt: DbtReading = defaultDbtOptions,
  sql?: SqlReading
): Promise<OpenedRecords> {
  const begin = await beginOf(chunks, sent === 'csv' || sent === 'dbt' || sent === 'sql' ? 'byte' : 'line')
  const format = await sentOrDetected(sent, begin)
  if (format === 'csv') return openCsv(begin.body)
  if (format === 'dbt') return { format, header: null, ...(await openProject(begin.body, dbt)) }
  if (format === 'sql') return { format, header: null, ...(await openSql(begin.body, sql)) }
  const shapes = format === 'ndjson' ? createEdgeShapes() : null
  const limit = format === 'openlineage' ? 'openLineageEventMaxBytes' : 'recordMaxBytes'
  const isArray = begin.first === opensArray
  const pieces =
    isArray || opensDocument(begin.firstLine)
      ? splitArray(begin.body, { limit, isArray })
      : splitLines(begin.body, shapes && createEdgeRunReader(shapes), limit)
  return {
    format,
    header: null,
    records: readAll(pieces, {
      parser: recordParser({ format, header: null }),
      readPlainEdge: shapes && createPlainEdgeReader(shapes),
      mayBeReject: true
    })
  }
}

/** Throws BAD_REQUEST for JSON with records inside another object. */
async function sentOrDetected(sent: SentFormat, begin: BodyBegin): Promise<RecordFormat> {
  try {
    if (sent !== 'csv' && sent !== 'dbt' && sent !== 'sql') refuseWrapped(begin)
    return typeof sent === 'string' ? sent : detectFormat(begin, sent)
  } catch (error) {
    await begin.close()
    throw error
  }
}

/** A body without rows has no header and no records. */
async function openCsv(body: AsyncIterable<Buffer>): Promise<OpenedRecords> {
  const { header: columns, rows } = await openCsvRows(body)
  if (columns === null) return { format: 'csv', header: null, records: nothing() }
  const header = printCsvHeader(columns)
  const reader = {
    parser: recordParser({ format: 'csv', header }),
    readPlainEdge: createPlainCsvReader(columns),
    mayBeReject: false
  }
  return { format: 'csv', header, records: readAll(rows, reader) }
}

async function* nothing(): AsyncGenerator<ReadRecord[]> {}

/**
 * A piece of the body can have tens of thousands of short lines, and each invalid one becomes an error of one
 * or two kilobytes.
 */
const recordsAtOnce = 1_000

/** `mayBeReject` says whether a line may be from a file of rejects. */
type Reader = TextReader & { mayBeReject: boolean }

async function* readAll(
  pieces: AsyncGenerator<(RawRecord | EdgeRun)[]>,
  reader: Reader
): AsyncGenerator<ReadRecord[]> {
  for await (const raws of pieces) {
    for (let begin = 0; begin < raws.length; begin += recordsAtOnce)
      yield raws
        .slice(begin, begin + recordsAtOnce)
        .map((raw) => ('count' in raw ? raw : readOne(reader, raw)))
  }
}

function readOne(reader: Reader, { line, text: sent, fault }: RawRecord): SingleRecord | NamingRecord {
  if (fault) return { line, text: sent, error: fault }
  const edge = reader.readPlainEdge?.(sent, line)
  if (edge) return edge
  return readText(reader, reader.mayBeReject ? recordOfReject(sent) : sent, line)
}
