/** The tree of domains as a map from domain to parent, and the walks down and up it. */
import type { DomainTree } from './lineage-reader.ts'

/** `parents` has an entry for each domain that has a parent. Walks end even if the parents form cycles. */
export function domainTreeOf(parents: ReadonlyMap<number, number>): DomainTree {
  let children: Map<number, number[]> | null = null
  const childrenOf = (id: number): readonly number[] => {
    children ??= grouped(parents)
    return children.get(id) ?? []
  }
  const reach = (ids: readonly number[], next: (id: number) => readonly number[]): Set<number> => {
    const reached = new Set<number>()
    const open = [...ids]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      for (const found of next(id)) {
        if (reached.has(found)) continue
        reached.add(found)
        open.push(found)
      }
    }
    return reached
  }
  return {
    parentOf: (id) => parents.get(id) ?? null,
    below: (ids) => reach(ids, childrenOf),
    above: (ids) =>
      reach(ids, (id) => {
        const parent = parents.get(id)
        return parent === undefined ? [] : [parent]
      })
  }
}

function grouped(parents: ReadonlyMap<number, number>): Map<number, number[]> {
  const children = new Map<number, number[]>()
  for (const [child, parent] of parents) {
    const own = children.get(parent)
    if (own) own.push(child)
    else children.set(parent, [child])
  }
  return children
}
