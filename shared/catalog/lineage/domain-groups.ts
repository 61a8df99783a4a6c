/** Which domain stands for an asset in lineage between domains: it depends on what is asked, and from where one looks. */
import type { DomainTree } from './lineage-reader.ts'

/** Stands for assets in no domain, where an id of a domain would stand. */
export const noDomain = 0

/** Null for what takes no part. */
export type GroupOf = (domainId: number | null) => number | null

export type DomainQuestion = {
  /** The domain asked for; null if it is about all of them. */
  domainId: number | null
  includesDescendants: boolean
  /** The domain whose direct children are the groups; null for no such limit. */
  withinId: number | null
}

/** The domain and those above it, the nearest first; ends before one comes again. */
function chainOf(tree: DomainTree, domainId: number): number[] {
  const chain = new Set<number>()
  for (let id: number | null = domainId; id !== null && !chain.has(id); id = tree.parentOf(id)) chain.add(id)
  return [...chain]
}

/** The domains whose assets are the near side of the edges, of all that may be. */
export function nearDomains(
  tree: DomainTree,
  { domainId, includesDescendants, withinId }: DomainQuestion,
  inUse: readonly number[]
): Set<number> {
  if (domainId !== null) return new Set([domainId, ...(includesDescendants ? tree.below([domainId]) : [])])
  return withinId === null ? new Set(inUse) : new Set([withinId, ...tree.below([withinId])])
}

/** How each end of an edge is grouped. `near` has the domains of the near side; edges within it, or within one group, do not count. */
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

/** The highest domain that the asked one is not in; where it is in all of them, the domain itself. Without one asked, the highest. */
function highestApart(tree: DomainTree, askedId: number | null): (domainId: number) => number {
  const above = new Set(askedId === null ? [] : chainOf(tree, askedId))
  return (domainId) => chainOf(tree, domainId).findLast((id) => !above.has(id)) ?? domainId
}

/** The child of the domain that the other is in; the domain itself for what is directly in it, nothing for what is not. */
function childWithin(tree: DomainTree, withinId: number): (domainId: number) => number | null {
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
