/**
 * Turns a dbt project into the records of a load: first a record for each node that is an asset, in the order
 * of the documents, then a record for each domain. The columns of a wide table take more records.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Urn } from '../../urn/urn.ts'
import { knownColumns } from './columns.ts'
import { descriptionOf } from './describe-node.ts'
import { lineageOf } from './node-lineage.ts'
import type { DomainRecord, NodeRecord } from './node-record.ts'
import type { DbtReading } from './options.ts'
import type { StoredAspects } from './own-facts.ts'
import { columnsFrom, detailsOf, type DbtProject, type KeptNode } from './project.ts'
import type { ProjectAssets } from './project-assets.ts'
import type { ColumnEdge } from './stored-project.ts'

/** A record, or the error that explains why the node has none. */
export type ProjectRecord = NodeRecord | DomainRecord | { node: string; error: CatalogError }

export function* recordsOfProject(
  project: DbtProject,
  { assets, options, aspects, columnEdges }: Omit<World, 'project'>
): Generator<ProjectRecord, void, undefined> {
  const world: World = { project, assets, options, aspects, columnEdges }
  for (const [node, error] of project.faults) yield { node, error }
  for (const [id, node] of project.nodes) {
    const urn = assets.urns.get(id)
    if (urn === undefined) continue
    if (typeof urn === 'string') yield* recordsOf(world, { id, urn, node })
    else yield { node: id, error: urn }
  }
  if (options.domains === 'no') return
  for (const [urn, id] of assets.describers) {
    const node = project.nodes.get(id)
    const domainUrn = node ? detailsOf(node).domain : null
    if (domainUrn !== null)
      yield { node: id, op: 'setDomain', entityUrn: urn, domainUrn, ifUnset: options.domains === 'unset' }
  }
}

type World = {
  project: DbtProject
  assets: ProjectAssets
  options: DbtReading
  aspects: ReadonlyMap<Urn, StoredAspects>
  /** The edges into the columns of a node. */
  columnEdges: (id: string) => readonly ColumnEdge[]
}

type Node = { id: string; urn: Urn; node: KeptNode }

/** Edges between columns that take more bytes are in records of their own: a record has a limit of its own. */
const edgesMaxBytes = limits.recordMaxBytes / 4

/** The record of a node, and more of them for the columns of a wide table. */
function* recordsOf(world: World, { id, urn, node }: Node): Generator<ProjectRecord, void, undefined> {
  const [first = [], ...more] = inParts(world.columnEdges(id))
  yield recordOf(world, { id, urn, node }, first)
  for (const records of more) yield { node: id, entityUrn: urn, records }
}

function inParts(edges: readonly ColumnEdge[]): ColumnEdge[][] {
  const parts: ColumnEdge[][] = []
  let bytes = Infinity
  for (const edge of edges) {
    const more = Buffer.byteLength(edge.upstreamUrn) + Buffer.byteLength(edge.downstreamUrn)
    bytes += more
    if (bytes > edgesMaxBytes) {
      parts.push([])
      bytes = more
    }
    parts.at(-1)?.push(edge)
  }
  return parts
}

function recordOf(
  { project, assets, options, aspects }: World,
  { id, urn, node }: Node,
  columnEdges: readonly ColumnEdge[]
): ProjectRecord {
  const { kind } = node
  const details = detailsOf(node)
  const ofCatalog = project.catalogColumns.get(id)
  try {
    const lineage = [...lineageOf({ project, assets }, { id, urn, kind }), ...columnEdges]
    if (assets.describers.get(urn) !== id)
      return { node: id, entityUrn: urn, records: [{ op: 'upsertEntity', urn }, ...lineage] }
    const described = descriptionOf({
      urn,
      kind,
      details,
      platformInstance: assets.instances.get(urn) ?? null,
      columns: knownColumns(ofCatalog === undefined ? null : columnsFrom(ofCatalog), details.columns),
      hasAllColumns: ofCatalog !== undefined,
      result: project.results.get(id),
      checksum: node.sql?.checksum ?? null,
      withOwners: options.owners,
      stored: aspects.get(urn) ?? {}
    })
    return { node: id, entityUrn: urn, records: [...described, ...lineage] }
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    return { node: id, error }
  }
}
