/** What the change log only names: rows that a reader of the log needs beside it. As they are now, never older than the log row. */
import type { Db } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { JsonObject } from '../model/changes.ts'
import type { Urn } from '../urn/urn.ts'
import { idArray } from './id-array.ts'

/** New entities by id, so that an asset comes before its columns. `parentId` is 0 for what is no column. */
export async function readEntitiesOfGraph(db: Db, ids: readonly number[]): Promise<{ id: number, urn: Urn, parentId: number }[]> {
  return query(db, `
    select entity.id, entity.urn, coalesce(entity.parent_id, 0) as "parentId"
    from entity
    where entity.id = any(?::int[])
    order by entity.id`, [idArray(ids)])
}

/** What domainProperties says of domains; null for one that has none. */
export async function readDomainDocuments(db: Db, ids: readonly number[]): Promise<Map<number, JsonObject | null>> {
  const rows = await query<{ id: number, value: JsonObject | null }>(db, `
    select aspect.entity_id as id, aspect.value
    from aspect
    where aspect.entity_id = any(?::int[])
      and aspect.aspect_name = 'domainProperties'`, [idArray(ids)])
  const documents = new Map<number, JsonObject | null>(ids.map((id) => [id, null]))
  for (const row of rows) documents.set(row.id, row.value)
  return documents
}
