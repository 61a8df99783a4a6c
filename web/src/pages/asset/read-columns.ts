/** The columns of an asset: those of its schema in their order, then those that only lineage names. */
import { columnsIn, type Aspects, type Column } from '../../api/aspects.ts'
import { hasLineage } from '../../api/entity.ts'
import { columnsWithLineage } from '../../api/queries.ts'
import { graphql } from '../../api/request.ts'

/** The largest number of nodes in one lineage graph. */
const neighboursMaxCount = 2_000

/** The columns with their lineage. Throws ApiError. */
export async function readColumns(urn: string, aspects: Aspects, signal: AbortSignal): Promise<Column[]> {
  const columns = columnsIn(aspects)
  if (!hasLineage(urn)) return columns
  const known = new Set(columns.map(({ path }) => path))
  const { lineageGraph } = await graphql(columnsWithLineage, { urn, count: neighboursMaxCount }, signal)
  const own = lineageGraph.nodes.find(({ entity }) => entity.urn === urn)
  const more = (own?.columns ?? [])
    .map(({ fieldPath }) => fieldPath)
    .filter((path) => !known.has(path))
    .sort()
  return [...columns, ...more.map((path) => ({ path, type: '', description: '', tags: [] }))]
}
