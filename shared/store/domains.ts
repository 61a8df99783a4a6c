/** The domain tables: the tree of domains, and which asset is in which domain. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { comparableName } from '../model/comparable-name.ts'
import type { JsonObject } from '../model/changes.ts'
import type { Order } from '../model/order.ts'
import { isAspectChangedSince } from './changed-seq.ts'

export type DomainRow = { entityId: number; name: string; parentId: number | null }

/** The domains with these ids. */
export async function findDomains(db: Db | Tx, entityIds: readonly number[]): Promise<DomainRow[]> {
  if (entityIds.length === 0) return []
  return query<DomainRow>(
    db,
    'select entity_id as "entityId", name, parent_id as "parentId" from domain where entity_id = any(?::int[])',
    [entityIds]
  )
}

/** Mirrors the names and parents of domains. */
export async function writeDomains(tx: Tx, rows: readonly DomainRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    insert into domain (entity_id, name, parent_id)
    select fresh.entity_id, fresh.name, fresh.parent_id
    from unnest(?::int[], ?::text[], ?::int[]) as fresh (entity_id, name, parent_id)
    on conflict (entity_id) do update
    set name = excluded.name, parent_id = excluded.parent_id`,
    [rows.map((row) => row.entityId), rows.map((row) => row.name), rows.map((row) => row.parentId)]
  )
}

export async function deleteDomains(tx: Tx, entityIds: readonly number[]): Promise<void> {
  if (entityIds.length > 0) await query(tx, 'delete from domain where entity_id = any(?::int[])', [entityIds])
}

/**
 * The domains under the given parents that may have one of the names, or one that looks the same; parentId
 * null is the top level. They have the name, or one with other characters than ASCII or with more than single
 * spaces: the caller compares. Without those that are soft-deleted.
 */
export async function findSiblings(
  tx: Tx,
  places: readonly { parentId: number | null; name: string }[]
): Promise<DomainRow[]> {
  if (places.length === 0) return []
  const named = places.flatMap(({ parentId, name }) =>
    [...new Set([name, comparableName(name)])].map((each) => ({ parentId, name: each }))
  )
  const below = named.filter((place) => place.parentId !== null)
  const top = named.filter((place) => place.parentId === null)
  return query<DomainRow>(
    tx,
    `
    with candidate as (
      select domain.entity_id, domain.name, domain.parent_id
      from (select distinct parent_id, name from unnest(?::int[], ?::text[]) as place (parent_id, name)) as wanted
      join domain on domain.parent_id = wanted.parent_id and domain.name = wanted.name
      union
      select domain.entity_id, domain.name, domain.parent_id
      from domain
      where domain.parent_id is null and domain.name = any(?::text[])
      union
      select domain.entity_id, domain.name, domain.parent_id
      from domain
      where (domain.parent_id = any(?::int[]) or (?::boolean and domain.parent_id is null))
        and domain.name collate "C" !~ '^[!-~]+( [!-~]+)*$'
    )
    select candidate.entity_id as "entityId", candidate.name, candidate.parent_id as "parentId"
    from candidate
    join entity on entity.id = candidate.entity_id
    where not entity.is_removed`,
    [
      below.map((place) => place.parentId),
      below.map((place) => place.name),
      top.map((place) => place.name),
      [...new Set(below.map((place) => place.parentId))],
      top.length > 0
    ]
  )
}

/** Domains and their ancestors. */
export async function findDomainPaths(tx: Tx, entityIds: readonly number[]): Promise<DomainRow[]> {
  if (entityIds.length === 0) return []
  return query<DomainRow>(
    tx,
    `
    with recursive path as (
      select domain.entity_id, domain.name, domain.parent_id
      from domain
      where domain.entity_id = any(?::int[])
      union
      select domain.entity_id, domain.name, domain.parent_id
      from path
      join domain on domain.entity_id = path.parent_id
    )
    select entity_id as "entityId", name, parent_id as "parentId" from path`,
    [entityIds]
  )
}

/** The children of any of the domains. */
export async function childrenOf(tx: Tx, entityIds: readonly number[]): Promise<number[]> {
  if (entityIds.length === 0) return []
  const rows = await query<{ id: number }>(
    tx,
    'select entity_id as id from domain where parent_id = any(?::int[])',
    [entityIds]
  )
  return rows.map((row) => row.id)
}

/** The children of a domain that were moved below it as `since` or later, or changed then in another way. */
export async function childrenSince(tx: Tx, entityId: number, since: number): Promise<number[]> {
  const rows = await query<{ id: number }>(
    tx,
    `
    select domain.entity_id as id
    from domain
    join aspect on aspect.entity_id = domain.entity_id and aspect.aspect_name = 'domainProperties'
    where domain.parent_id = ? and ${isAspectChangedSince('?::bigint')}`,
    [entityId, since, since]
  )
  return rows.map((row) => row.id)
}

/** The ids of domains and of all their descendants. */
export async function subtreesOf(tx: Tx, entityIds: readonly number[]): Promise<number[]> {
  const rows = await query<{ id: number }>(
    tx,
    `
    with recursive below as (
      select unnest(?::int[]) as id
      union
      select domain.entity_id
      from below
      join domain on domain.parent_id = below.id
    )
    select id from below`,
    [entityIds]
  )
  return rows.map((row) => row.id)
}

/** The ids that have child domains. */
export async function withChildren(tx: Tx, entityIds: readonly number[]): Promise<Set<number>> {
  const rows = await query<{ id: number }>(
    tx,
    'select distinct parent_id as id from domain where parent_id = any(?::int[])',
    [entityIds]
  )
  return new Set(rows.map((row) => row.id))
}

/**
 * The domain of an asset. A null domainId keeps the order of a removal; `attributes` are the other fields of
 * the aspect.
 */
export type AssociationRow = Order & {
  entityId: number
  domainId: number | null
  version: number
  attributes: JsonObject | null
  actor: string
  createdAt: Date
  /** The seq of the change that set the content of the row, if it is not `seq`. */
  changedSeq?: number | null
}

const associationColumns = `
  domain_association.entity_id as "entityId",
  domain_association.domain_id as "domainId",
  domain_association.version,
  domain_association.seq,
  domain_association.line,
  domain_association.attributes,
  domain_association.actor,
  domain_association.created_at as "createdAt",
  domain_association.changed_seq as "changedSeq"`

export async function findAssociations(db: Db | Tx, entityIds: readonly number[]): Promise<AssociationRow[]> {
  if (entityIds.length === 0) return []
  return query<AssociationRow>(
    db,
    `select ${associationColumns} from domain_association where entity_id = any(?::int[])`,
    [entityIds]
  )
}

export async function writeAssociations(tx: Tx, rows: readonly AssociationRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    insert into domain_association (entity_id, domain_id, version, seq, line, attributes, actor, created_at, changed_seq)
    select fresh.entity_id, fresh.domain_id, fresh.version, fresh.seq, fresh.line, fresh.attributes::jsonb, fresh.actor, fresh.created_at, fresh.changed_seq
    from unnest(?::int[], ?::int[], ?::int[], ?::bigint[], ?::int[], ?::text[], ?::text[], ?::timestamptz[], ?::bigint[])
      as fresh (entity_id, domain_id, version, seq, line, attributes, actor, created_at, changed_seq)
    order by fresh.entity_id
    on conflict (entity_id) do update
    set domain_id = excluded.domain_id, version = excluded.version, seq = excluded.seq, line = excluded.line,
      attributes = excluded.attributes, actor = excluded.actor, created_at = excluded.created_at, changed_seq = excluded.changed_seq`,
    [
      rows.map((row) => row.entityId),
      rows.map((row) => row.domainId),
      rows.map((row) => row.version),
      rows.map((row) => row.seq),
      rows.map((row) => row.line),
      rows.map((row) => (row.attributes === null ? null : JSON.stringify(row.attributes))),
      rows.map((row) => row.actor),
      rows.map((row) => row.createdAt),
      rows.map((row) => row.changedSeq ?? null)
    ]
  )
}

/** The assets in a domain. */
export async function assetsIn(tx: Tx, domainId: number): Promise<number[]> {
  const rows = await query<{ id: number }>(
    tx,
    'select entity_id as id from domain_association where domain_id = ?::int',
    [domainId]
  )
  return rows.map((row) => row.id)
}

/** Removes assets from deleted domains, except those added after the deletion. Returns the assets. */
export async function emptyDomains(
  tx: Tx,
  deletions: readonly (Order & { id: number })[],
  actor: string
): Promise<number[]> {
  const rows = await query<{ id: number }>(
    tx,
    `
    update domain_association
    set domain_id = null, version = version + 1, seq = gone.seq, line = gone.line, attributes = null, actor = ?, created_at = now(), changed_seq = null
    from unnest(?::int[], ?::bigint[], ?::int[]) as gone (id, seq, line)
    where domain_association.domain_id = gone.id and (domain_association.seq, domain_association.line) <= (gone.seq, gone.line)
    returning domain_association.entity_id as id`,
    [actor, deletions.map((row) => row.id), deletions.map((row) => row.seq), deletions.map((row) => row.line)]
  )
  return rows.map((row) => row.id)
}

/** Deletes the associations of deleted assets, except newer ones; returns the assets. */
export async function deleteAssociations(
  tx: Tx,
  gone: readonly (Order & { id: number })[]
): Promise<number[]> {
  const rows = await query<{ id: number }>(
    tx,
    `
    delete from domain_association
    using unnest(?::int[], ?::bigint[], ?::int[]) as gone (id, seq, line)
    where domain_association.entity_id = gone.id
      and (greatest(domain_association.seq, domain_association.changed_seq), domain_association.line) <= (gone.seq, gone.line)
    returning domain_association.entity_id as id`,
    [gone.map((row) => row.id), gone.map((row) => row.seq), gone.map((row) => row.line)]
  )
  return rows.map((row) => row.id)
}
