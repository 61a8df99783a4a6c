/**
 * Reads the header of a CSV load: what separates the cells, whether the rows are edges or domains of assets,
 * and what each column contains.
 */
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import { nameOf, printCells, separators, splitCells, type Separator } from './csv-cells.ts'
import {
  csvColumns,
  isExported,
  isKnownName,
  isRejectColumn,
  mayDecide,
  meaningOfName,
  type CsvColumn,
  type CsvKind
} from './csv-names.ts'

/** `places` are indexes of columns; -1 if a column is absent. */
export type CsvHeader = {
  separator: Separator
  kind: CsvKind
  /** The names as they were sent, trimmed. Empty for a column without one; the last one has a name. */
  names: readonly string[]
  places: { [Column in CsvColumn]: number }
}

const required: { readonly [Kind in CsvKind]: readonly [CsvColumn, CsvColumn] } = {
  edges: ['upstream', 'downstream'],
  domains: ['resource', 'domain']
}
const optional: { readonly [Kind in CsvKind]: readonly CsvColumn[] } = {
  edges: ['upstreamColumn', 'downstreamColumn'],
  domains: []
}

/**
 * A line above the header that says what separates the cells, as spreadsheets write and read it. Some
 * programs put it into quotes, or add separators up to the width of the table.
 */
const separatorLine = /^"?sep=(.)"?(?:\1)*\s*$/i
const separatorLineMaxChars = 200

/** The separator in such a line, which may be one that no file may have; null for any other line. */
const saidBy = (line: string): string | null =>
  line.length > separatorLineMaxChars ? null : (separatorLine.exec(line)?.[1] ?? null)

export const isSeparatorLine = (line: string): boolean => saidBy(line) !== null

/**
 * `text` is the row with the names, after the line that says the separator if there is one. Throws
 * BAD_REQUEST with the name of the column and what is allowed, LIMIT_EXCEEDED (csvColumnsMaxCount).
 */
export function parseCsvHeader(text: string): CsvHeader {
  const { separator, row } = dividedBy(text)
  const names = namesIn(row, separator)
  // A file of rejects has more columns than the file that was sent.
  const own = names.filter((name) => !isRejectColumn(name)).length
  if (own > limits.csvColumnsMaxCount)
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `The header has ${own} columns; at most ${limits.csvColumnsMaxCount} are allowed`,
      {
        field: 'header',
        limit: 'csvColumnsMaxCount',
        maximum: limits.csvColumnsMaxCount,
        actual: own
      }
    )
  const found = names.map(meaningOfName)
  const has = (column: CsvColumn): boolean => found.includes(column)
  const kinds = (['edges', 'domains'] as const).filter((kind) => required[kind].some(has))
  const [kind] = kinds
  if (kind === undefined)
    throw wrongHeader(
      'The header has neither upstream and downstream (edges) nor resource and domain (domains of assets)',
      names[0]
    )
  if (kinds.length > 1) {
    const [ofEdges, ofDomains] = kinds.map((each) =>
      names.filter((_, index) => required[each].some((column) => column === found[index]))
    )
    throw wrongHeader(
      `The header has columns of edges (${(ofEdges ?? []).map(shown).join(', ')}) and of domains (${(ofDomains ?? []).map(shown).join(', ')}); a file must contain only one of the two`,
      ofDomains?.[0]
    )
  }
  for (const column of required[kind])
    if (!has(column)) throw wrongHeader(`The header has no column ${csvColumns[column]}`, csvColumns[column])
  const seen = new Map<CsvColumn, string>()
  for (const [index, name] of names.entries()) {
    const column = found[index]
    const isUnclear = column === undefined && !isExported(name, kind) && mayDecide(name)
    if (isUnclear || (column !== undefined && ![...required[kind], ...optional[kind]].includes(column)))
      throw wrongHeader(
        `The column ${shown(name)} of the header is unknown, and may change what a row means; leave it out`,
        name,
        [...required[kind], ...optional[kind]].map((each) => csvColumns[each])
      )
    if (column === undefined) continue
    const before = seen.get(column)
    if (before !== undefined) throw sameMeaning(before, name)
    seen.set(column, name)
  }
  const placeOf = (column: CsvColumn): number => found.indexOf(column)
  return {
    separator,
    kind,
    names,
    places: {
      upstream: placeOf('upstream'),
      downstream: placeOf('downstream'),
      upstreamColumn: placeOf('upstreamColumn'),
      downstreamColumn: placeOf('downstreamColumn'),
      resource: placeOf('resource'),
      domain: placeOf('domain')
    }
  }
}

function sameMeaning(before: string, name: string): CatalogError {
  const isSource = [before, name].some((each) => each.toLowerCase() === 'source')
  return wrongHeader(
    before === name
      ? `The header has the column ${shown(name)} twice`
      : `The columns ${shown(before)} and ${shown(name)} of the header mean the same${isSource ? '; the name of who states the edges is the parameter source, not a column' : ''}`,
    name
  )
}

/**
 * The header as it is stored with a load and written above rejects: parseCsvHeader reads the same from it.
 */
export function printCsvHeader({ names, separator }: Pick<CsvHeader, 'names' | 'separator'>): string {
  const row = printCells(names, separator)
  return dividedBy(row).separator === separator ? row : `sep=${separator}\n${row}`
}

const ignoredMaxCount = 100

/**
 * The columns that a load ignores, other than those of our own exports: their names, or places if they have
 * none. At most 100, and each name is cut.
 */
export const ignoredColumns = ({ names, kind }: CsvHeader): string[] =>
  names
    .flatMap((name, index) =>
      name === ''
        ? [`column ${index + 1}`]
        : meaningOfName(name) === undefined && !isExported(name, kind)
          ? [short(name)]
          : []
    )
    .slice(0, ignoredMaxCount)

/** Whether a column contains something that the load reads. */
export const isRead = ({ places }: CsvHeader, place: number): boolean => Object.values(places).includes(place)

/**
 * The cells of a row. Spreadsheets leave out empty cells at the end of a row, so there may be fewer cells than
 * names, or add some, which are left out here.
 * Throws BAD_REQUEST for other numbers of cells, and what splitCells throws.
 */
export function cellsOfRow({ names, separator, kind, places }: CsvHeader, text: string): string[] {
  const cells = splitCells(withoutEmptyEnd(text, separator, names.length), separator)
  while (cells.length > names.length && cells.at(-1) === '') cells.pop()
  const least = 1 + Math.max(...required[kind].map((column) => places[column]))
  if (cells.length >= least && cells.length <= names.length) return cells
  throw new CatalogError(
    'BAD_REQUEST',
    `The row has ${cells.length} cells, the header has ${names.length}${hintFor(cells, text, { separator, names })}`,
    { field: 'header' }
  )
}

/** Leaves `kept` of the separators at the end of a row: a row can have a million of them. */
function withoutEmptyEnd(text: string, separator: Separator, kept: number): string {
  let end = text.length
  while (end > 0 && text[end - 1] === separator) end -= 1
  return text.length - end > kept ? text.slice(0, end + kept) : text
}

function hintFor(
  cells: readonly string[],
  text: string,
  { separator, names }: Pick<CsvHeader, 'separator' | 'names'>
): string {
  if (
    separator === ',' &&
    cells.some((cell) => cell.startsWith('urn:li:') && cell.lastIndexOf('(') > cell.lastIndexOf(')'))
  )
    return '; a URN with commas must be in double quotes'
  const other = separators.find(
    (each) => each !== separator && names.length > 1 && text.split(each).length === names.length
  )
  return other === undefined
    ? ''
    : `; this file separates cells by ${nameOf(separator)}, as its header says, not by ${nameOf(other)}`
}

/** How many rows above a header are looked at to recognise it. */
export const rowsLookedAt = 100

/** Whether the whole lines of a text are above a header: blank, or the line that says the separator. */
export const isAboveHeader = (text: string): boolean =>
  text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n', rowsLookedAt)
    .every((line) => isBlankRow(line) || isSeparatorLine(line))

/** Whether a text begins with a header: its first row has a column that a CSV load requires. */
export function looksLikeCsvHeader(text: string): boolean {
  const rows = text.split('\n', rowsLookedAt).filter((row) => !isBlankRow(row))
  const first = rows[0] ?? ''
  const header = isSeparatorLine(first) ? `${first}\n${rows[1] ?? ''}` : first
  try {
    const { separator, row } = dividedBy(header.trimEnd())
    return namesIn(row, separator).some((name) =>
      ['upstream', 'downstream', 'resource', 'domain'].includes(meaningOfName(name) ?? '')
    )
  } catch {
    return false
  }
}

/** Spreadsheets write rows of empty cells above and below a table. */
export const isBlankRow = (text: string, separator?: Separator): boolean =>
  (separator === undefined ? /^[\s,;|]*$/ : separator === '\t' ? /^\s*$/ : blankRows[separator]).test(text)

const blankRows = { ',': /^[\s,]*$/, ';': /^[\s;]*$/, '|': /^[\s|]*$/ }

/**
 * The separator of a header: as the line above it says, otherwise the one that gives the most known names,
 * then the one that gives the most cells.
 */
function dividedBy(text: string): { separator: Separator; row: string } {
  const [line = ''] = text.split('\n', 1)
  const said = saidBy(line)
  if (said !== null) {
    const separator = separators.find((each) => each === said)
    if (separator === undefined)
      throw new CatalogError(
        'BAD_REQUEST',
        `The first line says that cells are separated by ${JSON.stringify(said)}; use a comma, semicolon, tab or |`,
        { field: 'header', allowed: separators }
      )
    return { separator, row: text.slice(line.length + 1) }
  }
  const ranks = separators.map((separator) => rankOf(text, separator))
  const best = ranks.reduce((found, rank) => (rank > found ? rank : found))
  return { separator: separators[ranks.indexOf(best)] ?? ',', row: text }
}

const cellsPerName = 10_000

function rankOf(text: string, separator: Separator): number {
  try {
    const names = splitCells(text, separator)
    // More columns are refused, and looking at a million empty names takes seconds.
    const known = names.slice(0, limits.csvColumnsMaxCount).filter(isKnownName)
    return known.length * cellsPerName + Math.min(names.length, cellsPerName - 1)
  } catch {
    return -1
  }
}

/** The names without the empty ones at the end, which spreadsheets write for columns that were cleared. */
function namesIn(row: string, separator: Separator): string[] {
  const names = splitHeader(row, separator).map((name) => name.trim())
  while (names.length > 1 && names.at(-1) === '') names.pop()
  return names
}

function splitHeader(text: string, separator: Separator): string[] {
  try {
    return splitCells(text, separator)
  } catch (error) {
    throw error instanceof CatalogError
      ? new CatalogError(error.code, `The header is not a valid CSV row: ${error.message}`, {
          field: 'header'
        })
      : error
  }
}

/** The name of a column is text from the client, so only a short part of it is shown. */
const short = (name: string): string =>
  name.length > 60 ? `${name.slice(0, 60).toWellFormed()}…` : name.toWellFormed()

const shown = (name: string): string => JSON.stringify(short(name))

function wrongHeader(
  message: string,
  name: string | undefined,
  allowed: readonly string[] = Object.values(csvColumns)
): CatalogError {
  return new CatalogError('BAD_REQUEST', message, {
    field: name === undefined || name === '' ? 'header' : name.slice(0, 60).toWellFormed(),
    allowed
  })
}
