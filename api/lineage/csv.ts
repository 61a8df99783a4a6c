/**
 * An export as CSV: RFC 4180 with a header row, UTF-8 without a byte order mark.
 *
 * Spreadsheets run a cell that begins with = + - or @ as a formula, and a name may begin with any character.
 * Such a cell gets an apostrophe in front, which spreadsheets do not show. Only names can begin like this;
 * URNs and NDJSON are always exact.
 */
import type { ExportEdge, ExportEntity } from '../../shared/catalog/lineage/export-rows.ts'
import type { LineageExport } from '../../shared/catalog/lineage/export-lineage.ts'
import { printRow, type Cell } from '../../shared/formats/csv-cells.ts'

const cellsOf = ({
  degree,
  urn,
  type,
  name,
  platform,
  environment,
  domain,
  exists,
  owners
}: ExportEntity): Cell[] => [degree, urn, type, name, platform, environment, domain, exists, owners.join(' ')]

export async function* csvOfEntities(found: LineageExport): AsyncGenerator<string> {
  yield printRow(['degree', 'urn', 'type', 'name', 'platform', 'environment', 'domain', 'exists', 'owners'])
  for await (const rows of found.entities()) yield rows.map((row) => printRow(cellsOf(row))).join('')
}

export async function* csvOfEdges(found: LineageExport): AsyncGenerator<string> {
  yield printRow(['upstream', 'downstream', 'degree'])
  for await (const rows of found.edges())
    yield rows
      .map(({ upstream, downstream, degree }: ExportEdge) => printRow([upstream, downstream, degree]))
      .join('')
}
