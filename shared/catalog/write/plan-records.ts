/** Derives from records what must be resolved, locked and read before they are applied. */
import type { Change, ChangeRecord, UndoChange } from '../../model/changes.ts'
import { requiresEntity } from '../../model/aspect-registry.ts'
import { placeOfEdge, referencesOf, assetOrSelf, describedBy } from '../../model/change-facts.ts'
import { entityTypeInfo } from '../../model/entity-types.ts'
import { aspectCodeOf, isLineageAspect, lineageFieldByCode } from '../../model/lineage-fields.ts'
import { splitLineageDocument, type EdgeEntry } from '../../model/lineage-document.ts'
import { planLineagePatch, type EdgeOperation } from '../../model/lineage-patch.ts'
import { propertiesAspectOf } from '../../model/properties-aspect.ts'
import type { AspectKey } from '../../store/aspects.ts'
import type { EdgeKey, OwnerAspect } from '../../statements/rows.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import type { DomainPlace } from './domain-tree.ts'
import { entityOf, orderOf, type UnitOfWork } from './unit-of-work.ts'
import type { Order } from '../../model/order.ts'

/** The entity that a change concerns: it is locked, authorised, and named in errors. */
export function subjectOf(change: Change): Urn {
  switch (change.kind) {
    case 'addEdge':
    case 'removeEdge':
      return placeOfEdge(change.upstreamUrn, change.downstreamUrn)?.ownerUrn ?? change.downstreamUrn
    case 'replaceEdges':
    case 'undoPatches':
    case 'undoStatement':
      return change.ownerUrn
    case 'createDomain':
    case 'renameDomain':
    case 'describeDomain':
    case 'moveDomain':
    case 'deleteDomain':
      return change.domainUrn
    default:
      return change.entityUrn
  }
}

/**
 * The edges that a change may add. Their ends need rows. The ends of removed edges do not, because an end
 * without a row has no edges.
 */
function addedEntries(change: Change): readonly Pick<EdgeEntry, 'downstreamUrn' | 'upstreamUrn'>[] {
  if (change.kind === 'addEdge') return [change]
  if (change.kind === 'replaceEdges') return change.edges
  if (change.kind === 'upsertAspect' && isLineageAspect(change.aspectName))
    return splitLineageDocument(change.entityUrn, change.aspectName, change.value).entries
  if (change.kind === 'patchAspect' && isLineageAspect(change.aspectName)) {
    return planLineagePatch(change.entityUrn, change.aspectName, change.patch.patch).edges.flatMap(
      (operation) =>
        operation.op === 'add' ? [operation.entry] : operation.op === 'replaceList' ? operation.entries : []
    )
  }
  return []
}

/**
 * The URNs whose rows must exist before the change is applied. Ends of removed edges are included only if
 * they have a row.
 */
export function urnsToWrite(change: Change): Urn[] {
  const isRemoval =
    isUndo(change) ||
    change.kind === 'removeEdge' ||
    change.kind === 'deleteEntity' ||
    change.kind === 'deleteDomain' ||
    change.kind === 'deleteAspect' ||
    change.kind === 'unsetDomain'
  if (isRemoval) return []
  const references = referencesOf(change).map((reference) => reference.urn)
  return [
    subjectOf(change),
    ...references,
    ...addedEntries(change).flatMap((entry) => [entry.downstreamUrn, entry.upstreamUrn])
  ]
}

/**
 * The URNs that a removal names. They need rows only while something older may still state what is removed:
 * the order of the removal is stored with them.
 */
export function urnsToRemove(change: Change): Urn[] {
  switch (change.kind) {
    case 'removeEdge':
      return [subjectOf(change), change.upstreamUrn, change.downstreamUrn]
    case 'deleteEntity':
    case 'deleteDomain':
    case 'deleteAspect':
    case 'unsetDomain':
      return [subjectOf(change)]
    case 'patchAspect':
      return isLineageAspect(change.aspectName)
        ? planLineagePatch(change.entityUrn, change.aspectName, change.patch.patch).edges.flatMap(removedUrns)
        : []
    // The ends that an undo removes have existed, so they have rows.
    case 'undoPatches':
    case 'undoStatement':
      return [change.ownerUrn, change.upstreamUrn, change.downstreamUrn]
    case 'undoAssociation':
      return [change.entityUrn, ...(change.before.domainUrn === null ? [] : [change.before.domainUrn])]
    case 'undoAspect':
    case 'undoCreation':
    case 'undoTakeBack':
      return [subjectOf(change)]
    default:
      return []
  }
}

export const isUndo = (change: Change): change is UndoChange => change.kind.startsWith('undo')

const removedUrns = (operation: EdgeOperation): Urn[] =>
  operation.op === 'remove' || operation.op === 'patchAttributes'
    ? [operation.downstreamUrn, operation.upstreamUrn]
    : operation.op === 'removeInto'
      ? [operation.downstreamUrn]
      : []

/** Everything that a change names, with the assets of its columns. */
export function urnsNamed(change: Change): Urn[] {
  const named = [
    ...urnsToWrite(change),
    ...urnsToRemove(change),
    subjectOf(change),
    ...referencesOf(change).map((reference) => reference.urn)
  ]
  return [...named, ...named.filter((urn) => entityTypeOf(urn) === 'schemaField').map(assetOrSelf)]
}

/** Whether a change can affect names, parents or children of domains. */
export const changesDomainTree = (change: Change): boolean =>
  change.kind.endsWith('Domain')
    ? change.kind !== 'setDomain' && change.kind !== 'unsetDomain'
    : change.kind === 'upsertAspect' || change.kind === 'patchAspect' || change.kind === 'undoAspect'
      ? change.aspectName === 'domainProperties'
      : change.kind === 'upsertEntity' || change.kind === 'deleteEntity' || change.kind === 'undoCreation'
        ? entityTypeOf(change.entityUrn) === 'domain'
        : false

/** The entity that a change may soft-delete. */
export const softDeletes = (change: Change): Urn | null =>
  (change.kind === 'deleteEntity' && !change.hard) ||
  (change.kind === 'upsertAspect' && change.aspectName === 'status' && change.value.removed === true) ||
  (change.kind === 'patchAspect' && change.aspectName === 'status')
    ? change.entityUrn
    : null

/** Whether a change permanently deletes an entity, which excludes all other writers. */
export const deletesEntity = (change: Change): boolean =>
  change.kind === 'deleteDomain' || (change.kind === 'deleteEntity' && change.hard)

/** Whether a change must exclude all other writers, because nobody may begin to refer to what it removes. */
export const excludesWriters = (change: Change): boolean =>
  deletesEntity(change) || change.kind === 'undoCreation'

/**
 * What a call with these changes locks, as far as it is known before anything is read: the entities that they
 * concern, the domain tree, and the lock that excludes all writers.
 */
export const keysLocked = (changes: readonly Change[]): string[] => [
  ...changes.map((change) => assetOrSelf(subjectOf(change))),
  ...(changes.some(changesDomainTree) ? ['the domain tree'] : []),
  ...(changes.some(excludesWriters) ? ['deleted entities'] : [])
]

export type ReadPlan = {
  aspects: (AspectKey & { oldest: Order })[]
  /** Aspects of which only edges change. */
  edgeAspects: OwnerAspect[]
  wholeAspects: OwnerAspect[]
  /** Owners of which only single edges must be read. */
  partialAspects: OwnerAspect[]
  singleEdges: EdgeKey[]
  associations: number[]
  /** Entities whose creation is to be undone if nothing refers to them. */
  undoneCreations: { id: number; since: number }[]
  /** Domains that may move, and their new parents. */
  domains: number[]
  places: DomainPlace[]
}

/** What must be read before the records are folded. */
export function planReads(work: UnitOfWork, records: readonly ChangeRecord[]): ReadPlan {
  const plan: ReadPlan = {
    aspects: [],
    edgeAspects: [],
    wholeAspects: [],
    partialAspects: [],
    singleEdges: [],
    associations: [],
    undoneCreations: [],
    domains: [],
    places: []
  }
  for (const record of records)
    for (const change of record.changes) planChange(work, plan, change, orderOf(work, record))
  return plan
}

/** Whether the change writes an aspect that needs its entity, and must create that entity. */
export const createsOwner = (work: UnitOfWork, { aspectName }: { aspectName: string }): boolean =>
  work.createsOwners && requiresEntity(aspectName)

function planKeyAspect(work: UnitOfWork, plan: ReadPlan, urn: Urn, oldest: Order): void {
  const owner = work.entities.get(assetOrSelf(urn))
  if (owner)
    plan.aspects.push({ entityId: owner.id, aspectName: entityTypeInfo(owner.entityType).keyAspect, oldest })
}

function planChange(work: UnitOfWork, plan: ReadPlan, change: Change, oldest: Order): void {
  const subject = work.entities.get(subjectOf(change))
  if (!subject) return
  const aspect = (aspectName: string) => plan.aspects.push({ entityId: subject.id, aspectName, oldest })
  const readWhole = (aspectName: string) =>
    plan.wholeAspects.push({ ownerId: subject.id, aspectCode: aspectCodeOf(aspectName) })
  const readEdge = (aspectName: string, edge: { downstreamUrn: Urn; upstreamUrn: Urn }) => {
    const downstream = work.entities.get(edge.downstreamUrn)
    const upstream = work.entities.get(edge.upstreamUrn)
    if (downstream && upstream)
      plan.singleEdges.push({
        ownerId: subject.id,
        aspectCode: aspectCodeOf(aspectName),
        downstreamId: downstream.id,
        upstreamId: upstream.id
      })
  }
  planStatus(work, plan, change, oldest)
  switch (change.kind) {
    case 'addEdge':
    case 'removeEdge': {
      const place = placeOfEdge(change.upstreamUrn, change.downstreamUrn)
      if (!place) return
      plan.edgeAspects.push({ ownerId: subject.id, aspectCode: aspectCodeOf(place.aspectName) })
      readEdge(place.aspectName, change)
      return
    }
    case 'replaceEdges':
      aspect(change.aspectName)
      readWhole(change.aspectName)
      for (const edge of change.edges) readEdge(change.aspectName, edge)
      return
    case 'upsertAspect':
    case 'patchAspect':
    case 'deleteAspect':
      if (change.kind !== 'deleteAspect' && createsOwner(work, change))
        planKeyAspect(work, plan, change.entityUrn, oldest)
      if (change.aspectName === 'domains') plan.associations.push(subject.id)
      else aspect(change.aspectName)
      if (isLineageAspect(change.aspectName)) {
        plan.partialAspects.push({ ownerId: subject.id, aspectCode: aspectCodeOf(change.aspectName) })
        planLineage(change, readWhole, readEdge)
      }
      return
    case 'upsertEntity':
      aspect(propertiesAspectOf(subject.entityType).aspectName)
      aspect(entityTypeInfo(subject.entityType).keyAspect)
      return
    case 'deleteEntity':
      aspect('status')
      return
    case 'setDomain':
    case 'unsetDomain':
      plan.associations.push(subject.id)
      return
    case 'deleteDomain':
    case 'undoTakeBack':
      return
    case 'undoPatches':
    case 'undoStatement': {
      const { aspectName } = lineageFieldByCode(change.fieldCode)
      aspect(aspectName)
      readEdge(aspectName, change)
      return
    }
    case 'undoAspect':
      plan.aspects.push({
        entityId: subject.id,
        aspectName: change.aspectName,
        // Before its lines: what it brought back is at line 0.
        oldest: { seq: Math.min(...change.seqs), line: -1 }
      })
      if (isLineageAspect(change.aspectName)) readWhole(change.aspectName)
      return
    case 'undoAssociation': {
      plan.associations.push(subject.id)
      const domain = change.before.domainUrn === null ? undefined : work.entities.get(change.before.domainUrn)
      if (domain) plan.aspects.push({ entityId: domain.id, aspectName: 'domainProperties', oldest })
      return
    }
    case 'undoCreation':
      plan.undoneCreations.push({ id: subject.id, since: Math.min(...change.seqs) })
      if (subject.entityType !== 'domain') return
      plan.aspects.push({
        entityId: subject.id,
        aspectName: 'domainProperties',
        oldest: { seq: Math.min(...change.seqs), line: 0 }
      })
      plan.domains.push(subject.id)
      return
    default:
      aspect('domainProperties')
      planPlace(work, plan, change)
  }
}

/** What is described again although it was soft-deleted is brought back; so is the asset of such a column. */
function planStatus(work: UnitOfWork, plan: ReadPlan, change: Change, { seq }: Order): void {
  const urn = describedBy(change)
  for (const each of urn === null ? [] : new Set([urn, assetOrSelf(urn)])) {
    const entity = work.entities.get(each)
    if (entity?.isRemoved)
      plan.aspects.push({ entityId: entity.id, aspectName: 'status', oldest: { seq, line: 0 } })
  }
}

function planPlace(work: UnitOfWork, plan: ReadPlan, change: Extract<Change, { domainUrn: Urn }>): void {
  const parentUrn =
    change.kind === 'createDomain' || change.kind === 'moveDomain' ? (change.parentDomain ?? null) : null
  const parentId = parentUrn === null ? null : (work.entities.get(parentUrn)?.id ?? null)
  for (const id of [work.entities.get(change.domainUrn)?.id, parentId])
    if (typeof id === 'number') plan.domains.push(id)
  if (change.kind === 'createDomain') plan.places.push({ parentId, name: change.name })
}

type Whole = (aspectName: string) => void
type Single = (aspectName: string, edge: { downstreamUrn: Urn; upstreamUrn: Urn }) => void

/**
 * Plans which statements to read: whole documents and whole lists need all statements of the aspect, single
 * edges only their own.
 */
function planLineage(
  change: Extract<Change, { aspectName: string; entityUrn: Urn }>,
  readWhole: Whole,
  readEdge: Single
): void {
  for (const entry of addedEntries(change)) readEdge(change.aspectName, entry)
  if (change.kind !== 'patchAspect') return readWhole(change.aspectName)
  for (const operation of planLineagePatch(change.entityUrn, change.aspectName, change.patch.patch).edges) {
    if (operation.op === 'remove' || operation.op === 'patchAttributes')
      readEdge(change.aspectName, operation)
    else if (operation.op === 'replaceList' || operation.op === 'removeInto') readWhole(change.aspectName)
  }
}

/** An entry with the ids of its ends. */
export function resolveEntry(work: UnitOfWork, { downstreamUrn, upstreamUrn, ...entry }: EdgeEntry) {
  return {
    ...entry,
    downstreamId: entityOf(work, downstreamUrn).id,
    upstreamId: entityOf(work, upstreamUrn).id
  }
}
