/**
 * Takes back one change of a load, where what the load left is still what is there.
 *
 * Each is a change of its own, as new as the undo: it restores what the load found, and leaves alone what something newer has
 * changed since.
 */
import { CatalogError } from '../../errors.ts'
import { aspectCodeOf, isLineageAspect, lineageFieldByCode } from '../../model/lineage-fields.ts'
import type { UndoChange } from '../../model/changes.ts'
import { equalJson } from '../../model/equal-json.ts'
import type { Order } from '../../model/order.ts'
import type { Urn } from '../../urn/urn.ts'
import { applyAspectChange, currentRow, currentValue, type AspectCell } from './aspect-cells.ts'
import { associate } from './association-cells.ts'
import { aspectCell, edgeCell, showEdges, withPlace, type Cells } from './cells.ts'
import { takeOutDomain } from './domain-tree.ts'
import { dropPatches, patchesOfEdge, put, rowKey, take } from './edge-cells.ts'
import { entityOf, isDeletedAfter, isPresentNow, type WorkingSet } from './working-set.ts'

/** Says whether anything was taken back. Throws the CatalogError of what makes that impossible. */
export function undoChange(set: WorkingSet, cells: Cells, change: UndoChange, order: Order): Promise<boolean> | boolean {
  switch (change.kind) {
    case 'undoStatement': return undoStatement(set, cells, change, order)
    case 'undoAspect': return undoAspect(set, cells, change, order)
    case 'undoAssociation': return undoAssociation(set, cells, change, order)
    case 'undoCreation': return undoCreation(set, cells, change, order)
    case 'undoTakeBack': return undoTakeBack(set, change)
  }
}

type Undo<Kind extends UndoChange['kind']> = Extract<UndoChange, { kind: Kind }>

/** After every line of a load. */
const wholeLoad = (seq: number): Order => ({ seq, line: Number.MAX_SAFE_INTEGER })

function undoStatement(set: WorkingSet, cells: Cells, change: Undo<'undoStatement'>, order: Order): boolean {
  const { fieldCode: field, recordKey, seq, before } = change
  const owner = entityOf(set, change.ownerUrn)
  const { aspectName } = lineageFieldByCode(field)
  const key = { downstreamId: entityOf(set, change.downstreamUrn).id, upstreamId: entityOf(set, change.upstreamUrn).id, field, sourceId: set.sourceIds.get(change.source) ?? set.sourceId, recordKey }
  const aspect = aspectCell(cells, owner.id, aspectName)
  const cell = edgeCell(cells, owner.id, aspectName)
  const row = cell.rows.get(rowKey(key))
  const patches = row ? patchesOfEdge(cell, row) : []
  if (set.guards.undoesOnlyItsOwn) {
    if ([change.ownerUrn, change.downstreamUrn, change.upstreamUrn].some((urn) => isDeletedAfter(set, urn, wholeLoad(seq)))) return false
    // A patch is a change of what the statement says.
    const isAsLeft = change.left === 'present' ? row !== undefined && Math.max(row.seq, ...patches.map((patch) => patch.seq)) === seq : row === undefined && !isEmptiedAfter(aspect, seq)
    if (!isAsLeft) return false
  }
  dropPatches(set, cell, patches.filter((patch) => patch.seq === seq))
  if (before) put(set, cell, { ...key, ownerId: owner.id, ...before, ...order })
  else if (row) take(set, cell, row)
  else return false
  return showEdges(set, aspect, cell, { isMade: false, hasChanged: true }, order)
}

/** Whether the whole aspect has been deleted since. */
function isEmptiedAfter(cell: AspectCell, seq: number): boolean {
  const current = currentRow(cell)
  return current !== null && current.value === null && current.seq > seq
}

/** What the aspect was before the load is in its history: the changes of the load must be its last ones. */
async function undoAspect(set: WorkingSet, cells: Cells, { entityUrn, aspectName, seq, seqs, was }: Undo<'undoAspect'>, order: Order): Promise<boolean> {
  const entity = entityOf(set, entityUrn)
  const cell = aspectCell(cells, entity.id, aspectName)
  const isOfLoad = (row: { seq: number }): boolean => seqs.includes(row.seq)
  const last = cell.rows.findLastIndex(isOfLoad)
  if (last === -1 || (last < cell.rows.length - 1 && set.guards.undoesOnlyItsOwn)) return false
  const first = 1 + cell.rows.slice(0, last).findLastIndex((row) => !isOfLoad(row))
  const previous = cell.rows[first - 1] ?? null
  // What the load itself had made of it is taken back by the first that it did.
  if (!previous && (was === 'own' || cell.rows[first]?.seq !== seq)) return false
  if (!previous && was === 'kept') throw new CatalogError('UNSUPPORTED', `What ${aspectName} of ${entityUrn} was before the load is no longer kept`, { urn: entityUrn, field: 'aspectName' })
  const before = previous?.value ?? null
  if (equalJson(before, currentValue(cell))) return false
  if (before) {
    const author = { systemMetadata: previous?.systemMetadata ?? null }
    if (aspectName === 'domainProperties') return withPlace(set, cells, cell, { kind: 'put', value: before }, 'in this domain', order, author.systemMetadata)
    return applyAspectChange(set, cell, { kind: 'put', value: before }, order, author)
  }
  // A domain is taken back as a whole, and an aspect with edges of others stays.
  if (aspectName === 'domainProperties' || hasEdges(cells, entity.id, aspectName)) return false
  return applyAspectChange(set, cell, { kind: 'delete' }, order, { systemMetadata: null })
}

const hasEdges = (cells: Cells, entityId: number, aspectName: string): boolean =>
  isLineageAspect(aspectName) && aspectCodeOf(aspectName) > 0 && edgeCell(cells, entityId, aspectName).rows.size > 0

function undoAssociation(set: WorkingSet, cells: Cells, { entityUrn, seq, before }: Undo<'undoAssociation'>, order: Order): boolean {
  const cell = cells.associations.get(entityOf(set, entityUrn).id)
  if (!cell) throw new Error('association was not loaded')
  if (set.guards.undoesOnlyItsOwn && cell.row?.seq !== seq) return false
  if (before.domainUrn === null) return associate(set, cell, null, before.attributes, order)
  const domain = entityOf(set, before.domainUrn)
  if (!isPresentNow(set, domain)) throw gone(before.domainUrn, `${entityUrn} was in ${before.domainUrn}, which no longer exists`)
  return associate(set, cell, domain.id, before.attributes, order)
}

const gone = (urn: Urn, message: string): CatalogError => new CatalogError('MISSING_REFERENCE', message, { urn, field: 'domainUrn' })

/** The entity is a placeholder again, as anything that is named and not described. Stays where anything else refers to it. */
async function undoCreation(set: WorkingSet, cells: Cells, { entityUrn, seqs }: Undo<'undoCreation'>, order: Order): Promise<boolean> {
  const entity = entityOf(set, entityUrn)
  if (!isPresentNow(set, entity) || !cells.unmakeable.has(entity.id)) return false
  if (entity.entityType === 'domain') {
    const cell = aspectCell(cells, entity.id, 'domainProperties')
    const current = currentRow(cell)
    if (current?.value && !seqs.includes(current.seq)) return false
    if (!await takeOutDomain(set, cells.tree, entity.id)) return false
    if (current?.value) applyAspectChange(set, cell, { kind: 'delete' }, order, { systemMetadata: null })
  }
  set.takenBack.add(entity.id)
  set.undo.push(() => { set.takenBack.delete(entity.id) })
  return true
}

function undoTakeBack(set: WorkingSet, { entityUrn, seq }: Undo<'undoTakeBack'>): boolean {
  const entity = entityOf(set, entityUrn)
  if (isPresentNow(set, entity) || isDeletedAfter(set, entityUrn, wholeLoad(seq))) return false
  set.created.add(entity.id)
  set.undo.push(() => { set.created.delete(entity.id) })
  return true
}
