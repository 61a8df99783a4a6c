/** OpenLineage events for tests, and their effects on the catalog. */
import { query } from '../../shared/db/query.ts'
import type { Db } from '../../shared/db/database.ts'
import type { JsonObject } from '../../shared/model/changes.ts'

const producer = 'https://github.com/OpenLineage/OpenLineage/tree/1.30.0/integration/spark'
const facetHead = { _producer: producer, _schemaURL: 'https://openlineage.io/spec/facets/1-0-0/Facet.json' }

export const facet = (content: JsonObject): JsonObject => ({ ...facetHead, ...content })

/** The time of an event, `seconds` after the first. */
export const timeAt = (seconds: number): string =>
  new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString()

/** An event of any kind, decided by the given fields. */
export const eventAt = (seconds: number, content: JsonObject): JsonObject => ({
  eventTime: timeAt(seconds),
  producer,
  schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json',
  ...content
})

/** The effects of events in the catalog, for entities with an id above `afterId`, each as a text. */
export async function contentFrom(db: Db, afterId = 0): Promise<string[]> {
  const rows = await query<{ said: string }>(
    db,
    `
    select entity.urn as said
    from entity
    where entity.id > ?::int and entity.is_present and not entity.is_removed
    union all
    select concat_ws(' ', up.urn, down.urn, owner.urn, field, attributes::text)
    from statement
    join entity as up on up.id = upstream_id
    join entity as down on down.id = downstream_id
    join entity as owner on owner.id = owner_id
    where statement.downstream_id > ?::int
    union all
    select concat_ws(' ', entity.urn, aspect_name, value::text)
    from entity
    join aspect on aspect.entity_id = entity.id
    where entity.id > ?::int and not entity.is_removed and value is not null
    order by said`,
    [afterId, afterId, afterId]
  )
  return rows.map((row) => row.said)
}

/** All future ids are greater. */
export async function lastEntityId(db: Db): Promise<number> {
  const [row] = await query<{ id: number }>(db, 'select coalesce(max(id), 0)::int as id from entity')
  return row?.id ?? 0
}
