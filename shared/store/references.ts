/** Which entities name an entity in the lists of edges of their aspects. */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { columnFieldCodes } from '../model/lineage-fields.ts'
import type { Urn } from '../urn/urn.ts'

export type StatedReference = { ownerUrn: Urn; field: number }

/**
 * One row for each list that names the entity; the first `count` rows. Column records name columns, not
 * entities.
 */
export async function referencesInLists(tx: Tx, entityId: number, count: number): Promise<StatedReference[]> {
  return query<StatedReference>(
    tx,
    `
    select distinct owner.urn as "ownerUrn", statement.field
    from statement
    join entity owner on owner.id = statement.owner_id
    where (statement.upstream_id = ?::int or statement.downstream_id = ?::int)
      and statement.owner_id <> ?::int
      and statement.field <> all(?::smallint[])
    order by owner.urn, statement.field
    limit ?::int`,
    [entityId, entityId, entityId, columnFieldCodes, count]
  )
}
