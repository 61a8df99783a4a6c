/** Reads one row of the format `csv`: an edge, or the domain of an asset, as the header says. */
import { CatalogError } from '../errors.ts'
import { assetUrnOf } from '../model/asset-urn.ts'
import type { Change, ChangeRecord } from '../model/changes.ts'
import { parseEdge } from '../model/edges.ts'
import { schemaFieldUrn, urnOfType } from '../urn/kinds.ts'
import { parseUrn } from '../urn/urn.ts'
import { cellsOfRow, type CsvHeader } from './csv-header.ts'

/**
 * Throws BAD_REQUEST, INVALID_URN, INVALID_CHARACTER and LIMIT_EXCEEDED. `details.field` is the column's name
 * as in the header.
 */
export function parseCsvRecord(header: CsvHeader, text: string, line: number): ChangeRecord {
  const cells = cellsOfRow(header, text)
  return { line, changes: header.kind === 'edges' ? edgeOf(header, cells) : domainOf(header, cells) }
}

function edgeOf({ names, places }: CsvHeader, cells: readonly string[]): Change[] {
  const [upstreamField, downstreamField] = [names[places.upstream] ?? '', names[places.downstream] ?? '']
  const upstream = endOf(cells, places.upstream, places.upstreamColumn, names)
  const downstream = endOf(cells, places.downstream, places.downstreamColumn, names)
  checkBothAreColumns(names, places, cells)
  const { upstreamUrn, downstreamUrn, isWithoutEffect } = parseEdge(upstream, downstream, '', {
    upstreamField,
    downstreamField
  })
  return isWithoutEffect ? [] : [{ kind: 'addEdge', upstreamUrn, downstreamUrn }]
}

/** A column without one at the other end is the likeliest mistake of a file that mixes tables and columns. */
function checkBothAreColumns(
  names: readonly string[],
  places: CsvHeader['places'],
  cells: readonly string[]
): void {
  for (const [end, other] of [
    ['upstream', 'downstream'],
    ['downstream', 'upstream']
  ] as const) {
    const isColumn = (cells[places[`${end}Column`]] ?? '') !== ''
    const otherIsColumn =
      (cells[places[`${other}Column`]] ?? '') !== '' ||
      (cells[places[other]] ?? '').startsWith('urn:li:schemaField:')
    if (!isColumn || otherIsColumn) continue
    const field = names[places[`${other}Column`]] ?? `${other}_column`
    throw new CatalogError(
      'BAD_REQUEST',
      `${names[places[`${end}Column`]]} names a column, ${field} does not: lineage leads from column to column`,
      { field }
    )
  }
}

/** The URN in a cell, or the URN of its column that another cell names. */
function endOf(
  cells: readonly string[],
  place: number,
  columnPlace: number,
  names: readonly string[]
): string {
  const urn = cells[place] ?? ''
  const column = cells[columnPlace] ?? ''
  if (column === '') return urn
  return schemaFieldUrn(parseUrn(urn, names[place]).urn, column, names[columnPlace])
}

/** An empty domain cell means that the asset is in no domain, as in an export of assets. */
function domainOf({ names, places }: CsvHeader, cells: readonly string[]): Change[] {
  const entityUrn = assetUrnOf(cells[places.resource], names[places.resource] ?? '')
  const domain = cells[places.domain] ?? ''
  if (domain === '') return [{ kind: 'unsetDomain', entityUrn }]
  return [
    { kind: 'setDomain', entityUrn, domainUrn: urnOfType(domain, 'domain', names[places.domain] ?? '') }
  ]
}

/** The name that this header gives the column called `field` in NDJSON; `field` itself without such a column. */
export const csvFieldOf = (header: CsvHeader, field: string): string =>
  header.names[placesByField(header).get(field) ?? -1] ?? field

const placesByField = ({ places }: CsvHeader): ReadonlyMap<string, number> =>
  new Map([
    ['upstreamUrn', places.upstream],
    ['downstreamUrn', places.downstream],
    ['entityUrn', places.resource],
    ['domainUrn', places.domain]
  ])
