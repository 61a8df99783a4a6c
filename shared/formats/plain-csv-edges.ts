/**
 * Recognises the rows of most CSV loads, which have an edge in their first two columns, without splitting
 * them into cells. The CSV counterpart of plain-edges.ts.
 */
import { splitCells } from './csv-cells.ts'
import type { CsvHeader } from './csv-header.ts'
import { copyOfText, plainEdge, type EdgeShape, type PlainEdgeReader } from './plain-edges.ts'

const quote = 0x22
const comma = 0x2c

/**
 * The cells after the edge (such as a degree) differ from row to row, and each combination is a shape. A
 * chunk numbers its shapes with one byte.
 */
const shapesMaxCount = 64

/** Null if the header has other columns. */
export function createPlainCsvReader({ kind, names, places }: CsvHeader): PlainEdgeReader | null {
  const isPlain =
    kind === 'edges' &&
    places.upstream + places.downstream === 1 &&
    places.upstreamColumn < 0 &&
    places.downstreamColumn < 0
  if (!isPlain) return null
  const shapes: EdgeShape[] = []
  let last: EdgeShape | undefined

  /** Finds a shape by the text around the URNs. Adds a new one only if the whole row is well formed. */
  function shapeOf(text: string, prefix: string, middle: string, suffix: string): EdgeShape | undefined {
    const isIt = (shape: EdgeShape | undefined): boolean =>
      shape !== undefined && shape.suffix === suffix && shape.middle === middle && shape.prefix === prefix
    if (isIt(last)) return last
    last = shapes.find(isIt)
    if (last || shapes.length >= shapesMaxCount || cellCount(text) !== names.length) return last
    last = {
      prefix,
      middle,
      suffix: copyOfText(suffix),
      upstreamFirst: places.upstream === 0,
      isRemoval: false
    }
    shapes.push(last)
    return last
  }

  return (text, line) => {
    const firstEnd = endOfCell(text, 0)
    if (firstEnd < 0 || text.charCodeAt(firstEnd) !== comma) return null
    const secondEnd = endOfCell(text, firstEnd + 1)
    if (secondEnd < 0) return null
    const firstQuote = text.charCodeAt(0) === quote ? 1 : 0
    const secondQuote = text.charCodeAt(firstEnd + 1) === quote ? 1 : 0
    const middle = firstQuote ? (secondQuote ? '","' : '",') : secondQuote ? ',"' : ','
    const shape = shapeOf(text, firstQuote ? '"' : '', middle, text.slice(secondEnd - secondQuote))
    if (!shape) return null
    const first = text.slice(firstQuote, firstEnd - firstQuote)
    const second = text.slice(firstEnd + 1 + secondQuote, secondEnd - secondQuote)
    const [upstream, downstream] = shape.upstreamFirst ? [first, second] : [second, first]
    return plainEdge(line, shape, upstream, downstream)
  }
}

/** The position of the comma after a cell, or the end of the row; -1 for a cell that contains a quote. */
function endOfCell(text: string, start: number): number {
  if (text.charCodeAt(start) !== quote) {
    const end = text.indexOf(',', start)
    const cellEnd = end < 0 ? text.length : end
    const quoteAt = text.indexOf('"', start)
    return quoteAt >= 0 && quoteAt < cellEnd ? -1 : cellEnd
  }
  const close = text.indexOf('"', start + 1)
  return close < 0 || (close + 1 < text.length && text.charCodeAt(close + 1) !== comma) ? -1 : close + 1
}

function cellCount(text: string): number {
  try {
    return splitCells(text).length
  } catch {
    return -1
  }
}
