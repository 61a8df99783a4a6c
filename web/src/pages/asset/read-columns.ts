/** The columns of an asset: those of its schema in their order, then those that only lineage names. */
import { columnsIn, type Aspects, type Column } from '../../api/aspects.ts'
import { hasLineage, type Card } from '../../api/entity.ts'
import { columnRows } from '../../api/queries.ts'
import { graphql } from '../../api/request.ts'
import { cardsOf } from './read-asset.ts'

/** The number of columns one hop upstream and downstream; null for what is beyond the columns that are read. */
export type CountedColumn = Column & {
  upstream: number | null
  downstream: number | null
  tagCards: readonly Card[]
}

/** The columns with their lineage. Throws ApiError. */
export async function readColumns(
  urn: string,
  aspects: Aspects,
  signal: AbortSignal
): Promise<CountedColumn[]> {
  const columns = columnsIn(aspects)
  const cardOfTag = await cardsOf(
    columns.flatMap(({ tags }) => tags),
    signal
  )
  const withTags = (column: Column) => ({ ...column, tagCards: column.tags.map(cardOfTag) })
  if (!hasLineage(urn)) return columns.map((column) => ({ ...withTags(column), upstream: 0, downstream: 0 }))
  const { lineageGraph } = await graphql(columnRows, { urn }, signal)
  const rows = new Map((lineageGraph.nodes[0]?.columnRows?.rows ?? []).map((row) => [row.path, row]))
  const known = new Set(columns.map(({ path }) => path))
  const more = [...rows.keys()].filter((path) => !known.has(path)).sort()
  return [
    ...columns,
    ...more.map((path) => ({ path, type: rows.get(path)?.dataType ?? '', description: '', tags: [] }))
  ].map((column) => {
    const row = rows.get(column.path)
    return {
      ...withTags(column),
      upstream: row?.upstreamCount ?? null,
      downstream: row?.downstreamCount ?? null
    }
  })
}
