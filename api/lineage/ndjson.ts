/**
 * An export as NDJSON: one object a line. For a graph: first the entities, beginning with the start at degree
 * 0, then the edges.
 */
import type { ExportEdge, ExportEntity } from '../../shared/catalog/lineage/export-rows.ts'
import type { LineageExport } from '../../shared/catalog/lineage/export-lineage.ts'

const printEntity = ({
  degree,
  urn,
  type,
  name,
  platform,
  environment,
  domain,
  exists,
  owners
}: ExportEntity): string =>
  `${JSON.stringify({ degree, urn, type, name, platform, environment, domain, exists, owners })}\n`

const printEdge = ({ upstream, downstream, degree, isIndirect }: ExportEdge): string =>
  `${JSON.stringify({ upstream, downstream, degree, ...(isIndirect ? { indirect: true } : {}) })}\n`

export async function* ndjsonOfEntities(found: LineageExport): AsyncGenerator<string> {
  for await (const rows of found.entities()) yield rows.map(printEntity).join('')
}

export async function* ndjsonOfEdges(found: LineageExport): AsyncGenerator<string> {
  for await (const rows of found.edges()) yield rows.map(printEdge).join('')
}

export async function* ndjsonOfGraph(found: LineageExport): AsyncGenerator<string> {
  for await (const rows of found.starts()) yield rows.map(printEntity).join('')
  yield* ndjsonOfEntities(found)
  yield* ndjsonOfEdges(found)
}
