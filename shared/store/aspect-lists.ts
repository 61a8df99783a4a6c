/** Lists over one aspect: the timeseries events of an entity, and how many entities have it. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { JsonObject } from '../model/changes.ts'
import type { AspectKey } from './aspects.ts'

/** Milliseconds, both ends included. `matching`: an event must match one document of each group. */
export type EventsWanted = {
  count: number
  from: number | null
  to: number | null
  matching: readonly (readonly JsonObject[])[] | null
}

/** The newest events first. Events with the same time are in reverse order of acceptance. */
export async function pageOfEvents(
  db: Db | Tx,
  { entityId, aspectName }: AspectKey,
  { count, from, to, matching }: EventsWanted
): Promise<{ value: JsonObject; systemMetadata: JsonObject | null }[]> {
  const groups = matching ?? []
  return query(
    db,
    `
    select
      timeseries_aspect.value,
      timeseries_aspect.system_metadata as "systemMetadata"
    from timeseries_aspect
    where timeseries_aspect.entity_id = ?::int
      and timeseries_aspect.aspect_name = ?
      and (?::bigint is null or timeseries_aspect.timestamp_millis >= ?::bigint)
      and (?::bigint is null or timeseries_aspect.timestamp_millis <= ?::bigint)
      ${groups.map(() => 'and timeseries_aspect.value @> any(?::jsonb[])').join('\n      ')}
    order by timeseries_aspect.timestamp_millis desc, timeseries_aspect.seq desc, timeseries_aspect.line desc
    limit ?::int`,
    [
      entityId,
      aspectName,
      from,
      from,
      to,
      to,
      ...groups.map((group) => group.map((document) => JSON.stringify(document))),
      count
    ]
  )
}

/**
 * How many present entities have the aspect now, timeseries events not counted. `like` is an SQL pattern,
 * null for all.
 */
export async function countEntitiesWith(
  db: Db | Tx,
  aspectName: string,
  like: string | null
): Promise<number> {
  const [row] = await query<{ total: number }>(
    db,
    `
    select count(*)::int as total
    from entity
    where entity.is_present
      and (?::text is null or entity.urn like ?)
      and (
        exists (select 1 from aspect where aspect.entity_id = entity.id and aspect.aspect_name = ? and aspect.value is not null)
        or (? = 'domains' and exists (select 1 from domain_association where domain_association.entity_id = entity.id and domain_association.domain_id is not null))
      )`,
    [like, like, aspectName, aspectName]
  )
  return row?.total ?? 0
}
