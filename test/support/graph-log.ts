/** The graph that results from the whole change log, and the one in the tables: both must agree. */
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { unpackGraphChanges, type GraphDelta } from '../../shared/statements/graph-delta.ts'

/** Lines of text, sorted: an edge once for each statement. */
export type GraphView = { edges: string[]; entities: string[]; domains: string[]; parents: string[] }

export async function graphOfLog(db: Db): Promise<GraphView> {
  const edges = new Map<string, number>()
  const entities = new Map<number, string>()
  const domains = new Map<number, number | null>()
  const parents = new Map<number, number | null>()
  const add = (downstreamId: number, upstreamId: number, count: number): void => {
    const edge = `${downstreamId} ${upstreamId}`
    edges.set(edge, (edges.get(edge) ?? 0) + count)
  }
  const take = (delta: GraphDelta): void => {
    if (delta.kind === 'unstated') add(delta.downstreamId, delta.upstreamId, -1)
    if (delta.kind === 'entity')
      entities.set(delta.id, `${delta.isPresent} ${delta.isRemoved} ${delta.isDeleted}`)
    if (delta.kind === 'created') entities.set(delta.id, 'false false false')
    if (delta.kind === 'domain') domains.set(delta.id, delta.domainId)
    if (delta.kind === 'parentDomain') parents.set(delta.id, delta.parentId)
  }
  for (const row of await query<{ delta: Buffer }>(db, 'select delta from graph_change order by id')) {
    const { stated, deltas } = unpackGraphChanges(row.delta)
    for (const [at, downstreamId] of stated.downstreamIds.entries())
      add(downstreamId, stated.upstreamIds[at] ?? 0, 1)
    for (const delta of deltas) take(delta)
  }
  const shown = (map: Map<number | string, string | number | null>) =>
    [...map]
      .filter(([, value]) => value !== null && value !== 0)
      .map(([key, value]) => `${key} ${value}`)
      .sort()
  return { edges: shown(edges), entities: shown(entities), domains: shown(domains), parents: shown(parents) }
}

export async function graphOfTables(db: Db): Promise<GraphView> {
  const stored = async (sql: string) => (await query<{ row: string }>(db, sql)).map(({ row }) => row).sort()
  return {
    edges: await stored(
      "select concat_ws(' ', downstream_id, upstream_id, count(*)) as row from statement group by downstream_id, upstream_id"
    ),
    entities: await stored(
      "select concat_ws(' ', id, is_present::text, is_removed::text, (deleted_seq is not null)::text) as row from entity"
    ),
    domains: await stored(
      "select concat_ws(' ', entity_id, domain_id) as row from domain_association where domain_id is not null"
    ),
    parents: await stored(
      "select concat_ws(' ', entity_id, parent_id) as row from domain where parent_id is not null"
    )
  }
}
