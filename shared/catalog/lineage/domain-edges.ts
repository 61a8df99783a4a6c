/** Adds up asset edges to edges between domains, and keeps the asset edges of each. */
import { limits } from '../../limits.ts'
import { checkCount } from '../../model/count-checks.ts'
import { idSet } from '../../store/id-set.ts'

/** Edges between two groups. The near assets are in ascending order, and so are the far assets of each. */
export type DomainEdge = {
  nearGroup: number
  farGroup: number
  nearIds: number[]
  farIds: number[]
  nearCount: number
}

/** Collects the edges. Adding throws LIMIT_EXCEEDED at the first edge over domainEdgesMaxCount. */
export function domainEdges() {
  const byGroups = new Map<number, Map<number, DomainEdge>>()
  let total = 0
  const between = (nearGroup: number, farGroup: number): DomainEdge => {
    const own = byGroups.get(nearGroup) ?? new Map<number, DomainEdge>()
    if (own.size === 0) byGroups.set(nearGroup, own)
    const edge = own.get(farGroup) ?? { nearGroup, farGroup, nearIds: [], farIds: [], nearCount: 0 }
    own.set(farGroup, edge)
    return edge
  }
  return {
    /** All edges of a near asset must be added before those of the next one. */
    add(nearGroup: number, nearId: number, farGroup: number, farId: number): void {
      total += 1
      if (total > limits.domainEdgesMaxCount)
        checkCount(total, 'domainEdgesMaxCount', {
          field: 'input',
          what: `${total} edges or more lead from domain to domain`,
          wayOut: 'Ask for one domain, or a smaller one'
        })
      const edge = between(nearGroup, farGroup)
      if (edge.nearIds.at(-1) !== nearId) edge.nearCount += 1
      edge.nearIds.push(nearId)
      edge.farIds.push(farId)
    },
    total: () => total,
    /** The edges between groups: those with the most asset edges first, then by the ids of their domains. */
    edges: (): DomainEdge[] =>
      [...byGroups.values()]
        .flatMap((own) => [...own.values()])
        .sort(
          (a, b) =>
            b.nearIds.length - a.nearIds.length || a.nearGroup - b.nearGroup || a.farGroup - b.farGroup
        )
  }
}

/** The number of different ids. */
export function countDistinct(ids: readonly number[]): number {
  const seen = idSet()
  let count = 0
  for (const id of ids) if (seen.add(id)) count += 1
  return count
}
