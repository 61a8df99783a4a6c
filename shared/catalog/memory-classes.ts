/** Gives entities of the graph in memory their class: equal facts, the same object, for as long as the graph lives. */
import { GrowableInts } from '../graph/growable.ts'
import type { GraphView, LineageGraph } from '../graph/lineage-graph.ts'
import { kindIn, kindNumbersIn, type NodeKind } from '../graph/nodes.ts'
import type { UrnMould } from '../graph/urn-moulds.ts'
import { createClassTable } from './class-table.ts'
import type { EntityClass } from './lineage-reader.ts'

export type MemoryClasses = {
  /** Null for an id that the view does not know. A column exists, and is soft-deleted, as its asset. */
  of: (view: GraphView, id: number) => EntityClass | null
  /** The indexes of the classes of many, in their order; -1 for an id that the view does not know. */
  indexesOf: (view: GraphView, ids: Int32Array) => Int32Array
  at: (index: number) => EntityClass
}

/** 0 is not known yet. */
const firstClass = 1

export function createMemoryClasses({ urns }: LineageGraph): MemoryClasses {
  const classes = createClassTable()
  /** By kind: not known yet, or the index of the class of all assets of the kind, counted from `firstClass`. */
  const ofKind = new GrowableInts(0)
  /** By kind, then by kind of the asset. */
  const ofColumns: EntityClass[][] = []

  /** Kinds that differ may say the same: columns of charts and of dashboards, features of two namespaces, what was deleted. */
  const classOf = ({ isColumn, domainId }: NodeKind, { entityType, platformUrn, origin }: UrnMould, flags: Pick<EntityClass, 'exists' | 'isRemoved'>): EntityClass =>
    classes.classOf({ entityType: isColumn ? 'schemaField' : entityType, platformUrn, origin, ...flags, domainId: domainId === 0 ? null : domainId })

  function ofColumn({ nodes }: GraphView, id: number, kind: NodeKind): EntityClass {
    const asset = kindIn(nodes, urns.parentOf(id))
    const flags = { exists: asset.isPresent, isRemoved: kind.isRemoved || asset.isRemoved }
    // The column of a column: the kind of what it belongs to does not say all.
    if (asset.mould === null) return classOf(kind, urns.mouldOf(id), flags)
    const ofOneKind = ofColumns[kind.index] ??= []
    return ofOneKind[asset.index] ??= classOf(kind, asset.mould, flags)
  }

  function ofAsset(id: number, kind: NodeKind): EntityClass {
    const known = ofKind.at(kind.index)
    if (known >= firstClass) return classes.at(known - firstClass)
    const found = classOf(kind, kind.mould ?? urns.mouldOf(id), { exists: kind.isPresent, isRemoved: kind.isRemoved })
    ofKind.set(kind.index, found.index + firstClass)
    return found
  }

  function of(view: GraphView, id: number): EntityClass | null {
    const kind = kindIn(view.nodes, id)
    if (!kind.isKnown) return null
    return kind.isColumn ? ofColumn(view, id, kind) : ofAsset(id, kind)
  }

  return {
    of,
    at: classes.at,
    indexesOf(view, ids) {
      const indexes = kindNumbersIn(view.nodes, ids)
      for (let index = 0; index < indexes.length; index += 1) {
        const known = ofKind.at(indexes[index] ?? 0)
        indexes[index] = known >= firstClass ? known - firstClass : of(view, ids[index] ?? 0)?.index ?? -1
      }
      return indexes
    }
  }
}
