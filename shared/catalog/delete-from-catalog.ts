/** Hard deletion over REST: a whole entity, or one aspect of it, with how much was taken away. */
import type { Db } from '../db/database.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Change } from '../model/changes.ts'
import { entityTypeInfo } from '../model/entity-types.ts'
import { countStored } from '../store/aspects.ts'
import { findEntities } from '../store/entities.ts'
import { entityTypeOf, type Urn } from '../urn/urn.ts'
import { applyRecords } from './apply-records.ts'
import type { Call } from './call.ts'

/** `rows` counts aspects, `timeseriesRows` events in time. */
export type Deleted = { urn: Urn, rows: number, timeseriesRows: number }

/**
 * Deletes the entity with everything that is stated about it and its columns, or its aspect of that name alone. What is not
 * there is not refused, it counts as nothing. Throws CONFLICT for a domain that has domains under it, and FORBIDDEN.
 */
export async function deleteFromCatalog(db: Db, urn: Urn, aspectName: string | null, { actor, requestId }: Call): Promise<Deleted> {
  return inTransaction(db, async (tx) => {
    const before = await count(urn, aspectName)
    await applyRecords(tx, [{ line: 0, changes: [deletionOf(urn, aspectName)], fields: ['urn'] }], { actor, requestId, operation: 'delete', source: 'proposal', missingReferences: 'create' })
    const after = await count(urn, aspectName)
    return { urn, rows: before.rows - after.rows, timeseriesRows: before.timeseriesRows - after.timeseriesRows }

    async function count(of: Urn, name: string | null): Promise<Omit<Deleted, 'urn'>> {
      const [entity] = await findEntities(tx, [of])
      return entity ? countStored(tx, entity.id, name) : { rows: 0, timeseriesRows: 0 }
    }
  })
}

function deletionOf(urn: Urn, aspectName: string | null): Change {
  const entityType = entityTypeOf(urn)
  if (aspectName !== null && aspectName !== entityTypeInfo(entityType).keyAspect) return { kind: 'deleteAspect', entityUrn: urn, aspectName }
  return entityType === 'domain' ? { kind: 'deleteDomain', domainUrn: urn } : { kind: 'deleteEntity', entityUrn: urn, hard: true }
}
