/** The aspect tables: current documents, the changes before them, and timeseries events. */
import { createHash } from 'node:crypto'
import type { Db, Tx } from '../db/database.ts'
import { int4Array, int4sOf } from '../db/int4-array.ts'
import { query } from '../db/query.ts'
import type { JsonObject, JsonValue } from '../model/changes.ts'
import type { Order } from '../model/order.ts'

/**
 * How a change makes a value from the value before it: replace it, patch it, merge fields into it, delete it,
 * or several of these.
 */
type AspectChangeKind = 'put' | 'patch' | 'merge' | 'delete' | 'several'

/**
 * One change of an aspect and its result; the newest change is the current row, the others are its history.
 */
export type AspectRow = Order & {
  entityId: number
  aspectName: string
  version: number
  kind: AspectChangeKind
  /** The operation to replay; null if the change replaced the whole value. */
  change: JsonValue
  /** Null if the aspect does not exist after the change. */
  value: JsonObject | null
  systemMetadata: JsonObject | null
  actor: string
  createdAt: Date
}

export type AspectKey = { entityId: number; aspectName: string }

const selectedColumns = (table: string) => `
  ${table}.entity_id as "entityId",
  ${table}.aspect_name as "aspectName",
  ${table}.version,
  ${table}.seq,
  ${table}.line,
  ${table}.kind,
  ${table}.change,
  ${table}.value,
  ${table}.system_metadata as "systemMetadata",
  ${table}.actor,
  ${table}.created_at as "createdAt"`

const keyBindings = (keys: readonly AspectKey[]) => [
  keys.map((key) => key.entityId),
  keys.map((key) => key.aspectName)
]

/** The current rows of aspects. Lateral, as in findEntities. */
export async function findAspects(db: Db | Tx, keys: readonly AspectKey[]): Promise<AspectRow[]> {
  if (keys.length === 0) return []
  return query<AspectRow>(
    db,
    `
    select found.*
    from unnest(?::int[], ?::text[]) as wanted (entity_id, aspect_name)
    cross join lateral (
      select ${selectedColumns('aspect')}
      from aspect
      where aspect.entity_id = wanted.entity_id and aspect.aspect_name = wanted.aspect_name
      limit 1
    ) as found`,
    keyBindings(keys)
  )
}

/** All current rows of entities. */
export async function findAspectsOfEntities(db: Db | Tx, entityIds: readonly number[]): Promise<AspectRow[]> {
  if (entityIds.length === 0) return []
  return query<AspectRow>(
    db,
    `
    select ${selectedColumns('aspect')}
    from aspect
    where aspect.entity_id = any(?::int[])
    order by aspect.entity_id, aspect.aspect_name`,
    [entityIds]
  )
}

/** The changes before the current one, oldest first within an aspect. */
export async function findAspectHistory(db: Db | Tx, keys: readonly AspectKey[]): Promise<AspectRow[]> {
  if (keys.length === 0) return []
  return query<AspectRow>(
    db,
    `
    select ${selectedColumns('aspect_history')}
    from unnest(?::int[], ?::text[]) as wanted (entity_id, aspect_name)
    join aspect_history on aspect_history.entity_id = wanted.entity_id and aspect_history.aspect_name = wanted.aspect_name
    order by aspect_history.entity_id, aspect_history.aspect_name, aspect_history.seq, aspect_history.line`,
    keyBindings(keys)
  )
}

/** The last change that made a version, current or past; null if the version is no longer stored. */
export async function findAspectVersion(
  db: Db | Tx,
  key: AspectKey,
  version: number
): Promise<AspectRow | null> {
  const [row] = await query<AspectRow>(
    db,
    `
    select ${selectedColumns('aspect')}
    from aspect
    where aspect.entity_id = ?::int and aspect.aspect_name = ? and aspect.version = ?::int
    union all
    select ${selectedColumns('aspect_history')}
    from aspect_history
    where aspect_history.entity_id = ?::int and aspect_history.aspect_name = ? and aspect_history.version = ?::int
    order by seq desc, line desc
    limit 1`,
    [key.entityId, key.aspectName, version, key.entityId, key.aspectName, version]
  )
  return row ?? null
}

/** All changes of entities after this seq, current and past. */
export async function findAspectsSince(
  tx: Tx,
  entityIds: readonly number[],
  seq: number
): Promise<AspectRow[]> {
  if (entityIds.length === 0) return []
  const since = (table: string) => `
    select ${selectedColumns(table)}
    from ${table}
    where ${table}.entity_id = any(?::int[]) and ${table}.seq > ?::bigint`
  return query<AspectRow>(tx, `${since('aspect')} union all ${since('aspect_history')}`, [
    entityIds,
    seq,
    entityIds,
    seq
  ])
}

const json = (value: JsonValue): string | null => (value === null ? null : JSON.stringify(value))

const rowTypes =
  '?::int[], ?::text[], ?::int[], ?::bigint[], ?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::timestamptz[]'
const rowNames =
  'entity_id, aspect_name, version, seq, line, kind, change, value, system_metadata, actor, created_at'
const rowArrays = (rows: readonly AspectRow[]) => [
  rows.map((row) => row.entityId),
  rows.map((row) => row.aspectName),
  rows.map((row) => row.version),
  rows.map((row) => row.seq),
  rows.map((row) => row.line),
  rows.map((row) => row.kind),
  rows.map((row) => json(row.change)),
  rows.map((row) => json(row.value)),
  rows.map((row) => json(row.systemMetadata)),
  rows.map((row) => row.actor),
  rows.map((row) => row.createdAt)
]
const excludedValues =
  'fresh.entity_id, fresh.aspect_name, fresh.version, fresh.seq, fresh.line, fresh.kind, fresh.change::jsonb, fresh.value::jsonb, fresh.system_metadata::jsonb, fresh.actor, fresh.created_at'
const overwrite = `
  version = excluded.version, seq = excluded.seq, line = excluded.line, kind = excluded.kind, change = excluded.change,
  value = excluded.value, system_metadata = excluded.system_metadata, actor = excluded.actor, created_at = excluded.created_at`

/** Writes current rows. */
export async function writeAspects(tx: Tx, rows: readonly AspectRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    insert into aspect (${rowNames})
    select ${excludedValues}
    from unnest(${rowTypes}) as fresh (${rowNames})
    order by fresh.entity_id, fresh.aspect_name
    on conflict (entity_id, aspect_name) do update set ${overwrite}`,
    rowArrays(rows)
  )
}

/** Writes past rows: new ones, and those that a late change has altered. */
export async function writeAspectHistory(tx: Tx, rows: readonly AspectRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    insert into aspect_history (${rowNames})
    select ${excludedValues}
    from unnest(${rowTypes}) as fresh (${rowNames})
    order by fresh.entity_id, fresh.aspect_name, fresh.seq, fresh.line
    on conflict (entity_id, aspect_name, seq, line) do update set ${overwrite}`,
    rowArrays(rows)
  )
}

/**
 * Deletes versions that are no longer kept, except those before or into which a future change could still be
 * inserted.
 */
export async function trimAspectHistory(
  tx: Tx,
  rows: readonly (AspectKey & { version: number })[],
  horizonSeq: number
): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    delete from aspect_history
    using unnest(?::int[], ?::text[], ?::int[]) as kept (entity_id, aspect_name, version)
    where aspect_history.entity_id = kept.entity_id
      and aspect_history.aspect_name = kept.aspect_name
      and aspect_history.version < kept.version
      and (aspect_history.seq, aspect_history.line) < (
        select before.seq, before.line
        from aspect_history as before
        where before.entity_id = kept.entity_id and before.aspect_name = kept.aspect_name and before.seq < ?::bigint
        order by before.seq desc, before.line desc
        limit 1
      )`,
    [...keyBindings(rows), rows.map((row) => row.version), horizonSeq]
  )
}

/** The owners that have the aspect, and those whose aspect was deleted; the others never had it. */
export async function aspectStates(
  tx: Tx,
  ownerIds: Int32Array,
  aspectName: string
): Promise<{ present: Int32Array; deleted: Int32Array }> {
  const [row] = await query<{ present: Buffer | null; deleted: Buffer | null }>(
    tx,
    `
    select
      string_agg(int4send(found.entity_id), '') filter (where found.is_present) as present,
      string_agg(int4send(found.entity_id), '') filter (where not found.is_present) as deleted
    from unnest(?::int[]) as wanted (id)
    cross join lateral (
      select aspect.entity_id, aspect.value is not null as is_present
      from aspect
      where aspect.entity_id = wanted.id and aspect.aspect_name = ?
      limit 1
    ) as found`,
    [int4Array(ownerIds), aspectName]
  )
  return { present: int4sOf(row?.present ?? null), deleted: int4sOf(row?.deleted ?? null) }
}

/**
 * Adds one version to the aspect of each of the owners that has it. The owners must be locked.
 *
 * Each row is looked up by its key and updated by its place. With a join by name, a catalog that was analyzed
 * before it had lineage was completely read for each chunk (183 us an edge instead of 2).
 */
export async function countVersions(
  tx: Tx,
  ownerIds: Int32Array,
  aspectName: string,
  actor: string
): Promise<void> {
  await query(
    tx,
    `
    with found as materialized (
      select aspect_row.place
      from unnest(?::int[]) as changed (owner_id)
      cross join lateral (
        select aspect.ctid as place
        from aspect
        where aspect.entity_id = changed.owner_id and aspect.aspect_name = ? and aspect.value is not null
        limit 1
      ) as aspect_row
    )
    update aspect
    set version = aspect.version + 1, actor = ?, created_at = now()
    from found
    where aspect.ctid = found.place`,
    [int4Array(ownerIds), aspectName, actor]
  )
}

/**
 * Deletes all aspects and events of deleted entities that are not newer than the deletion, and returns how
 * many there were.
 */
export async function deleteAspectsOfEntities(
  tx: Tx,
  deletions: readonly (Order & { id: number })[]
): Promise<number> {
  let removed = 0
  for (const table of ['aspect', 'aspect_history', 'timeseries_aspect']) {
    const rows = await query(
      tx,
      `
      delete from ${table}
      using unnest(?::int[], ?::bigint[], ?::int[]) as gone (id, seq, line)
      where ${table}.entity_id = gone.id and (${table}.seq, ${table}.line) <= (gone.seq, gone.line)
      returning 1`,
      [deletions.map((row) => row.id), deletions.map((row) => row.seq), deletions.map((row) => row.line)]
    )
    removed += rows.length
  }
  return removed
}

export type TimeseriesRow = AspectKey &
  Order & { timestampMillis: number; value: JsonObject; systemMetadata: JsonObject | null; actor: string }

/** An event with the key that distinguishes it from others of the same time. */
export type EventRow = TimeseriesRow & { eventKey: string }

export type EventKey = Pick<EventRow, 'entityId' | 'aspectName' | 'timestampMillis' | 'eventKey'>

/** Distinguishes events of the same time: message, granularity and partition, which their producers set. */
export function eventKeyOf(value: JsonObject): string {
  const { messageId = null, eventGranularity = null, partitionSpec = null } = value
  const hex = createHash('sha256')
    .update(JSON.stringify([messageId, eventGranularity, partitionSpec]))
    .digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

/** The stored events with these keys. */
export async function findEvents(
  tx: Tx,
  keys: readonly EventKey[]
): Promise<(EventKey & Order & { value: JsonObject })[]> {
  if (keys.length === 0) return []
  return query(
    tx,
    `
    select entity_id as "entityId", aspect_name as "aspectName", timestamp_millis as "timestampMillis", event_key as "eventKey", seq, line, value
    from timeseries_aspect
    where (entity_id, aspect_name, timestamp_millis, event_key) in (
      select * from unnest(?::int[], ?::text[], ?::bigint[], ?::uuid[])
    )`,
    [
      keys.map((key) => key.entityId),
      keys.map((key) => key.aspectName),
      keys.map((key) => key.timestampMillis),
      keys.map((key) => key.eventKey)
    ]
  )
}

/** Stores events. A stored one with the same key that was accepted later stays. */
export async function writeEvents(tx: Tx, rows: readonly EventRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    insert into timeseries_aspect (entity_id, aspect_name, timestamp_millis, event_key, seq, line, value, system_metadata, actor)
    select fresh.entity_id, fresh.aspect_name, fresh.timestamp_millis, fresh.event_key, fresh.seq, fresh.line, fresh.value::jsonb, fresh.system_metadata::jsonb, fresh.actor
    from unnest(?::int[], ?::text[], ?::bigint[], ?::uuid[], ?::bigint[], ?::int[], ?::text[], ?::text[], ?::text[])
      as fresh (entity_id, aspect_name, timestamp_millis, event_key, seq, line, value, system_metadata, actor)
    order by fresh.entity_id, fresh.aspect_name, fresh.timestamp_millis, fresh.event_key
    on conflict (entity_id, aspect_name, timestamp_millis, event_key) do update
    set seq = excluded.seq, line = excluded.line, value = excluded.value, system_metadata = excluded.system_metadata, actor = excluded.actor
    where (timeseries_aspect.seq, timeseries_aspect.line) < (excluded.seq, excluded.line)`,
    [
      rows.map((row) => row.entityId),
      rows.map((row) => row.aspectName),
      rows.map((row) => row.timestampMillis),
      rows.map((row) => row.eventKey),
      rows.map((row) => row.seq),
      rows.map((row) => row.line),
      rows.map((row) => JSON.stringify(row.value)),
      rows.map((row) => json(row.systemMetadata)),
      rows.map((row) => row.actor)
    ]
  )
}

/**
 * The newest event of an aspect that is not after a time, or null. If several have the same time, the event
 * that was accepted last.
 */
export async function findTimeseriesEvent(
  db: Db | Tx,
  key: AspectKey,
  timestampMillis: number
): Promise<(TimeseriesRow & { createdAt: Date }) | null> {
  const [row] = await query<TimeseriesRow & { createdAt: Date }>(
    db,
    `
    select ${timeseriesColumns}
    from timeseries_aspect
    where entity_id = ?::int and aspect_name = ? and timestamp_millis <= ?::bigint
    order by timestamp_millis desc, seq desc, line desc
    limit 1`,
    [key.entityId, key.aspectName, timestampMillis]
  )
  return row ?? null
}

const timeseriesColumns = `
  entity_id as "entityId",
  aspect_name as "aspectName",
  timestamp_millis as "timestampMillis",
  seq,
  line,
  value,
  system_metadata as "systemMetadata",
  actor,
  created_at as "createdAt"`

export async function hasTimeseries(tx: Tx, entityId: number): Promise<boolean> {
  const rows = await query(tx, 'select 1 from timeseries_aspect where entity_id = ?::int limit 1', [entityId])
  return rows.length > 0
}

/** The newest event of each entity and aspect. */
export async function latestTimeseries(
  db: Db | Tx,
  entityIds: readonly number[],
  aspectNames: readonly string[] | null
): Promise<(TimeseriesRow & { createdAt: Date })[]> {
  if (entityIds.length === 0) return []
  return query(
    db,
    `
    select distinct on (entity_id, aspect_name) ${timeseriesColumns}
    from timeseries_aspect
    where entity_id = any(?::int[]) and (?::text[] is null or aspect_name = any(?::text[]))
    order by entity_id, aspect_name, timestamp_millis desc, seq desc, line desc`,
    [entityIds, aspectNames, aspectNames]
  )
}

/**
 * Deletes events; only those in a time range if one is given (milliseconds, both ends included). Returns how
 * many were deleted.
 */
export async function deleteEvents(
  tx: Tx,
  { entityId, aspectName }: AspectKey,
  { from, to }: { from: number | null; to: number | null }
): Promise<number> {
  const rows = await query(
    tx,
    `
    delete from timeseries_aspect
    where timeseries_aspect.entity_id = ?::int
      and timeseries_aspect.aspect_name = ?
      and (?::bigint is null or timeseries_aspect.timestamp_millis >= ?::bigint)
      and (?::bigint is null or timeseries_aspect.timestamp_millis <= ?::bigint)
    returning 1`,
    [entityId, aspectName, from, from, to, to]
  )
  return rows.length
}

/**
 * How much is stored of an entity, or of one of its aspects: present aspects (key and domain included) and
 * timeseries events.
 */
export async function countStored(
  tx: Tx,
  entityId: number,
  { aspectName, keyAspect }: { aspectName: string | null; keyAspect: string }
): Promise<{ rows: number; timeseriesRows: number }> {
  const [row] = await query<{ rows: number; timeseriesRows: number }>(
    tx,
    `
    select
      (select count(*)::int from aspect where aspect.entity_id = entity.id and aspect.value is not null and aspect.aspect_name <> ? and (?::text is null or aspect.aspect_name = ?))
      + (select count(*)::int from domain_association where domain_association.entity_id = entity.id and domain_association.domain_id is not null and coalesce(?, 'domains') = 'domains')
      + (case when coalesce(?, ?) = ? and entity.is_present then 1 else 0 end) as rows,
      (select count(*)::int from timeseries_aspect where timeseries_aspect.entity_id = entity.id and (?::text is null or timeseries_aspect.aspect_name = ?)) as "timeseriesRows"
    from entity
    where entity.id = ?::int`,
    [
      keyAspect,
      aspectName,
      aspectName,
      aspectName,
      aspectName,
      keyAspect,
      keyAspect,
      aspectName,
      aspectName,
      entityId
    ]
  )
  return row ?? { rows: 0, timeseriesRows: 0 }
}
