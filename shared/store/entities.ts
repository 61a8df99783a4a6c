/** The entity table: URNs and their ids, existence, placeholders and tombstones. */
import type { Db, Tx } from '../db/database.ts'
import { int4Array, int4sOf } from '../db/int4-array.ts'
import { query } from '../db/query.ts'
import type { Order } from '../model/order.ts'
import { urnKey } from '../urn/urn-key.ts'
import { entityTypeOf, type Urn } from '../urn/urn.ts'
import { changedSeqOf, isAspectChangedSince } from './changed-seq.ts'

/** `isPresent` false is a placeholder, or a deleted entity (then `deletedSeq` is set). */
export type EntityRow = {
  id: number
  urn: Urn
  entityType: string
  parentId: number | null
  isPresent: boolean
  isRemoved: boolean
  deletedSeq: number | null
  deletedLine: number | null
}

const columns = `
  entity.id,
  entity.urn,
  entity.entity_type as "entityType",
  entity.parent_id as "parentId",
  entity.is_present as "isPresent",
  entity.is_removed as "isRemoved",
  entity.deleted_seq as "deletedSeq",
  entity.deleted_line as "deletedLine"`

/**
 * The rows of the URNs, in no particular order; URNs without a row are missing. Finds a row by digest, and
 * also compares the text.
 *
 * Lateral, so that each URN is an index lookup. With a plain join, the whole table was read and hashed for
 * each chunk of a load (14 us a URN among 140,000 entities, growing with the table; 6 us now).
 */
export async function findEntities(db: Db | Tx, urns: readonly Urn[]): Promise<EntityRow[]> {
  if (urns.length === 0) return []
  return query<EntityRow>(
    db,
    `
    select found.*
    from unnest(?::uuid[], ?::text[]) as wanted (urn_key, urn)
    cross join lateral (
      select ${columns}
      from entity
      where entity.urn_key = wanted.urn_key and entity.urn = wanted.urn
      limit 1
    ) as found`,
    [urns.map(urnKey), urns]
  )
}

/** The id of each URN by its index, 0 for none. Finds as findEntities does, and returns only ids. */
export async function findIds(tx: Tx, urns: readonly Urn[]): Promise<Int32Array> {
  if (urns.length === 0) return new Int32Array(0)
  const [row] = await query<{ ids: Buffer | null }>(
    tx,
    `
    select string_agg(int4send(coalesce(found.id, 0)), '' order by wanted.place) as ids
    from unnest(?::uuid[], ?::text[]) with ordinality as wanted (urn_key, urn, place)
    left join lateral (
      select entity.id
      from entity
      where entity.urn_key = wanted.urn_key and entity.urn = wanted.urn
      limit 1
    ) as found on true`,
    [urns.map(urnKey), urns]
  )
  return int4sOf(row?.ids ?? null)
}

/** The entities that were never deleted: those that exist, and placeholders. */
export async function findUndeleted(
  tx: Tx,
  ids: Int32Array
): Promise<{ present: Int32Array; placeholders: Int32Array }> {
  const [row] = await query<{ present: Buffer | null; placeholders: Buffer | null }>(
    tx,
    `
    select
      string_agg(int4send(entity.id), '') filter (where entity.is_present) as present,
      string_agg(int4send(entity.id), '') filter (where not entity.is_present) as placeholders
    from entity
    where entity.id = any(?::int[]) and entity.deleted_seq is null`,
    [int4Array(ids)]
  )
  return { present: int4sOf(row?.present ?? null), placeholders: int4sOf(row?.placeholders ?? null) }
}

/** The soft-deleted ones among these entities. */
export async function findRemoved(tx: Tx, ids: Int32Array): Promise<Pick<EntityRow, 'id' | 'urn'>[]> {
  if (ids.length === 0) return []
  return query<Pick<EntityRow, 'id' | 'urn'>>(
    tx,
    'select entity.id, entity.urn from entity where entity.is_removed and entity.id = any(?::int[])',
    [int4Array(ids)]
  )
}

/** Locks like lockEntities, but does not read the rows. */
export async function lockOwners(tx: Tx, ids: Int32Array): Promise<void> {
  if (ids.length === 0) return
  await query(
    tx,
    `
    with locked as (
      select entity.id
      from entity
      where entity.id = any(?::int[])
      order by entity.id
      for no key update
    )
    select count(*) from locked`,
    [int4Array(ids)]
  )
}

/** The rows of the ids, in no particular order; ids without a row are missing. */
export async function findEntitiesById(db: Db | Tx, ids: readonly number[]): Promise<EntityRow[]> {
  if (ids.length === 0) return []
  return query<EntityRow>(
    db,
    `
    select ${columns}
    from entity
    where entity.id = any(?::int[])`,
    [ids]
  )
}

/**
 * Gives ids to URNs without an id, as placeholders, and returns the rows of all URNs. Inserts in key order,
 * so that two transactions that insert the same URNs wait for each other and never deadlock.
 */
export async function insertEntities(
  tx: Tx,
  wanted: readonly { urn: Urn; parentId: number | null }[],
  trialIds: TrialIds | null = null
): Promise<{ inserted: EntityRow[]; known: EntityRow[] }> {
  if (wanted.length === 0) return { inserted: [], known: [] }
  const keyed = wanted
    .map((entry) => ({ ...entry, key: urnKey(entry.urn) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  const inserted = await query<EntityRow>(
    tx,
    `
    insert into entity (${trialIds ? 'id, ' : ''}urn, urn_key, entity_type, parent_id)
    select ${trialIds ? 'missing.id, ' : ''}missing.urn, missing.urn_key, missing.entity_type, missing.parent_id
    from unnest(?::text[], ?::uuid[], ?::text[], ?::int[], ?::int[]) as missing (urn, urn_key, entity_type, parent_id, id)
    on conflict (urn_key) do nothing
    returning ${columns.replaceAll('entity.', '')}`,
    [
      keyed.map((entry) => entry.urn),
      keyed.map((entry) => entry.key),
      keyed.map((entry) => entityTypeOf(entry.urn)),
      keyed.map((entry) => entry.parentId),
      trialIds ? trialIds.take(keyed.length) : []
    ]
  )
  const known = new Set(inserted.map((row) => row.urn))
  return {
    inserted,
    known: await findEntities(
      tx,
      wanted.map((entry) => entry.urn).filter((urn) => !known.has(urn))
    )
  }
}

/**
 * Locks the rows against other writers, in id order, so that two writers of the same owners wait for each
 * other and never deadlock. Until the transaction ends, no other writer can change what is read after this.
 */
export async function lockEntities(tx: Tx, ids: readonly number[]): Promise<EntityRow[]> {
  if (ids.length === 0) return []
  return query<EntityRow>(
    tx,
    `
    select ${columns}
    from entity
    where entity.id = any(?::int[])
    order by entity.id
    for no key update`,
    [ids]
  )
}

/**
 * Ids for rows of a transaction that will be rolled back. They are not drawn from the sequence of ids,
 * because it does not roll back, and ids are never used again.
 */
export type TrialIds = { take(count: number): number[] }

/** The ids are negative, from a random start, so that two concurrent dry runs do not wait for each other. */
export function createTrialIds(): TrialIds {
  let last = -1 - Math.floor(Math.random() * 2 ** 30)
  return {
    take: (count) =>
      Array.from({ length: count }, () => {
        last -= 1
        return last
      })
  }
}

export type Presence = { id: number; isPresent: boolean; isRemoved: boolean }

/**
 * Notifies all processes that remember existing entities that some no longer exist. Call it under the lock
 * that excludes all writers.
 */
async function countAbsence(tx: Tx): Promise<void> {
  await query(tx, "select nextval('absence_seq')")
}

/**
 * A text that changes whenever an entity has ceased to exist. Read it under the lock of writers, during which
 * it does not change.
 */
export async function readAbsenceCount(tx: Tx): Promise<string> {
  const [row] = await query<{ count: string }>(
    tx,
    // The first draw does not change last_value.
    "select concat_ws(' ', absence_seq.last_value, absence_seq.is_called) as count from absence_seq"
  )
  if (!row) throw new Error('a sequence has one row')
  return row.count
}

/**
 * Writes existence and soft deletion. Ending the existence of an entity needs the lock that excludes all
 * writers.
 */
export async function writePresence(tx: Tx, changed: readonly Presence[]): Promise<void> {
  if (changed.length === 0) return
  if (changed.some((row) => !row.isPresent)) await countAbsence(tx)
  await query(
    tx,
    `
    update entity
    set is_present = changed.is_present, is_removed = changed.is_removed
    from unnest(?::int[], ?::boolean[], ?::boolean[]) as changed (id, is_present, is_removed)
    where entity.id = changed.id`,
    [changed.map((row) => row.id), changed.map((row) => row.isPresent), changed.map((row) => row.isRemoved)]
  )
}

/** Marks entities as deleted at an order; an older deletion never replaces a newer one. */
export async function writeDeletion(tx: Tx, deleted: readonly (Order & { id: number })[]): Promise<void> {
  await countAbsence(tx)
  await query(
    tx,
    `
    update entity
    set deleted_seq = gone.seq, deleted_line = gone.line
    from unnest(?::int[], ?::bigint[], ?::int[]) as gone (id, seq, line)
    where entity.id = gone.id
      and (entity.deleted_seq is null or (entity.deleted_seq, entity.deleted_line) < (gone.seq, gone.line))`,
    [deleted.map((row) => row.id), deleted.map((row) => row.seq), deleted.map((row) => row.line)]
  )
}

/** Ids of the columns of assets. */
export async function columnIdsOf(tx: Tx, parentIds: readonly number[]): Promise<number[]> {
  const rows = await query<{ id: number }>(tx, 'select id from entity where parent_id = any(?::int[])', [
    parentIds
  ])
  return rows.map((row) => row.id)
}

/**
 * The entities that nothing has described or referred to as `since` or later: no aspect except the properties
 * of a domain itself, no event, no edge of the entity or of its columns, no association, no asset or domain
 * in it. Reliable while no other writer is active.
 */
export async function unusedEntities(
  tx: Tx,
  wanted: readonly { id: number; since: number }[]
): Promise<Set<number>> {
  if (wanted.length === 0) return new Set()
  const [ids, sinces] = [wanted.map(({ id }) => id), wanted.map(({ since }) => since)]
  const rows = await query<{ id: number }>(
    tx,
    `
    with own as (
      select wanted.id as root_id, wanted.id, wanted.since
      from unnest(?::int[], ?::bigint[]) as wanted (id, since)
      union all
      select wanted.id, entity.id, wanted.since
      from unnest(?::int[], ?::bigint[]) as wanted (id, since)
      join entity on entity.parent_id = wanted.id
    ), used as (
      select own.root_id
      from own
      where exists (select 1 from aspect where aspect.entity_id = own.id and aspect.value is not null and aspect.aspect_name <> 'domainProperties'
          and ${isAspectChangedSince('own.since')})
        or exists (select 1 from timeseries_aspect where timeseries_aspect.entity_id = own.id and timeseries_aspect.seq >= own.since)
        or exists (select 1 from statement where statement.downstream_id = own.id and ${changedSeqOf('statement')} >= own.since)
        or exists (select 1 from statement where statement.upstream_id = own.id and ${changedSeqOf('statement')} >= own.since)
        or exists (select 1 from statement where statement.owner_id = own.id and statement.owner_id <> statement.downstream_id and ${changedSeqOf('statement')} >= own.since)
        or exists (select 1 from domain_association where domain_association.entity_id = own.id and domain_association.domain_id is not null and ${changedSeqOf('domain_association')} >= own.since)
        or exists (select 1 from domain_association where domain_association.domain_id = own.id and ${changedSeqOf('domain_association')} >= own.since)
    )
    select wanted.id
    from unnest(?::int[]) as wanted (id)
    where not exists (select 1 from used where used.root_id = wanted.id)`,
    [ids, sinces, ids, sinces, ids]
  )
  return new Set(rows.map((row) => row.id))
}

/** Deletes rows that this transaction inserted and that nothing refers to. */
export async function forgetEntities(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await query(tx, 'delete from entity where id = any(?::int[])', [ids])
}
