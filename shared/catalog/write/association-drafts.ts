/**
 * The domains of the assets that a transaction touches: a fold of changes in their order, as with aspects,
 * because the meaning of a patch or of a changed list depends on the value before it.
 *
 * The last step is mirrored in domain_association. The steps themselves are stored in the history of the
 * aspect `domains`, but only while something older may still be applied.
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
  type UnitOfWork
} from './unit-of-work.ts'

export type AssociationChange =
  /**
   * `isWritten`: the aspect itself was written, so it exists from then on. Removing an asset that is in no
   * domain does not create it. `restores`: the seq of the change that an undo restores.
   */
  | { kind: 'put'; membership: DomainMembership; isWritten?: boolean; restores?: number | null }
  /** A document of the aspect, which may keep parts of the value before it. */
  | { kind: 'write'; document: JsonObject }
  | { kind: 'patch'; patch: PatchDocument }

/** The changes of one record, and their result; null when no domain was ever set or removed. */
type AssociationStep = Order & {
  changes: AssociationChange[]
  membership: DomainMembership | null
  actor: string
  createdAt: Date
  changedSeq: number | null
}

/** `steps` are oldest first; the last one belongs to `row`. A step is replaced, never changed in place. */
export type AssociationDraft = {
  entityId: number
  row: AssociationRow | null
  stored: AssociationRow | null
  steps: readonly AssociationStep[]
  storedSteps: ReadonlySet<AssociationStep>
}
export type AssociationDrafts = Map<number, AssociationDraft>

export async function readAssociationDrafts(
  tx: Tx,
  work: UnitOfWork,
  entityIds: readonly number[]
): Promise<AssociationDrafts> {
  const ids = [...new Set(entityIds)]
  const rows = await findAssociations(tx, ids)
  const history = await findAspectHistory(
    tx,
    rows
      .filter((row) => work.older.isUnfinished || row.seq >= work.seq)
      .map(({ entityId }) => ({ entityId, aspectName }))
  )
  // Replayed steps may name domains that the changes of this transaction do not.
  const urns = [...new Set(history.flatMap((row) => domainsIn([row.change, row.value])))].filter(
    (urn) => !work.entities.has(urn)
  )
  for (const row of await findEntities(tx, urns)) rememberEntity(work, row)
  const domainIds = [...new Set(rows.flatMap((row) => row.domainId ?? []))].filter((id) => !work.byId.has(id))
  for (const row of await findEntitiesById(tx, domainIds)) rememberEntity(work, row)
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
        { entityId, row, stored: row, steps: withBase(work, known, row), storedSteps: new Set(known) }
      ]
    })
  )
}

const aspectName = 'domains'

function domainsIn(value: JsonValue): Urn[] {
  if (typeof value === 'string') return value.startsWith('urn:li:domain:') ? [toUrn(value)] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(domainsIn) : []
}

/**
 * A row that was written while nothing older was unfinished has no step. It becomes the base for the later
 * steps.
 */
function withBase(work: UnitOfWork, steps: AssociationStep[], row: AssociationRow | null): AssociationStep[] {
  const last = steps.at(-1)
  if (!row || (last && compareOrder(last, row) === 0)) return steps
  const { seq, line, actor, createdAt, changedSeq = null } = row
  const membership = {
    domainUrn: row.domainId === null ? null : urnOf(work, row.domainId),
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
 * Applies a change at its place in the order, replays the newer changes over it, and returns whether the
 * asset is in another domain now. Throws FORBIDDEN if the domain is outside the limit of the actor's token,
 * VALIDATION_FAILED if more than one domain would remain, MISSING_REFERENCE, and the errors of a patch that
 * does not fit.
 */
export function associate(
  work: UnitOfWork,
  draft: AssociationDraft,
  change: AssociationChange,
  order: Order
): boolean {
  let place = draft.steps.length
  if (work.guards.keepsOrder)
    while (place > 0 && compareOrder(draft.steps[place - 1] ?? order, order) > 0) place -= 1
  const last = stepSeenBy(draft.steps[place - 1], order)
  const membership = membershipAfter(work, draft, change, last?.membership ?? null, order)
  if (membership?.domainUrn) checkWithinLimit(work, referred(work, membership.domainUrn, 'domainUrn').id)
  const isSameRecord = last !== null && compareOrder(last, order) === 0
  const steps = draft.steps.slice(0, isSameRecord ? place - 1 : place)
  const changes = [...(isSameRecord ? last.changes : []), change]
  steps.push(
    stepAfter(steps.at(-1) ?? null, {
      ...order,
      changes,
      membership,
      actor: work.actor.urn,
      createdAt: work.now,
      changedSeq: null
    })
  )
  for (const later of draft.steps.slice(place)) {
    const found = stepSeenBy(steps.at(-1), later)?.membership ?? null
    steps.push(
      stepAfter(steps.at(-1) ?? null, { ...later, membership: replayedMembership(work, draft, later, found) })
    )
  }
  const { row: before, steps: stepsBefore } = draft
  work.undo.push(() => {
    Object.assign(draft, { row: before, steps: stepsBefore })
  })
  const hasChanged = !isSame(stepsBefore.at(-1)?.membership ?? null, steps.at(-1)?.membership ?? null)
  draft.steps = steps
  draft.row = rowOf(work, draft, steps.at(-1), (before?.version ?? 0) + (hasChanged ? 1 : 0))
  return hasChanged
}

/**
 * Puts the asset into a domain if none was ever set or removed, and returns whether it did.
 *
 * The change becomes the oldest step, although this transaction makes it. Every other change of the domain
 * wins over it, even one that was accepted earlier and is applied later. It can be undone.
 */
export function assignIfUndecided(work: UnitOfWork, draft: AssociationDraft, domainUrn: Urn): boolean {
  const { row: before, steps: stepsBefore } = draft
  if (before && !(before === draft.stored && isUndone(before))) return false
  const undone = stepsBefore.at(-1)
  const step: AssociationStep = {
    ...(undone ? { seq: undone.seq, line: undone.line } : beginning),
    changes: [
      ...(undone?.changes ?? []),
      { kind: 'put', membership: { domainUrn, attributes: null }, restores: work.seq }
    ],
    membership: { domainUrn, attributes: null },
    actor: work.actor.urn,
    createdAt: work.now,
    changedSeq: work.seq
  }
  work.undo.push(() => {
    Object.assign(draft, { row: before, steps: stepsBefore })
  })
  draft.steps = [...stepsBefore.slice(0, -1), step]
  draft.row = rowOf(work, draft, step, (before?.version ?? 0) + 1)
  return true
}

/** Whether an undo reset the asset to a state in which no domain was ever set or removed. */
const isUndone = (row: AssociationRow): boolean =>
  isShown(row) && row.domainId === null && seqOfChange(row) === 0

/**
 * The step that a change is applied over: the step before it, unless a later change made that step
 * (assignIfUndecided).
 */
const stepSeenBy = (step: AssociationStep | undefined, { seq }: Order): AssociationStep | null =>
  step && seqOfChange(step) <= seq ? step : null

/**
 * Replays the remaining steps: after a late deletion of the asset, over nothing; after a late deletion of a
 * domain, without that domain.
 */
export async function replayAssociations(
  tx: Tx,
  work: UnitOfWork,
  entityIds: readonly number[]
): Promise<void> {
  const drafts = await readAssociationDrafts(tx, work, entityIds)
  for (const draft of drafts.values()) {
    if (!draft.row) continue
    const steps: AssociationStep[] = []
    for (const step of draft.steps) {
      const found = stepSeenBy(steps.at(-1), step)?.membership ?? null
      steps.push(
        stepAfter(steps.at(-1) ?? null, { ...step, membership: replayedMembership(work, draft, step, found) })
      )
    }
    const [before, after] = [draft.steps.at(-1)?.membership ?? null, steps.at(-1)?.membership ?? null]
    draft.steps = steps
    draft.row = rowOf(
      work,
      draft,
      steps.at(-1),
      after === null ? 0 : draft.row.version + (isSame(before, after) ? 0 : 1)
    )
  }
  await writeAssociationDrafts(tx, work, drafts)
}

const isSame = (a: DomainMembership | null, b: DomainMembership | null): boolean =>
  a === null || b === null ? a === b : a.domainUrn === b.domainUrn && equalJson(a.attributes, b.attributes)

/** A step that changes nothing keeps the change, actor and time of the step before it. */
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

/**
 * Applies changes that were accepted before. A change that does not fit the value before it has no effect.
 */
function replayedMembership(
  work: UnitOfWork,
  draft: AssociationDraft,
  step: AssociationStep,
  previous: DomainMembership | null
): DomainMembership | null {
  let membership = previous
  for (const change of step.changes) {
    try {
      membership = membershipAfter(work, draft, change, membership, {
        ...step,
        seq: Math.max(step.seq, seqOfChange(step))
      })
    } catch (error) {
      if (!(error instanceof CatalogError) || error instanceof TooMuchPatching) throw error
    }
  }
  return membership
}

const noDomain: DomainMembership = { domainUrn: null, attributes: null }

function membershipAfter(
  work: UnitOfWork,
  draft: AssociationDraft,
  change: AssociationChange,
  previous: DomainMembership | null,
  order: Order
): DomainMembership | null {
  const membership = requestedMembership(work, draft, change, previous)
  if (membership.domainUrn !== null) referred(work, membership.domainUrn, 'domainUrn')
  const found =
    membership.domainUrn !== null && isDeletedAfter(work, membership.domainUrn, order) ? noDomain : membership
  const isWritten = change.kind !== 'put' || change.isWritten === true
  return previous === null && !isWritten && isSame(found, noDomain) ? null : found
}

function requestedMembership(
  work: UnitOfWork,
  { entityId }: AssociationDraft,
  change: AssociationChange,
  previous: DomainMembership | null
): DomainMembership {
  if (change.kind === 'put') return change.membership
  if (change.kind === 'write') return mergeDomains(change.document, previous ?? noDomain)
  const entity = work.byId.get(entityId)
  if (!entity) throw new CatalogError('NOT_FOUND', 'The asset does not exist.')
  const patched = applyPatch(aspectName, previous && printDomains(previous), change.patch, work.patchBudget)
  // A list that the patch removed becomes empty. If it were left out, it would follow the other list.
  return mergeDomains(
    prepareAspect(entity.entityType, aspectName, { domains: [], domainAssociations: [], ...patched }),
    previous ?? noDomain
  )
}

/** Version 0 keeps only the order of a removal that removed nothing. */
function rowOf(
  work: UnitOfWork,
  { entityId }: AssociationDraft,
  step: AssociationStep | undefined,
  version: number
): AssociationRow | null {
  if (!step) return null
  const { seq, line, membership, actor, createdAt, changedSeq } = step
  const { domainUrn, attributes } = membership ?? noDomain
  return {
    entityId,
    domainId: domainUrn === null ? null : referred(work, domainUrn, 'domainUrn').id,
    attributes,
    version,
    seq,
    line,
    actor,
    createdAt,
    changedSeq
  }
}

/** Whether readers see the aspect. Version 0 keeps only the order of a removal that removed nothing. */
export const isShown = (row: AssociationRow | null | undefined): row is AssociationRow =>
  row !== null && row !== undefined && row.version > 0

/** The ids of the domains that the steps name. */
export const domainsNamed = (work: UnitOfWork, { steps }: AssociationDraft): number[] =>
  steps.flatMap(({ membership }) =>
    membership?.domainUrn ? (work.entities.get(membership.domainUrn)?.id ?? []) : []
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
    membership: value && mergeDomains(value, noDomain),
    actor,
    createdAt
  }
}

const hasOtherChange = (row: AssociationRow, stored: AssociationRow | null): boolean =>
  seqOfChange(row) !== (stored ? seqOfChange(stored) : 0)

/** Writes what has changed, and adds it to the change log of the graph. */
export async function writeAssociationDrafts(
  tx: Tx,
  work: UnitOfWork,
  drafts: AssociationDrafts
): Promise<void> {
  // Steps, and rows of which only the order was raised, are written only while something may still be applied
  // before the last step.
  const keepsSteps = (row: AssociationRow): boolean =>
    work.guards.raisesOrder && (work.older.isUnfinished || row.seq > work.seq)
  const changed = [...drafts.values()].flatMap((draft) =>
    draft.row &&
    (draft.row.version !== (draft.stored?.version ?? 0) ||
      (keepsSteps(draft.row) && draft.row !== draft.stored) ||
      hasOtherChange(draft.row, draft.stored))
      ? [{ draft, row: draft.row, stored: draft.stored }]
      : []
  )
  await writeAssociations(
    tx,
    changed.map(({ row }) => row)
  )
  const kept = changed.flatMap(({ draft, row }) => (keepsSteps(row) ? [draft] : []))
  await writeAspectHistory(
    tx,
    kept.flatMap((draft) =>
      draft.steps
        .filter((step) => !draft.storedSteps.has(step))
        .map((step) => storedStep(draft.entityId, step))
    )
  )
  await trimAspectHistory(
    tx,
    kept.map(({ entityId }) => ({ entityId, aspectName, version: 1 })),
    work.older.horizonSeq
  )
  for (const { row, stored } of changed) {
    const isOther =
      row.domainId !== (stored?.domainId ?? null) || !equalJson(row.attributes, stored?.attributes ?? null)
    if (isOther || hasOtherChange(row, stored)) {
      const left = seqOfChange(row) === work.seq ? {} : { left: seqOfChange(row) }
      work.journal?.note({
        kind: 'association',
        entityId: row.entityId,
        before: stored && { ...stored, seq: seqOfChange(stored) },
        ...left
      })
    }
    if (row.domainId !== (stored?.domainId ?? null))
      work.graph.push({ kind: 'domain', id: row.entityId, domainId: row.domainId })
  }
}
