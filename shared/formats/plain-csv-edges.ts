/**
 * Recognises the rows of most CSV loads, edges between assets or between columns, without splitting them into
 * cells. The CSV counterpart of plain-edges.ts.
 */
import { limits } from '../limits.ts'
import { isOrdinaryColumn } from '../urn/ordinary-dataset.ts'
import type { Urn } from '../urn/urn.ts'
import { splitCells } from './csv-cells.ts'
import type { CsvHeader } from './csv-header.ts'
import {
  copyOfText,
  plainEdge,
  shapeMaxChars,
  type EdgeCell,
  type EdgeShape,
  type PlainEdge,
  type PlainEdgeReader
} from './plain-edges.ts'

/**
 * The cells beside those of the edge (such as a degree) differ from row to row, and each combination is a
 * shape. A chunk numbers its shapes with one byte.
 */
const shapesMaxCount = 64

/** No longer row has a shape, and a row may be a million empty cells. */
const rowMaxChars = shapeMaxChars + 4 * limits.urnMaxBytes

/** A shape, with the texts around its cells and the characters that end each of them. */
type RowShape = {
  shape: EdgeShape
  texts: readonly string[]
  cells: readonly EdgeCell[]
  ends: readonly string[]
}

/** Null if the rows are not edges. */
export function createPlainCsvReader(header: CsvHeader): PlainEdgeReader | null {
  if (header.kind !== 'edges') return null
  const shapes: RowShape[] = []
  let last: RowShape | null = null

  return (text, line) => {
    const edge = last ? edgeOfRow(last, text, line) : undefined
    if (edge !== undefined) return edge
    for (const shape of shapes) {
      const found = shape === last ? undefined : edgeOfRow(shape, text, line)
      if (found === undefined) continue
      last = shape
      return found
    }
    const fresh = shapes.length < shapesMaxCount ? shapeOfRow(header, text) : null
    if (!fresh) return null
    shapes.push(fresh)
    last = fresh
    return edgeOfRow(fresh, text, line) ?? null
  }
}

/**
 * The shape of a row; null if the row has quotes inside quotes, a column at one end only, too few or too many
 * cells, or much text beside the edge.
 */
function shapeOfRow({ names, places, separator }: CsvHeader, text: string): RowShape | null {
  if (text.length > rowMaxChars) return null
  const found = cellPlaces(text, separator)
  if (!found || found.length <= Math.max(places.upstream, places.downstream)) return null
  if (found.slice(names.length).some(({ begin, end }) => begin !== end)) return null
  const valueAt = (cell: EdgeCell): string => {
    const at = found[places[cell]]
    return at ? text.slice(at.begin, at.end) : ''
  }
  const areColumns = valueAt('upstreamColumn') !== '' && valueAt('downstreamColumn') !== ''
  if (!areColumns && (valueAt('upstreamColumn') !== '' || valueAt('downstreamColumn') !== '')) return null
  const cells = (
    areColumns
      ? (['upstream', 'downstream', 'upstreamColumn', 'downstreamColumn'] as const)
      : (['upstream', 'downstream'] as const)
  ).toSorted((a, b) => places[a] - places[b])
  let behind = 0
  const texts: string[] = []
  for (const cell of cells) {
    const { begin = 0, end = 0 } = found[places[cell]] ?? {}
    texts.push(copyOfText(text.slice(behind, begin)))
    behind = end
  }
  texts.push(copyOfText(text.slice(behind)))
  if (texts.join('').length > shapeMaxChars) return null
  const [upstreamAt, downstreamAt] = [cells.indexOf('upstream'), cells.indexOf('downstream')]
  const [first, second] = [Math.min(upstreamAt, downstreamAt), Math.max(upstreamAt, downstreamAt)]
  return {
    texts,
    cells,
    ends: texts.slice(1).map((each) => (each.startsWith('"') ? '"' : separator)),
    shape: {
      prefix: texts.slice(0, first + 1).join(''),
      middle: texts.slice(first + 1, second + 1).join(''),
      suffix: texts.slice(second + 1).join(''),
      upstreamFirst: upstreamAt < downstreamAt,
      isRemoval: false,
      ...(areColumns ? { columns: { texts, cells } } : {})
    }
  }
}

/**
 * Where the content of each cell begins and ends, without its quotes; null if a cell contains a quote, or the
 * row is not well formed.
 */
function cellPlaces(
  text: string,
  separator: CsvHeader['separator']
): { begin: number; end: number }[] | null {
  try {
    if (splitCells(text, separator).some((cell) => cell.includes('"'))) return null
  } catch {
    return null
  }
  const places: { begin: number; end: number }[] = []
  for (let start = 0; start <= text.length;) {
    const isQuoted = text.startsWith('"', start)
    const begin = isQuoted ? start + 1 : start
    const found = text.indexOf(isQuoted ? '"' : separator, begin)
    const end = found < 0 ? text.length : found
    places.push({ begin, end })
    start = isQuoted ? end + 2 : end + 1
  }
  return places
}

/** The edge of a row; null for a row that must be parsed, undefined for a row of another shape. */
function edgeOfRow(
  { shape, texts, cells, ends }: RowShape,
  text: string,
  line: number
): PlainEdge | null | undefined {
  // Most rows of another shape differ at the end or at the begin, and every shape may be tried for a row.
  const after = texts[cells.length] ?? ''
  if (!text.endsWith(after)) return undefined
  const values = { upstream: '', downstream: '', upstreamColumn: '', downstreamColumn: '' }
  let at = 0
  for (let index = 0; index < cells.length; index += 1) {
    const before = texts[index] ?? ''
    if (!text.startsWith(before, at)) return undefined
    at += before.length
    const found = text.indexOf(ends[index] ?? '', at)
    const end = found < 0 ? text.length : found
    const cell = cells[index]
    const value = text.slice(at, end)
    if (value.includes('"')) return undefined
    if (cell) values[cell] = value
    at = end
  }
  if (text.length - at !== after.length) return undefined
  const { upstream, downstream, upstreamColumn, downstreamColumn } = values
  if (!shape.columns) return plainEdge(line, shape, upstream, downstream)
  if (upstreamColumn === '' || downstreamColumn === '') return undefined
  const [from, to] = [columnOf(upstream, upstreamColumn), columnOf(downstream, downstreamColumn)]
  return from && to && { line, shape, upstream: from, downstream: to }
}

/**
 * The URN of a column; null if the row must be parsed. A comma in the name of the column could belong to an
 * unfinished URN in the other cell.
 */
function columnOf(asset: string, column: string): Urn | null {
  const urn = `urn:li:schemaField:(${asset},${column})`
  return !column.includes(',') && isOrdinaryColumn(urn) ? urn : null
}
