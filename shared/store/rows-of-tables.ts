/** The columns that mean the rows of their table, and the edges that lead through them. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { rowsUrnPattern } from '../urn/rows-urn.ts'
import { columnFieldCodes } from '../model/lineage-fields.ts'
import type { EdgeEnds } from './edge-owners.ts'
import { idArray } from './id-array.ts'

/** Those of the ids that mean the rows of a table. */
export async function findRows(
  db: Db | Tx,
  ids: readonly number[] | Int32Array
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set()
  const rows = await query<{ id: number }>(
    db,
    'select entity.id from entity where entity.id = any(?::int[]) and entity.parent_id is not null and entity.urn like ?::text',
    [idArray(ids), rowsUrnPattern]
  )
  return new Set(rows.map((row) => row.id))
}

const columnFields = `'{${columnFieldCodes.join(',')}}'::smallint[]`

/** A condition in SQL: neither end of the statement is the rows of a table. */
export const withoutRows = `(
  statement.field <> all(${columnFields})
  or not exists (
    select 1
    from entity
    where entity.id in (statement.upstream_id, statement.downstream_id) and entity.urn like '${rowsUrnPattern}'
  )
)`

/** In SQL: the edges that lead through the rows of a table, in the form of statements to the rows. */
export const throughRows = `(
  select into_rows.upstream_id, from_rows.downstream_id, into_rows.field
  from statement as into_rows
  join entity as table_rows on table_rows.id = into_rows.downstream_id
  join statement as from_rows on from_rows.upstream_id = table_rows.id
  where into_rows.field = any(${columnFields})
    and from_rows.field = any(${columnFields})
    and into_rows.upstream_id <> from_rows.downstream_id
    and table_rows.urn like '${rowsUrnPattern}'
)`

/** An edge between columns, and the rows through which it leads. */
export type EdgeThroughRows = EdgeEnds & { rowsId: number }

/** Those of the edges that lead through the rows of the downstream's table. */
export async function edgesThroughRows(db: Db | Tx, edges: readonly EdgeEnds[]): Promise<EdgeThroughRows[]> {
  if (edges.length === 0) return []
  return query<EdgeThroughRows>(
    db,
    `
    with wanted as materialized (
      select ends.upstream_id, ends.downstream_id, entity.parent_id
      from unnest(?::int[], ?::int[]) as ends (upstream_id, downstream_id)
      join entity on entity.id = ends.downstream_id
      where entity.parent_id is not null
    ), table_rows as materialized (
      select entity.parent_id, entity.id
      from (select distinct wanted.parent_id from wanted) as parent
      join entity on entity.parent_id = parent.parent_id
      where entity.urn like ?::text
    )
    select
      wanted.upstream_id as "upstreamId",
      wanted.downstream_id as "downstreamId",
      table_rows.id as "rowsId"
    from wanted
    join table_rows on table_rows.parent_id = wanted.parent_id
    where exists (
      select 1
      from statement
      where statement.downstream_id = table_rows.id
        and statement.upstream_id = wanted.upstream_id
        and statement.field = any(?::smallint[])
    ) and exists (
      select 1
      from statement
      where statement.downstream_id = wanted.downstream_id
        and statement.upstream_id = table_rows.id
        and statement.field = any(?::smallint[])
    )`,
    [
      idArray(edges.map((edge) => edge.upstreamId)),
      idArray(edges.map((edge) => edge.downstreamId)),
      rowsUrnPattern,
      columnFieldCodes,
      columnFieldCodes
    ]
  )
}

/** Those of the edges that lead through rows, and that no statement makes. */
export async function edgesOnlyThroughRows(
  db: Db | Tx,
  edges: readonly EdgeEnds[]
): Promise<EdgeThroughRows[]> {
  const through = await edgesThroughRows(db, edges)
  if (through.length === 0) return []
  const stated = await query<EdgeEnds>(
    db,
    `
    select distinct statement.upstream_id as "upstreamId", statement.downstream_id as "downstreamId"
    from unnest(?::int[], ?::int[]) as wanted (upstream_id, downstream_id)
    join statement on statement.upstream_id = wanted.upstream_id and statement.downstream_id = wanted.downstream_id`,
    [idArray(through.map((edge) => edge.upstreamId)), idArray(through.map((edge) => edge.downstreamId))]
  )
  const keys = new Set(stated.map(({ upstreamId, downstreamId }) => `${upstreamId} ${downstreamId}`))
  return through.filter(({ upstreamId, downstreamId }) => !keys.has(`${upstreamId} ${downstreamId}`))
}

/** The first halves of the edges, each once. */
export const halvesIntoRows = (edges: readonly EdgeThroughRows[]): EdgeEnds[] => [
  ...new Map(
    edges.map(({ upstreamId, rowsId }): [string, EdgeEnds] => [
      `${upstreamId} ${rowsId}`,
      { upstreamId, downstreamId: rowsId }
    ])
  ).values()
]

/** The facts about first halves, as facts about the edges. */
export function asEdges<Fact extends EdgeEnds>(
  edges: readonly EdgeThroughRows[],
  facts: readonly Fact[]
): Fact[] {
  const factsOf = new Map<string, Fact[]>()
  for (const fact of facts) {
    const own = factsOf.get(`${fact.upstreamId} ${fact.downstreamId}`)
    if (own) own.push(fact)
    else factsOf.set(`${fact.upstreamId} ${fact.downstreamId}`, [fact])
  }
  return edges.flatMap(({ upstreamId, downstreamId, rowsId }) =>
    (factsOf.get(`${upstreamId} ${rowsId}`) ?? []).map((fact) => ({ ...fact, upstreamId, downstreamId }))
  )
}
