/** Hard deletion over REST: a whole entity, or one aspect of it, with how much was taken away. */
import type { Db } from '../db/database.ts'
import { inTransaction } from '../db/transaction.ts'
import { CatalogError } from '../errors.ts'
import { isTimeseries } from '../model/aspect-registry.ts'
import type { Change } from '../model/changes.ts'
import { entityTypeInfo } from '../model/entity-types.ts'
import { countStored, deleteEvents } from '../store/aspects.ts'
import { findEntities } from '../store/entities.ts'
import { entityTypeOf, type Urn } from '../urn/urn.ts'
import { applyRecords } from './apply-records.ts'
import type { Call } from './call.ts'

/** `aspectName` null is the whole entity. A time, in milliseconds, both ends included, chooses among the events of the aspect. */
export type Deletion = { urn: Urn, aspectName: string | null, from: number | null, to: number | null }

/** `rows` counts aspects, `timeseriesRows` events in time. */
export type Deleted = { urn: Urn, rows: number, timeseriesRows: number }

/**
 * Deletes the entity with everything that is stated about it and its columns, or its aspect of that name alone. What is not
 * there is not refused, it counts as nothing. Throws BAD_REQUEST for a time without the aspect of events it is meant for,
 * CONFLICT for a domain that has domains under it, and FORBIDDEN.
 */
export async function deleteFromCatalog(db: Db, { urn, aspectName, from, to }: Deletion, { actor, requestId }: Call): Promise<Deleted> {
  const isOfTime = from !== null || to !== null
  if (isOfTime && (aspectName === null || !isTimeseries(aspectName, { timestampMillis: 0 }))) {
    throw new CatalogError('BAD_REQUEST', 'startTimeMillis and endTimeMillis choose among the events of one aspect: aspectName must name one that has events', { field: 'aspectName' })
  }
  return inTransaction(db, async (tx) => {
    const before = await count()
    await applyRecords(tx, [{ line: 0, changes: [deletionOf(urn, aspectName)], fields: ['urn'] }], { actor, requestId, operation: 'delete', source: 'proposal', missingReferences: 'create' })
    const [entity] = await findEntities(tx, [urn])
    if (entity && aspectName !== null) await deleteEvents(tx, { entityId: entity.id, aspectName }, { from, to })
    const after = await count()
    return { urn, rows: before.rows - after.rows, timeseriesRows: before.timeseriesRows - after.timeseriesRows }

    async function count(): Promise<Omit<Deleted, 'urn'>> {
      const [found] = await findEntities(tx, [urn])
      return found ? countStored(tx, found.id, { aspectName, keyAspect: entityTypeInfo(entityTypeOf(urn)).keyAspect }) : { rows: 0, timeseriesRows: 0 }
    }
  })
}

function deletionOf(urn: Urn, aspectName: string | null): Change {
  const entityType = entityTypeOf(urn)
  if (aspectName !== null && aspectName !== entityTypeInfo(entityType).keyAspect) return { kind: 'deleteAspect', entityUrn: urn, aspectName }
  return entityType === 'domain' ? { kind: 'deleteDomain', domainUrn: urn } : { kind: 'deleteEntity', entityUrn: urn, hard: true }
}
