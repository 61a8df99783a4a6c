/**
 * Hard deletion: takes away what is stated about an entity and its columns, up to the order of the deletion.
 *
 * Runs before the other changes of its transaction, while no other writer is active. The entity row stays as a
 * tombstone: a change that was accepted before the deletion and comes after it has no effect.
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
  columnsOf,
  findEntities,
  findEntitiesById,
  writeDeletion,
  writePresence,
  type EntityRow
} from '../../store/entities.ts'
import { deleteSearchDocuments } from '../../store/search-documents.ts'
import { deleteStatementsTouching, statementsOfOwners } from '../../store/statements.ts'
import { nameFromUrn } from '../../urn/kinds.ts'
import { toUrn } from '../../urn/urn.ts'
import { evaluateAgain, makesEntity, restored } from './aspect-cells.ts'
import { replayAssociations } from './association-cells.ts'
import { remakeDocuments } from './keep-search-documents.ts'
import { checkNoChildren, removeDomain } from './domain-tree.ts'
import { entityOf, orderOf, rememberEntity, type WorkingSet } from './working-set.ts'

export type Deletion = { record: ChangeRecord; entity: EntityRow }

/** The hard deletions among records; those of entities nobody has named before are none. */
export function deletionsOf(set: WorkingSet, records: readonly ChangeRecord[]): Deletion[] {
  return records.flatMap((record) =>
    record.changes.flatMap((change) => {
      const urn =
        change.kind === 'deleteEntity' && change.hard
          ? change.entityUrn
          : change.kind === 'deleteDomain'
            ? change.domainUrn
            : null
      return urn && set.entities.has(urn) ? [{ record, entity: entityOf(set, urn) }] : []
    })
  )
}

/** Deletes in order; says which records changed anything. Throws CONFLICT for a domain that has children. */
export async function deleteEntities(
  tx: Tx,
  set: WorkingSet,
  deletions: readonly Deletion[]
): Promise<Set<ChangeRecord>> {
  const changed = new Set<ChangeRecord>()
  for (const { record, entity } of deletions) {
    if (entity.entityType === 'domain') await checkNoChildren(tx, set, entity.id)
    if (await deleteEntity(tx, set, entity, orderOf(set, record))) changed.add(record)
  }
  return changed
}

async function deleteEntity(tx: Tx, set: WorkingSet, entity: EntityRow, order: Order): Promise<boolean> {
  const gone = [entity.id, ...(await columnsOf(tx, [entity.id]))].map((id) => ({ id, ...order }))
  const statements = await deleteStatementsTouching(tx, gone)
  for (const { downstreamId, upstreamId } of statements)
    set.graph.push({ kind: 'unstated', downstreamId, upstreamId })
  await deleteEdgePatchesTouching(tx, gone)
  const associated = await deleteAssociations(tx, gone)
  for (const id of associated) set.graph.push({ kind: 'domain', id, domainId: null })
  const removed = (await deleteAspectsOfEntities(tx, gone)) + associated.length + statements.length
  await replayAssociations(tx, set, [entity.id])
  if (entity.entityType === 'domain') {
    for (const id of await emptyDomains(tx, gone, set.actor.urn))
      set.graph.push({ kind: 'domain', id, domainId: null })
  }
  await writeDeletion(tx, gone)
  const left = await replaySurvivors(
    tx,
    set,
    entity,
    gone.map((row) => row.id)
  )
  // Whoever wrote an aspect since has made the entity anew, but for aspects that need it to exist, and for edges given by their ends.
  const makers = [...left.current, ...left.history].filter(
    (row) => row.entityId === entity.id && makesEntity(restored(row)) && !requiresEntity(row.aspectName)
  )
  const isPresent = makers.length > 0 || (await hasTimeseries(tx, entity.id))
  const isRemoved = left.current.some(
    (row) => row.entityId === entity.id && row.aspectName === 'status' && row.value?.removed === true
  )
  if (entity.entityType === 'domain') {
    await placeSurvivor(tx, set, entity, left.current)
    set.graph.push({ kind: 'described', id: entity.id })
  }
  await writePresence(
    tx,
    gone.map(({ id }) =>
      id === entity.id ? { id, isPresent, isRemoved } : { id, isPresent: false, isRemoved: false }
    )
  )
  for (const row of await findEntitiesById(
    tx,
    gone.map((each) => each.id)
  )) {
    rememberEntity(set, row)
    set.graph.push({
      kind: 'entity',
      id: row.id,
      isPresent: row.isPresent,
      isRemoved: row.isRemoved,
      isDeleted: row.deletedSeq !== null
    })
  }
  if (entity.entityType === 'domain') await emptyByReplay(tx, set, entity.id)
  await (isPresent ? remakeDocuments(tx, [entity]) : deleteSearchDocuments(tx, [entity.id]))
  const hasChanged = removed > 0 || (entity.isPresent && !isPresent)
  if (hasChanged) set.journal?.note({ kind: 'deleted', entityId: entity.id })
  return hasChanged
}

/** Assets that something newer than the deletion left in the domain, while it was what had put them there before. */
async function emptyByReplay(tx: Tx, set: WorkingSet, domainId: number): Promise<void> {
  const assetIds = await assetsIn(tx, domainId)
  for (const row of await findEntitiesById(
    tx,
    assetIds.filter((id) => !set.byId.has(id))
  ))
    rememberEntity(set, row)
  await replayAssociations(tx, set, assetIds)
}

/**
 * What was stated after a late deletion stands, but on nothing: its changes are made again without what was deleted.
 * Gives what is left of aspects.
 */
async function replaySurvivors(
  tx: Tx,
  set: WorkingSet,
  entity: EntityRow,
  ids: readonly number[]
): Promise<{ current: AspectRow[]; history: AspectRow[] }> {
  const current = await findAspectsOfEntities(tx, ids)
  const history = await findAspectHistory(tx, current)
  const rewritten: { current: AspectRow[]; history: AspectRow[] } = {
    current: await aspectsOfEdges(tx, set, entity, current),
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
      // No budget: a deletion cannot be refused because of what was patched before.
      value = evaluateAgain({ aspectName: row.aspectName, entityType }, restored(row), value, null)
      rewritten[row === last ? 'current' : 'history'].push({ ...row, value, version: index + 1 })
    })
  }
  await writeAspects(tx, rewritten.current)
  await writeAspectHistory(tx, rewritten.history)
  return rewritten
}

/** Edges that were stated after a late deletion made their aspect anew. */
async function aspectsOfEdges(
  tx: Tx,
  set: WorkingSet,
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
        actor: set.actor.urn,
        createdAt: set.now
      }
    ]
  })
}

/** Where the domain stands by what is left of it. */
async function placeSurvivor(
  tx: Tx,
  set: WorkingSet,
  entity: EntityRow,
  left: readonly AspectRow[]
): Promise<void> {
  const value = left.find((row) => row.entityId === entity.id && row.aspectName === 'domainProperties')?.value
  if (!value) return removeDomain(tx, set, entity.id)
  const [parent] =
    typeof value.parentDomain === 'string' ? await findEntities(tx, [toUrn(value.parentDomain)]) : []
  await writeDomains(tx, [
    {
      entityId: entity.id,
      name: typeof value.name === 'string' ? value.name : nameFromUrn(entity.urn),
      parentId: parent?.id ?? null
    }
  ])
  set.graph.push({ kind: 'parentDomain', id: entity.id, parentId: parent?.id ?? null })
}
