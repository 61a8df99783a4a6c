/**
 * Splits a stream of bytes into the rows of a CSV, by RFC 4180: a row ends at a line break outside quotes.
 *
 * A row has the number of the physical line on which it begins. An unclosed quote invalidates only its own
 * line: if that line and the following ones do not make a valid row, only that line gets an error, and
 * reading continues with the next.
 */
import { isUtf8 } from 'node:buffer'
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import { splitCells } from './csv-cells.ts'
import { checkedLine, createRecordBuffer, type RawRecord } from './raw-record.ts'

const newline = 0x0a
const carriageReturn = 0x0d

/** The most lines in a row. Also bounds how many are held after an unclosed quote. */
const rowMaxLines = 10_000

/**
 * Lines are numbered from 1, and rows are grouped by the piece of the body in which they end. Blank lines,
 * and lines with only commas, are counted but left out. At most one row is in memory in addition to the
 * piece.
 */
export async function* splitCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<RawRecord[]> {
  const finder = createRowFinder()
  const buffer = createRecordBuffer()
  for await (const chunk of chunks) {
    const firstEnd = chunk.indexOf(newline)
    if (firstEnd < 0) {
      buffer.add(chunk)
      continue
    }
    const takeLine = (bytes: Buffer): void => {
      buffer.add(bytes)
      finder.addLine(buffer.endWhole(finder.nextLine()))
    }
    // The first line may have begun in an earlier piece.
    takeLine(chunk.subarray(0, firstEnd))
    const lastEnd = chunk.lastIndexOf(newline)
    const whole = chunk.subarray(firstEnd + 1, lastEnd + 1)
    if (whole.length <= limits.recordMaxBytes && isUtf8(whole)) finder.addLines(whole.toString('utf8'))
    else
      for (
        let start = 0, end = whole.indexOf(newline);
        end >= 0;
        start = end + 1, end = whole.indexOf(newline, start)
      )
        takeLine(whole.subarray(start, end))
    if (lastEnd + 1 < chunk.length) buffer.add(chunk.subarray(lastEnd + 1))
    const rows = finder.take()
    if (rows.length > 0) yield rows
  }
  finder.addLine(buffer.endWhole(finder.nextLine()))
  finder.end()
  const rows = finder.take()
  if (rows.length > 0) yield rows
}

type RowFinder = {
  /** The number of the next line. */
  nextLine(): number
  addLine(line: RawRecord): void
  /** Adds lines, all of which end with a line break. */
  addLines(text: string): void
  /** Ends the input. */
  end(): void
  /** The rows found since the last call. */
  take(): RawRecord[]
}

/** The lines of a row that has begun but not ended. */
type OpenRow = { lines: RawRecord[]; bytes: number }

/**
 * Finds the rows in lines. A row continues while its number of quotes is odd; RFC 4180 requires no other
 * check. Only rows of several lines are also checked here for misplaced quotes. The parser checks the others.
 * A line with an even number of quotes never opens a row. So each line is examined at most three times,
 * whichever rows are opened and not closed.
 */
function createRowFinder(): RowFinder {
  let next = 1
  let open: OpenRow | null = null
  let rows: RawRecord[] = []

  function add(line: RawRecord, hasOddQuotes: boolean): void {
    if (open === null) {
      if (hasOddQuotes && !line.fault) open = { lines: [line], bytes: line.text.length }
      else pushRow(line)
      return
    }
    open.lines.push(line)
    open.bytes += line.text.length + 1
    if (line.fault || open.bytes > limits.recordMaxBytes || open.lines.length > rowMaxLines) giveUp(open)
    else if (hasOddQuotes) close(open)
  }

  function close(row: OpenRow): void {
    const text = row.lines.map((line) => line.text).join('\n')
    if (!isRow(text)) {
      giveUp(row)
      return
    }
    open = null
    pushRow({ line: row.lines[0]?.line ?? next, text })
  }

  /** The first line gets the error, and the others are read again. */
  function giveUp({ lines: [first, ...others] }: OpenRow): void {
    open = null
    if (first) rows.push({ ...first, text: withoutReturn(first.text), fault: notClosed() })
    for (const line of others) add(line, hasOddQuotes(line.text))
  }

  function pushRow(row: RawRecord): void {
    if (row.fault) rows.push(row)
    else if (!isBlank(row.text)) rows.push({ line: row.line, text: withoutReturn(row.text) })
  }

  return {
    nextLine: () => next,
    addLine(line) {
      next += 1
      add(line, hasOddQuotes(line.text))
    },
    addLines(text) {
      let quoteAt = text.indexOf('"')
      for (
        let start = 0, end = text.indexOf('\n');
        end >= 0;
        start = end + 1, end = text.indexOf('\n', start)
      ) {
        let isOdd = false
        for (; quoteAt >= 0 && quoteAt < end; quoteAt = text.indexOf('"', quoteAt + 1)) isOdd = !isOdd
        add({ line: checkedLine(next), text: text.slice(start, end) }, isOdd)
        next += 1
      }
    },
    end() {
      while (open !== null) giveUp(open)
    },
    take() {
      const taken = rows
      rows = []
      return taken
    }
  }
}

const withoutReturn = (text: string): string =>
  text.charCodeAt(text.length - 1) === carriageReturn ? text.slice(0, -1) : text

/** Spreadsheets write rows of empty cells below a table. */
function isBlank(text: string): boolean {
  const code = text.charCodeAt(0)
  const mayBe = !(code > 0x2c) && code !== 0x22
  return mayBe && /^[\s,]*$/.test(text)
}

function hasOddQuotes(text: string): boolean {
  let isOdd = false
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) isOdd = !isOdd
  return isOdd
}

function isRow(text: string): boolean {
  try {
    splitCells(withoutReturn(text))
    return true
  } catch {
    return false
  }
}

const notClosed = (): CatalogError =>
  new CatalogError('BAD_REQUEST', 'A quote is not closed: no line after it completes the row either')
