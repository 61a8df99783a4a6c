/**
 * Prints a list as a table: aligned columns below a header for a person at a terminal, cut to its width; elsewhere a line of values
 * between tabs for each row, complete and without a header, for `cut` and `while read`.
 */
import { paint, type Colour } from './colour.ts'
import { printable } from './printable.ts'
import type { Terminal } from './terminal.ts'
import { cutMiddle, padEnd, padStart, widthOf } from './text-width.ts'

export type Column = {
  title: string
  /** A name is cut in the middle if need be; an id to its first characters, which commands take as well; other values never. */
  kind?: 'name' | 'id' | 'number'
  /** Columns with the lowest number are left out first, if the terminal is too narrow. Without one a column stays. */
  leaveOut?: number
  colour?: Colour | ((value: string) => Colour | null)
}

/** `machine` replaces the value where no person looks: a complete time instead of an age. */
export type Cell = string | { text: string; machine: string }

export type Table = {
  /** Prints rows; the header goes before the first. Later rows keep the widths of earlier ones, as far as they fit. */
  print(rows: readonly (readonly Cell[])[]): void
}

const gap = '  '
const idShortWidth = 8
/** A name is not cut below this while another column can be left out. */
const nameGoodWidth = 20
const nameLeastWidth = 6

export function openTable(columns: readonly Column[], terminal: Terminal): Table {
  let wanted = columns.map(({ title }) => widthOf(title))
  let hasHeader = false
  return {
    print(rows) {
      const width = terminal.columns()
      if (width === null) {
        for (const row of rows) printForMachine(row)
        return
      }
      const texts = rows.map((row) =>
        row.map((cell) => printable(typeof cell === 'string' ? cell : cell.text))
      )
      wanted = wanted.map((least, at) => Math.max(least, ...texts.map((row) => widthOf(row[at] ?? ''))))
      const widths = fit(columns, wanted, width)
      if (rows.length > 0 && !hasHeader) {
        hasHeader = true
        terminal.out(
          line(
            widths,
            columns.map(({ title }) => title),
            () => 'bold'
          )
        )
      }
      for (const row of texts)
        terminal.out(
          line(widths, row, ({ colour }, value) =>
            typeof colour === 'function' ? colour(value) : (colour ?? null)
          )
        )
    }
  }

  function line(
    widths: readonly (number | null)[],
    values: readonly string[],
    colourOf: (column: Column, value: string) => Colour | null
  ): string {
    const shown = columns.flatMap((column, at) => {
      const width = widths[at] ?? null
      return width === null ? [] : [{ column, width, value: values[at] ?? '' }]
    })
    // spaces at the end would be copied with the line
    const end = shown.findLastIndex(({ value }) => value !== '')
    return shown
      .slice(0, end + 1)
      .map(({ column, width, value }, at) => {
        const cut = cutTo(column, value, width)
        const padded = column.kind === 'number' ? padStart(cut, width) : at === end ? cut : padEnd(cut, width)
        return paint(padded, colourOf(column, value), terminal.colours.out)
      })
      .join(gap)
  }

  function printForMachine(row: readonly Cell[]): void {
    terminal.out(row.map((cell) => printable(typeof cell === 'string' ? cell : cell.machine)).join('\t'))
  }
}

function cutTo({ kind }: Column, value: string, width: number): string {
  if (kind === 'id' && width === idShortWidth) return value.slice(0, idShortWidth)
  return kind === 'name' ? cutMiddle(value, width) : value
}

/** The width of each column, or null if it is left out. */
function fit(columns: readonly Column[], wanted: readonly number[], width: number): (number | null)[] {
  const found: (number | null)[] = [...wanted]
  const excess = (): number =>
    found.reduce<number>((sum, each) => sum + (each === null ? 0 : each + gap.length), -gap.length) - width
  if (excess() > 0) shorten('id', () => idShortWidth)
  const order = columns
    .flatMap(({ leaveOut }, at) => (leaveOut === undefined ? [] : [{ leaveOut, at }]))
    .sort((a, b) => a.leaveOut - b.leaveOut)
  // what names can give before they become hard to read
  const spare = (): number =>
    columns.reduce(
      (sum, { kind }, at) => sum + (kind === 'name' ? Math.max(0, (found[at] ?? 0) - nameGoodWidth) : 0),
      0
    )
  for (const { at } of order) if (excess() > spare()) found[at] = null
  for (const least of [nameGoodWidth, nameLeastWidth]) while (excess() > 0 && narrowWidest(least)) continue
  return found

  function shorten(kind: Column['kind'], to: () => number): void {
    columns.forEach((column, at) => {
      const has = found[at] ?? null
      if (column.kind === kind && has !== null) found[at] = Math.min(has, to())
    })
  }

  /** Takes a column from the widest name; false if all are as narrow as they may be. */
  function narrowWidest(least: number): boolean {
    let widest: number | null = null
    columns.forEach(({ kind }, at) => {
      const has = found[at] ?? 0
      if (kind === 'name' && has > least && (widest === null || has > (found[widest] ?? 0))) widest = at
    })
    if (widest === null) return false
    found[widest] = (found[widest] ?? 0) - 1
    return true
  }
}
