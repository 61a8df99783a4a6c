/** Decides which asset each node of a project is, and which node describes an asset. */
import { CatalogError } from '../../errors.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import { namespaceOfAdapter, resolveNode } from './dataset-names.ts'
import type { DbtReading } from './options.ts'
import { detailsOf, type DbtProject, type KeptNode } from './project.ts'
import { textOf } from './read-fields.ts'

export type ProjectAssets = {
  /** The URNs by the ids of the nodes that are assets; an error if no URN can be made for the node. */
  urns: ReadonlyMap<string, Urn | CatalogError>
  /**
   * Several nodes may be the same table: a source of this project can be a model of a package. One of them
   * describes it.
   */
  describers: ReadonlyMap<Urn, string>
  /** The platform instances that the operator's connections give to tables. */
  instances: ReadonlyMap<Urn, Urn>
}

/** Throws BAD_REQUEST if nothing says which platform the tables are on. */
export function assetsOf(
  { metadata, nodes }: DbtProject,
  options: Pick<DbtReading, 'namespace' | 'connections'>
): ProjectAssets {
  const adapter = textOf(metadata.adapter_type)
  const namespace = options.namespace ?? (adapter === null ? null : namespaceOfAdapter(adapter))
  if (namespace === null)
    throw new CatalogError(
      'BAD_REQUEST',
      'The manifest does not name its adapter (metadata.adapter_type): send namespace=, such as postgres://host:5432',
      { field: 'namespace' }
    )
  const urns = new Map<string, Urn | CatalogError>()
  const describers = new Map<Urn, string>()
  const instances = new Map<Urn, Urn>()
  for (const [id, node] of nodes) {
    if (node.kind === 'through') continue
    const urn = urnOf(id, node, (path) => {
      const { urn: own, platformInstance } = resolveNode(namespace, path, options.connections)
      if (platformInstance !== null) instances.set(own, platformInstance)
      return own
    })
    urns.set(id, urn)
    if (typeof urn !== 'string') continue
    const other = describers.get(urn)
    if (other === undefined || describesBetter(id, other)) describers.set(urn, id)
  }
  return { urns, describers, instances }
}

/**
 * A node that builds a table knows more about it than a source that reads it. Otherwise the smaller id wins,
 * so that the order in the file does not matter.
 */
function describesBetter(id: string, other: string): boolean {
  const [isSource, isOtherSource] = [id.startsWith('source.'), other.startsWith('source.')]
  return isSource === isOtherSource ? id < other : isOtherSource
}

function urnOf(id: string, node: KeptNode, tableAt: (path: readonly string[]) => Urn): Urn | CatalogError {
  try {
    if (node.kind === 'table') return tableAt(node.path)
    if (node.kind === 'exposure') return toUrn(`urn:li:dashboard:(dbt,${id})`)
    const { packageName, name } = detailsOf(node)
    return toUrn(`urn:li:${node.kind}:(urn:li:dataPlatform:dbt,${packageName ?? ''},${name})`)
  } catch (error) {
    if (error instanceof CatalogError) return error
    throw error
  }
}
