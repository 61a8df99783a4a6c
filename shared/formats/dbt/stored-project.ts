/**
 * What the catalog already has of a project: what its loads stated before decides what a load without a
 * catalog keeps, and what it takes away.
 */
import type { JsonObject } from '../../model/changes.ts'
import type { Urn } from '../../urn/urn.ts'
import { detailsOf, type DbtProject } from './project.ts'
import type { ProjectAssets } from './project-assets.ts'

export type ColumnEdge = { upstreamUrn: Urn; downstreamUrn: Urn }
/** Two tables, of which the second is made from the first. */
export type TablePair = { upstreamUrn: Urn; downstreamUrn: Urn }

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
  aspects: (urns: readonly Urn[]) => Promise<ReadonlyMap<Urn, { readonly [name: string]: JsonObject }>>
}

export type StoredProject = {
  columnEdges: ReadonlyMap<Urn, ColumnEdge[]>
  aspects: ReadonlyMap<Urn, { readonly [name: string]: JsonObject }>
}

export const nothingStored: StoredProject = { columnEdges: new Map(), aspects: new Map() }

/** Throws UNAVAILABLE as `settled` does. */
export async function readStored(
  stored: StoredProjects,
  { source, project, assets }: { source: string; project: DbtProject; assets: ProjectAssets }
): Promise<StoredProject> {
  if (assets.describers.size === 0) return nothingStored
  await stored.settled(source)
  return {
    columnEdges: await stored.columnEdges(source, pairsOfUnknownColumns(project, assets)),
    aspects: await stored.aspects([...assets.describers.keys()])
  }
}

/**
 * The tables that take all columns of another, where the catalog of dbt does not have the columns of both:
 * they are unknown, so the edges between them that were stated before stay.
 */
function pairsOfUnknownColumns({ nodes, catalogColumns }: DbtProject, { urns }: ProjectAssets): TablePair[] {
  return [...nodes].flatMap(([id, node]) => {
    const [only, ...others] = node.dependsOn
    if (node.kind !== 'table' || only === undefined || others.length > 0) return []
    if (catalogColumns.has(id) && catalogColumns.has(only)) return []
    const [upstreamUrn, downstreamUrn] = [urns.get(only), urns.get(id)]
    return typeof upstreamUrn === 'string' &&
      typeof downstreamUrn === 'string' &&
      upstreamUrn !== downstreamUrn &&
      nodes.get(only)?.kind === 'table' &&
      detailsOf(node).passesColumns
      ? [{ upstreamUrn, downstreamUrn }]
      : []
  })
}
