/**
 * Undoes one change of a load, if the value that the load left is still there.
 *
 * Each undo is a change of its own, with the order of the undo. It restores the value from before the load,
 * unless something newer has changed it since.
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
  deleteRow
} from '../../statements/merge.ts'
import type { AspectRow } from '../../store/aspects.ts'
import type { EntityRow } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'
import {
  applyAspectChange,
  changesOfLoad,
  currentValue,
  seqsOfChanges,
  type AspectDraft
} from './aspect-drafts.ts'
import { associate } from './association-drafts.ts'
import { aspectDraft, countEdgesInAspect, ownerStatements, type Drafts } from './drafts.ts'
import { takeOutDomain } from './domain-tree.ts'
import { stateSeq } from './write-statements.ts'
import { putBackDomain } from './undo-place.ts'
import { entityOf, isDeletedAfter, isPresentNow, type UnitOfWork } from './unit-of-work.ts'

/** Returns whether anything was undone. Throws a CatalogError if the change cannot be undone. */
export function undoChange(
  work: UnitOfWork,
  drafts: Drafts,
  change: UndoChange,
  order: Order
): Promise<boolean> | boolean {
  switch (change.kind) {
    case 'undoStatement':
      return undoStatement(work, drafts, change, order)
    case 'undoPatches':
      return undoPatches(work, drafts, change)
    case 'undoAspect':
      return undoAspect(work, drafts, change, order)
    case 'undoAssociation':
      return undoAssociation(work, drafts, change, order)
    case 'undoCreation':
      return undoCreation(work, drafts, change, order)
    case 'undoTakeBack':
      return undoTakeBack(work, change)
  }
}

type Undo<Kind extends UndoChange['kind']> = Extract<UndoChange, { kind: Kind }>

/** A position after every line of a load. */
const wholeLoad = (seq: number): Order => ({ seq, line: Number.MAX_SAFE_INTEGER })

function undoStatement(
  work: UnitOfWork,
  drafts: Drafts,
  change: Undo<'undoStatement'>,
  order: Order
): boolean {
  const { fieldCode: field, recordKey, seq, leftSeq, before } = change
  const owner = entityOf(work, change.ownerUrn)
  const { aspectName } = lineageFieldByCode(field)
  const key = {
    downstreamId: entityOf(work, change.downstreamUrn).id,
    upstreamId: entityOf(work, change.upstreamUrn).id,
    field,
    sourceId: work.sourceIds.get(change.source) ?? work.sourceId,
    recordKey
  }
  const aspect = aspectDraft(drafts, owner.id, aspectName)
  const statements = ownerStatements(drafts, owner.id, aspectName)
  const row = rowOfKey(statements, key)
  if (work.guards.undoesOnlyItsOwn) {
    if (
      [change.ownerUrn, change.downstreamUrn, change.upstreamUrn].some((urn) =>
        isDeletedAfter(work, urn, wholeLoad(seq))
      )
    )
      return false
    // Compares with the stored patches, because undoing another statement of the edge may already have
    // dropped them in memory.
    const isAsLeft =
      change.left === 'present'
        ? row !== undefined && stateSeq(row, statements.storedPatches) === leftSeq
        : row === undefined && !isEmptiedAfter(aspect, seq)
    if (!isAsLeft) return false
  }
  if (!before && !row) return false
  // The restored statement includes its patches. Patches that another statement of the edge needs stay,
  // except those of the load itself and those without effect.
  const isShared = rowsOfEdge(statements, key.downstreamId, key.upstreamId).some(
    (other) => other.field === field && other !== row
  )
  dropPatches(
    work.merging,
    statements,
    patchesOfEdge(statements, key).filter((patch) => !isShared || [0, leftSeq].includes(seqOfChange(patch)))
  )
  if (before) putRow(work.merging, statements, { ...key, ownerId: owner.id, ...before })
  else if (row) deleteRow(work.merging, statements, row)
  return countEdgesInAspect(work, drafts, statements, { isMade: false, hasChanged: true }, order)
}

type PatchOrder = Order & { ordinal: number; changedSeq?: number | null }

/**
 * If the edge is stated again, its statement includes the patches, so nothing is done. Otherwise the load's
 * own patches are dropped, and those that they superseded are restored.
 */
function undoPatches(work: UnitOfWork, drafts: Drafts, change: Undo<'undoPatches'>): boolean {
  const owner = entityOf(work, change.ownerUrn)
  const statements = ownerStatements(drafts, owner.id, lineageFieldByCode(change.fieldCode).aspectName)
  const key = {
    ownerId: owner.id,
    aspectCode: statements.aspectCode,
    field: change.fieldCode,
    downstreamId: entityOf(work, change.downstreamUrn).id,
    upstreamId: entityOf(work, change.upstreamUrn).id
  }
  if (
    [change.ownerUrn, change.downstreamUrn, change.upstreamUrn].some((urn) =>
      isDeletedAfter(work, urn, wholeLoad(Math.min(...change.seqs)))
    )
  )
    return false
  if (rowsOfEdge(statements, key.downstreamId, key.upstreamId).some((row) => row.field === key.field))
    return false
  const isSame = (a: PatchOrder, b: PatchOrder): boolean =>
    compareOrder(a, b) === 0 && a.ordinal === b.ordinal
  // Whether the load set this patch. A patch that it only repeated has its seq, but was set by another
  // change; a patch without effect was set by no change.
  const isWork = (patch: PatchOrder): boolean =>
    change.seqs.includes(seqOfChange(patch)) || (change.seqs.includes(patch.seq) && seqOfChange(patch) === 0)
  const known = patchesOfEdge(statements, key)
  const before = change.before.filter((patch) => !isWork(patch))
  const domainRemoved = known.filter(
    (patch) =>
      (isWork(patch) || change.seqs.includes(patch.seq)) && !before.some((each) => isSame(each, patch))
  )
  const missing = before.filter((patch) => !known.some((each) => isSame(each, patch)))
  dropPatches(work.merging, statements, domainRemoved)
  for (const patch of missing) addPatch(work.merging, statements, { ...key, ...patch })
  return domainRemoved.length + missing.length > 0
}

/** Whether the whole aspect has been deleted since `seq`. */
function isEmptiedAfter({ rows }: AspectDraft, seq: number): boolean {
  return rows.length > 0 && rows.at(-1)?.value === null && (seqsOfChanges(rows).at(-1) ?? 0) > seq
}

/**
 * The aspect before the load, and the seq of the change that set it; null if the load did not set the current
 * value.
 */
type AspectUndo = { first: AspectRow | null; previous: AspectRow | null; restores: number }

/**
 * The history has the value before each change. If the load changed its own earlier value, this goes back to
 * the value before that.
 */
function beforeLoad({ rows }: AspectDraft, seqs: readonly number[], isGuarded: boolean): AspectUndo | null {
  const workOf = seqsOfChanges(rows)
  const own = changesOfLoad(rows, seqs)
  const last = own.at(-1)
  if (last === undefined || (isGuarded && workOf[last] !== workOf.at(-1))) return null
  let at = last
  for (;;) {
    const before: number = at - 1
    const earlier: number | undefined = own.findLast(
      (index) => index < at && workOf[index] === workOf[before]
    )
    if (earlier === undefined)
      return { first: rows[at] ?? null, previous: rows[before] ?? null, restores: workOf[before] ?? 0 }
    at = earlier
  }
}

async function undoAspect(
  work: UnitOfWork,
  drafts: Drafts,
  { entityUrn, aspectName, seq, seqs, was }: Undo<'undoAspect'>,
  order: Order
): Promise<boolean> {
  const entity = entityOf(work, entityUrn)
  const draft = aspectDraft(drafts, entity.id, aspectName)
  const found = beforeLoad(draft, seqs, work.guards.undoesOnlyItsOwn)
  if (!found) return false
  const { first, previous, restores } = found
  // Undoing the first change that the load made to the aspect also undoes the others.
  if (!previous && (was === 'own' || first?.seq !== seq)) return false
  if (!previous && was === 'kept')
    throw new CatalogError(
      'UNSUPPORTED',
      `The ${aspectName} of ${entityUrn} before the load is no longer kept`,
      { urn: entityUrn, field: 'aspectName' }
    )
  const before = previous?.value ?? null
  if (before) {
    const author = { systemMetadata: previous?.systemMetadata ?? null }
    if (aspectName === 'domainProperties')
      return putBackDomain(
        work,
        drafts,
        draft,
        { kind: 'put', value: before, restores },
        { seqs, order, systemMetadata: author.systemMetadata }
      )
    return applyAspectChange(work, draft, { kind: 'put', value: before, restores }, order, author)
  }
  // A domain is undone as a whole. An aspect stays if it has edges that other changes state.
  if (aspectName === 'domainProperties' || hasEdges(drafts, entity.id, aspectName)) return false
  return applyAspectChange(work, draft, { kind: 'delete', restores }, order, { systemMetadata: null })
}

const hasEdges = (drafts: Drafts, entityId: number, aspectName: string): boolean =>
  isLineageAspect(aspectName) &&
  aspectCodeOf(aspectName) > 0 &&
  rowsOfOwner(ownerStatements(drafts, entityId, aspectName)).length > 0

function undoAssociation(
  work: UnitOfWork,
  drafts: Drafts,
  { entityUrn, leftSeq, before }: Undo<'undoAssociation'>,
  order: Order
): boolean {
  const draft = drafts.associations.get(entityOf(work, entityUrn).id)
  if (!draft) throw new Error('association was not loaded')
  if (work.guards.undoesOnlyItsOwn && (draft.row ? seqOfChange(draft.row) : 0) !== leftSeq) return false
  const restored = {
    kind: 'put',
    membership: { domainUrn: before.domainUrn, attributes: before.attributes },
    restores: before.changedSeq
  } as const
  if (before.domainUrn !== null && wasCreatedAndRemoved(work, drafts, entityOf(work, before.domainUrn)))
    throw gone(before.domainUrn, `${entityUrn} was in ${before.domainUrn}, which no longer exists`)
  return associate(work, draft, restored, order)
}

/**
 * Whether a domain was created and no longer exists. False for a domain that was only named, or whose creation
 * was undone: it can be named again.
 */
const wasCreatedAndRemoved = (work: UnitOfWork, drafts: Drafts, domain: EntityRow): boolean =>
  !isPresentNow(work, domain) &&
  (domain.deletedSeq !== null ||
    (seqsOfChanges(aspectDraft(drafts, domain.id, 'domainProperties').rows).at(-1) ?? 0) > 0)

const gone = (urn: Urn, message: string): CatalogError =>
  new CatalogError('MISSING_REFERENCE', message, { urn, field: 'domainUrn' })

/**
 * Makes the entity a placeholder again, as if it had only been named. The entity stays if anything else
 * refers to it.
 */
async function undoCreation(
  work: UnitOfWork,
  drafts: Drafts,
  { entityUrn, seqs }: Undo<'undoCreation'>,
  order: Order
): Promise<boolean> {
  const entity = entityOf(work, entityUrn)
  if (!isPresentNow(work, entity) || !drafts.unreferenced.has(entity.id)) return false
  if (entity.entityType === 'domain') {
    const draft = aspectDraft(drafts, entity.id, 'domainProperties')
    const found = currentValue(draft) ? beforeLoad(draft, seqs, work.guards.undoesOnlyItsOwn) : null
    if (currentValue(draft) && !found) return false
    if (!(await takeOutDomain(work, drafts.tree, entity.id, Math.min(...seqs)))) return false
    if (found)
      applyAspectChange(work, draft, { kind: 'delete', restores: found.restores }, order, {
        systemMetadata: null
      })
  }
  work.undoneCreations.add(entity.id)
  work.undo.push(() => {
    work.undoneCreations.delete(entity.id)
  })
  return true
}

function undoTakeBack(work: UnitOfWork, { entityUrn, seq }: Undo<'undoTakeBack'>): boolean {
  const entity = entityOf(work, entityUrn)
  if (isPresentNow(work, entity) || isDeletedAfter(work, entityUrn, wholeLoad(seq))) return false
  work.created.add(entity.id)
  work.undo.push(() => {
    work.created.delete(entity.id)
  })
  return true
}
