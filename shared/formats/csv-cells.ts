/**
 * Splits a row of CSV into cells, and prints cells as a row, by RFC 4180 with any of several separators.
 *
 * Spreadsheets run a cell that begins with = + - or @ as a formula. Such a text is written with an apostrophe
 * in front. A text that already has such an apostrophe gets another, so that reading removes exactly what
 * writing added.
 */
import { CatalogError } from '../errors.ts'

/** What can separate cells. Spreadsheets write semicolons where the comma is the decimal point. */
export const separators = [',', ';', '\t', '|'] as const
export type Separator = (typeof separators)[number]

const quote = 0x22
const apostrophe = 0x27

const startsAsFormula = /^'*[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/

const unguarded = (cell: string): string =>
  cell.charCodeAt(0) === apostrophe && startsAsFormula.test(cell) ? cell.slice(1) : cell

/**
 * The cells of a row, which has no line break at its end. Nothing is trimmed, because white space belongs to
 * a cell. Throws BAD_REQUEST for quotes that RFC 4180 does not allow: inside an unquoted cell, after a
 * closing quote, or never closed.
 */
export function splitCells(text: string, separator: Separator = ','): string[] {
  const cells: string[] = []
  for (let start = 0; start <= text.length;) {
    if (text.charCodeAt(start) === quote) {
      const close = closingQuote(text, start + 1)
      if (close < 0) throw badQuote('A quote is not closed by the end of the row', separator)
      const cell = text.slice(start + 1, close)
      cells.push(unguarded(cell.includes('"') ? cell.replaceAll('""', '"') : cell))
      if (close + 1 < text.length && text[close + 1] !== separator)
        throw badQuote(
          `There is text between the closing quote of cell ${cells.length} and the next ${nameOf(separator)}`,
          separator
        )
      start = close + 2
    } else {
      const end = text.indexOf(separator, start)
      const cell = text.slice(start, end < 0 ? text.length : end)
      if (cell.includes('"'))
        throw badQuote(`Cell ${cells.length + 1} contains a quote but does not begin with one`, separator)
      cells.push(unguarded(cell))
      start = end < 0 ? text.length + 1 : end + 1
    }
  }
  return cells
}

/** The position of the quote that closes a cell; -1 if none does. A doubled quote belongs to the cell. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text.charCodeAt(at + 1) !== quote) return at
  }
  return -1
}

/**
 * The index of the cell in which a row is at the end of a line, if that cell's quote is still open; null if
 * the line ends the row, or has quotes that no row allows. `inside` is the index of the open cell in which
 * the line begins, null for a line that begins a row.
 */
export function openCell(line: string, inside: number | null, separator: Separator): number | null {
  let cell = inside ?? 0
  let start = 0
  for (let isInside = inside !== null; ; isInside = false) {
    if (isInside || line.charCodeAt(start) === quote) {
      const close = closingQuote(line, isInside ? start : start + 1)
      if (close < 0) return cell
      if (line[close + 1] !== separator) return null
      start = close + 2
    } else {
      const end = line.indexOf(separator, start)
      if (end < 0 || line.slice(start, end).includes('"')) return null
      start = end + 1
    }
    cell += 1
  }
}

/** The separator as it is called in messages. */
export const nameOf = (separator: Separator): string =>
  separator === ',' ? 'comma' : separator === ';' ? 'semicolon' : separator === '\t' ? 'tab' : separator

const badQuote = (message: string, separator: Separator): CatalogError =>
  new CatalogError(
    'BAD_REQUEST',
    `${message}. A cell with a quote, a ${nameOf(separator)} or a line break must be in quotes, and a quote inside it must be doubled`
  )

export type Cell = string | number | boolean | null

const needsQuotes: { readonly [Each in Separator]: RegExp } = {
  ',': /[",\r\n]/,
  ';': /[";\r\n]/,
  '\t': /["\t\r\n]/,
  '|': /["|\r\n]/
}

function printCell(value: Cell, separator: Separator): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = startsAsFormula.test(value) ? `'${value}` : value
  return needsQuotes[separator].test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A row without a line break at its end. */
export const printCells = (cells: readonly Cell[], separator: Separator = ','): string =>
  cells.map((cell) => printCell(cell, separator)).join(separator)

/** A row with a line break at its end. */
export const printRow = (cells: readonly Cell[], separator: Separator = ','): string =>
  `${printCells(cells, separator)}\r\n`
