/**
 * Reads the rows that the change log only names. Their content is current, so it is at least as new as the
 * log row.
 */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { JsonObject } from '../model/changes.ts'
import type { Urn } from '../urn/urn.ts'
import { idArray } from './id-array.ts'

/** New entities in the order of their ids, so that an asset comes before its columns. `parentId` is 0 except for a column. */
export async function readEntitiesOfGraph(
  db: Db,
  ids: readonly number[]
): Promise<{ id: number; urn: Urn; parentId: number }[]> {
  return query(
    db,
    `
    select entity.id, entity.urn, coalesce(entity.parent_id, 0) as "parentId"
    from entity
    where entity.id = any(?::int[])
    order by entity.id`,
    [idArray(ids)]
  )
}

/** `bytes` counts the value as the database prints it; `value` is null if that is more than `maxBytes`. */
export type DomainDocumentRow = { value: JsonObject | null; bytes: number }

const documentColumns = `
  aspect.entity_id as id,
  octet_length(aspect.value::text) as bytes,
  case when octet_length(aspect.value::text) <= ?::int then aspect.value end as value`

/** The domainProperties of domains; null for a domain without any. */
export async function readDomainDocuments(
  db: Db,
  ids: readonly number[],
  maxBytes: number
): Promise<Map<number, DomainDocumentRow | null>> {
  const rows = await query<DomainDocumentRow & { id: number }>(
    db,
    `
    select ${documentColumns}
    from aspect
    where aspect.entity_id = any(?::int[])
      and aspect.aspect_name = 'domainProperties'
      and aspect.value is not null`,
    [maxBytes, idArray(ids)]
  )
  return new Map([...ids.map((id): [number, null] => [id, null]), ...documentsOf(rows)])
}

/** The domainProperties of all domains. */
export async function readAllDomainDocuments(
  tx: Tx,
  maxBytes: number
): Promise<Map<number, DomainDocumentRow>> {
  return new Map(
    documentsOf(
      await query<DomainDocumentRow & { id: number }>(
        tx,
        `
    select ${documentColumns}
    from domain
    join aspect on aspect.entity_id = domain.entity_id
    where aspect.aspect_name = 'domainProperties' and aspect.value is not null`,
        [maxBytes]
      )
    )
  )
}

const documentsOf = (rows: readonly (DomainDocumentRow & { id: number })[]): [number, DomainDocumentRow][] =>
  rows.map(({ id, value, bytes }) => [id, { value, bytes }])
