/** Who names an entity in the lists of edges of aspects that are not its own. */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { columnFieldCodes } from '../model/lineage-fields.ts'
import type { Urn } from '../urn/urn.ts'

export type StatedReference = { ownerUrn: Urn; field: number }

/** One for each list that names the entity, the first `count` of them. Column records name columns, and no entity. */
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
