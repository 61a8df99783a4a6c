/**
 * The tree of domains while it is being changed: siblings' names, cycles, depth and children, decided under one lock.
 *
 * What records name is read beforehand in a few statements, what else is needed as it is needed; what this transaction
 * has changed lies over it.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Tx } from '../../db/database.ts'
import {
  childrenOf,
  childrenSince,
  deleteDomains,
  findDomainPaths,
  findDomains,
  findSiblings,
  withChildren,
  writeDomains,
  type DomainRow
} from '../../store/domains.ts'
import { checkWithinLimit, urnOf, type WorkingSet } from './working-set.ts'

export type DomainTree = {
  tx: Tx
  /** Rows read or changed; null is a domain that does not exist. */
  rows: Map<number, DomainRow | null>
  /** Stored domains that bear a name under a parent. */
  siblings: Map<string, readonly number[]>
  changed: Set<number>
  /** The changed ones, by parent and by place. */
  changedBelow: Map<number | null, Set<number>>
  changedAt: Map<string, Set<number>>
}

/** A name under a parent; null is the top level. */
export type DomainPlace = { parentId: number | null; name: string }

const placeKey = ({ parentId, name }: DomainPlace): string => `${parentId ?? ''} ${name}`

/** Opens the tree, with the domains of `ids` and what is above them, and the siblings at `places`, read. */
export async function openDomainTree(
  tx: Tx,
  ids: readonly number[] = [],
  places: readonly DomainPlace[] = []
): Promise<DomainTree> {
  const tree: DomainTree = {
    tx,
    rows: new Map(ids.map((id) => [id, null])),
    siblings: new Map(places.map((place) => [placeKey(place), []])),
    changed: new Set(),
    changedBelow: new Map(),
    changedAt: new Map()
  }
  for (const row of await findDomainPaths(tx, ids)) tree.rows.set(row.entityId, row)
  for (const row of await findSiblings(tx, places))
    tree.siblings.set(placeKey(row), [...(tree.siblings.get(placeKey(row)) ?? []), row.entityId])
  return tree
}

export async function domainRow(tree: DomainTree, id: number): Promise<DomainRow | null> {
  const known = tree.rows.get(id)
  if (known !== undefined) return known
  const [row] = await findDomains(tree.tx, [id])
  tree.rows.set(id, row ?? null)
  return row ?? null
}

/** The domain itself and all that stand above it, from below. */
export async function pathAbove(tree: DomainTree, id: number | null): Promise<number[]> {
  const path: number[] = []
  for (let at = id; at !== null && !path.includes(at); at = (await domainRow(tree, at))?.parentId ?? null)
    path.push(at)
  return path
}

/** How many levels lie below a domain. One that has just been given its id has no stored children. */
async function heightOf(set: WorkingSet, tree: DomainTree, id: number): Promise<number> {
  const seen = new Set([id])
  let level = [id]
  for (let height = 0; ; height += 1) {
    const stored = (
      await childrenOf(
        tree.tx,
        level.filter((each) => !set.inserted.has(each))
      )
    ).filter((child) => !tree.changed.has(child))
    const fresh = level.flatMap((parentId) => [...(tree.changedBelow.get(parentId) ?? [])])
    level = [...stored, ...fresh].filter((child) => !seen.has(child))
    if (level.length === 0) return height
    for (const child of level) seen.add(child)
  }
}

/** How a name that a sibling bears is refused; null where names are not checked (a proposal may repeat one). */
export type SiblingRule = 'in this domain' | 'in the destination domain' | null

/**
 * Puts a domain at its place. Throws CONFLICT for a sibling of the name or a domain that would become its own ancestor,
 * LIMIT_EXCEEDED for a tree that would be too deep, FORBIDDEN where the actor's token may not put it there. Changes
 * nothing where it throws.
 */
export async function placeDomain(
  set: WorkingSet,
  tree: DomainTree,
  next: DomainRow,
  siblingRule: SiblingRule
): Promise<void> {
  const before = await domainRow(tree, next.entityId)
  const isMoved = !before || before.parentId !== next.parentId
  if (isMoved) placeWithinLimit(set, before, next)
  if (isMoved) await checkPath(set, tree, next)
  if (siblingRule && (isMoved || before?.name !== next.name)) await checkSiblings(tree, next, siblingRule)
  const wasChanged = tree.changed.has(next.entityId)
  show(tree, before, next, true)
  set.undo.push(() => show(tree, next, before, wasChanged))
}

/** Replaces what the tree shows of a domain. `isChanged` false is how it is stored. */
function show(tree: DomainTree, from: DomainRow | null, to: DomainRow | null, isChanged: boolean): void {
  const id = (to ?? from)?.entityId
  if (id === undefined) return
  tree.rows.set(id, to)
  if (from) {
    tree.changedBelow.get(from.parentId)?.delete(id)
    tree.changedAt.get(placeKey(from))?.delete(id)
  }
  if (isChanged) tree.changed.add(id)
  else tree.changed.delete(id)
  if (!isChanged || !to) return
  tree.changedBelow.set(to.parentId, (tree.changedBelow.get(to.parentId) ?? new Set()).add(id))
  tree.changedAt.set(placeKey(to), (tree.changedAt.get(placeKey(to)) ?? new Set()).add(id))
}

/** A token that is limited to a domain puts domains below it and nowhere else, and never moves that domain itself. */
function placeWithinLimit(set: WorkingSet, before: DomainRow | null, next: DomainRow): void {
  const { limit } = set
  const stays = limit?.domainIds.has(next.entityId) && next.parentId === (before?.parentId ?? null)
  if (!limit || stays) return
  checkWithinLimit(set, next.entityId === limit.rootId ? null : next.parentId)
  if (limit.domainIds.has(next.entityId)) return
  limit.domainIds.add(next.entityId)
  set.undo.push(() => {
    limit.domainIds.delete(next.entityId)
  })
}

async function checkPath(set: WorkingSet, tree: DomainTree, next: DomainRow): Promise<void> {
  const path = await pathAbove(tree, next.parentId)
  if (path.includes(next.entityId)) {
    throw new CatalogError('CONFLICT', 'Cannot move a domain under one of its own descendants.', {
      urn: urnOf(set, next.entityId),
      field: 'parentDomain'
    })
  }
  const depth = path.length + 1 + (await heightOf(set, tree, next.entityId))
  if (depth > limits.domainMaxDepth) {
    throw new CatalogError('LIMIT_EXCEEDED', `Domains may be nested ${limits.domainMaxDepth} deep.`, {
      limit: 'domainMaxDepth',
      maximum: limits.domainMaxDepth,
      actual: depth,
      field: 'parentDomain'
    })
  }
}

/** The other domains that bear the name of this one at its place. */
export async function siblingsOf(tree: DomainTree, next: DomainRow): Promise<number[]> {
  const stored =
    tree.siblings.get(placeKey(next)) ?? (await findSiblings(tree.tx, [next])).map((row) => row.entityId)
  tree.siblings.set(placeKey(next), stored)
  const fresh = tree.changedAt.get(placeKey(next)) ?? []
  return [...stored.filter((id) => !tree.changed.has(id)), ...fresh].filter((id) => id !== next.entityId)
}

async function checkSiblings(tree: DomainTree, next: DomainRow, place: string): Promise<void> {
  if ((await siblingsOf(tree, next)).length > 0) {
    throw new CatalogError('CONFLICT', `"${next.name}" already exists ${place}. Please pick a unique name.`, {
      field: 'name'
    })
  }
}

/** Refuses to delete a domain that others stand under. Throws CONFLICT. */
export async function checkNoChildren(tx: Tx, set: WorkingSet, id: number): Promise<void> {
  if ((await withChildren(tx, [id])).has(id)) {
    const urn = urnOf(set, id)
    throw new CatalogError('CONFLICT', `Cannot delete domain ${urn} which has child domains`, { urn })
  }
}

/** Takes a domain out of the tree at once, so that its parent may be deleted next. */
export async function removeDomain(tx: Tx, set: WorkingSet, id: number): Promise<void> {
  await deleteDomains(tx, [id])
  set.graph.push({ kind: 'parentDomain', id, parentId: null })
}

/** Takes a domain out of the tree; false, and nothing done, where others have come to stand under it `since`. */
export async function takeOutDomain(
  set: WorkingSet,
  tree: DomainTree,
  id: number,
  since: number
): Promise<boolean> {
  const stored = (await childrenSince(tree.tx, id, since)).filter((child) => !tree.changed.has(child))
  if (stored.length > 0 || (tree.changedBelow.get(id)?.size ?? 0) > 0) return false
  const before = await domainRow(tree, id)
  const wasChanged = tree.changed.has(id)
  show(tree, before, null, true)
  set.undo.push(() => show(tree, null, before, wasChanged))
  return true
}

/** Writes what has changed and tells the graph. */
export async function writeDomainTree(set: WorkingSet, tree: DomainTree): Promise<void> {
  const changed = [...tree.changed].flatMap((id) => tree.rows.get(id) ?? [])
  for (const row of changed)
    set.graph.push({ kind: 'parentDomain', id: row.entityId, parentId: row.parentId })
  await writeDomains(tree.tx, changed)
  const gone = [...tree.changed].filter((id) => !tree.rows.get(id))
  await deleteDomains(tree.tx, gone)
  for (const id of gone) set.graph.push({ kind: 'parentDomain', id, parentId: null })
}
