/** Finds the names that a row of CSV has where URNs are expected, and replaces them. */
import { CatalogError } from '../errors.ts'
import { printCells } from './csv-cells.ts'
import { cellsOfRow, type CsvHeader } from './csv-header.ts'
import { isName, type NameMeaning, type SentName } from './sent-names.ts'

const meanings: {
  readonly [Kind in CsvHeader['kind']]: readonly (readonly [keyof CsvHeader['places'], NameMeaning])[]
} = {
  edges: [
    ['upstream', 'asset'],
    ['downstream', 'asset']
  ],
  domains: [
    ['resource', 'asset'],
    ['domain', 'domain']
  ]
}

/** None for a row that is not valid, which its parser refuses. */
export function namesInRow(header: CsvHeader, row: string): SentName[] {
  const { kind, names, places } = header
  const cells = cellsOf(header, row)
  return meanings[kind].flatMap(([column, meaning]) => {
    const place = places[column]
    const [field, text] = [names[place], cells[place]]
    return field !== undefined && isName(text) ? [{ field, meaning, text }] : []
  })
}

/** The row with these texts in its columns. */
export const rowWith = (
  header: CsvHeader,
  row: string,
  values: { readonly [field: string]: string }
): string =>
  printCells(
    cellsOf(header, row).map((cell, place) => {
      const name = header.names[place] ?? ''
      // A column that is not read may be called like a property of every object.
      return Object.hasOwn(values, name) ? (values[name] ?? cell) : cell
    }),
    header.separator
  )

function cellsOf(header: CsvHeader, row: string): string[] {
  try {
    return cellsOfRow(header, row)
  } catch (error) {
    if (error instanceof CatalogError) return []
    throw error
  }
}
