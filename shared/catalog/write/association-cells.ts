/**
 * Which domain an asset is in, as far as a transaction touches it: a fold of changes in their order, as an aspect is, for what a
 * patch or a list that changed means depends on what it meets.
 *
 * The last step is mirrored in domain_association. The steps themselves are kept in the history of the aspect `domains`, and
 * only while something older may still be applied.
 */
import { CatalogError } from '../../errors.ts'
import { prepareAspect } from '../../model/aspect-registry.ts'
import type { JsonObject, JsonValue, PatchDocument } from '../../model/changes.ts'
import { mergeDomains, printDomains, type DomainMembership } from '../../model/domains-document.ts'
import { equalJson } from '../../model/equal-json.ts'
import { applyPatch } from '../../model/json-patch.ts'
import { beginning, compareOrder, seqOfChange, type Order } from '../../model/order.ts'
import { TooMuchPatching } from '../../model/patch-work.ts'
import type { Tx } from '../../db/database.ts'
import {
  findAspectHistory,
  trimAspectHistory,
  writeAspectHistory,
  type AspectRow
} from '../../store/aspects.ts'
import { findAssociations, writeAssociations, type AssociationRow } from '../../store/domains.ts'
import { findEntities, findEntitiesById } from '../../store/entities.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import {
  checkWithinLimit,
  isDeletedAfter,
  referred,
  rememberEntity,
  urnOf,
  type WorkingSet
} from './working-set.ts'

export type AssociationChange =
  /** `isWritten`: the aspect itself was written, and is there from then on; taking an asset out of no domain leaves nothing. `restores`: of which change this is the work. */
  | { kind: 'put'; membership: DomainMembership; isWritten?: boolean; restores?: number | null }
  /** A document of the aspect, which may keep some of what it meets. */
  | { kind: 'write'; document: JsonObject }
  | { kind: 'patch'; patch: PatchDocument }

/** What one record did, and what it left; null where nothing was ever said. */
type AssociationStep = Order & {
  changes: AssociationChange[]
  membership: DomainMembership | null
  actor: string
  createdAt: Date
  changedSeq: number | null
}

/** `steps` are oldest first, the last one is that of `row`. Steps are never altered, only replaced. */
export type AssociationCell = {
  entityId: number
  row: AssociationRow | null
  stored: AssociationRow | null
  steps: readonly AssociationStep[]
  storedSteps: ReadonlySet<AssociationStep>
}
export type AssociationCells = Map<number, AssociationCell>

export async function loadAssociationCells(
  tx: Tx,
  set: WorkingSet,
  entityIds: readonly number[]
): Promise<AssociationCells> {
  const ids = [...new Set(entityIds)]
  const rows = await findAssociations(tx, ids)
  const history = await findAspectHistory(
    tx,
    rows
      .filter((row) => set.older.isUnfinished || row.seq >= set.seq)
      .map(({ entityId }) => ({ entityId, aspectName }))
  )
  // What is replayed may name domains that the changes at hand do not.
  const urns = [...new Set(history.flatMap((row) => domainsIn([row.change, row.value])))].filter(
    (urn) => !set.entities.has(urn)
  )
  for (const row of await findEntities(tx, urns)) rememberEntity(set, row)
  const domainIds = [...new Set(rows.flatMap((row) => row.domainId ?? []))].filter((id) => !set.byId.has(id))
  for (const row of await findEntitiesById(tx, domainIds)) rememberEntity(set, row)
  const stored = new Map(rows.map((row) => [row.entityId, row]))
  const stepsOf = new Map<number, AssociationStep[]>()
  for (const row of history)
    stepsOf.set(row.entityId, [...(stepsOf.get(row.entityId) ?? []), restoredStep(row)])
  return new Map(
    ids.map((entityId) => {
      const row = stored.get(entityId) ?? null
      const known = stepsOf.get(entityId) ?? []
      return [
        entityId,
        { entityId, row, stored: row, steps: withBase(set, known, row), storedSteps: new Set(known) }
      ]
    })
  )
}

const aspectName = 'domains'

function domainsIn(value: JsonValue): Urn[] {
  if (typeof value === 'string') return value.startsWith('urn:li:domain:') ? [toUrn(value)] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(domainsIn) : []
}

/** What was said when nothing older was unfinished has no step of its own: it is the base of those that came after. */
function withBase(set: WorkingSet, steps: AssociationStep[], row: AssociationRow | null): AssociationStep[] {
  const last = steps.at(-1)
  if (!row || (last && compareOrder(last, row) === 0)) return steps
  const { seq, line, actor, createdAt, changedSeq = null } = row
  const membership = {
    domainUrn: row.domainId === null ? null : urnOf(set, row.domainId),
    attributes: row.attributes
  }
  return [
    ...steps,
    {
      seq,
      line,
      actor,
      createdAt,
      changedSeq,
      changes: [{ kind: 'put', membership, isWritten: isShown(row), restores: changedSeq }],
      membership: isShown(row) ? membership : null
    }
  ]
}

/**
 * Makes a change at its place, and those that are newer again over it; says whether that changed where the asset is. Throws
 * FORBIDDEN where the actor's token is limited and the domain is not within the limit, VALIDATION_FAILED where the change would
 * leave more than one domain, MISSING_REFERENCE, and what a patch throws that does not fit.
 */
export function associate(
  set: WorkingSet,
  cell: AssociationCell,
  change: AssociationChange,
  order: Order
): boolean {
  let place = cell.steps.length
  if (set.guards.keepsOrder)
    while (place > 0 && compareOrder(cell.steps[place - 1] ?? order, order) > 0) place -= 1
  const last = visibleAt(cell.steps[place - 1], order)
  const membership = membershipAfter(set, cell, change, last?.membership ?? null, order)
  if (membership?.domainUrn) checkWithinLimit(set, referred(set, membership.domainUrn, 'domainUrn').id)
  const isSameRecord = last !== null && compareOrder(last, order) === 0
  const steps = cell.steps.slice(0, isSameRecord ? place - 1 : place)
  const changes = [...(isSameRecord ? last.changes : []), change]
  steps.push(
    stepAfter(steps.at(-1) ?? null, {
      ...order,
      changes,
      membership,
      actor: set.actor.urn,
      createdAt: set.now,
      changedSeq: null
    })
  )
  for (const later of cell.steps.slice(place)) {
    const found = visibleAt(steps.at(-1), later)?.membership ?? null
    steps.push(stepAfter(steps.at(-1) ?? null, { ...later, membership: again(set, cell, later, found) }))
  }
  const { row: before, steps: stepsBefore } = cell
  set.undo.push(() => {
    Object.assign(cell, { row: before, steps: stepsBefore })
  })
  const hasChanged = !isSame(stepsBefore.at(-1)?.membership ?? null, steps.at(-1)?.membership ?? null)
  cell.steps = steps
  cell.row = rowOf(set, cell, steps.at(-1), (before?.version ?? 0) + (hasChanged ? 1 : 0))
  return hasChanged
}

/**
 * Puts the asset into a domain where nothing has been said about its domain yet, and says whether it did. What it does is the oldest step there is,
 * and the work of this transaction: any other change of the domain wins over it, also one that was accepted before and is applied later, and it can be undone.
 */
export function offerDomain(set: WorkingSet, cell: AssociationCell, domainUrn: Urn): boolean {
  const { row: before, steps: stepsBefore } = cell
  if (before && !(before === cell.stored && isTakenBack(before))) return false
  const undone = stepsBefore.at(-1)
  const step: AssociationStep = {
    ...(undone ? { seq: undone.seq, line: undone.line } : beginning),
    changes: [
      ...(undone?.changes ?? []),
      { kind: 'put', membership: { domainUrn, attributes: null }, restores: set.seq }
    ],
    membership: { domainUrn, attributes: null },
    actor: set.actor.urn,
    createdAt: set.now,
    changedSeq: set.seq
  }
  set.undo.push(() => {
    Object.assign(cell, { row: before, steps: stepsBefore })
  })
  cell.steps = [...stepsBefore.slice(0, -1), step]
  cell.row = rowOf(set, cell, step, (before?.version ?? 0) + 1)
  return true
}

/** Whether an undo has left the asset as if nothing had been said about its domain. */
const isTakenBack = (row: AssociationRow): boolean =>
  isShown(row) && row.domainId === null && seqOfChange(row) === 0

/** What a change finds: the step before it, but not one that is the work of something accepted later (offerDomain). */
const visibleAt = (step: AssociationStep | undefined, { seq }: Order): AssociationStep | null =>
  step && seqOfChange(step) <= seq ? step : null

/** Makes what is left of the steps again: after a late deletion of the asset upon nothing, after one of its domain without it. */
export async function replayAssociations(
  tx: Tx,
  set: WorkingSet,
  entityIds: readonly number[]
): Promise<void> {
  const cells = await loadAssociationCells(tx, set, entityIds)
  for (const cell of cells.values()) {
    if (!cell.row) continue
    const steps: AssociationStep[] = []
    for (const step of cell.steps) {
      const found = visibleAt(steps.at(-1), step)?.membership ?? null
      steps.push(stepAfter(steps.at(-1) ?? null, { ...step, membership: again(set, cell, step, found) }))
    }
    const [before, after] = [cell.steps.at(-1)?.membership ?? null, steps.at(-1)?.membership ?? null]
    cell.steps = steps
    cell.row = rowOf(
      set,
      cell,
      steps.at(-1),
      after === null ? 0 : cell.row.version + (isSame(before, after) ? 0 : 1)
    )
  }
  await writeAssociationCells(tx, set, cells)
}

const isSame = (a: DomainMembership | null, b: DomainMembership | null): boolean =>
  a === null || b === null ? a === b : a.domainUrn === b.domainUrn && equalJson(a.attributes, b.attributes)

/** Who finds all as it says does no work of its own. */
function stepAfter(previous: AssociationStep | null, step: AssociationStep): AssociationStep {
  const restores = step.changes.findLast(
    (change) => change.kind === 'put' && typeof change.restores === 'number'
  )
  const restored = restores?.kind === 'put' ? (restores.restores ?? null) : null
  if (!isSame(previous?.membership ?? null, step.membership)) return { ...step, changedSeq: restored }
  return {
    ...step,
    changedSeq: restored ?? (previous ? seqOfChange(previous) : 0),
    ...(previous ? { actor: previous.actor, createdAt: previous.createdAt } : {})
  }
}

/** What was accepted before is made again; where it does not fit what it meets, nothing changes. */
function again(
  set: WorkingSet,
  cell: AssociationCell,
  step: AssociationStep,
  previous: DomainMembership | null
): DomainMembership | null {
  let membership = previous
  for (const change of step.changes) {
    try {
      membership = membershipAfter(set, cell, change, membership, {
        ...step,
        seq: Math.max(step.seq, seqOfChange(step))
      })
    } catch (error) {
      if (!(error instanceof CatalogError) || error instanceof TooMuchPatching) throw error
    }
  }
  return membership
}

const nowhere: DomainMembership = { domainUrn: null, attributes: null }

function membershipAfter(
  set: WorkingSet,
  cell: AssociationCell,
  change: AssociationChange,
  previous: DomainMembership | null,
  order: Order
): DomainMembership | null {
  const membership = saidBy(set, cell, change, previous)
  if (membership.domainUrn !== null) referred(set, membership.domainUrn, 'domainUrn')
  const found =
    membership.domainUrn !== null && isDeletedAfter(set, membership.domainUrn, order) ? nowhere : membership
  const isWritten = change.kind !== 'put' || change.isWritten === true
  return previous === null && !isWritten && isSame(found, nowhere) ? null : found
}

function saidBy(
  set: WorkingSet,
  { entityId }: AssociationCell,
  change: AssociationChange,
  previous: DomainMembership | null
): DomainMembership {
  if (change.kind === 'put') return change.membership
  if (change.kind === 'write') return mergeDomains(change.document, previous ?? nowhere)
  const entity = set.byId.get(entityId)
  if (!entity) throw new CatalogError('NOT_FOUND', 'The asset does not exist.')
  const patched = applyPatch(aspectName, previous && printDomains(previous), change.patch, set.patchBudget)
  // A list that the patch removed is empty now; left out, it would follow the other one.
  return mergeDomains(
    prepareAspect(entity.entityType, aspectName, { domains: [], domainAssociations: [], ...patched }),
    previous ?? nowhere
  )
}

/** Version 0 only remembers the order of what removed nothing. */
function rowOf(
  set: WorkingSet,
  { entityId }: AssociationCell,
  step: AssociationStep | undefined,
  version: number
): AssociationRow | null {
  if (!step) return null
  const { seq, line, membership, actor, createdAt, changedSeq } = step
  const { domainUrn, attributes } = membership ?? nowhere
  return {
    entityId,
    domainId: domainUrn === null ? null : referred(set, domainUrn, 'domainUrn').id,
    attributes,
    version,
    seq,
    line,
    actor,
    createdAt,
    changedSeq
  }
}

/** Whether the aspect is there to be read: version 0 only remembers that nothing was removed. */
export const isShown = (row: AssociationRow | null | undefined): row is AssociationRow =>
  row !== null && row !== undefined && row.version > 0

/** The domains that the steps name. */
export const domainsNamed = (set: WorkingSet, { steps }: AssociationCell): number[] =>
  steps.flatMap(({ membership }) =>
    membership?.domainUrn ? (set.entities.get(membership.domainUrn)?.id ?? []) : []
  )

const storedStep = (
  entityId: number,
  { changes, changedSeq, membership, ...step }: AssociationStep
): AspectRow => ({
  ...step,
  entityId,
  aspectName,
  version: 0,
  kind: 'several',
  change: { changes, changedSeq } as unknown as JsonObject,
  value: membership && printDomains(membership),
  systemMetadata: null
})

function restoredStep({ seq, line, change, value, actor, createdAt }: AspectRow): AssociationStep {
  const { changes, changedSeq } = change as unknown as Pick<AssociationStep, 'changes' | 'changedSeq'>
  return {
    seq,
    line,
    changes,
    changedSeq,
    membership: value && mergeDomains(value, nowhere),
    actor,
    createdAt
  }
}

const isWorkOfOther = (row: AssociationRow, stored: AssociationRow | null): boolean =>
  seqOfChange(row) !== (stored ? seqOfChange(stored) : 0)

/** Writes what has changed and tells the graph. */
export async function writeAssociationCells(tx: Tx, set: WorkingSet, cells: AssociationCells): Promise<void> {
  // Steps, and an order that was raised and nothing else, are worth rows only where something may yet come before the last step.
  const keepsSteps = (row: AssociationRow): boolean =>
    set.guards.raisesOrder && (set.older.isUnfinished || row.seq > set.seq)
  const changed = [...cells.values()].flatMap((cell) =>
    cell.row &&
    (cell.row.version !== (cell.stored?.version ?? 0) ||
      (keepsSteps(cell.row) && cell.row !== cell.stored) ||
      isWorkOfOther(cell.row, cell.stored))
      ? [{ cell, row: cell.row, stored: cell.stored }]
      : []
  )
  await writeAssociations(
    tx,
    changed.map(({ row }) => row)
  )
  const kept = changed.flatMap(({ cell, row }) => (keepsSteps(row) ? [cell] : []))
  await writeAspectHistory(
    tx,
    kept.flatMap((cell) =>
      cell.steps.filter((step) => !cell.storedSteps.has(step)).map((step) => storedStep(cell.entityId, step))
    )
  )
  await trimAspectHistory(
    tx,
    kept.map(({ entityId }) => ({ entityId, aspectName, version: 1 })),
    set.older.horizonSeq
  )
  for (const { row, stored } of changed) {
    const isOther =
      row.domainId !== (stored?.domainId ?? null) || !equalJson(row.attributes, stored?.attributes ?? null)
    if (isOther || isWorkOfOther(row, stored)) {
      const left = seqOfChange(row) === set.seq ? {} : { left: seqOfChange(row) }
      set.journal?.note({
        kind: 'association',
        entityId: row.entityId,
        before: stored && { ...stored, seq: seqOfChange(stored) },
        ...left
      })
    }
    if (row.domainId !== (stored?.domainId ?? null))
      set.graph.push({ kind: 'domain', id: row.entityId, domainId: row.domainId })
  }
}
