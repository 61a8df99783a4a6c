/** Reads what asserts the edges between entities: jobs, and the queries that statements name. */
import type { Db, Tx } from '../../db/database.ts'
import type { JsonObject } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { lineageFieldByCode } from '../../model/lineage-fields.ts'
import { ownersOfEdges, type EdgeEnds, type EdgeOwnerRow } from '../../store/edge-owners.ts'
import { readDocuments } from '../../store/entity-reads.ts'
import { toUrn } from '../../urn/urn.ts'
import { readReferences } from './entity-references.ts'
import type { EntityReference } from './read-entity.ts'

const edgesPerSlice = 5_000

/**
 * The jobs and queries of an edge, by URN. Owners that are an end of the edge are left out, so the list is
 * empty if only its ends assert it.
 */
export async function readVia(
  db: Db | Tx,
  edges: readonly EdgeEnds[]
): Promise<(edge: EdgeEnds) => EntityReference[]> {
  const via = new Map<string, Map<string, EntityReference>>()
  const add = (edge: EdgeEnds, reference: EntityReference): void => {
    const own = via.get(edgeKey(edge)) ?? new Map<string, EntityReference>()
    via.set(edgeKey(edge), own.set(reference.urn, own.get(reference.urn) ?? reference))
  }
  for (let begin = 0; begin < edges.length; begin += edgesPerSlice) {
    const rows = await ownersOfEdges(db, edges.slice(begin, begin + edgesPerSlice))
    const owners = [...new Set(rows.filter(isIntermediary).map((row) => row.ownerId))]
    const references = new Map(
      (await readReferences(db, owners)).map((reference, index) => [owners[index] ?? 0, reference])
    )
    const queryOf = await readQueries(db, rows)
    for (const row of rows) {
      const owner = isIntermediary(row) ? references.get(row.ownerId) : null
      if (owner) add(row, owner)
      const queryUrn = queryOf(row)
      if (queryUrn !== null) add(row, { urn: toUrn(queryUrn) })
    }
  }
  return (edge) => [...(via.get(edgeKey(edge))?.values() ?? [])].sort((a, b) => (a.urn < b.urn ? -1 : 1))
}

const edgeKey = ({ upstreamId, downstreamId }: EdgeEnds): string => `${upstreamId} ${downstreamId}`

/** False for an owner that is an end of the edge, or the asset of a column that is an end. */
const isIntermediary = ({ ownerId, upstreamId, downstreamId, field }: EdgeOwnerRow): boolean =>
  ownerId !== upstreamId &&
  ownerId !== downstreamId &&
  lineageFieldByCode(field).aspectName === 'dataJobInputOutput'

/** Returns the query of a statement. A column record names its query in the document of its owner. */
async function readQueries(
  db: Db | Tx,
  rows: readonly EdgeOwnerRow[]
): Promise<(row: EdgeOwnerRow) => string | null> {
  const isOfRecord = ({ field, recordKey }: EdgeOwnerRow): boolean =>
    recordKey > 0 && lineageFieldByCode(field).shape === 'columns'
  const written = rows.filter(isOfRecord)
  const names = [...new Set(written.map(({ field }) => lineageFieldByCode(field).aspectName))]
  const documents = await readDocuments(db, [...new Set(written.map((row) => row.ownerId))], names)
  const records = (row: EdgeOwnerRow): JsonObject | undefined =>
    documents.get(row.ownerId)?.get(lineageFieldByCode(row.field).aspectName)
  return (row) => {
    if (!isOfRecord(row)) return row.queryUrn
    const record = listOf(records(row)?.[lineageFieldByCode(row.field).listName])[row.recordKey - 1]
    return isObject(record) && typeof record.query === 'string' ? record.query : null
  }
}
