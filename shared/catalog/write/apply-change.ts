/**
 * Applies one change to the drafts of a unit of work, and says whether it altered anything that a reader can
 * see.
 */
import { CatalogError } from '../../errors.ts'
import type { Change, JsonObject } from '../../model/changes.ts'
import { placeOfEdge, assetOrSelf } from '../../model/change-facts.ts'
import { isTimeseries } from '../../model/aspect-registry.ts'
import { entityTypeInfo } from '../../model/entity-types.ts'
import { isLineageAspect, lineageFieldByCode } from '../../model/lineage-fields.ts'
import { type EdgeEntry } from '../../model/lineage-document.ts'
import { appendedPosition } from '../../model/list-order.ts'
import { compareOrder, type Order } from '../../model/order.ts'
import { propertiesAspectOf } from '../../model/properties-aspect.ts'
import { bareRecordKey, columnGroupKey, singleRecordKey } from '../../model/record-keys.ts'
import { checkConditions } from '../../model/write-conditions.ts'
import type { AssociationRow } from '../../store/domains.ts'
import type { EntityRow } from '../../store/entities.ts'
import { eventKeyOf } from '../../store/aspects.ts'
import { keyOfUrn } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'
import {
  assertEdge,
  assertEntry,
  removeEdge,
  replaceEdges,
  rowsOfOwner,
  type OwnerStatements
} from '../../statements/merge.ts'
import {
  applyAspectChange,
  aspectDraftKey,
  checkAspectCondition,
  createForEdges,
  currentRow,
  currentValue
} from './aspect-drafts.ts'
import {
  associate,
  isShown,
  assignIfUndecided,
  type AssociationDraft,
  type AssociationChange
} from './association-drafts.ts'
import {
  aspectDraft,
  markCreated,
  countEdgesInAspect,
  ownerStatements,
  applyDocumentChange,
  domainRowOf,
  type Drafts
} from './drafts.ts'
import { checkSiblings, type SiblingRule } from './domain-tree.ts'
import { storeEvent } from './event-drafts.ts'
import { bringBack, keepBack } from './bring-back.ts'
import { patchLineage, upsertLineage, type Upsert } from './lineage-changes.ts'
import { createsOwner, resolveEntry, subjectOf } from './plan-records.ts'
import { undoChange } from './undo-change.ts'
import {
  checkWithinLimit,
  entityOf,
  isDeletedAfter,
  isPresentNow,
  referred,
  type UnitOfWork
} from './unit-of-work.ts'

/** Throws a CatalogError if the change is impossible. The caller must then revert the whole record. */
export async function applyChange(
  work: UnitOfWork,
  drafts: Drafts,
  change: Change,
  order: Order
): Promise<boolean> {
  const subject = work.entities.get(subjectOf(change))
  if (!subject || isDeletedAfter(work, subject.urn, order)) return false
  const hasChanged = await applyOne(work, drafts, change, subject, order)
  const isBack = bringBack(work, drafts, change, order)
  const staysBack = keepBack(work, drafts, change, order)
  return hasChanged || isBack || staysBack
}

async function applyOne(
  work: UnitOfWork,
  drafts: Drafts,
  change: Change,
  subject: EntityRow,
  order: Order
): Promise<boolean> {
  switch (change.kind) {
    case 'addEdge':
    case 'removeEdge':
      return applyEdge(work, drafts, change, order)
    case 'replaceEdges':
      return replaceAssertedEdges(work, drafts, change, order)
    case 'upsertAspect':
      return withOwnerCreated(work, drafts, change, order, await upsertAspect(work, drafts, change, order))
    case 'patchAspect':
      return withOwnerCreated(work, drafts, change, order, await patchAspect(work, drafts, change, order))
    case 'deleteAspect':
      return deleteAspect(work, drafts, change, order)
    // Deleting an entity that does not exist must not create it.
    case 'deleteEntity':
      return change.hard || !isPresentNow(work, subject)
        ? false
        : mergeInto(work, drafts, change.entityUrn, 'status', { removed: true }, order)
    case 'deleteDomain':
      return false
    case 'upsertEntity':
      return upsertEntity(work, drafts, change, order)
    case 'createDomain':
      return createDomain(work, drafts, change, order)
    case 'renameDomain':
      return changeDomain(work, drafts, change.domainUrn, { name: change.name }, 'in this domain', order)
    case 'describeDomain':
      return changeDomain(work, drafts, change.domainUrn, { description: change.description }, null, order)
    case 'moveDomain':
      return changeDomain(
        work,
        drafts,
        change.domainUrn,
        { parentDomain: change.parentDomain },
        'in the destination domain',
        order
      )
    case 'setDomain':
      if (change.onlyIfNone) return setFirstDomain(work, drafts, change)
      return setDomain(
        work,
        drafts,
        change.entityUrn,
        { kind: 'put', membership: { domainUrn: change.domainUrn, attributes: null } },
        order
      )
    case 'unsetDomain':
      return setDomain(
        work,
        drafts,
        change.entityUrn,
        { kind: 'put', membership: { domainUrn: null, attributes: null } },
        order
      )
    default:
      return undoChange(work, drafts, change, order)
  }
}

/**
 * If missing references create placeholders, an aspect that needs its entity creates it, as every other
 * aspect does: the key aspect is written.
 *
 * This is done even if the entity exists, because the change that created it may turn out to be older than a
 * deletion.
 */
async function withOwnerCreated(
  work: UnitOfWork,
  drafts: Drafts,
  change: Extract<Change, { kind: 'upsertAspect' | 'patchAspect' }>,
  order: Order,
  hasChanged: boolean
): Promise<boolean> {
  if (!createsOwner(work, change)) return hasChanged
  const owner = entityOf(work, assetOrSelf(change.entityUrn))
  return (
    (await applyDocumentChange(
      work,
      drafts,
      aspectDraft(drafts, owner.id, entityTypeInfo(owner.entityType).keyAspect),
      { kind: 'put', value: keyOfUrn(owner.urn) },
      null,
      order,
      null
    )) || hasChanged
  )
}

function applyEdge(
  work: UnitOfWork,
  drafts: Drafts,
  change: Extract<Change, { kind: 'addEdge' | 'removeEdge' }>,
  order: Order
): boolean {
  const place = placeOfEdge(change.upstreamUrn, change.downstreamUrn)
  if (!place)
    throw new CatalogError(
      'BAD_REQUEST',
      `No lineage edge leads from ${change.upstreamUrn} to ${change.downstreamUrn}.`
    )
  const ends = {
    downstreamId: work.entities.get(change.downstreamUrn)?.id,
    upstreamId: work.entities.get(change.upstreamUrn)?.id
  }
  const owner = entityOf(work, place.ownerUrn)
  // An end without a row has no edges to remove. Both ends of an added edge always have a row.
  if (ends.downstreamId === undefined || ends.upstreamId === undefined) return false
  const { downstreamId, upstreamId } = ends
  const statements = ownerStatements(drafts, owner.id, place.aspectName)
  const hasChanged =
    change.kind === 'removeEdge'
      ? removeEdge(work.merging, statements, { downstreamId, upstreamId }, order)
      : addEdge(
          work,
          statements,
          { fieldCode: place.fieldCode, downstreamId, upstreamId, position: appendedPosition },
          change.attributes,
          order
        )
  return countEdgesInAspect(
    work,
    drafts,
    statements,
    { isMade: change.kind === 'addEdge', hasChanged },
    order
  )
}

type AddedEdge = { fieldCode: number; downstreamId: number; upstreamId: number; position: number }

function addEdge(
  work: UnitOfWork,
  owner: OwnerStatements,
  edge: AddedEdge,
  attributes: JsonObject | undefined,
  order: Order
): boolean {
  const { fieldCode, ...ends } = edge
  if (!attributes) return assertEdge(work.merging, owner, fieldCode, ends, order)
  return assertEntry(
    work.merging,
    owner,
    { ...edge, attributes, recordKey: recordKeyOf(fieldCode, attributes) },
    order
  )
}

/** The record key of an edge that is not an entry of a written list. */
function recordKeyOf(fieldCode: number, attributes: JsonObject | undefined): number {
  if (!attributes) return bareRecordKey
  return lineageFieldByCode(fieldCode).shape === 'columns' ? columnGroupKey(attributes) : singleRecordKey
}

function replaceAssertedEdges(
  work: UnitOfWork,
  drafts: Drafts,
  change: Extract<Change, { kind: 'replaceEdges' }>,
  order: Order
): boolean {
  const owner = entityOf(work, change.ownerUrn)
  const entries = change.edges.map((edge, index) => {
    const place = placeOfEdge(edge.upstreamUrn, edge.downstreamUrn)
    if (!place || place.ownerUrn !== change.ownerUrn || place.aspectName !== change.aspectName) {
      throw new CatalogError(
        'BAD_REQUEST',
        `The edge from ${edge.upstreamUrn} to ${edge.downstreamUrn} does not belong to ${change.aspectName} of ${change.ownerUrn}.`
      )
    }
    const entry: EdgeEntry = {
      ...edge,
      fieldCode: place.fieldCode,
      recordKey: recordKeyOf(place.fieldCode, edge.attributes),
      position: appendedPosition + index,
      attributes: edge.attributes ?? null
    }
    return resolveEntry(work, entry)
  })
  const sourceId = change.source === undefined ? null : (work.sourceIds.get(change.source) ?? work.sourceId)
  const statements = ownerStatements(drafts, owner.id, change.aspectName)
  const hasChanged = replaceEdges(work.merging, statements, { of: 'aspect', sourceId }, entries, order)
  return countEdgesInAspect(work, drafts, statements, { isMade: true, hasChanged }, order)
}

function upsertAspect(
  work: UnitOfWork,
  drafts: Drafts,
  change: Upsert,
  order: Order
): Promise<boolean> | boolean {
  const entity = entityOf(work, change.entityUrn)
  const author = { systemMetadata: change.headers?.systemMetadata ?? null }
  if (change.headers?.ifNoneMatch && alreadyExists(work, drafts, change, entity)) return false
  if (change.changeType === 'CREATE_ENTITY' && isPresentNow(work, entity)) {
    throw new CatalogError(
      'VALIDATION_FAILED',
      'Cannot perform CREATE_ENTITY if not exists since the entity key already exists.',
      { field: 'changeType', urn: entity.urn }
    )
  }
  if (change.aspectName === 'domains') {
    const draft = drafts.associations.get(entity.id)
    if (change.changeType === 'CREATE' && isShown(draft?.row))
      throw new CatalogError('VALIDATION_FAILED', 'Cannot perform CREATE since the aspect already exists.', {
        field: 'changeType'
      })
    checkConditions(change.headers ?? {}, versionOf(draft?.row))
    return setDomain(work, drafts, change.entityUrn, { kind: 'write', document: change.value }, order)
  }
  if (isTimeseries(change.aspectName, change.value)) {
    const hasChanged = storeEvent(work, drafts.events, {
      entityId: entity.id,
      aspectName: change.aspectName,
      timestampMillis: Number(change.value.timestampMillis),
      eventKey: eventKeyOf(change.value),
      value: change.value,
      ...author,
      ...order,
      actor: work.actor.urn
    })
    return markCreated(work, assetOrSelf(change.entityUrn)) || hasChanged
  }
  const draft = aspectDraft(drafts, entity.id, change.aspectName)
  checkAspectCondition(draft, change.changeType, change.headers)
  if (isLineageAspect(change.aspectName)) return upsertLineage(work, drafts, change, draft, order)
  const value =
    change.aspectName === entityTypeInfo(entity.entityType).keyAspect
      ? keyOfUrn(change.entityUrn)
      : change.value
  return applyDocumentChange(work, drafts, draft, { kind: 'put', value }, null, order, author.systemMetadata)
}

/** Whether the entity or aspect that the change would create already exists. */
function alreadyExists(work: UnitOfWork, drafts: Drafts, change: Upsert, entity: EntityRow): boolean {
  if (change.changeType === 'CREATE_ENTITY') return isPresentNow(work, entity)
  if (change.aspectName === 'domains') return isShown(drafts.associations.get(entity.id)?.row)
  return (
    !isTimeseries(change.aspectName, change.value) &&
    Boolean(currentRow(aspectDraft(drafts, entity.id, change.aspectName))?.value)
  )
}

const versionOf = (row: AssociationRow | null | undefined): { version: number; modifiedAt: Date } | null =>
  row ? { version: row.version, modifiedAt: row.createdAt } : null

function patchAspect(
  work: UnitOfWork,
  drafts: Drafts,
  change: Extract<Change, { kind: 'patchAspect' }>,
  order: Order
): Promise<boolean> | boolean {
  const entity = entityOf(work, change.entityUrn)
  if (change.aspectName === 'domains') {
    checkConditions(change.headers ?? {}, versionOf(drafts.associations.get(entity.id)?.row))
    return setDomain(work, drafts, change.entityUrn, { kind: 'patch', patch: change.patch }, order)
  }
  const draft = aspectDraft(drafts, entity.id, change.aspectName)
  checkAspectCondition(draft, 'PATCH', change.headers)
  if (isLineageAspect(change.aspectName)) return patchLineage(work, drafts, change, draft, order)
  return applyDocumentChange(
    work,
    drafts,
    draft,
    { kind: 'patch', patch: change.patch },
    null,
    order,
    change.headers?.systemMetadata ?? null
  )
}

function deleteAspect(
  work: UnitOfWork,
  drafts: Drafts,
  change: Extract<Change, { kind: 'deleteAspect' }>,
  order: Order
): boolean {
  const entity = entityOf(work, change.entityUrn)
  if (change.aspectName === 'domainProperties')
    throw new CatalogError('BAD_REQUEST', 'domainProperties cannot be deleted; delete the domain.', {
      field: 'aspectName'
    })
  if (change.aspectName === 'domains') {
    const draft = drafts.associations.get(entity.id)
    return draft
      ? associate(work, draft, { kind: 'put', membership: { domainUrn: null, attributes: null } }, order)
      : false
  }
  const hasChanged = applyAspectChange(
    work,
    aspectDraft(drafts, entity.id, change.aspectName),
    { kind: 'delete' },
    order,
    { systemMetadata: null }
  )
  if (!isLineageAspect(change.aspectName)) return hasChanged
  const statements = ownerStatements(drafts, entity.id, change.aspectName)
  const edgesChanged = replaceEdges(work.merging, statements, { of: 'aspect', sourceId: null }, [], order)
  // Edges that were stated after a late deletion create the aspect again.
  const [first] = rowsOfOwner(statements).sort(compareOrder)
  if (first)
    createForEdges(work, aspectDraft(drafts, entity.id, change.aspectName), {
      seq: first.seq,
      line: first.line
    })
  return edgesChanged || hasChanged
}

const setDomain = (
  work: UnitOfWork,
  drafts: Drafts,
  entityUrn: Urn,
  change: AssociationChange,
  order: Order
): boolean => associate(work, associationOf(work, drafts, entityUrn), change, order)

/** Throws FORBIDDEN, MISSING_REFERENCE. */
function setFirstDomain(
  work: UnitOfWork,
  drafts: Drafts,
  { entityUrn, domainUrn }: Extract<Change, { kind: 'setDomain' }>
): boolean {
  const draft = associationOf(work, drafts, entityUrn)
  checkWithinLimit(work, referred(work, domainUrn, 'domainUrn').id)
  return assignIfUndecided(work, draft, domainUrn)
}

function associationOf(work: UnitOfWork, drafts: Drafts, entityUrn: Urn): AssociationDraft {
  const entity = entityOf(work, entityUrn)
  if (!entityTypeInfo(entity.entityType).isAsset)
    throw new CatalogError('BAD_REQUEST', `A ${entity.entityType} cannot be in a domain.`, {
      urn: entityUrn,
      field: 'entityUrn'
    })
  const draft = drafts.associations.get(entity.id)
  if (!draft) throw new Error('association was not loaded')
  return draft
}

async function upsertEntity(
  work: UnitOfWork,
  drafts: Drafts,
  change: Extract<Change, { kind: 'upsertEntity' }>,
  order: Order
): Promise<boolean> {
  const entity = entityOf(work, change.entityUrn)
  const { aspectName, nameField } = propertiesAspectOf(entity.entityType)
  const fields: JsonObject = {
    ...(change.name === undefined ? {} : { [nameField]: change.name }),
    ...(change.description === undefined ? {} : { description: change.description })
  }
  if (Object.keys(fields).length > 0)
    return mergeInto(work, drafts, change.entityUrn, aspectName, fields, order)
  return applyDocumentChange(
    work,
    drafts,
    aspectDraft(drafts, entity.id, entityTypeInfo(entity.entityType).keyAspect),
    { kind: 'put', value: keyOfUrn(change.entityUrn) },
    null,
    order,
    null
  )
}

const mergeInto = (
  work: UnitOfWork,
  drafts: Drafts,
  urn: Urn,
  aspectName: string,
  fields: JsonObject,
  order: Order
): Promise<boolean> =>
  applyDocumentChange(
    work,
    drafts,
    aspectDraft(drafts, entityOf(work, urn).id, aspectName),
    { kind: 'merge', fields },
    null,
    order,
    null
  )

async function createDomain(
  work: UnitOfWork,
  drafts: Drafts,
  change: Extract<Change, { kind: 'createDomain' }>,
  order: Order
): Promise<boolean> {
  const entity = entityOf(work, change.domainUrn)
  const draft = aspectDraft(drafts, entity.id, 'domainProperties')
  const isHidden = currentValue(drafts.aspects.get(aspectDraftKey(entity.id, 'status')))?.removed === true
  if (isPresentNow(work, entity) && !isHidden && drafts.refusesRepeatedCreation)
    throw new CatalogError('BAD_REQUEST', 'This Domain already exists!', {
      urn: change.domainUrn,
      field: 'input.id'
    })
  const stated: JsonObject = {
    name: change.name,
    ...(change.description === undefined ? {} : { description: change.description }),
    ...(change.parentDomain === undefined ? {} : { parentDomain: change.parentDomain })
  }
  if (isPresentNow(work, entity)) {
    const fields = { description: null, parentDomain: null, ...stated }
    // Meanwhile another domain may have got its name, even if its place stays the same.
    if (isHidden)
      await checkSiblings(
        drafts.tree,
        await domainRowOf(work, drafts, entity, { ...currentValue(draft), ...stated }),
        'in this domain'
      )
    return applyDocumentChange(work, drafts, draft, { kind: 'merge', fields }, 'in this domain', order, null)
  }
  const value: JsonObject = {
    customProperties: {},
    ...stated,
    created: { time: work.now.getTime(), actor: work.actor.urn }
  }
  return applyDocumentChange(work, drafts, draft, { kind: 'put', value }, 'in this domain', order, null)
}

function changeDomain(
  work: UnitOfWork,
  drafts: Drafts,
  domainUrn: Urn,
  fields: JsonObject,
  siblingRule: SiblingRule,
  order: Order
): Promise<boolean> {
  return applyDocumentChange(
    work,
    drafts,
    aspectDraft(drafts, entityOf(work, domainUrn).id, 'domainProperties'),
    { kind: 'merge', fields },
    siblingRule,
    order,
    null
  )
}
