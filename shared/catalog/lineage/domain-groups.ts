/**
 * Chooses the domain that represents an asset in lineage between domains. The choice depends on the question
 * and on the side of the edge.
 */
import type { DomainTree } from './lineage-reader.ts'

/** The group of assets in no domain; no domain has this id. */
export const noDomain = 0

/** The group of assets in a domain; null if they are left out. */
export type GroupOf = (domainId: number | null) => number | null

export type DomainQuestion = {
  /** The domain asked about; null for all domains. */
  domainId: number | null
  includesDescendants: boolean
  /** The domain whose direct children are the groups; null if any domain may be a group. */
  withinId: number | null
}

/** The domain and its ancestors, nearest first. A cycle is followed once. */
function chainOf(tree: DomainTree, domainId: number): number[] {
  const chain = new Set<number>()
  for (let id: number | null = domainId; id !== null && !chain.has(id); id = tree.parentOf(id)) chain.add(id)
  return [...chain]
}

/** The domains whose assets are on the near side of the edges. */
export function nearDomains(
  tree: DomainTree,
  { domainId, includesDescendants, withinId }: DomainQuestion,
  inUse: readonly number[]
): Set<number> {
  if (domainId !== null) return new Set([domainId, ...(includesDescendants ? tree.below([domainId]) : [])])
  return withinId === null ? new Set(inUse) : new Set([withinId, ...tree.below([withinId])])
}

/**
 * How each end of an edge is grouped. `near` has the domains of the near side. Edges within it, or within one
 * group, do not count.
 */
export function groupsOf(
  tree: DomainTree,
  question: DomainQuestion,
  near: ReadonlySet<number>
): { nearGroupOf: GroupOf; farGroupOf: GroupOf } {
  const { domainId, withinId } = question
  const place = withinId === null ? highestApart(tree, domainId) : childWithin(tree, withinId)
  const groupOf = remembered((id) => (id === null ? (withinId === null ? noDomain : null) : place(id)))
  if (domainId === null) return { nearGroupOf: groupOf, farGroupOf: groupOf }
  return {
    nearGroupOf: () => domainId,
    farGroupOf: (id) => (id !== null && near.has(id) ? null : groupOf(id))
  }
}

/**
 * Returns the highest ancestor of a domain that does not contain the asked domain; the domain itself if all
 * its ancestors contain it. Without an asked domain, returns the root.
 */
export function highestApart(tree: DomainTree, askedId: number | null): (domainId: number) => number {
  const above = new Set(askedId === null ? [] : chainOf(tree, askedId))
  return (domainId) => chainOf(tree, domainId).findLast((id) => !above.has(id)) ?? domainId
}

/**
 * Returns the child of `withinId` that contains the domain; `withinId` if that is the domain; null for a
 * domain outside it.
 */
export function childWithin(tree: DomainTree, withinId: number): (domainId: number) => number | null {
  return (domainId) => {
    const chain = chainOf(tree, domainId)
    const at = chain.indexOf(withinId)
    return at < 0 ? null : (chain[at - 1] ?? withinId)
  }
}

function remembered(groupOf: GroupOf): GroupOf {
  const known = new Map<number | null, number | null>()
  return (domainId) => {
    const group = known.get(domainId)
    if (group !== undefined) return group
    const found = groupOf(domainId)
    known.set(domainId, found)
    return found
  }
}
