/**
 * Splits a row of CSV into cells, and prints cells as a row, by RFC 4180.
 *
 * Spreadsheets run a cell that begins with = + - or @ as a formula. Such a text is written with an apostrophe
 * in front. A text that already has such an apostrophe gets another, so that reading removes exactly what
 * writing added.
 */
import { CatalogError } from '../errors.ts'

const quote = 0x22
const comma = 0x2c
const apostrophe = 0x27

const startsAsFormula = /^'*[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/

const unguarded = (cell: string): string =>
  cell.charCodeAt(0) === apostrophe && startsAsFormula.test(cell) ? cell.slice(1) : cell

/**
 * The cells of a row, which has no line break at its end. Nothing is trimmed, because white space belongs to
 * a cell. Throws BAD_REQUEST for quotes that RFC 4180 does not allow: inside an unquoted cell, after a
 * closing quote, or never closed.
 */
export function splitCells(text: string): string[] {
  const cells: string[] = []
  for (let start = 0; start <= text.length;) {
    if (text.charCodeAt(start) === quote) {
      const close = closingQuote(text, start + 1)
      const cell = text.slice(start + 1, close)
      cells.push(unguarded(cell.includes('"') ? cell.replaceAll('""', '"') : cell))
      if (close + 1 < text.length && text.charCodeAt(close + 1) !== comma)
        throw badQuote(`There is text between the closing quote of cell ${cells.length} and the next comma`)
      start = close + 2
    } else {
      const end = text.indexOf(',', start)
      const cell = text.slice(start, end < 0 ? text.length : end)
      if (cell.includes('"'))
        throw badQuote(`Cell ${cells.length + 1} contains a quote but does not begin with one`)
      cells.push(unguarded(cell))
      start = end < 0 ? text.length + 1 : end + 1
    }
  }
  return cells
}

function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text.charCodeAt(at + 1) !== quote) return at
  }
  throw badQuote('A quote is not closed by the end of its line, or of the row')
}

const badQuote = (message: string): CatalogError =>
  new CatalogError(
    'BAD_REQUEST',
    `${message}. A cell with a quote, a comma or a line break must be in quotes, and a quote inside it must be doubled`
  )

export type Cell = string | number | boolean | null

function printCell(value: Cell): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = startsAsFormula.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A row without a line break at its end. */
export const printCells = (cells: readonly Cell[]): string => cells.map(printCell).join(',')

/** A row with a line break at its end. */
export const printRow = (cells: readonly Cell[]): string => `${printCells(cells)}\r\n`
