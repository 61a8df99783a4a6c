/** Which domain an asset is in, as far as a transaction touches it: the last accepted statement wins, one domain at most. */
import { CatalogError } from '../../errors.ts'
import { prepareAspect } from '../../model/aspect-registry.ts'
import type { JsonObject, PatchDocument } from '../../model/changes.ts'
import { mergeDomains, printDomains, type DomainMembership } from '../../model/domains-document.ts'
import { equalJson } from '../../model/equal-json.ts'
import { applyPatch } from '../../model/json-patch.ts'
import { isNewer, seqOfChange, type Order } from '../../model/order.ts'
import type { Tx } from '../../db/database.ts'
import { findAssociations, writeAssociations, type AssociationRow } from '../../store/domains.ts'
import { findEntitiesById, type EntityRow } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'
import { checkWithinLimit, rememberEntity, urnOf, type WorkingSet } from './working-set.ts'

/** `storedDomain` is the domain that the stored row names; the changes at hand need not name it. */
export type AssociationCell = { entityId: number, row: AssociationRow | null, stored: AssociationRow | null, storedDomain: EntityRow | null }
export type AssociationCells = Map<number, AssociationCell>

export async function loadAssociationCells(tx: Tx, entityIds: readonly number[]): Promise<AssociationCells> {
  const cells: AssociationCells = new Map(entityIds.map((entityId) => [entityId, { entityId, row: null, stored: null, storedDomain: null }]))
  const rows = await findAssociations(tx, [...cells.keys()])
  const domains = await findEntitiesById(tx, [...new Set(rows.flatMap((row) => row.domainId ?? []))])
  const byId = new Map(domains.map((domain) => [domain.id, domain]))
  for (const row of rows) cells.set(row.entityId, { entityId: row.entityId, row, stored: row, storedDomain: byId.get(row.domainId ?? 0) ?? null })
  return cells
}

type AssociationFacts = {
  /** Whether the aspect itself was written: an empty one is there from then on, while taking an asset out of no domain leaves nothing. */
  isWritten?: boolean
  /** Of which change this is the work, where an undo restores it. */
  changedSeq?: number | null
}

/**
 * Puts an asset into a domain, or (null) out of any; says whether that changed anything. Throws FORBIDDEN where the
 * actor's token is limited and the domain is not within the limit.
 */
export function associate(set: WorkingSet, cell: AssociationCell, domainId: number | null, attributes: JsonObject | null, order: Order, { isWritten = false, changedSeq = null }: AssociationFacts = {}): boolean {
  if (domainId !== null) checkWithinLimit(set, domainId)
  const before = cell.row
  if (set.guards.keepsOrder && isNewer(before, order)) {
    // The older one was stated all the same: an asset that was in a domain once shows an empty list, and not nothing.
    if (before?.version === 0 && (domainId !== null || isWritten)) putRow(set, cell, { ...before, version: 1 })
    return false
  }
  const isSame = before && (isShown(before) || !isWritten) ? before.domainId === domainId && equalJson(before.attributes, attributes) : !isWritten && domainId === null && attributes === null
  putRow(set, cell, isSame && before
    ? { ...before, ...order, changedSeq: changedSeq ?? seqOfChange(before) }
    : { entityId: cell.entityId, domainId, version: isSame ? 0 : (before?.version ?? 0) + 1, ...order, attributes, actor: set.actor.urn, createdAt: set.now, changedSeq: isSame ? 0 : changedSeq })
  return !isSame
}

/** Whether the aspect is there to be read: version 0 only remembers that nothing was removed. */
export const isShown = (row: AssociationRow | null | undefined): row is AssociationRow => row !== null && row !== undefined && row.version > 0

function putRow(set: WorkingSet, cell: AssociationCell, row: AssociationRow): void {
  const before = cell.row
  cell.row = row
  set.undo.push(() => { cell.row = before })
}

/** The aspect `domains` of an association; null where none was ever written (version 0 remembers a removal of nothing). */
export function domainsDocument(row: Pick<AssociationRow, 'domainId' | 'attributes' | 'version'> | null, urnOfDomain: (id: number) => Urn): JsonObject | null {
  return row !== null && row.version > 0 ? printDomains(membershipOf(row, urnOfDomain)) : null
}

const membershipOf = (row: Pick<AssociationRow, 'domainId' | 'attributes'> | null, urnOfDomain: (id: number) => Urn): DomainMembership =>
  ({ domainUrn: row === null || row.domainId === null ? null : urnOfDomain(row.domainId), attributes: row?.attributes ?? null })

function storedUrn(set: WorkingSet, cell: AssociationCell): (id: number) => Urn {
  if (cell.storedDomain && !set.byId.has(cell.storedDomain.id)) rememberEntity(set, cell.storedDomain)
  return (id) => urnOf(set, id)
}

/** The membership that a document of the aspect `domains` means here. Throws VALIDATION_FAILED where its two lists contradict each other. */
export const domainsWritten = (set: WorkingSet, cell: AssociationCell, document: JsonObject): DomainMembership => mergeDomains(document, membershipOf(cell.row, storedUrn(set, cell)))

/** The membership after a patch. Throws VALIDATION_FAILED where the patch would leave more than one domain. */
export function domainsPatched(set: WorkingSet, cell: AssociationCell, patch: PatchDocument): DomainMembership {
  const entity = set.byId.get(cell.entityId)
  if (!entity) throw new CatalogError('NOT_FOUND', 'The asset does not exist.')
  const patched = applyPatch('domains', domainsDocument(cell.row, storedUrn(set, cell)), patch, set.patchBudget)
  // A list that the patch removed is empty now; left out, it would follow the other one.
  return domainsWritten(set, cell, prepareAspect(entity.entityType, 'domains', { domains: [], domainAssociations: [], ...patched }))
}

const isWorkOfOther = (row: AssociationRow, stored: AssociationRow | null): boolean => seqOfChange(row) !== (stored ? seqOfChange(stored) : 0)

/** Writes what has changed and tells the graph. */
export async function writeAssociationCells(tx: Tx, set: WorkingSet, cells: AssociationCells): Promise<void> {
  // An order that was raised and nothing else is worth a row only where something older may yet come.
  const mustRaise = set.older.isUnfinished && set.guards.raisesOrder
  const changed = [...cells.values()].flatMap((cell) => cell.row && (cell.row.version !== (cell.stored?.version ?? 0) || (mustRaise && cell.row !== cell.stored) || isWorkOfOther(cell.row, cell.stored)) ? [{ row: cell.row, stored: cell.stored }] : [])
  await writeAssociations(tx, changed.map(({ row }) => row))
  for (const { row, stored } of changed) {
    const isOther = row.domainId !== (stored?.domainId ?? null) || !equalJson(row.attributes, stored?.attributes ?? null)
    if (isOther || isWorkOfOther(row, stored)) {
      const left = seqOfChange(row) === set.seq ? {} : { left: seqOfChange(row) }
      set.journal?.note({ kind: 'association', entityId: row.entityId, before: stored && { ...stored, seq: seqOfChange(stored) }, ...left })
    }
    if (row.domainId !== (stored?.domainId ?? null)) set.graph.push({ kind: 'domain', id: row.entityId, domainId: row.domainId })
  }
}
