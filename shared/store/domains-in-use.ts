/** The domains that have assets. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'

/**
 * The ids of the domains that have assets. Skips from one domain to the next in the index, so it costs one
 * lookup per domain, not per asset.
 */
export async function domainsInUse(db: Db | Tx): Promise<number[]> {
  const rows = await query<{ id: number }>(
    db,
    `
    with recursive used (id) as (
      select min(domain_association.domain_id)
      from domain_association
      where domain_association.domain_id is not null
      union all
      select (
        select min(domain_association.domain_id)
        from domain_association
        where domain_association.domain_id > used.id
      )
      from used
      where used.id is not null
    )
    select id from used where id is not null`
  )
  return rows.map((row) => row.id)
}
