/**
 * Hard deletion: takes away what is stated about an entity and its columns, up to the order of the deletion.
 *
 * Runs before the other changes of its transaction, while no other writer is active. The entity row stays as a
 * tombstone: a change that was accepted before the deletion and comes after it has no effect.
 */
import type { Tx } from '../../db/database.ts'
import type { ChangeRecord } from '../../model/changes.ts'
import type { Order } from '../../model/order.ts'
import { deleteAspectsOfEntities, findAspectHistory, findAspectsOfEntities, writeAspectHistory, writeAspects, type AspectRow } from '../../store/aspects.ts'
import { deleteAssociations, emptyDomains } from '../../store/domains.ts'
import { columnsOf, findEntitiesById, writeDeletion, writePresence, type EntityRow } from '../../store/entities.ts'
import { deleteStatementsTouching } from '../../store/statements.ts'
import { evaluateAgain, restored } from './aspect-cells.ts'
import { checkNoChildren, removeDomain } from './domain-tree.ts'
import { entityOf, orderOf, rememberEntity, type WorkingSet } from './working-set.ts'

export type Deletion = { record: ChangeRecord, entity: EntityRow }

/** The hard deletions among records; those of entities nobody has named before are none. */
export function deletionsOf(set: WorkingSet, records: readonly ChangeRecord[]): Deletion[] {
  return records.flatMap((record) => record.changes.flatMap((change) => {
    const urn = change.kind === 'deleteEntity' && change.hard ? change.entityUrn : change.kind === 'deleteDomain' ? change.domainUrn : null
    return urn && set.entities.has(urn) ? [{ record, entity: entityOf(set, urn) }] : []
  }))
}

/** Deletes in order; says which records changed anything. Throws CONFLICT for a domain that has children. */
export async function deleteEntities(tx: Tx, set: WorkingSet, deletions: readonly Deletion[]): Promise<Set<ChangeRecord>> {
  const changed = new Set<ChangeRecord>()
  for (const { record, entity } of deletions) {
    if (entity.entityType === 'domain') await checkNoChildren(tx, set, entity.id)
    if (await deleteEntity(tx, set, entity, orderOf(set, record))) changed.add(record)
  }
  return changed
}

async function deleteEntity(tx: Tx, set: WorkingSet, entity: EntityRow, order: Order): Promise<boolean> {
  const gone = [entity.id, ...await columnsOf(tx, [entity.id])].map((id) => ({ id, ...order }))
  const statements = await deleteStatementsTouching(tx, gone)
  for (const { downstreamId, upstreamId } of statements) set.graph.push({ kind: 'unstated', downstreamId, upstreamId })
  const removed = await deleteAspectsOfEntities(tx, gone) + await deleteAssociations(tx, gone) + statements.length
  if (entity.entityType === 'domain') {
    for (const id of await emptyDomains(tx, gone, set.actor.urn)) set.graph.push({ kind: 'domain', id, domainId: null })
  }
  await writeDeletion(tx, gone)
  const survivors = await replaySurvivors(tx, set, gone.map((row) => row.id))
  const isPresent = survivors.has(entity.id)
  if (!isPresent && entity.entityType === 'domain') await removeDomain(tx, set, entity.id)
  await writePresence(tx, gone.map(({ id }) => ({ id, isPresent: survivors.has(id), isRemoved: isPresent && entity.isRemoved })))
  for (const row of await findEntitiesById(tx, gone.map((each) => each.id))) {
    rememberEntity(set, row)
    set.graph.push({ kind: 'entity', id: row.id, isPresent: row.isPresent, isRemoved: row.isRemoved })
  }
  return removed > 0 || (entity.isPresent && !isPresent)
}

/** What was stated after a late deletion stands, but on nothing: its changes are made again without what was deleted. */
async function replaySurvivors(tx: Tx, set: WorkingSet, ids: readonly number[]): Promise<Set<number>> {
  const current = await findAspectsOfEntities(tx, ids)
  const history = await findAspectHistory(tx, current)
  const rewritten: { current: AspectRow[], history: AspectRow[] } = { current: [], history: [] }
  for (const last of current) {
    const rows = [...history.filter((row) => row.entityId === last.entityId && row.aspectName === last.aspectName), last]
    let value: AspectRow['value'] = null
    rows.forEach((row, index) => {
      value = evaluateAgain({ aspectName: row.aspectName, entityType: set.byId.get(row.entityId)?.entityType ?? '' }, restored(row), value)
      rewritten[row === last ? 'current' : 'history'].push({ ...row, value, version: index + 1 })
    })
  }
  await writeAspects(tx, rewritten.current)
  await writeAspectHistory(tx, rewritten.history)
  return new Set(current.map((row) => row.entityId))
}
