/** Reads the records of a load from its bytes as they come, one by one, in bounded memory. */
import { CatalogError } from '../errors.ts'
import type { ChangeRecord } from '../model/changes.ts'
import { beginOf, type BodyBegin } from './body-begin.ts'
import { openProject } from './dbt/read-project.ts'
import { defaultDbtOptions, type DbtReading } from './dbt/options.ts'
import { parseCsvHeader, printCsvHeader } from './csv-header.ts'
import { recordParser, type RecordParser, type RecordShape } from './parse-record.ts'
import type { RecordFormat } from './load-formats.ts'
import { createPlainCsvReader } from './plain-csv-edges.ts'
import { createEdgeRunReader, type EdgeRun } from './edge-runs.ts'
import {
  createEdgeShapes,
  createPlainEdgeReader,
  flat,
  type PlainEdge,
  type PlainEdgeReader
} from './plain-edges.ts'
import type { RawRecord } from './raw-record.ts'
import { recordOfReject } from './reject-line.ts'
import { opensArray, splitArray } from './split-array.ts'
import { splitCsv } from './split-csv.ts'
import { splitLines } from './split-lines.ts'
import { tellFormat } from './tell-format.ts'

/** A record that was understood, or the reason why not. `text` is the record as sent; of one too long, its begin. An edge given by its ends alone needs no more. */
export type SingleRecord =
  | { line: number; text: string; record: ChangeRecord }
  | { line: number; text: string; error: CatalogError }
  | PlainEdge

/** One record, or edges of many lines. */
export type ReadRecord = SingleRecord | EdgeRun

/** The format a body is in, or those it may be in: then the body tells. */
export type SentFormat = RecordFormat | readonly [RecordFormat, ...RecordFormat[]]

/**
 * The records of each piece of the body together, one wait for all of them. `source` is who states them, where the body says it: it is then all that
 * this source states.
 */
export type OpenedRecords = RecordShape & {
  format: RecordFormat
  source?: string
  records: AsyncGenerator<ReadRecord[]>
}

/**
 * Opens a body: tells its format where that is open, and reads the header of a CSV. A record has as `line` its line number,
 * or the number of the element of an array, from 1. One that cannot be read is an entry with its error, never an exception.
 *
 * Throws UNSUPPORTED_MEDIA_TYPE where nothing tells the format, BAD_REQUEST for a body that is not a text in UTF-8 and for the
 * header of a CSV, and what openProject throws for a dbt project, which is read to its end here. Reading on throws BAD_REQUEST where an array is cut off or followed by something, LIMIT_EXCEEDED
 * (loadMaxRecords), and what the bytes' source throws.
 */
export async function openRecords(
  sent: SentFormat,
  chunks: AsyncIterable<Buffer>,
  dbt: DbtReading = defaultDbtOptions
): Promise<OpenedRecords> {
  const begin = await beginOf(chunks, typeof sent === 'string' ? 'byte' : 'line')
  const format = await toldFormat(sent, begin)
  if (format === 'csv') return openCsv(splitCsv(begin.body))
  if (format === 'dbt') return { format, header: null, ...(await openProject(begin.body, dbt)) }
  const parser = recordParser({ format, header: null })
  if (format !== 'ndjson') {
    const limit = format === 'openlineage' ? 'openLineageEventMaxBytes' : 'recordMaxBytes'
    const pieces =
      begin.first === opensArray ? splitArray(begin.body, limit) : splitLines(begin.body, null, limit)
    return {
      format,
      header: null,
      records: readAll(pieces, {
        parser,
        readPlainEdge: null,
        mayBeReject: true
      })
    }
  }
  const shapes = createEdgeShapes()
  return {
    format,
    header: null,
    records: readAll(splitLines(begin.body, createEdgeRunReader(shapes)), {
      parser,
      readPlainEdge: createPlainEdgeReader(shapes),
      mayBeReject: true
    })
  }
}

async function toldFormat(sent: SentFormat, begin: BodyBegin): Promise<RecordFormat> {
  if (typeof sent === 'string') return sent
  try {
    return tellFormat(begin, sent)
  } catch (error) {
    await begin.close()
    throw error
  }
}

/** A body without a row has no header and no records. */
async function openCsv(pieces: AsyncGenerator<RawRecord[]>): Promise<OpenedRecords> {
  const { value: [first, ...others] = [], done } = await pieces.next()
  if (done || !first) return { format: 'csv', header: null, records: nothing() }
  try {
    if (first.fault) throw first.fault
    const columns = parseCsvHeader(first.text)
    const header = printCsvHeader(columns)
    const reader = {
      parser: recordParser({ format: 'csv', header }),
      readPlainEdge: createPlainCsvReader(columns),
      mayBeReject: false
    }
    return { format: 'csv', header, records: readAll(resume(others, pieces), reader) }
  } catch (error) {
    await pieces.return(undefined)
    throw error
  }
}

async function* nothing(): AsyncGenerator<ReadRecord[]> {}

async function* resume(first: RawRecord[], pieces: AsyncGenerator<RawRecord[]>): AsyncGenerator<RawRecord[]> {
  if (first.length > 0) yield first
  yield* pieces
}

/** A piece of the shortest lines holds tens of thousands, and each that is at fault becomes an error of a kilobyte or two. */
const recordsAtOnce = 1_000

/** `mayBeReject` where a line may be one of a file of rejects. */
type Reader = {
  parser: RecordParser
  readPlainEdge: PlainEdgeReader | null
  mayBeReject: boolean
}

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

function readOne(
  { parser, readPlainEdge, mayBeReject }: Reader,
  { line, text: sent, fault }: RawRecord
): SingleRecord {
  if (fault) return { line, text: sent, error: fault }
  const edge = readPlainEdge?.(sent, line)
  if (edge) return edge
  const text = mayBeReject ? recordOfReject(sent) : sent
  try {
    return { line, text, record: parser.parse(text, line) }
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    return { line, text: flat(text), error }
  }
}
