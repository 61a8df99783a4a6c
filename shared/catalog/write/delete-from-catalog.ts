/** Hard deletion over REST: a whole entity or some of its aspects, and how much was deleted. */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { inWriteTurn } from '../../db/write-turns.ts'
import { CatalogError } from '../../errors.ts'
import { isTimeseries } from '../../model/aspect-registry.ts'
import type { Change } from '../../model/changes.ts'
import { entityTypeInfo } from '../../model/entity-types.ts'
import { countStored, deleteEvents, latestTimeseries } from '../../store/aspects.ts'
import { findEntities } from '../../store/entities.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import { applyRecords } from './apply-records.ts'
import { keysLocked } from './plan-records.ts'
import type { Call } from './call.ts'

/**
 * If `aspectNames` is null or contains the key aspect, the whole entity is deleted. `events` says which
 * events of the aspects to delete.
 */
export type Deletion = { urn: Urn; aspectNames: readonly string[] | null; events: EventsToDelete }
/**
 * All events in a time range in milliseconds, both ends included, null for an open end; or the newest event
 * of each aspect.
 */
export type EventsToDelete = 'newest' | { from: number | null; to: number | null }
export const allEvents: EventsToDelete = { from: null, to: null }

/** `rows` counts aspects, `timeseriesRows` counts timeseries events. */
export type Deleted = { urn: Urn; rows: number; timeseriesRows: number }

/**
 * Deletes the entity with everything stored about it and its columns, or only the named aspects. Deleting
 * something that does not exist is not an error, and counts as 0.
 *
 * Throws BAD_REQUEST for a time range without an aspect of events, CONFLICT for a domain that has child
 * domains, and FORBIDDEN.
 */
export async function deleteFromCatalog(
  db: Db,
  { urn, aspectNames, events }: Deletion,
  { actor, requestId }: Call
): Promise<Deleted> {
  const isOfTime = events !== 'newest' && (events.from !== null || events.to !== null)
  if (
    isOfTime &&
    (aspectNames === null || !aspectNames.every((name) => isTimeseries(name, { timestampMillis: 0 })))
  ) {
    throw new CatalogError(
      'BAD_REQUEST',
      'startTimeMillis and endTimeMillis select events of one aspect: aspectName must name an aspect of events',
      { field: 'aspectName' }
    )
  }
  const named = aspectNames ?? [null]
  const changes = named.map((aspectName) => deletionOf(urn, aspectName))
  if (changes.length === 0) return { urn, rows: 0, timeseriesRows: 0 }
  return inWriteTurn(db, { actor, keys: keysLocked(changes) }, () => inTransaction(db, remove))

  async function remove(tx: Tx): Promise<Deleted> {
    const before = await count()
    await applyRecords(tx, [{ line: 0, changes, fields: changes.map(() => 'urn') }], {
      actor,
      requestId,
      operation: 'delete',
      source: 'proposal',
      missingReferences: 'create'
    })
    const [entity] = await findEntities(tx, [urn])
    for (const aspectName of aspectNames ?? [])
      if (entity)
        await deleteEvents(tx, { entityId: entity.id, aspectName }, await timeOf(entity.id, aspectName))
    const after = await count()
    return {
      urn,
      rows: before.rows - after.rows,
      timeseriesRows: before.timeseriesRows - after.timeseriesRows
    }

    async function timeOf(
      entityId: number,
      aspectName: string
    ): Promise<{ from: number | null; to: number | null }> {
      if (events !== 'newest') return events
      const [newest] = await latestTimeseries(tx, [entityId], [aspectName])
      return { from: newest?.timestampMillis ?? null, to: newest?.timestampMillis ?? null }
    }

    async function count(): Promise<Omit<Deleted, 'urn'>> {
      const [found] = await findEntities(tx, [urn])
      const sum = { rows: 0, timeseriesRows: 0 }
      for (const aspectName of found ? named : []) {
        const { rows, timeseriesRows } = await countStored(tx, found?.id ?? 0, {
          aspectName,
          keyAspect: entityTypeInfo(entityTypeOf(urn)).keyAspect
        })
        sum.rows += rows
        sum.timeseriesRows += timeseriesRows
      }
      return sum
    }
  }
}

function deletionOf(urn: Urn, aspectName: string | null): Change {
  const entityType = entityTypeOf(urn)
  if (aspectName !== null && aspectName !== entityTypeInfo(entityType).keyAspect)
    return { kind: 'deleteAspect', entityUrn: urn, aspectName }
  return entityType === 'domain'
    ? { kind: 'deleteDomain', domainUrn: urn }
    : { kind: 'deleteEntity', entityUrn: urn, hard: true }
}
