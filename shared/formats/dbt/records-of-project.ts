/**
 * Turns a dbt project into the records of a load: first a record for each node that is an asset, in the order
 * of the documents, then a record for each domain.
 */
import { CatalogError } from '../../errors.ts'
import type { JsonObject } from '../../model/changes.ts'
import type { Urn } from '../../urn/urn.ts'
import { knownColumns } from './columns.ts'
import { descriptionOf } from './describe-node.ts'
import { lineageOf } from './node-lineage.ts'
import type { DomainRecord, NodeRecord } from './node-record.ts'
import type { DbtReading } from './options.ts'
import type { PickedColumn } from './pick-node.ts'
import { columnsFrom, detailsOf, type DbtProject, type KeptNode } from './project.ts'
import type { ProjectAssets } from './project-assets.ts'
import type { ColumnEdge, StoredProject } from './stored-project.ts'

/** A record, or the error that explains why the node has none. */
export type ProjectRecord = NodeRecord | DomainRecord | { node: string; error: CatalogError }

export function* recordsOfProject(
  project: DbtProject,
  { assets, options, stored }: Omit<World, 'project'>
): Generator<ProjectRecord, void, undefined> {
  const world: World = { project, assets, options, stored }
  for (const [node, error] of project.faults) yield { node, error }
  for (const [id, node] of project.nodes) {
    const urn = assets.urns.get(id)
    if (urn === undefined) continue
    yield typeof urn === 'string' ? recordOf(world, { id, urn, node }) : { node: id, error: urn }
  }
  if (options.domains === 'no') return
  for (const [urn, id] of assets.describers) {
    const node = project.nodes.get(id)
    const domainUrn = node ? detailsOf(node).domain : null
    if (domainUrn !== null)
      yield { node: id, op: 'setDomain', entityUrn: urn, domainUrn, ifUnset: options.domains === 'unset' }
  }
}

type World = { project: DbtProject; assets: ProjectAssets; options: DbtReading; stored: StoredProject }

function recordOf(
  { project, assets, options, stored }: World,
  { id, urn, node }: { id: string; urn: Urn; node: KeptNode }
): ProjectRecord {
  const { kind } = node
  const details = detailsOf(node)
  const catalogOf = (of: string): PickedColumn[] | null => {
    const text = project.catalogColumns.get(of)
    return text === undefined ? null : columnsFrom(text)
  }
  const columnsOfAsset = (of: string): readonly PickedColumn[] => {
    const other = project.nodes.get(of)
    return other ? knownColumns(catalogOf(of), detailsOf(other).columns) : []
  }
  try {
    const known = lineageOf(
      { project, assets, columnsOf: columnsOfAsset },
      { id, urn, kind, passesColumns: details.passesColumns }
    )
    const lineage = [...known, ...edgesBesides(known, stored.columnEdges.get(urn) ?? [])]
    if (assets.describers.get(urn) !== id)
      return { node: id, entityUrn: urn, records: [{ op: 'upsertEntity', urn }, ...lineage] }
    const described = descriptionOf({
      urn,
      kind,
      details,
      platformInstance: assets.instances.get(urn) ?? null,
      columns: columnsOfAsset(id),
      hasAllColumns: project.catalogColumns.has(id),
      result: project.results.get(id),
      withOwners: options.owners,
      stored: stored.aspects.get(urn) ?? {}
    })
    return { node: id, entityUrn: urn, records: [...described, ...lineage] }
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    return { node: id, error }
  }
}

/** The edges that are not among the records, as records. */
function edgesBesides(records: readonly JsonObject[], edges: readonly ColumnEdge[]): JsonObject[] {
  const keys = new Set(
    records.map(({ upstreamUrn, downstreamUrn }) => JSON.stringify([upstreamUrn, downstreamUrn]))
  )
  return edges.filter(
    ({ upstreamUrn, downstreamUrn }) => !keys.has(JSON.stringify([upstreamUrn, downstreamUrn]))
  )
}
