/**
 * The tree of domains during a change: names of siblings, cycles, depth and children, checked under one lock.
 *
 * The domains that records name are read beforehand in a few statements, others when they are needed. Changes
 * of this transaction override what was read.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { comparableName } from '../../model/comparable-name.ts'
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
import { findEntitiesById } from '../../store/entities.ts'
import { checkWithinLimit, rememberEntity, urnOf, type UnitOfWork } from './unit-of-work.ts'

export type DomainTree = {
  tx: Tx
  /** Rows that were read or changed; null for a domain that does not exist. */
  rows: Map<number, DomainRow | null>
  /** Stored domains with a name under a parent. */
  siblings: Map<string, readonly number[]>
  changed: Set<number>
  /** The domains that this transaction has changed, by parent, and by parent and name. */
  changedBelow: Map<number | null, Set<number>>
  changedAt: Map<string, Set<number>>
}

/** A name under a parent; null is the top level. */
export type DomainPlace = { parentId: number | null; name: string }

const placeKey = ({ parentId, name }: DomainPlace): string => `${parentId ?? ''} ${comparableName(name)}`

/** Opens the tree. The domains of `ids`, their ancestors, and the siblings at `places` are read. */
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
    if (tree.siblings.has(placeKey(row)))
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

/** Reads the row of a domain's entity, unless it is in memory. */
export async function readDomainEntity(work: UnitOfWork, tree: DomainTree, id: number): Promise<void> {
  if (!work.byId.has(id)) for (const row of await findEntitiesById(tree.tx, [id])) rememberEntity(work, row)
}

/** The domain and its ancestors, nearest first. */
export async function pathAbove(tree: DomainTree, id: number | null): Promise<number[]> {
  const path: number[] = []
  for (let at = id; at !== null && !path.includes(at); at = (await domainRow(tree, at))?.parentId ?? null)
    path.push(at)
  return path
}

/**
 * The number of levels below a domain. A domain that was given its id in this transaction has no stored
 * children.
 */
async function heightOf(work: UnitOfWork, tree: DomainTree, id: number): Promise<number> {
  const seen = new Set([id])
  let level = [id]
  for (let height = 0; ; height += 1) {
    const stored = (
      await childrenOf(
        tree.tx,
        level.filter((each) => !work.inserted.has(each))
      )
    ).filter((child) => !tree.changed.has(child))
    const changed = level.flatMap((parentId) => [...(tree.changedBelow.get(parentId) ?? [])])
    level = [...stored, ...changed].filter((child) => !seen.has(child))
    if (level.length === 0) return height
    for (const child of level) seen.add(child)
  }
}

/**
 * The message for a name that a sibling already has; null if names are not checked (a proposal may repeat a
 * name).
 */
export type SiblingRule = 'in this domain' | 'in the destination domain' | null

/**
 * Puts a domain at its place. Throws CONFLICT if a sibling has the name or the domain would become its own
 * ancestor, LIMIT_EXCEEDED if the tree would be too deep, and FORBIDDEN if the actor's token may not put it
 * there. Changes nothing if it throws.
 */
export async function placeDomain(
  work: UnitOfWork,
  tree: DomainTree,
  next: DomainRow,
  siblingRule: SiblingRule
): Promise<void> {
  const before = await domainRow(tree, next.entityId)
  const isMoved = !before || before.parentId !== next.parentId
  if (isMoved) await placeWithinLimit(work, tree, before, next)
  if (isMoved) await checkPath(work, tree, next)
  if (siblingRule && (isMoved || before?.name !== next.name)) await checkSiblings(tree, next, siblingRule)
  const wasChanged = tree.changed.has(next.entityId)
  setRow(tree, before, next, true)
  work.undo.push(() => setRow(tree, next, before, wasChanged))
}

/** Replaces the row of a domain in memory. `isChanged` is false for the stored row. */
function setRow(tree: DomainTree, from: DomainRow | null, to: DomainRow | null, isChanged: boolean): void {
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

/**
 * A limited token may put domains only below its own domains, and take them only from there. So it may not
 * move its own domains, unless one is below another. A domain without a place is new, even if the token names
 * it: it may have been deleted somewhere else, and other aspects of it may have been written since then.
 */
async function placeWithinLimit(
  work: UnitOfWork,
  tree: DomainTree,
  before: DomainRow | null,
  next: DomainRow
): Promise<void> {
  const { limit } = work
  if (!limit) return
  // The refusal names the parent that the domain was taken from. No change names it, so it is read here.
  if (before && before.parentId !== null) await readDomainEntity(work, tree, before.parentId)
  if (before) checkWithinLimit(work, before.parentId)
  checkWithinLimit(work, next.parentId)
  if (limit.domainIds.has(next.entityId)) return
  limit.domainIds.add(next.entityId)
  work.undo.push(() => {
    limit.domainIds.delete(next.entityId)
  })
}

async function checkPath(work: UnitOfWork, tree: DomainTree, next: DomainRow): Promise<void> {
  const path = await pathAbove(tree, next.parentId)
  if (path.includes(next.entityId)) {
    throw new CatalogError('CONFLICT', 'Cannot move a domain under one of its own descendants.', {
      urn: urnOf(work, next.entityId),
      field: 'parentDomain'
    })
  }
  const depth = path.length + 1 + (await heightOf(work, tree, next.entityId))
  if (depth > limits.domainMaxDepth) {
    throw new CatalogError('LIMIT_EXCEEDED', `Domains may be nested ${limits.domainMaxDepth} deep.`, {
      limit: 'domainMaxDepth',
      maximum: limits.domainMaxDepth,
      actual: depth,
      field: 'parentDomain'
    })
  }
}

/** The other domains under the same parent whose name looks the same, without those that are soft-deleted. */
export async function siblingsOf(tree: DomainTree, next: DomainRow): Promise<number[]> {
  const stored =
    tree.siblings.get(placeKey(next)) ??
    (await findSiblings(tree.tx, [next])).flatMap((row) =>
      placeKey(row) === placeKey(next) ? [row.entityId] : []
    )
  tree.siblings.set(placeKey(next), stored)
  const fresh = tree.changedAt.get(placeKey(next)) ?? []
  return [...stored.filter((id) => !tree.changed.has(id)), ...fresh].filter((id) => id !== next.entityId)
}

/** Throws CONFLICT. */
export async function checkSiblings(tree: DomainTree, next: DomainRow, place: string): Promise<void> {
  if ((await siblingsOf(tree, next)).length > 0) {
    throw new CatalogError('CONFLICT', `"${next.name}" already exists ${place}. Please pick a unique name.`, {
      field: 'name'
    })
  }
}

/** Refuses to delete a domain that has children. Throws CONFLICT. */
export async function checkNoChildren(tx: Tx, work: UnitOfWork, id: number): Promise<void> {
  if ((await withChildren(tx, [id])).has(id)) {
    const urn = urnOf(work, id)
    throw new CatalogError('CONFLICT', `Cannot delete domain ${urn} which has child domains`, { urn })
  }
}

/** Removes a domain from the tree at once, so that its parent can be deleted next. */
export async function removeDomain(tx: Tx, work: UnitOfWork, id: number): Promise<void> {
  await deleteDomains(tx, [id])
  work.graph.push({ kind: 'parentDomain', id, parentId: null })
}

/**
 * Removes a domain from the tree. Returns false and does nothing if domains were put below it as `since` or
 * later.
 */
export async function takeOutDomain(
  work: UnitOfWork,
  tree: DomainTree,
  id: number,
  since: number
): Promise<boolean> {
  const stored = (await childrenSince(tree.tx, id, since)).filter((child) => !tree.changed.has(child))
  if (stored.length > 0 || (tree.changedBelow.get(id)?.size ?? 0) > 0) return false
  const before = await domainRow(tree, id)
  const wasChanged = tree.changed.has(id)
  setRow(tree, before, null, true)
  work.undo.push(() => setRow(tree, null, before, wasChanged))
  return true
}

/** Writes what has changed, and adds it to the change log of the graph. */
export async function writeDomainTree(work: UnitOfWork, tree: DomainTree): Promise<void> {
  const changed = [...tree.changed].flatMap((id) => tree.rows.get(id) ?? [])
  for (const row of changed)
    work.graph.push({ kind: 'parentDomain', id: row.entityId, parentId: row.parentId })
  await writeDomains(tree.tx, changed)
  const gone = [...tree.changed].filter((id) => !tree.rows.get(id))
  await deleteDomains(tree.tx, gone)
  for (const id of gone) work.graph.push({ kind: 'parentDomain', id, parentId: null })
}
