/** Applies one change to the cells of a working set, and says whether it altered anything a reader can see. */
import { CatalogError } from '../../errors.ts'
import type { Change, JsonObject } from '../../model/changes.ts'
import { placeOfEdge, standsOn } from '../../model/change-facts.ts'
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
import { keyOf } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'
import {
  assertEdge,
  assertEntry,
  removeEdge,
  replaceEdges,
  rowsOfOwner,
  type OwnerStatements
} from '../../statements/merge.ts'
import { applyAspectChange, checkAspectCondition, currentRow, existForEdges } from './aspect-cells.ts'
import {
  associate,
  isShown,
  offerDomain,
  type AssociationCell,
  type AssociationChange
} from './association-cells.ts'
import { aspectCell, markCreated, showEdges, statementsOf, withPlace, type Cells } from './cells.ts'
import type { SiblingRule } from './domain-tree.ts'
import { patchLineage, upsertLineage, type Upsert } from './lineage-changes.ts'
import { makesOwner, resolveEntry, subjectOf } from './plan-records.ts'
import { undoChange } from './undo-change.ts'
import {
  checkWithinLimit,
  entityOf,
  isDeletedAfter,
  isPresentNow,
  referred,
  type WorkingSet
} from './working-set.ts'

/** Throws the CatalogError of what makes the change impossible; the caller then undoes its record. */
export async function applyChange(
  set: WorkingSet,
  cells: Cells,
  change: Change,
  order: Order
): Promise<boolean> {
  const subject = set.entities.get(subjectOf(change))
  if (!subject || isDeletedAfter(set, subject.urn, order)) return false
  switch (change.kind) {
    case 'addEdge':
    case 'removeEdge':
      return applyEdge(set, cells, change, order)
    case 'replaceEdges':
      return replaceStated(set, cells, change, order)
    case 'upsertAspect':
      return withOwner(set, cells, change, order, await upsertAspect(set, cells, change, order))
    case 'patchAspect':
      return withOwner(set, cells, change, order, await patchAspect(set, cells, change, order))
    case 'deleteAspect':
      return deleteAspect(set, cells, change, order)
    // What does not exist is not made to exist by taking it away.
    case 'deleteEntity':
      return change.hard || !isPresentNow(set, subject)
        ? false
        : mergeInto(set, cells, change.entityUrn, 'status', { removed: true }, order)
    case 'deleteDomain':
      return false
    case 'upsertEntity':
      return upsertEntity(set, cells, change, order)
    case 'createDomain':
      return createDomain(set, cells, change, order)
    case 'renameDomain':
      return changeDomain(set, cells, change.domainUrn, { name: change.name }, 'in this domain', order)
    case 'describeDomain':
      return changeDomain(set, cells, change.domainUrn, { description: change.description }, null, order)
    case 'moveDomain':
      return changeDomain(
        set,
        cells,
        change.domainUrn,
        { parentDomain: change.parentDomain },
        'in the destination domain',
        order
      )
    case 'setDomain':
      if (change.onlyIfNone) return setFirstDomain(set, cells, change)
      return setDomain(
        set,
        cells,
        change.entityUrn,
        { kind: 'put', membership: { domainUrn: change.domainUrn, attributes: null } },
        order
      )
    case 'unsetDomain':
      return setDomain(
        set,
        cells,
        change.entityUrn,
        { kind: 'put', membership: { domainUrn: null, attributes: null } },
        order
      )
    default:
      return undoChange(set, cells, change, order)
  }
}

/**
 * Writes the key aspect of the entity whose aspect was written, where placeholders are asked for: what something was said
 * about exists then, as with every other aspect. Also where it exists already, for what made it may yet be found older than its deletion.
 */
async function withOwner(
  set: WorkingSet,
  cells: Cells,
  change: Extract<Change, { kind: 'upsertAspect' | 'patchAspect' }>,
  order: Order,
  hasChanged: boolean
): Promise<boolean> {
  if (!makesOwner(set, change)) return hasChanged
  const owner = entityOf(set, standsOn(change.entityUrn))
  return (
    (await withPlace(
      set,
      cells,
      aspectCell(cells, owner.id, entityTypeInfo(owner.entityType).keyAspect),
      { kind: 'put', value: keyOf(owner.urn) },
      null,
      order,
      null
    )) || hasChanged
  )
}

function applyEdge(
  set: WorkingSet,
  cells: Cells,
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
    downstreamId: set.entities.get(change.downstreamUrn)?.id,
    upstreamId: set.entities.get(change.upstreamUrn)?.id
  }
  const owner = entityOf(set, place.ownerUrn)
  // An end without a row has no edges to remove; the ends of an added edge always have one.
  if (ends.downstreamId === undefined || ends.upstreamId === undefined) return false
  const { downstreamId, upstreamId } = ends
  const statements = statementsOf(cells, owner.id, place.aspectName)
  const hasChanged =
    change.kind === 'removeEdge'
      ? removeEdge(set.merging, statements, { downstreamId, upstreamId }, order)
      : addEdge(
          set,
          statements,
          { fieldCode: place.fieldCode, downstreamId, upstreamId, position: appendedPosition },
          change.attributes,
          order
        )
  return showEdges(set, cells, statements, { isMade: change.kind === 'addEdge', hasChanged }, order)
}

type AddedEdge = { fieldCode: number; downstreamId: number; upstreamId: number; position: number }

function addEdge(
  set: WorkingSet,
  owner: OwnerStatements,
  edge: AddedEdge,
  attributes: JsonObject | undefined,
  order: Order
): boolean {
  const { fieldCode, ...ends } = edge
  if (!attributes) return assertEdge(set.merging, owner, fieldCode, ends, order)
  return assertEntry(
    set.merging,
    owner,
    { ...edge, attributes, recordKey: recordKeyOf(fieldCode, attributes) },
    order
  )
}

/** Where an edge that is not an entry of a written list is kept. */
function recordKeyOf(fieldCode: number, attributes: JsonObject | undefined): number {
  if (!attributes) return bareRecordKey
  return lineageFieldByCode(fieldCode).shape === 'columns' ? columnGroupKey(attributes) : singleRecordKey
}

function replaceStated(
  set: WorkingSet,
  cells: Cells,
  change: Extract<Change, { kind: 'replaceEdges' }>,
  order: Order
): boolean {
  const owner = entityOf(set, change.ownerUrn)
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
    return resolveEntry(set, entry)
  })
  const sourceId = change.source === undefined ? null : (set.sourceIds.get(change.source) ?? set.sourceId)
  const statements = statementsOf(cells, owner.id, change.aspectName)
  const hasChanged = replaceEdges(set.merging, statements, { of: 'aspect', sourceId }, entries, order)
  return showEdges(set, cells, statements, { isMade: true, hasChanged }, order)
}

function upsertAspect(
  set: WorkingSet,
  cells: Cells,
  change: Upsert,
  order: Order
): Promise<boolean> | boolean {
  const entity = entityOf(set, change.entityUrn)
  const author = { systemMetadata: change.headers?.systemMetadata ?? null }
  if (change.headers?.ifNoneMatch && isThere(set, cells, change, entity)) return false
  if (change.changeType === 'CREATE_ENTITY' && isPresentNow(set, entity)) {
    throw new CatalogError(
      'VALIDATION_FAILED',
      'Cannot perform CREATE_ENTITY if not exists since the entity key already exists.',
      { field: 'changeType', urn: entity.urn }
    )
  }
  if (change.aspectName === 'domains') {
    const cell = cells.associations.get(entity.id)
    if (change.changeType === 'CREATE' && isShown(cell?.row))
      throw new CatalogError('VALIDATION_FAILED', 'Cannot perform CREATE since the aspect already exists.', {
        field: 'changeType'
      })
    checkConditions(change.headers ?? {}, versionOf(cell?.row))
    return setDomain(set, cells, change.entityUrn, { kind: 'write', document: change.value }, order)
  }
  if (isTimeseries(change.aspectName, change.value)) {
    cells.timeseries.push({
      entityId: entity.id,
      aspectName: change.aspectName,
      timestampMillis: Number(change.value.timestampMillis),
      value: change.value,
      ...author,
      ...order,
      actor: set.actor.urn
    })
    set.undo.push(() => {
      cells.timeseries.pop()
    })
    markCreated(set, standsOn(change.entityUrn))
    return true
  }
  const cell = aspectCell(cells, entity.id, change.aspectName)
  checkAspectCondition(cell, change.changeType, change.headers)
  if (isLineageAspect(change.aspectName)) return upsertLineage(set, cells, change, cell, order)
  const value =
    change.aspectName === entityTypeInfo(entity.entityType).keyAspect ? keyOf(change.entityUrn) : change.value
  return withPlace(set, cells, cell, { kind: 'put', value }, null, order, author.systemMetadata)
}

/** Whether there is already what the change would create: the entity, or the aspect. */
function isThere(set: WorkingSet, cells: Cells, change: Upsert, entity: EntityRow): boolean {
  if (change.changeType === 'CREATE_ENTITY') return isPresentNow(set, entity)
  if (change.aspectName === 'domains') return isShown(cells.associations.get(entity.id)?.row)
  return (
    !isTimeseries(change.aspectName, change.value) &&
    Boolean(currentRow(aspectCell(cells, entity.id, change.aspectName))?.value)
  )
}

const versionOf = (row: AssociationRow | null | undefined): { version: number; modifiedAt: Date } | null =>
  row ? { version: row.version, modifiedAt: row.createdAt } : null

function patchAspect(
  set: WorkingSet,
  cells: Cells,
  change: Extract<Change, { kind: 'patchAspect' }>,
  order: Order
): Promise<boolean> | boolean {
  const entity = entityOf(set, change.entityUrn)
  if (change.aspectName === 'domains') {
    checkConditions(change.headers ?? {}, versionOf(cells.associations.get(entity.id)?.row))
    return setDomain(set, cells, change.entityUrn, { kind: 'patch', patch: change.patch }, order)
  }
  const cell = aspectCell(cells, entity.id, change.aspectName)
  checkAspectCondition(cell, 'PATCH', change.headers)
  if (isLineageAspect(change.aspectName)) return patchLineage(set, cells, change, cell, order)
  return withPlace(
    set,
    cells,
    cell,
    { kind: 'patch', patch: change.patch },
    null,
    order,
    change.headers?.systemMetadata ?? null
  )
}

function deleteAspect(
  set: WorkingSet,
  cells: Cells,
  change: Extract<Change, { kind: 'deleteAspect' }>,
  order: Order
): boolean {
  const entity = entityOf(set, change.entityUrn)
  if (change.aspectName === 'domainProperties')
    throw new CatalogError('BAD_REQUEST', 'domainProperties cannot be deleted; delete the domain.', {
      field: 'aspectName'
    })
  if (change.aspectName === 'domains') {
    const cell = cells.associations.get(entity.id)
    return cell
      ? associate(set, cell, { kind: 'put', membership: { domainUrn: null, attributes: null } }, order)
      : false
  }
  const hasChanged = applyAspectChange(
    set,
    aspectCell(cells, entity.id, change.aspectName),
    { kind: 'delete' },
    order,
    { systemMetadata: null }
  )
  if (!isLineageAspect(change.aspectName)) return hasChanged
  const statements = statementsOf(cells, entity.id, change.aspectName)
  const edgesChanged = replaceEdges(set.merging, statements, { of: 'aspect', sourceId: null }, [], order)
  // What was asserted after a late deletion made the aspect anew.
  const [first] = rowsOfOwner(statements).sort(compareOrder)
  if (first)
    existForEdges(set, aspectCell(cells, entity.id, change.aspectName), { seq: first.seq, line: first.line })
  return edgesChanged || hasChanged
}

const setDomain = (
  set: WorkingSet,
  cells: Cells,
  entityUrn: Urn,
  change: AssociationChange,
  order: Order
): boolean => associate(set, associationOf(set, cells, entityUrn), change, order)

/** Throws FORBIDDEN, MISSING_REFERENCE. */
function setFirstDomain(
  set: WorkingSet,
  cells: Cells,
  { entityUrn, domainUrn }: Extract<Change, { kind: 'setDomain' }>
): boolean {
  const cell = associationOf(set, cells, entityUrn)
  checkWithinLimit(set, referred(set, domainUrn, 'domainUrn').id)
  return offerDomain(set, cell, domainUrn)
}

function associationOf(set: WorkingSet, cells: Cells, entityUrn: Urn): AssociationCell {
  const entity = entityOf(set, entityUrn)
  if (!entityTypeInfo(entity.entityType).isAsset)
    throw new CatalogError('BAD_REQUEST', `A ${entity.entityType} cannot be in a domain.`, {
      urn: entityUrn,
      field: 'entityUrn'
    })
  const cell = cells.associations.get(entity.id)
  if (!cell) throw new Error('association was not loaded')
  return cell
}

async function upsertEntity(
  set: WorkingSet,
  cells: Cells,
  change: Extract<Change, { kind: 'upsertEntity' }>,
  order: Order
): Promise<boolean> {
  const entity = entityOf(set, change.entityUrn)
  const { aspectName, nameField } = propertiesAspectOf(entity.entityType)
  const fields: JsonObject = {
    ...(change.name === undefined ? {} : { [nameField]: change.name }),
    ...(change.description === undefined ? {} : { description: change.description })
  }
  if (Object.keys(fields).length > 0)
    return mergeInto(set, cells, change.entityUrn, aspectName, fields, order)
  return withPlace(
    set,
    cells,
    aspectCell(cells, entity.id, entityTypeInfo(entity.entityType).keyAspect),
    { kind: 'put', value: keyOf(change.entityUrn) },
    null,
    order,
    null
  )
}

const mergeInto = (
  set: WorkingSet,
  cells: Cells,
  urn: Urn,
  aspectName: string,
  fields: JsonObject,
  order: Order
): Promise<boolean> =>
  withPlace(
    set,
    cells,
    aspectCell(cells, entityOf(set, urn).id, aspectName),
    { kind: 'merge', fields },
    null,
    order,
    null
  )

async function createDomain(
  set: WorkingSet,
  cells: Cells,
  change: Extract<Change, { kind: 'createDomain' }>,
  order: Order
): Promise<boolean> {
  const entity = entityOf(set, change.domainUrn)
  const cell = aspectCell(cells, entity.id, 'domainProperties')
  if (isPresentNow(set, entity) && cells.refusesRepeatedCreation)
    throw new CatalogError('BAD_REQUEST', 'This Domain already exists!', {
      urn: change.domainUrn,
      field: 'input.id'
    })
  const stated: JsonObject = {
    name: change.name,
    ...(change.description === undefined ? {} : { description: change.description }),
    ...(change.parentDomain === undefined ? {} : { parentDomain: change.parentDomain })
  }
  if (isPresentNow(set, entity))
    return withPlace(
      set,
      cells,
      cell,
      { kind: 'merge', fields: { description: null, parentDomain: null, ...stated } },
      'in this domain',
      order,
      null
    )
  const value: JsonObject = {
    customProperties: {},
    ...stated,
    created: { time: set.now.getTime(), actor: set.actor.urn }
  }
  return withPlace(set, cells, cell, { kind: 'put', value }, 'in this domain', order, null)
}

function changeDomain(
  set: WorkingSet,
  cells: Cells,
  domainUrn: Urn,
  fields: JsonObject,
  siblingRule: SiblingRule,
  order: Order
): Promise<boolean> {
  return withPlace(
    set,
    cells,
    aspectCell(cells, entityOf(set, domainUrn).id, 'domainProperties'),
    { kind: 'merge', fields },
    siblingRule,
    order,
    null
  )
}
