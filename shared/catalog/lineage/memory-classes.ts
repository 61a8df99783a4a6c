/**
 * Gives entities of the graph in memory their class. Entities with equal facts have the same object while the
 * graph is loaded.
 */
import type { GraphView, LineageGraph } from '../../graph/lineage-graph.ts'
import { kindIn, kindNumbersIn, type NodeKind } from '../../graph/nodes.ts'
import type { UrnTemplate } from '../../graph/urn-templates.ts'
import { createGroupNumbers, type ClassGroups } from './class-groups.ts'
import { createClassTable } from './class-table.ts'
import type { EntityClass } from './lineage-reader.ts'

export type MemoryClasses = {
  /**
   * Null for an id that the view does not know. A column takes existence, soft deletion and, unless it has one
   * of its own, the domain from its asset.
   */
  of: (view: GraphView, id: number) => EntityClass | null
  /** The groups of many entities. */
  groupsOf: (view: GraphView, ids: Int32Array) => ClassGroups
}

export function createMemoryClasses({ urns }: LineageGraph): MemoryClasses {
  const classes = createClassTable()
  /** The class of the assets of each kind. */
  const ofKind: EntityClass[] = []
  const groupNumbers = createGroupNumbers()
  /** The class of the columns of each kind, by the kind of their asset. */
  const ofColumns: EntityClass[][] = []

  /**
   * Different kinds may have the same class: columns of charts and of dashboards, features of two namespaces,
   * deleted entities.
   */
  const classOf = (
    { isColumn, domainId }: Pick<NodeKind, 'isColumn' | 'domainId'>,
    { entityType, platformUrn, origin }: UrnTemplate,
    flags: Pick<EntityClass, 'exists' | 'isRemoved'>
  ): EntityClass =>
    classes.classOf({
      entityType: isColumn ? 'schemaField' : entityType,
      platformUrn,
      origin,
      ...flags,
      domainId: domainId === 0 ? null : domainId
    })

  function ofColumn({ nodes }: GraphView, id: number, kind: NodeKind): EntityClass {
    const asset = kindIn(nodes, urns.parentOf(id))
    const flags = { exists: asset.isPresent, isRemoved: kind.isRemoved || asset.isRemoved }
    // This is the column of a column: the kind of its parent has no template.
    if (asset.template === null) return classOf(kind, urns.templateOf(id), flags)
    const ofOneKind = (ofColumns[kind.index] ??= [])
    const domainId = kind.domainId || asset.domainId
    return (ofOneKind[asset.index] ??= classOf({ isColumn: true, domainId }, asset.template, flags))
  }

  /**
   * Null for the kind of unknown entities, the only kind without a template that is not a kind of columns.
   */
  const ofAsset = (kind: NodeKind): EntityClass | null =>
    kind.template === null
      ? null
      : (ofKind[kind.index] ??= classOf(kind, kind.template, {
          exists: kind.isPresent,
          isRemoved: kind.isRemoved
        }))

  function groupsOf(view: GraphView, ids: Int32Array): ClassGroups {
    const { table } = view.nodes
    const classOfKind = (number: number): EntityClass | null => {
      const kind = table[number]
      return kind ? ofAsset(kind) : null
    }
    const numbers = kindNumbersIn(view.nodes, ids)
    const byKind = groupNumbers(numbers, classOfKind)
    if (!byKind.groups.some(({ number }) => table[number]?.isColumn)) return byKind
    // The class of a column depends on its asset, so columns are numbered by class, after the numbers of
    // kinds.
    const firstClass = table.length
    for (let at = 0; at < numbers.length; at += 1) {
      const kind = table[numbers[at] ?? 0]
      if (kind?.isColumn) numbers[at] = firstClass + ofColumn(view, ids[at] ?? 0, kind).index
    }
    return groupNumbers(numbers, (number) =>
      number < firstClass ? classOfKind(number) : classes.at(number - firstClass)
    )
  }

  return {
    of(view, id) {
      const kind = kindIn(view.nodes, id)
      return kind.isColumn ? ofColumn(view, id, kind) : ofAsset(kind)
    },
    groupsOf
  }
}
