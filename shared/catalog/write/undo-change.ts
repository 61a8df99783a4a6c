/**
 * Takes back one change of a load, where what the load left is still what is there.
 *
 * Each is a change of its own, as new as the undo: it restores what the load found, and leaves alone what something newer has
 * changed since.
 */
import { CatalogError } from '../../errors.ts'
import { aspectCodeOf, isLineageAspect, lineageFieldByCode } from '../../model/lineage-fields.ts'
import type { UndoChange } from '../../model/changes.ts'
import { compareOrder, seqOfChange, type Order } from '../../model/order.ts'
import {
  addPatch,
  dropPatches,
  patchesOfEdge,
  putRow,
  rowOfKey,
  rowsOfEdge,
  rowsOfOwner,
  takeRow
} from '../../statements/merge.ts'
import type { AspectRow } from '../../store/aspects.ts'
import type { EntityRow } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'
import {
  applyAspectChange,
  changesOfLoad,
  currentValue,
  seqsOfChanges,
  type AspectCell
} from './aspect-cells.ts'
import { associate } from './association-cells.ts'
import { aspectCell, showEdges, statementsOf, type Cells } from './cells.ts'
import { takeOutDomain } from './domain-tree.ts'
import { stateSeq } from './write-statements.ts'
import { putBackDomain } from './undo-place.ts'
import { entityOf, isDeletedAfter, isPresentNow, type WorkingSet } from './working-set.ts'

/** Says whether anything was taken back. Throws the CatalogError of what makes that impossible. */
export function undoChange(
  set: WorkingSet,
  cells: Cells,
  change: UndoChange,
  order: Order
): Promise<boolean> | boolean {
  switch (change.kind) {
    case 'undoStatement':
      return undoStatement(set, cells, change, order)
    case 'undoPatches':
      return undoPatches(set, cells, change)
    case 'undoAspect':
      return undoAspect(set, cells, change, order)
    case 'undoAssociation':
      return undoAssociation(set, cells, change, order)
    case 'undoCreation':
      return undoCreation(set, cells, change, order)
    case 'undoTakeBack':
      return undoTakeBack(set, change)
  }
}

type Undo<Kind extends UndoChange['kind']> = Extract<UndoChange, { kind: Kind }>

/** After every line of a load. */
const wholeLoad = (seq: number): Order => ({ seq, line: Number.MAX_SAFE_INTEGER })

function undoStatement(set: WorkingSet, cells: Cells, change: Undo<'undoStatement'>, order: Order): boolean {
  const { fieldCode: field, recordKey, seq, leftSeq, before } = change
  const owner = entityOf(set, change.ownerUrn)
  const { aspectName } = lineageFieldByCode(field)
  const key = {
    downstreamId: entityOf(set, change.downstreamUrn).id,
    upstreamId: entityOf(set, change.upstreamUrn).id,
    field,
    sourceId: set.sourceIds.get(change.source) ?? set.sourceId,
    recordKey
  }
  const aspect = aspectCell(cells, owner.id, aspectName)
  const statements = statementsOf(cells, owner.id, aspectName)
  const row = rowOfKey(statements, key)
  if (set.guards.undoesOnlyItsOwn) {
    if (
      [change.ownerUrn, change.downstreamUrn, change.upstreamUrn].some((urn) =>
        isDeletedAfter(set, urn, wholeLoad(seq))
      )
    )
      return false
    // As stored: another statement of the edge may have had its patches dropped already.
    const isAsLeft =
      change.left === 'present'
        ? row !== undefined && stateSeq(row, statements.storedPatches) === leftSeq
        : row === undefined && !isEmptiedAfter(aspect, seq)
    if (!isAsLeft) return false
  }
  if (!before && !row) return false
  // What a statement said has its patches in it; those that others still need stay, but for the load's own and those that changed nothing.
  const isShared = rowsOfEdge(statements, key.downstreamId, key.upstreamId).some(
    (other) => other.field === field && other !== row
  )
  dropPatches(
    set.merging,
    statements,
    patchesOfEdge(statements, key).filter((patch) => !isShared || [0, leftSeq].includes(seqOfChange(patch)))
  )
  if (before) putRow(set.merging, statements, { ...key, ownerId: owner.id, ...before })
  else if (row) takeRow(set.merging, statements, row)
  return showEdges(set, cells, statements, { isMade: false, hasChanged: true }, order)
}

type PatchOrder = Order & { ordinal: number; changedSeq?: number | null }

/** An edge that is stated again shows what patches said in its statement. Otherwise the load's own go, and what it made idle is back. */
function undoPatches(set: WorkingSet, cells: Cells, change: Undo<'undoPatches'>): boolean {
  const owner = entityOf(set, change.ownerUrn)
  const statements = statementsOf(cells, owner.id, lineageFieldByCode(change.fieldCode).aspectName)
  const key = {
    ownerId: owner.id,
    aspectCode: statements.aspectCode,
    field: change.fieldCode,
    downstreamId: entityOf(set, change.downstreamUrn).id,
    upstreamId: entityOf(set, change.upstreamUrn).id
  }
  if (
    [change.ownerUrn, change.downstreamUrn, change.upstreamUrn].some((urn) =>
      isDeletedAfter(set, urn, wholeLoad(Math.min(...change.seqs)))
    )
  )
    return false
  if (rowsOfEdge(statements, key.downstreamId, key.upstreamId).some((row) => row.field === key.field))
    return false
  const isSame = (a: PatchOrder, b: PatchOrder): boolean =>
    compareOrder(a, b) === 0 && a.ordinal === b.ordinal
  // What the load only said again bears its seq and is the work of another; what it said in vain is nobody's.
  const isWork = (patch: PatchOrder): boolean =>
    change.seqs.includes(seqOfChange(patch)) || (change.seqs.includes(patch.seq) && seqOfChange(patch) === 0)
  const known = patchesOfEdge(statements, key)
  const before = change.before.filter((patch) => !isWork(patch))
  const gone = known.filter(
    (patch) =>
      (isWork(patch) || change.seqs.includes(patch.seq)) && !before.some((each) => isSame(each, patch))
  )
  const missing = before.filter((patch) => !known.some((each) => isSame(each, patch)))
  dropPatches(set.merging, statements, gone)
  for (const patch of missing) addPatch(set.merging, statements, { ...key, ...patch })
  return gone.length + missing.length > 0
}

/** Whether the whole aspect has been deleted since. */
function isEmptiedAfter({ rows }: AspectCell, seq: number): boolean {
  return rows.length > 0 && rows.at(-1)?.value === null && (seqsOfChanges(rows).at(-1) ?? 0) > seq
}

/** What an aspect was before the load, and of which change that was the work; null where the load's work is not what is there. */
type AspectUndo = { first: AspectRow | null; previous: AspectRow | null; restores: number }

/** What was before a change is in the history. What the load changed after its own earlier work is gone back through to before that. */
function beforeLoad({ rows }: AspectCell, seqs: readonly number[], isGuarded: boolean): AspectUndo | null {
  const made = seqsOfChanges(rows)
  const own = changesOfLoad(rows, seqs)
  const last = own.at(-1)
  if (last === undefined || (isGuarded && made[last] !== made.at(-1))) return null
  let at = last
  for (;;) {
    const before: number = at - 1
    const earlier: number | undefined = own.findLast((index) => index < at && made[index] === made[before])
    if (earlier === undefined)
      return { first: rows[at] ?? null, previous: rows[before] ?? null, restores: made[before] ?? 0 }
    at = earlier
  }
}

async function undoAspect(
  set: WorkingSet,
  cells: Cells,
  { entityUrn, aspectName, seq, seqs, was }: Undo<'undoAspect'>,
  order: Order
): Promise<boolean> {
  const entity = entityOf(set, entityUrn)
  const cell = aspectCell(cells, entity.id, aspectName)
  const found = beforeLoad(cell, seqs, set.guards.undoesOnlyItsOwn)
  if (!found) return false
  const { first, previous, restores } = found
  // What the load itself had made of it is taken back by the first that it did.
  if (!previous && (was === 'own' || first?.seq !== seq)) return false
  if (!previous && was === 'kept')
    throw new CatalogError(
      'UNSUPPORTED',
      `What ${aspectName} of ${entityUrn} was before the load is no longer kept`,
      { urn: entityUrn, field: 'aspectName' }
    )
  const before = previous?.value ?? null
  if (before) {
    const author = { systemMetadata: previous?.systemMetadata ?? null }
    if (aspectName === 'domainProperties')
      return putBackDomain(
        set,
        cells,
        cell,
        { kind: 'put', value: before, restores },
        { seqs, order, systemMetadata: author.systemMetadata }
      )
    return applyAspectChange(set, cell, { kind: 'put', value: before, restores }, order, author)
  }
  // A domain is taken back as a whole, and an aspect with edges of others stays.
  if (aspectName === 'domainProperties' || hasEdges(cells, entity.id, aspectName)) return false
  return applyAspectChange(set, cell, { kind: 'delete', restores }, order, { systemMetadata: null })
}

const hasEdges = (cells: Cells, entityId: number, aspectName: string): boolean =>
  isLineageAspect(aspectName) &&
  aspectCodeOf(aspectName) > 0 &&
  rowsOfOwner(statementsOf(cells, entityId, aspectName)).length > 0

function undoAssociation(
  set: WorkingSet,
  cells: Cells,
  { entityUrn, leftSeq, before }: Undo<'undoAssociation'>,
  order: Order
): boolean {
  const cell = cells.associations.get(entityOf(set, entityUrn).id)
  if (!cell) throw new Error('association was not loaded')
  if (set.guards.undoesOnlyItsOwn && (cell.row ? seqOfChange(cell.row) : 0) !== leftSeq) return false
  const restored = {
    kind: 'put',
    membership: { domainUrn: before.domainUrn, attributes: before.attributes },
    restores: before.changedSeq
  } as const
  if (before.domainUrn !== null && isMadeAndGone(set, cells, entityOf(set, before.domainUrn)))
    throw gone(before.domainUrn, `${entityUrn} was in ${before.domainUrn}, which no longer exists`)
  return associate(set, cell, restored, order)
}

/** A domain that nobody has made yet was only named, and may be named again; so may one whose making has been undone. */
const isMadeAndGone = (set: WorkingSet, cells: Cells, domain: EntityRow): boolean =>
  !isPresentNow(set, domain) &&
  (domain.deletedSeq !== null ||
    (seqsOfChanges(aspectCell(cells, domain.id, 'domainProperties').rows).at(-1) ?? 0) > 0)

const gone = (urn: Urn, message: string): CatalogError =>
  new CatalogError('MISSING_REFERENCE', message, { urn, field: 'domainUrn' })

/** The entity is a placeholder again, as anything that is named and not described. Stays where anything else refers to it. */
async function undoCreation(
  set: WorkingSet,
  cells: Cells,
  { entityUrn, seqs }: Undo<'undoCreation'>,
  order: Order
): Promise<boolean> {
  const entity = entityOf(set, entityUrn)
  if (!isPresentNow(set, entity) || !cells.unmakeable.has(entity.id)) return false
  if (entity.entityType === 'domain') {
    const cell = aspectCell(cells, entity.id, 'domainProperties')
    const found = currentValue(cell) ? beforeLoad(cell, seqs, set.guards.undoesOnlyItsOwn) : null
    if (currentValue(cell) && !found) return false
    if (!(await takeOutDomain(set, cells.tree, entity.id, Math.min(...seqs)))) return false
    if (found)
      applyAspectChange(set, cell, { kind: 'delete', restores: found.restores }, order, {
        systemMetadata: null
      })
  }
  set.takenBack.add(entity.id)
  set.undo.push(() => {
    set.takenBack.delete(entity.id)
  })
  return true
}

function undoTakeBack(set: WorkingSet, { entityUrn, seq }: Undo<'undoTakeBack'>): boolean {
  const entity = entityOf(set, entityUrn)
  if (isPresentNow(set, entity) || isDeletedAfter(set, entityUrn, wholeLoad(seq))) return false
  set.created.add(entity.id)
  set.undo.push(() => {
    set.created.delete(entity.id)
  })
  return true
}
