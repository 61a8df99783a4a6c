/** Reads off a list of records what must be resolved, locked and loaded before they are applied. */
import type { Change, ChangeRecord, UndoChange } from '../../model/changes.ts'
import { requiresEntity } from '../../model/aspect-registry.ts'
import { placeOfEdge, referencesOf, standsOn } from '../../model/change-facts.ts'
import { entityTypeInfo } from '../../model/entity-types.ts'
import { aspectCodeOf, isLineageAspect, lineageFieldByCode } from '../../model/lineage-fields.ts'
import { splitLineageDocument, type EdgeEntry } from '../../model/lineage-document.ts'
import { planLineagePatch, type EdgeOperation } from '../../model/lineage-patch.ts'
import { propertiesAspectOf } from '../../model/properties-aspect.ts'
import type { AspectKey } from '../../store/aspects.ts'
import type { EdgeKey, OwnerAspect } from '../../statements/rows.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import type { DomainPlace } from './domain-tree.ts'
import { entityOf, orderOf, type WorkingSet } from './working-set.ts'
import type { Order } from '../../model/order.ts'

/** The entity that a change is about: who is locked, authorised and blamed. */
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

/** The edges that a change may add: their ends need rows. Removed edges need none: what has no row has no edge. */
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

/** The URNs whose rows must exist before the change is applied; references of removals only where they have one. */
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

/** What a removal names. It needs rows only where something older may still state what is removed: the order is left on them. */
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
    // What is taken back was there, so it has rows.
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

/** Everything a change names, and the assets that columns stand on. */
export function urnsNamed(change: Change): Urn[] {
  const named = [
    ...urnsToWrite(change),
    ...urnsToRemove(change),
    subjectOf(change),
    ...referencesOf(change).map((reference) => reference.urn)
  ]
  return [...named, ...named.filter((urn) => entityTypeOf(urn) === 'schemaField').map(standsOn)]
}

/** Whether a change has a say in names, parents or children of domains. */
export const changesDomainTree = (change: Change): boolean =>
  change.kind.endsWith('Domain')
    ? change.kind !== 'setDomain' && change.kind !== 'unsetDomain'
    : change.kind === 'upsertAspect' || change.kind === 'patchAspect' || change.kind === 'undoAspect'
      ? change.aspectName === 'domainProperties'
      : change.kind === 'upsertEntity' || change.kind === 'deleteEntity' || change.kind === 'undoCreation'
        ? entityTypeOf(change.entityUrn) === 'domain'
        : false

/** Whether a change takes an entity away for good, which excludes all other writers. */
export const deletesEntity = (change: Change): boolean =>
  change.kind === 'deleteDomain' || (change.kind === 'deleteEntity' && change.hard)

/** Whether a change may be made only while nobody else writes: what it takes away must not be referred to meanwhile. */
export const excludesWriters = (change: Change): boolean =>
  deletesEntity(change) || change.kind === 'undoCreation'

export type Loads = {
  aspects: (AspectKey & { oldest: Order })[]
  /** Aspects of which only the edges change. */
  edgeAspects: OwnerAspect[]
  whole: OwnerAspect[]
  /** Aspects of which no more is known to be needed than single edges, if any. */
  part: OwnerAspect[]
  single: EdgeKey[]
  associations: number[]
  /** Entities that are to be taken back where nothing has come to refer to them since. */
  unmade: { id: number; since: number }[]
  /** Domains whose place may change, and their parents to be. */
  domains: number[]
  places: DomainPlace[]
}

/** The cells that records will touch. */
export function planLoads(set: WorkingSet, records: readonly ChangeRecord[]): Loads {
  const loads: Loads = {
    aspects: [],
    edgeAspects: [],
    whole: [],
    part: [],
    single: [],
    associations: [],
    unmade: [],
    domains: [],
    places: []
  }
  for (const record of records)
    for (const change of record.changes) planChange(set, loads, change, orderOf(set, record))
  return loads
}

/** Whether the change writes an aspect that needs its entity, and is to see to it that the entity exists. */
export const makesOwner = (set: WorkingSet, { aspectName }: { aspectName: string }): boolean =>
  set.createsOwners && requiresEntity(aspectName)

function planKeyAspect(set: WorkingSet, loads: Loads, urn: Urn, oldest: Order): void {
  const owner = set.entities.get(standsOn(urn))
  if (owner)
    loads.aspects.push({ entityId: owner.id, aspectName: entityTypeInfo(owner.entityType).keyAspect, oldest })
}

function planChange(set: WorkingSet, loads: Loads, change: Change, oldest: Order): void {
  const subject = set.entities.get(subjectOf(change))
  if (!subject) return
  const aspect = (aspectName: string) => loads.aspects.push({ entityId: subject.id, aspectName, oldest })
  const whole = (aspectName: string) =>
    loads.whole.push({ ownerId: subject.id, aspectCode: aspectCodeOf(aspectName) })
  const single = (aspectName: string, edge: { downstreamUrn: Urn; upstreamUrn: Urn }) => {
    const downstream = set.entities.get(edge.downstreamUrn)
    const upstream = set.entities.get(edge.upstreamUrn)
    if (downstream && upstream)
      loads.single.push({
        ownerId: subject.id,
        aspectCode: aspectCodeOf(aspectName),
        downstreamId: downstream.id,
        upstreamId: upstream.id
      })
  }
  switch (change.kind) {
    case 'addEdge':
    case 'removeEdge': {
      const place = placeOfEdge(change.upstreamUrn, change.downstreamUrn)
      if (!place) return
      loads.edgeAspects.push({ ownerId: subject.id, aspectCode: aspectCodeOf(place.aspectName) })
      single(place.aspectName, change)
      return
    }
    case 'replaceEdges':
      aspect(change.aspectName)
      whole(change.aspectName)
      for (const edge of change.edges) single(change.aspectName, edge)
      return
    case 'upsertAspect':
    case 'patchAspect':
    case 'deleteAspect':
      if (change.kind !== 'deleteAspect' && makesOwner(set, change))
        planKeyAspect(set, loads, change.entityUrn, oldest)
      if (change.aspectName === 'domains') loads.associations.push(subject.id)
      else aspect(change.aspectName)
      if (isLineageAspect(change.aspectName)) {
        loads.part.push({ ownerId: subject.id, aspectCode: aspectCodeOf(change.aspectName) })
        planLineage(change, whole, single)
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
      loads.associations.push(subject.id)
      return
    case 'deleteDomain':
    case 'undoTakeBack':
      return
    case 'undoPatches':
    case 'undoStatement': {
      const { aspectName } = lineageFieldByCode(change.fieldCode)
      aspect(aspectName)
      single(aspectName, change)
      return
    }
    case 'undoAspect':
      loads.aspects.push({
        entityId: subject.id,
        aspectName: change.aspectName,
        oldest: { seq: Math.min(...change.seqs), line: 0 }
      })
      if (isLineageAspect(change.aspectName)) whole(change.aspectName)
      return
    case 'undoAssociation': {
      loads.associations.push(subject.id)
      const domain = change.before.domainUrn === null ? undefined : set.entities.get(change.before.domainUrn)
      if (domain) loads.aspects.push({ entityId: domain.id, aspectName: 'domainProperties', oldest })
      return
    }
    case 'undoCreation':
      loads.unmade.push({ id: subject.id, since: Math.min(...change.seqs) })
      if (subject.entityType !== 'domain') return
      loads.aspects.push({
        entityId: subject.id,
        aspectName: 'domainProperties',
        oldest: { seq: Math.min(...change.seqs), line: 0 }
      })
      loads.domains.push(subject.id)
      return
    default:
      aspect('domainProperties')
      planPlace(set, loads, change)
  }
}

function planPlace(set: WorkingSet, loads: Loads, change: Extract<Change, { domainUrn: Urn }>): void {
  const parentUrn =
    change.kind === 'createDomain' || change.kind === 'moveDomain' ? (change.parentDomain ?? null) : null
  const parentId = parentUrn === null ? null : (set.entities.get(parentUrn)?.id ?? null)
  for (const id of [set.entities.get(change.domainUrn)?.id, parentId])
    if (typeof id === 'number') loads.domains.push(id)
  if (change.kind === 'createDomain') loads.places.push({ parentId, name: change.name })
}

type Whole = (aspectName: string) => void
type Single = (aspectName: string, edge: { downstreamUrn: Urn; upstreamUrn: Urn }) => void

/** Whole documents and whole lists are compared with all that is stated; single edges only with themselves. */
function planLineage(
  change: Extract<Change, { aspectName: string; entityUrn: Urn }>,
  whole: Whole,
  single: Single
): void {
  for (const entry of addedEntries(change)) single(change.aspectName, entry)
  if (change.kind !== 'patchAspect') return whole(change.aspectName)
  for (const operation of planLineagePatch(change.entityUrn, change.aspectName, change.patch.patch).edges) {
    if (operation.op === 'remove' || operation.op === 'patchAttributes') single(change.aspectName, operation)
    else if (operation.op === 'replaceList' || operation.op === 'removeInto') whole(change.aspectName)
  }
}

/** An entry with the ids of its ends. */
export function resolveEntry(set: WorkingSet, { downstreamUrn, upstreamUrn, ...entry }: EdgeEntry) {
  return {
    ...entry,
    downstreamId: entityOf(set, downstreamUrn).id,
    upstreamId: entityOf(set, upstreamUrn).id
  }
}
