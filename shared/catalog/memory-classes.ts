/** Gives entities of the graph in memory their class: equal facts, the same object, for as long as the graph lives. */
import type { GraphView, LineageGraph } from '../graph/lineage-graph.ts'
import { domainIn, isPresentIn, isRemovedIn } from '../graph/nodes.ts'
import type { UrnMould } from '../graph/urn-moulds.ts'
import type { EntityClass } from './lineage-reader.ts'

export type MemoryClasses = {
  /** Null for an id that the view does not know. A column exists, and is soft-deleted, as its asset. */
  of: (view: GraphView, id: number) => EntityClass | null
}

export function createMemoryClasses({ urns }: LineageGraph): MemoryClasses {
  /** By mould, then by domain and flags. */
  const classes: Map<number, EntityClass>[] = []
  const byFacts = new Map<string, EntityClass>()
  /** Neighbours in a result are often alike: the class given last need not be looked up. */
  let last: { mould: UrnMould, key: number, entityClass: EntityClass } | null = null

  /** Moulds that differ may say the same: columns of charts and of dashboards, features of two namespaces. */
  function make(id: number, { entityType, platformUrn, origin }: UrnMould, flags: Pick<EntityClass, 'exists' | 'isRemoved' | 'domainId'>): EntityClass {
    const facts = { entityType: urns.isColumn(id) ? 'schemaField' : entityType, platformUrn, origin, ...flags }
    const factsKey = JSON.stringify(facts)
    const made = byFacts.get(factsKey) ?? { index: byFacts.size, ...facts }
    byFacts.set(factsKey, made)
    return made
  }

  return {
    of({ nodes }, id) {
      if (!urns.has(id)) return null
      const parentId = urns.parentOf(id)
      const exists = isPresentIn(nodes, parentId === 0 ? id : parentId)
      const isRemoved = isRemovedIn(nodes, id) || (parentId !== 0 && isRemovedIn(nodes, parentId))
      const domainId = domainIn(nodes, id)
      const mould = urns.mouldOf(id)
      const key = domainId * 8 + (exists ? 1 : 0) + (isRemoved ? 2 : 0) + (urns.isColumn(id) ? 4 : 0)
      if (last !== null && last.mould === mould && last.key === key) return last.entityClass
      const ofMould = classes[mould.index] ??= new Map()
      let entityClass = ofMould.get(key)
      if (!entityClass) ofMould.set(key, entityClass = make(id, mould, { exists, isRemoved, domainId: domainId === 0 ? null : domainId }))
      last = { mould, key, entityClass }
      return entityClass
    }
  }
}
