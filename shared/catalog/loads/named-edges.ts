/**
 * Which edges a record names. A sweep keeps these edges if the record is rejected, because its sender states
 * them.
 *
 * A record that parses names its edges. For other records, as many edges are kept as can be derived: if an
 * end is unknown, every edge of an entity that the record names. A record that may name any edge gives
 * `everything`.
 */
import { CatalogError } from '../../errors.ts'
import { cellsOfRow, parseCsvHeader, type CsvHeader } from '../../formats/csv-header.ts'
import { recordParser, type RecordShape } from '../../formats/parse-record.ts'
import type { Change, JsonObject } from '../../model/changes.ts'
import { isObject } from '../../model/json-values.ts'
import { splitLineageDocument } from '../../model/lineage-document.ts'
import { isLineageAspect } from '../../model/lineage-fields.ts'
import { planLineagePatch, type EdgeOperation } from '../../model/lineage-patch.ts'
import { parseUrn, type Urn } from '../../urn/urn.ts'

export type NamedEdge = { downstreamUrn: Urn; upstreamUrn: Urn }

/** `touching`: every edge that one of these entities states, or that leads from or to it. */
export type Named = { edges: NamedEdge[]; touching: Urn[] } | 'everything'

const nothing: Named = { edges: [], touching: [] }

/**
 * The edges that a rejected record names. `isWhole` is false if only the beginning of the record was kept.
 */
export function namedByReject(
  shape: RecordShape,
  reject: { line: number; record: string | null; isWhole: boolean }
): Named {
  if (reject.record === null || !reject.isWhole) return 'everything'
  try {
    return {
      edges: recordParser(shape).parse(reject.record, reject.line).changes.flatMap(edgesOf),
      touching: []
    }
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    return shape.format === 'csv' ? namedByRow(shape.header ?? '', reject.record) : namedByText(reject.record)
  }
}

function namedByRow(header: string, row: string): Named {
  const columns = parseCsvHeader(header)
  const { kind, places } = columns
  if (kind === 'domains') return nothing
  const cells = cellsOf(columns, row)
  if (cells === null) return 'everything'
  const [upstreamUrn, downstreamUrn] = [urnIn(cells[places.upstream]), urnIn(cells[places.downstream])]
  const isOfColumns = [places.upstreamColumn, places.downstreamColumn].some(
    (place) => (cells[place] ?? '') !== ''
  )
  if (!isOfColumns) return namedByEnds(upstreamUrn, downstreamUrn)
  const touching = [upstreamUrn, downstreamUrn].flatMap((urn) => urn ?? [])
  return touching.length > 0 ? { edges: [], touching } : 'everything'
}

function cellsOf(columns: CsvHeader, row: string): string[] | null {
  try {
    return cellsOfRow(columns, row)
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}

/** The edges that a change states or removes. Throws CatalogError if its aspect contains an invalid edge. */
export function edgesOf(change: Change): readonly NamedEdge[] {
  switch (change.kind) {
    case 'addEdge':
    case 'removeEdge':
      return [change]
    case 'replaceEdges':
      return change.edges
    case 'upsertAspect':
      return isLineageAspect(change.aspectName)
        ? splitLineageDocument(change.entityUrn, change.aspectName, change.value).entries
        : []
    case 'patchAspect':
      return isLineageAspect(change.aspectName)
        ? planLineagePatch(change.entityUrn, change.aspectName, change.patch.patch).edges.flatMap(
            edgesOfOperation
          )
        : []
    default:
      return []
  }
}

const edgesOfOperation = (operation: EdgeOperation): readonly NamedEdge[] =>
  operation.op === 'add'
    ? [operation.entry]
    : operation.op === 'replaceList'
      ? operation.entries
      : operation.op === 'removeInto'
        ? []
        : [operation]

const operationsWithoutEdges = new Set(['setDomain', 'unsetDomain', 'createDomain', 'upsertEntity'])

function namedByText(text: string): Named {
  const record = parsedObject(text)
  if (!record) return 'everything'
  if (record.upstreamUrn !== undefined || record.downstreamUrn !== undefined)
    return namedByEnds(urnIn(record.upstreamUrn), urnIn(record.downstreamUrn))
  if (typeof record.op === 'string' && operationsWithoutEdges.has(record.op)) return nothing
  if (
    typeof record.aspectName === 'string' &&
    record.aspectName !== '' &&
    !isLineageAspect(record.aspectName)
  )
    return nothing
  const owner = urnIn(record.entityUrn)
  return owner ? { edges: [], touching: [owner] } : 'everything'
}

function namedByEnds(upstreamUrn: Urn | null, downstreamUrn: Urn | null): Named {
  if (upstreamUrn && downstreamUrn) return { edges: [{ upstreamUrn, downstreamUrn }], touching: [] }
  const known = upstreamUrn ?? downstreamUrn
  return known ? { edges: [], touching: [known] } : 'everything'
}

function parsedObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function urnIn(value: unknown): Urn | null {
  try {
    return parseUrn(value, '').urn
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}
