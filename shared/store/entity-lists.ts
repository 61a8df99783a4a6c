/** Entities by their type alone, a page at a time. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { Urn } from '../urn/urn.ts'

/** The present entities of a type by id, soft-deleted ones included, and how many there are in all. */
export async function pageOfType(
  db: Db | Tx,
  entityType: string,
  start: number,
  count: number
): Promise<{ urns: Urn[]; total: number }> {
  const [row] = await query<{ urns: Urn[]; total: number }>(
    db,
    `
    with page as (
      select entity.id, entity.urn
      from entity
      where entity.entity_type = ? and entity.is_present
      order by entity.id
      offset ?::bigint
      limit ?::int
    )
    select
      coalesce((select array_agg(page.urn order by page.id) from page), '{}') as urns,
      (select count(*)::int from entity where entity.entity_type = ? and entity.is_present) as total`,
    [entityType, start, count, entityType]
  )
  return row ?? { urns: [], total: 0 }
}
