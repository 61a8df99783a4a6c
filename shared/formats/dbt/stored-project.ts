/**
 * What the catalog already has of a project: what its loads stated before decides what a load without a
 * catalog keeps, and what it takes away.
 */
import type { Urn } from '../../urn/urn.ts'
import { rememberedChecksum, type StoredAspects } from './own-facts.ts'
import type { DbtProject } from './project.ts'
import type { ProjectAssets } from './project-assets.ts'
import { upstreamsOf } from './upstreams.ts'

export type ColumnEdge = { upstreamUrn: Urn; downstreamUrn: Urn }
/** Two tables, of which the second is made from the first. */
export type TablePair = { upstreamUrn: Urn; downstreamUrn: Urn }
export type StoredColumn = { name: string; hasType: boolean }

/** Reads from the catalog. `source` is the name that the manifest gives the project. */
export type StoredProjects = {
  /**
   * Call it before anything is read. Throws UNAVAILABLE while an earlier load of the source may still change what
   * is stored.
   */
  settled: (source: string) => Promise<void>
  /** The edges between columns of these tables that the source states, by the downstream table. */
  columnEdges: (source: string, pairs: readonly TablePair[]) => Promise<ReadonlyMap<Urn, ColumnEdge[]>>
  /**
   * Aspects of the assets, by their names. `schemaMetadata` is only there where a load has written about columns, and
   * only with what is compared of them.
   */
  aspects: (urns: readonly Urn[]) => Promise<ReadonlyMap<Urn, StoredAspects>>
  /** The columns of the tables, of those that have any, in order. */
  columns: (urns: readonly Urn[]) => Promise<ReadonlyMap<Urn, readonly StoredColumn[]>>
}

export type StoredProject = {
  aspects: ReadonlyMap<Urn, StoredAspects>
  /** Only of tables of which the documents do not have all columns, and only if there is SQL to read. */
  columns: ReadonlyMap<Urn, readonly StoredColumn[]>
}

export const nothingStored: StoredProject = { aspects: new Map(), columns: new Map() }

type Project = { source: string; project: DbtProject; assets: ProjectAssets }

/** Throws UNAVAILABLE as `settled` does. */
export async function readStored(
  stored: StoredProjects,
  { source, project: { nodes, catalogColumns }, assets }: Project
): Promise<StoredProject> {
  if (assets.describers.size === 0) return nothingStored
  await stored.settled(source)
  const hasSql = [...nodes.values()].some(({ sql }) => sql?.state === 'compiled')
  const tables = new Set<Urn>()
  for (const [id, urn] of hasSql ? assets.urns : [])
    if (typeof urn === 'string' && nodes.get(id)?.kind === 'table' && !catalogColumns.has(id)) tables.add(urn)
  return {
    aspects: await stored.aspects([...assets.describers.keys()]),
    columns: await stored.columns([...tables])
  }
}

/** The edges between columns that stay although nothing says them now, by the nodes; and the nodes that lost theirs. */
export type KeptEdges = { edges: ReadonlyMap<string, ColumnEdge[]>; changed: readonly string[] }

export const nothingKept: KeptEdges = { edges: new Map(), changed: [] }

/**
 * Of nodes whose SQL was not read, the edges that the source stated before stay, unless the checksum says that it has changed
 * since, and only from tables that the node still depends on.
 */
export async function readKept(
  stored: StoredProjects,
  {
    source,
    project: { nodes },
    assets,
    aspects,
    wasRead
  }: Project & Pick<StoredProject, 'aspects'> & { wasRead: (id: string) => boolean }
): Promise<KeptEdges> {
  const pairs: TablePair[] = []
  const asked = new Map<string, { urn: Urn; hasChanged: boolean }>()
  for (const [id, node] of nodes) {
    const urn = assets.urns.get(id)
    const { sql } = node
    if (sql === null || typeof urn !== 'string' || wasRead(id)) continue
    const before = rememberedChecksum(aspects.get(urn) ?? {}, id)
    asked.set(id, { urn, hasChanged: before !== null && before !== sql.checksum })
    for (const each of upstreamsOf(nodes, id, { wanted: 'table', through: ['through'] })) {
      const upstreamUrn = assets.urns.get(each)
      if (typeof upstreamUrn === 'string' && upstreamUrn !== urn)
        pairs.push({ upstreamUrn, downstreamUrn: urn })
    }
  }
  const found = await stored.columnEdges(source, pairs)
  const edges = new Map<string, ColumnEdge[]>()
  const changed: string[] = []
  for (const [id, { urn, hasChanged }] of asked) {
    const ofNode = found.get(urn) ?? []
    if (ofNode.length === 0) continue
    if (hasChanged) changed.push(id)
    else edges.set(id, ofNode)
  }
  return { edges, changed }
}
