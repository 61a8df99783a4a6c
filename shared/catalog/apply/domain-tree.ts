/**
 * The tree of domains while it is being changed: siblings' names, cycles, depth and children, decided under one lock.
 *
 * Reads rows as they are needed and keeps what this transaction has changed over them.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Tx } from '../../db/database.ts'
import { deleteDomains, findDomains, findSiblings, subtreeOf, withChildren, writeDomains, type DomainRow } from '../../store/domains.ts'
import { urnOf, type WorkingSet } from './working-set.ts'

export type DomainTree = {
  tx: Tx
  /** Rows read or changed; null is a domain that does not exist. */
  rows: Map<number, DomainRow | null>
  changed: Set<number>
}

export const openDomainTree = (tx: Tx): DomainTree => ({ tx, rows: new Map(), changed: new Set() })

export async function domainRow(tree: DomainTree, id: number): Promise<DomainRow | null> {
  const known = tree.rows.get(id)
  if (known !== undefined) return known
  const [row] = await findDomains(tree.tx, [id])
  tree.rows.set(id, row ?? null)
  return row ?? null
}

async function pathAbove(tree: DomainTree, parentId: number | null): Promise<number[]> {
  const path: number[] = []
  for (let id = parentId; id !== null && !path.includes(id); id = (await domainRow(tree, id))?.parentId ?? null) path.push(id)
  return path
}

/** How a name that a sibling bears is refused; null where names are not checked (a proposal may repeat one). */
export type SiblingRule = 'in this domain' | 'in the destination domain' | null

/**
 * Puts a domain at its place. Throws CONFLICT for a sibling of the name or a domain that would become its own ancestor,
 * LIMIT_EXCEEDED for a tree that would be too deep. Changes nothing where it throws.
 */
export async function placeDomain(set: WorkingSet, tree: DomainTree, next: DomainRow, siblingRule: SiblingRule): Promise<void> {
  const before = await domainRow(tree, next.entityId)
  const isMoved = !before || before.parentId !== next.parentId
  if (isMoved) await checkPath(set, tree, next, before !== null)
  if (siblingRule && (isMoved || before?.name !== next.name)) await checkSiblings(tree, next, siblingRule)
  tree.rows.set(next.entityId, next)
  const wasChanged = tree.changed.has(next.entityId)
  tree.changed.add(next.entityId)
  set.undo.push(() => {
    tree.rows.set(next.entityId, before)
    if (!wasChanged) tree.changed.delete(next.entityId)
  })
}

async function checkPath(set: WorkingSet, tree: DomainTree, next: DomainRow, hasRow: boolean): Promise<void> {
  const path = await pathAbove(tree, next.parentId)
  if (path.includes(next.entityId)) {
    throw new CatalogError('CONFLICT', 'Cannot move a domain under one of its own descendants.', { urn: urnOf(set, next.entityId), field: 'parentDomain' })
  }
  // A domain may have children before it has a row of its own: they were stated first.
  const below = await subtreeOf(tree.tx, next.entityId)
  const height = hasRow || below.length > 1 ? Math.max(...below.map((row) => row.level)) : 0
  const depth = path.length + 1 + height
  if (depth > limits.domainMaxDepth) {
    throw new CatalogError('LIMIT_EXCEEDED', `Domains may be nested ${limits.domainMaxDepth} deep.`, { limit: 'domainMaxDepth', maximum: limits.domainMaxDepth, actual: depth, field: 'parentDomain' })
  }
}

async function checkSiblings(tree: DomainTree, next: DomainRow, place: string): Promise<void> {
  const stored = (await findSiblings(tree.tx, next.parentId, next.name)).filter((id) => id !== next.entityId && !tree.changed.has(id))
  const fresh = [...tree.changed].filter((id) => {
    const row = tree.rows.get(id)
    return id !== next.entityId && row?.name === next.name && row.parentId === next.parentId
  })
  if (stored.length + fresh.length > 0) {
    throw new CatalogError('CONFLICT', `"${next.name}" already exists ${place}. Please pick a unique name.`, { field: 'name' })
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
export async function removeDomain(tree: DomainTree, id: number): Promise<void> {
  await deleteDomains(tree.tx, [id])
  tree.rows.set(id, null)
  tree.changed.add(id)
}

/** Writes what has changed and tells the graph. */
export async function writeDomainTree(set: WorkingSet, tree: DomainTree): Promise<void> {
  const changed = [...tree.changed].map((id) => ({ id, row: tree.rows.get(id) ?? null }))
  for (const { id, row } of changed) set.graph.push({ kind: 'parentDomain', id, parentId: row?.parentId ?? null })
  await writeDomains(tree.tx, changed.flatMap(({ row }) => row ?? []))
  await deleteDomains(tree.tx, changed.flatMap(({ id, row }) => row ? [] : [id]))
}
