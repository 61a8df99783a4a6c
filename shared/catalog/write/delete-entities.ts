/**
 * Hard deletion: removes what is stored about an entity and its columns, up to the order of the deletion.
 *
 * Runs before the other changes of its transaction, while no other writer is active. The entity row stays as
 * a tombstone: a change that was accepted before the deletion and is applied after it has no effect.
 */
import type { Tx } from '../../db/database.ts'
import { aspectTemplate, requiresEntity } from '../../model/aspect-registry.ts'
import type { ChangeRecord } from '../../model/changes.ts'
import { aspectCodeOf, lineageAspects } from '../../model/lineage-fields.ts'
import { compareOrder, type Order } from '../../model/order.ts'
import {
  deleteAspectsOfEntities,
  findAspectHistory,
  findAspectsOfEntities,
  hasTimeseries,
  writeAspectHistory,
  writeAspects,
  type AspectRow
} from '../../store/aspects.ts'
import { assetsIn, deleteAssociations, emptyDomains, writeDomains } from '../../store/domains.ts'
import { deleteEdgePatchesTouching } from '../../store/edge-patches.ts'
import {
  columnIdsOf,
  findEntities,
  findEntitiesById,
  writeDeletion,
  writePresence,
  type EntityRow
} from '../../store/entities.ts'
import { deleteState } from '../../store/openlineage.ts'
import { deleteSearchDocuments } from '../../store/search-documents.ts'
import { deleteStatementsTouching, statementsOfOwners } from '../../store/statements.ts'
import { nameFromUrn } from '../../urn/kinds.ts'
import { toUrn } from '../../urn/urn.ts'
import { replayedValue, makesEntity, changeOfRow } from './aspect-drafts.ts'
import { replayAssociations } from './association-drafts.ts'
import { rebuildSearchDocuments } from './keep-search-documents.ts'
import { checkNoChildren, removeDomain } from './domain-tree.ts'
import { entityOf, orderOf, rememberEntity, type UnitOfWork } from './unit-of-work.ts'

export type Deletion = { record: ChangeRecord; entity: EntityRow }

/** The hard deletions of the records, except those of entities that nothing has ever named. */
export function deletionsOf(work: UnitOfWork, records: readonly ChangeRecord[]): Deletion[] {
  return records.flatMap((record) =>
    record.changes.flatMap((change) => {
      const urn =
        change.kind === 'deleteEntity' && change.hard
          ? change.entityUrn
          : change.kind === 'deleteDomain'
            ? change.domainUrn
            : null
      return urn && work.entities.has(urn) ? [{ record, entity: entityOf(work, urn) }] : []
    })
  )
}

/**
 * Deletes in order, and returns the records that had an effect. Throws CONFLICT for a domain that has
 * children.
 */
export async function deleteEntities(
  tx: Tx,
  work: UnitOfWork,
  deletions: readonly Deletion[]
): Promise<Set<ChangeRecord>> {
  const changed = new Set<ChangeRecord>()
  for (const { record, entity } of deletions) {
    if (entity.entityType === 'domain') await checkNoChildren(tx, work, entity.id)
    if (await deleteEntity(tx, work, entity, orderOf(work, record))) changed.add(record)
  }
  return changed
}

async function deleteEntity(tx: Tx, work: UnitOfWork, entity: EntityRow, order: Order): Promise<boolean> {
  const deleted = [entity.id, ...(await columnIdsOf(tx, [entity.id]))].map((id) => ({ id, ...order }))
  const statements = await deleteStatementsTouching(tx, deleted)
  for (const { downstreamId, upstreamId } of statements)
    work.graph.push({ kind: 'unstated', downstreamId, upstreamId })
  await deleteEdgePatchesTouching(tx, deleted)
  const associated = await deleteAssociations(tx, deleted)
  for (const id of associated) work.graph.push({ kind: 'domain', id, domainId: null })
  const removed = (await deleteAspectsOfEntities(tx, deleted)) + associated.length + statements.length
  await replayAssociations(tx, work, [entity.id])
  if (entity.entityType === 'domain') {
    for (const id of await emptyDomains(tx, deleted, work.actor.urn))
      work.graph.push({ kind: 'domain', id, domainId: null })
  }
  await writeDeletion(tx, deleted)
  const left = await replayRemainingChanges(
    tx,
    work,
    entity,
    deleted.map((row) => row.id)
  )
  // An aspect that was written after the deletion created the entity again, except for aspects that need
  // their entity, and edges given by their ends.
  const makers = [...left.current, ...left.history].filter(
    (row) => row.entityId === entity.id && makesEntity(changeOfRow(row)) && !requiresEntity(row.aspectName)
  )
  const isPresent = makers.length > 0 || (await hasTimeseries(tx, entity.id))
  const isRemoved = left.current.some(
    (row) => row.entityId === entity.id && row.aspectName === 'status' && row.value?.removed === true
  )
  if (entity.entityType === 'domain') {
    await placeRemainingDomain(tx, work, entity, left.current)
    work.graph.push({ kind: 'described', id: entity.id })
  }
  await writePresence(
    tx,
    deleted.map(({ id }) =>
      id === entity.id ? { id, isPresent, isRemoved } : { id, isPresent: false, isRemoved: false }
    )
  )
  for (const row of await findEntitiesById(
    tx,
    deleted.map((each) => each.id)
  )) {
    rememberEntity(work, row)
    work.graph.push({
      kind: 'entity',
      id: row.id,
      isPresent: row.isPresent,
      isRemoved: row.isRemoved,
      isDeleted: row.deletedSeq !== null
    })
  }
  // Later OpenLineage events start from an empty state.
  if (!isPresent) await deleteState(tx, entity.urn)
  if (entity.entityType === 'domain') await emptyByReplay(tx, work, entity.id)
  await (isPresent ? rebuildSearchDocuments(tx, [entity]) : deleteSearchDocuments(tx, [entity.id]))
  const hasChanged = removed > 0 || (entity.isPresent && !isPresent)
  if (hasChanged) work.journal?.note({ kind: 'deleted', entityId: entity.id })
  return hasChanged
}

/** Assets whose current domain was set after the deletion, but that were in the deleted domain before. */
async function emptyByReplay(tx: Tx, work: UnitOfWork, domainId: number): Promise<void> {
  const assetIds = await assetsIn(tx, domainId)
  for (const row of await findEntitiesById(
    tx,
    assetIds.filter((id) => !work.byId.has(id))
  ))
    rememberEntity(work, row)
  await replayAssociations(tx, work, assetIds)
}

/**
 * Changes that are newer than a late deletion remain, but their earlier values do not, so they are replayed
 * without the deleted rows. Returns the remaining aspects.
 */
async function replayRemainingChanges(
  tx: Tx,
  work: UnitOfWork,
  entity: EntityRow,
  ids: readonly number[]
): Promise<{ current: AspectRow[]; history: AspectRow[] }> {
  const current = await findAspectsOfEntities(tx, ids)
  const history = await findAspectHistory(tx, current)
  const rewritten: { current: AspectRow[]; history: AspectRow[] } = {
    current: await aspectsOfEdges(tx, work, entity, current),
    history: []
  }
  for (const last of current) {
    const rows = [
      ...history.filter((row) => row.entityId === last.entityId && row.aspectName === last.aspectName),
      last
    ]
    const entityType = last.entityId === entity.id ? entity.entityType : 'schemaField'
    let value: AspectRow['value'] = null
    rows.forEach((row, index) => {
      // Without a limit, because a deletion must not be refused for earlier patches.
      value = replayedValue({ aspectName: row.aspectName, entityType }, changeOfRow(row), value, null)
      rewritten[row === last ? 'current' : 'history'].push({ ...row, value, version: index + 1 })
    })
  }
  await writeAspects(tx, rewritten.current)
  await writeAspectHistory(tx, rewritten.history)
  return rewritten
}

/** Edges that were stated after a late deletion created their aspect again. */
async function aspectsOfEdges(
  tx: Tx,
  work: UnitOfWork,
  entity: EntityRow,
  current: readonly AspectRow[]
): Promise<AspectRow[]> {
  const isThere = new Set(current.flatMap((row) => (row.entityId === entity.id ? row.aspectName : [])))
  const absent = lineageAspects
    .filter((aspectName) => !isThere.has(aspectName))
    .map((aspectName) => ({ aspectName, aspectCode: aspectCodeOf(aspectName) }))
  const statements = await statementsOfOwners(
    tx,
    absent.map(({ aspectCode }) => ({ ownerId: entity.id, aspectCode }))
  )
  return absent.flatMap(({ aspectName, aspectCode }) => {
    const [first] = statements.filter((row) => row.field >> 4 === aspectCode).sort(compareOrder)
    if (!first) return []
    return [
      {
        entityId: entity.id,
        aspectName,
        version: 1,
        seq: first.seq,
        line: first.line,
        kind: 'merge',
        change: {},
        value: aspectTemplate(aspectName),
        systemMetadata: null,
        actor: work.actor.urn,
        createdAt: work.now
      }
    ]
  })
}

/** Moves the domain to the place that its remaining properties name. */
async function placeRemainingDomain(
  tx: Tx,
  work: UnitOfWork,
  entity: EntityRow,
  left: readonly AspectRow[]
): Promise<void> {
  const value = left.find((row) => row.entityId === entity.id && row.aspectName === 'domainProperties')?.value
  if (!value) return removeDomain(tx, work, entity.id)
  const [parent] =
    typeof value.parentDomain === 'string' ? await findEntities(tx, [toUrn(value.parentDomain)]) : []
  await writeDomains(tx, [
    {
      entityId: entity.id,
      name: typeof value.name === 'string' ? value.name : nameFromUrn(entity.urn),
      parentId: parent?.id ?? null
    }
  ])
  work.graph.push({ kind: 'parentDomain', id: entity.id, parentId: parent?.id ?? null })
}
