/**
 * Splits a stream of bytes into the rows of a CSV, by RFC 4180: a row ends at a line break outside quotes.
 *
 * A row has the number of the physical line on which it begins. A quote that is never closed would take all
 * rows below it into one cell. So only cells that a load ignores, such as notes, may contain line breaks,
 * and only as many as a spreadsheet allows. Any other open quote is the error of its own line, and reading
 * continues with the next.
 */
import { isUtf8 } from 'node:buffer'
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import { openCell, separators, splitCells, type Separator } from './csv-cells.ts'
import {
  cellsOfRow,
  isBlankRow,
  isRead,
  isSeparatorLine,
  parseCsvHeader,
  type CsvHeader
} from './csv-header.ts'
import { checkedLine, createRecordBuffer, type RawRecord } from './raw-record.ts'

const newline = 0x0a
const carriageReturn = 0x0d

/** The most lines in a row. Excel allows 253 line breaks in a cell. */
const rowMaxLines = 1_000

/** `header` is null for a body without rows. */
export type CsvRows = { header: CsvHeader | null; rows: AsyncGenerator<RawRecord[]> }

/**
 * Reads up to the header. Lines are numbered from 1, and rows are grouped by the piece of the body in which
 * they end. Blank lines, and lines with only separators, are counted but left out. At most one row is in
 * memory in addition to the piece. Throws BAD_REQUEST, with the line, for an invalid header.
 */
export async function openCsvRows(chunks: AsyncIterable<Buffer>): Promise<CsvRows> {
  const finder = createRowFinder()
  const pieces = splitLines(chunks, finder)
  try {
    const { value: first = [] } = await pieces.next()
    return { header: finder.header(), rows: resume(first, pieces) }
  } catch (error) {
    await pieces.return(undefined)
    throw error
  }
}

async function* resume(first: RawRecord[], pieces: AsyncGenerator<RawRecord[]>): AsyncGenerator<RawRecord[]> {
  if (first.length > 0) yield first
  yield* pieces
}

/** Yields the first piece when the header is known, even without rows. */
async function* splitLines(chunks: AsyncIterable<Buffer>, finder: RowFinder): AsyncGenerator<RawRecord[]> {
  const buffer = createRecordBuffer()
  let isHeaderTold = false
  function take(): RawRecord[] | null {
    const rows = finder.take()
    const tells = !isHeaderTold && finder.header() !== null
    isHeaderTold ||= tells
    return rows.length > 0 || tells ? rows : null
  }
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
    const rows = take()
    if (rows) yield rows
  }
  finder.addLine(buffer.endWhole(finder.nextLine()))
  finder.end()
  const rows = take()
  if (rows) yield rows
}

type RowFinder = {
  /** Null before the header was found. */
  header(): CsvHeader | null
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

/** The lines of a row that has begun but not ended, and the cell whose quote is open. */
type OpenRow = { lines: RawRecord[]; bytes: number; cell: number }

/**
 * Finds the rows in lines. A line that closes no quote cannot open one while a row is open, so each line is
 * examined at most three times, whichever rows are opened and not closed.
 */
function createRowFinder(): RowFinder {
  let next = 1
  let header: CsvHeader | null = null
  let separatorLine: string | null = null
  let open: OpenRow | null = null
  let rows: RawRecord[] = []
  // One error for each cell: there may be tens of thousands of lines before any of them is rejected.
  const faults = new Map<number, CatalogError>()

  function openQuoteIn(cell: number): CatalogError {
    const fault = faults.get(cell) ?? openQuote(header, cell)
    faults.set(cell, fault)
    return fault
  }

  function add(line: RawRecord, mayOpen: boolean): void {
    if (open !== null) {
      resumeRow(open, line)
      return
    }
    const cell = mayOpen && !line.fault ? openCellOf(line.text, null) : null
    if (cell === null) pushRow(line)
    else if (header !== null && isRead(header, cell)) pushRow({ ...line, fault: openQuoteIn(cell) })
    else open = { lines: [line], bytes: line.text.length, cell }
  }

  function resumeRow(row: OpenRow, line: RawRecord): void {
    row.lines.push(line)
    row.bytes += line.text.length + 1
    const isTooLong = row.bytes > limits.recordMaxBytes || row.lines.length > rowMaxLines
    const cell = line.fault || isTooLong ? null : openCellOf(line.text, row.cell)
    if (cell === null) close(row, isTooLong)
    else if (header !== null && isRead(header, cell)) giveUp(row)
    else row.cell = cell
  }

  function close(row: OpenRow, isTooLong: boolean): void {
    const text = row.lines.map((line) => line.text).join('\n')
    if (isTooLong || row.lines.some(({ fault }) => fault) || !isWhole(row, text)) {
      giveUp(row)
      return
    }
    open = null
    pushRow({ line: row.lines[0]?.line ?? next, text })
  }

  /** The first line gets the error, and the others are read again. */
  function giveUp({ lines: [first, ...others], cell }: OpenRow): void {
    open = null
    if (first) pushRow({ ...first, fault: openQuoteIn(openCellOf(first.text, null) ?? cell) })
    for (const line of others) add(line, line.text.includes('"'))
  }

  function pushRow(row: RawRecord): void {
    if (!row.fault && isBlank(row.text)) return
    const text = withoutReturn(row.text)
    if (header !== null) rows.push({ ...row, text })
    else if (separatorLine === null && !row.fault && isSeparatorLine(text)) separatorLine = text
    else header = headerOf({ ...row, text: separatorLine === null ? text : `${separatorLine}\n${text}` })
  }

  /** The separator of a header is not known yet. */
  const openCellOf = (text: string, inside: number | null): number | null =>
    separatorsNow().reduce<number | null>((found, each) => found ?? openCell(text, inside, each), null)

  const separatorsNow = (): readonly Separator[] => (header ? [header.separator] : separators)

  function isWhole({ lines }: OpenRow, text: string): boolean {
    const known = header
    if (known === null) return separators.some((each) => isValid(() => splitCells(withoutReturn(text), each)))
    return (
      isValid(() => cellsOfRow(known, withoutReturn(text))) &&
      !lines.slice(1, -1).some((line) => isRowItself(known, line.text)) &&
      !isRowItself(known, untilQuote(lines.at(-1)?.text ?? ''), 'cut')
    )
  }

  /** Spreadsheets write rows of empty cells around a table. */
  function isBlank(text: string): boolean {
    const code = text.charCodeAt(0)
    const mayBe = !(code > 0x2c) || code === 0x3b || code === 0x7c
    return mayBe && code !== 0x22 && isBlankRow(text, header?.separator)
  }

  return {
    header: () => header,
    nextLine: () => next,
    addLine(line) {
      next += 1
      add(line, line.text.includes('"'))
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

function headerOf({ text, line, fault }: RawRecord): CsvHeader {
  try {
    if (fault) throw fault
    return parseCsvHeader(text)
  } catch (error) {
    throw error instanceof CatalogError
      ? new CatalogError(error.code, error.message, { field: 'header', ...error.details, line })
      : error
  }
}

/** The line in which a row ends, up to the quote that may open a cell of another row instead. */
const untilQuote = (line: string): string => line.slice(0, Math.max(0, line.indexOf('"')))

/**
 * Whether a line inside a cell is a row itself, with no white space in what a row must have: then the quote
 * was left open by mistake. A line of a note may well have two words and a comma, so a line with fewer cells
 * than the header, or a `cut` one, is a row only if its assets are named as platform:name or by URNs.
 */
function isRowItself(header: CsvHeader, text: string, extent: 'whole' | 'cut' = 'whole'): boolean {
  try {
    const cells = cellsOfRow(header, withoutReturn(text))
    const asset = extent === 'cut' || cells.length < header.names.length ? /^[^\s:]+:\S+$/ : /^\S+$/
    const { upstream, downstream, resource, domain } = header.places
    return (
      [upstream, downstream, resource].every((place) => place < 0 || asset.test(cells[place] ?? '')) &&
      (domain < 0 || /^\S+$/.test(cells[domain] ?? ''))
    )
  } catch {
    return false
  }
}

function isValid(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}

function openQuote(header: CsvHeader | null, cell: number): CatalogError {
  const name = header?.names[cell]
  const where = `The quote that opens in cell ${cell + 1}`
  return new CatalogError(
    'BAD_REQUEST',
    header === null
      ? `${where} of the header is not closed`
      : isRead(header, cell)
        ? `${where} is not closed in its line; this column contains no line breaks`
        : `${where} is not closed, or only after other rows`,
    { field: name ? name.slice(0, 60).toWellFormed() : 'header' }
  )
}
