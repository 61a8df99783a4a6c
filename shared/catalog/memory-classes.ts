/** Gives entities of the graph in memory their class: equal facts, the same object, for as long as the graph lives. */
import type { GraphView, LineageGraph } from '../graph/lineage-graph.ts'
import { kindIn, type NodeKind } from '../graph/nodes.ts'
import type { UrnMould } from '../graph/urn-moulds.ts'
import type { EntityClass } from './lineage-reader.ts'

export type MemoryClasses = {
  /** Null for an id that the view does not know. A column exists, and is soft-deleted, as its asset. */
  of: (view: GraphView, id: number) => EntityClass | null
}

export function createMemoryClasses({ urns }: LineageGraph): MemoryClasses {
  const ofAssets: EntityClass[] = []
  /** By kind, then by kind of the asset. */
  const ofColumns: EntityClass[][] = []
  const byFacts = new Map<string, EntityClass>()

  /** Kinds that differ may say the same: columns of charts and of dashboards, features of two namespaces, what was deleted. */
  function make({ isColumn, domainId }: NodeKind, { entityType, platformUrn, origin }: UrnMould, flags: Pick<EntityClass, 'exists' | 'isRemoved'>): EntityClass {
    const facts = { entityType: isColumn ? 'schemaField' : entityType, platformUrn, origin, ...flags, domainId: domainId === 0 ? null : domainId }
    const key = JSON.stringify(facts)
    const made = byFacts.get(key) ?? { index: byFacts.size, ...facts }
    byFacts.set(key, made)
    return made
  }

  function ofColumn({ nodes }: GraphView, id: number, kind: NodeKind): EntityClass {
    const asset = kindIn(nodes, urns.parentOf(id))
    const flags = { exists: asset.isPresent, isRemoved: kind.isRemoved || asset.isRemoved }
    // The column of a column: the kind of what it belongs to does not say all.
    if (asset.mould === null) return make(kind, urns.mouldOf(id), flags)
    const ofKind = ofColumns[kind.index] ??= []
    return ofKind[asset.index] ??= make(kind, asset.mould, flags)
  }

  return {
    of(view, id) {
      const kind = kindIn(view.nodes, id)
      if (!kind.isKnown) return null
      if (kind.isColumn) return ofColumn(view, id, kind)
      return ofAssets[kind.index] ??= make(kind, kind.mould ?? urns.mouldOf(id), { exists: kind.isPresent, isRemoved: kind.isRemoved })
    }
  }
}
