/**
 * Reads of the domain tree and of the assets in domains. Every walk of the tree ends, whatever cycles are
 * stored.
 */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { JsonObject } from '../model/changes.ts'
import type { Urn } from '../urn/urn.ts'
import { idArray } from './id-array.ts'

/** The domains below any of the ids, without these ids unless they are in a cycle. */
export async function domainsBelow(db: Db | Tx, ids: readonly number[]): Promise<number[]> {
  const rows = await query<{ id: number }>(
    db,
    `
    with recursive below (id) as (
      select domain.entity_id
      from domain
      where domain.parent_id = any(?::int[])
      union
      select domain.entity_id
      from below
      join domain on domain.parent_id = below.id
    )
    select id from below`,
    [idArray(ids)]
  )
  return rows.map((row) => row.id)
}

/** Each domain that has a parent, with its parent. */
export async function domainParents(db: Db | Tx): Promise<Map<number, number>> {
  const rows = await query<{ id: number; parentId: number }>(
    db,
    `
    select domain.entity_id as id, domain.parent_id as "parentId"
    from domain
    where domain.parent_id is not null`
  )
  return new Map(rows.map((row) => [row.id, row.parentId]))
}

/** A domain above another; `level` 1 is the parent. */
export type AncestorRow = { startId: number; level: number; id: number; urn: Urn; exists: boolean }

/** The domains above each of the ids, nearest first. A chain ends before it meets a domain for the second time. */
export async function ancestorChains(db: Db | Tx, ids: readonly number[]): Promise<AncestorRow[]> {
  return query<AncestorRow>(
    db,
    `
    with recursive above (start_id, level, id, seen) as (
      select domain.entity_id, 1, domain.parent_id, array[domain.entity_id, domain.parent_id]
      from domain
      where domain.entity_id = any(?::int[])
        and domain.parent_id is not null
        and domain.parent_id <> domain.entity_id
      union all
      select above.start_id, above.level + 1, domain.parent_id, above.seen || domain.parent_id
      from above
      join domain on domain.entity_id = above.id
      where domain.parent_id is not null
        and domain.parent_id <> all(above.seen)
    )
    select
      above.start_id as "startId",
      above.level,
      entity.id,
      entity.urn,
      entity.is_present as exists
    from above
    join entity on entity.id = above.id
    order by above.start_id, above.level`,
    [idArray(ids)]
  )
}

export type DomainAssociationRow = { entityId: number; domainUrn: Urn; domainExists: boolean }

/** The domains that assets are in. A deleted domain does not count, even if an overtaken change still names it. */
export async function findDomainsOf(
  db: Db | Tx,
  assetIds: readonly number[]
): Promise<DomainAssociationRow[]> {
  if (assetIds.length === 0) return []
  return query<DomainAssociationRow>(
    db,
    `
    select
      domain_association.entity_id as "entityId",
      entity.urn as "domainUrn",
      entity.is_present as "domainExists"
    from domain_association
    join entity on entity.id = domain_association.domain_id
    where domain_association.entity_id = any(?::int[])
      and (entity.is_present or entity.deleted_seq is null)`,
    [idArray(assetIds)]
  )
}

export type DomainLevelRow = { id: number; urn: Urn; properties: JsonObject | null }

/** The present domains directly under a parent, or at the top level, newest first. */
export async function domainsOfLevel(
  db: Db | Tx,
  parentId: number | null,
  withProperties: boolean
): Promise<DomainLevelRow[]> {
  return query<DomainLevelRow>(
    db,
    `
    select
      entity.id,
      entity.urn,
      ${withProperties ? 'aspect.value' : 'null::jsonb'} as properties
    from domain
    join entity on entity.id = domain.entity_id
    left join aspect on aspect.entity_id = entity.id and aspect.aspect_name = 'domainProperties'
    where ${parentId === null ? 'domain.parent_id is null and ?::int is null' : 'domain.parent_id = ?::int'}
      and entity.is_present
      and not entity.is_removed
    order by
      case when jsonb_typeof(aspect.value #> '{created,time}') = 'number' then (aspect.value #>> '{created,time}')::numeric else 0 end desc,
      domain.created_at desc,
      entity.id desc`,
    [parentId]
  )
}

/** The assets that are directly in domains, by id. */
export async function membersOfDomains(
  db: Db | Tx,
  domainIds: readonly number[]
): Promise<{ domainId: number; id: number }[]> {
  return query(
    db,
    `
    select
      domain_association.domain_id as "domainId",
      domain_association.entity_id as id
    from domain_association
    where domain_association.domain_id = any(?::int[])
    order by domain_association.entity_id`,
    [idArray(domainIds)]
  )
}

/** A requested domain, and a domain whose assets count as inside it: itself, or a descendant. */
export type DomainInside = { domainId: number; insideId: number }

/** Each domain with itself and all domains below it, each once. */
export async function treesOfDomains(db: Db | Tx, domainIds: readonly number[]): Promise<DomainInside[]> {
  return query<DomainInside>(
    db,
    `
    with recursive tree (domain_id, inside_id) as (
      select id, id from unnest(?::int[]) as asked (id)
      union
      select tree.domain_id, domain.entity_id
      from tree
      join domain on domain.parent_id = tree.inside_id
    )
    select domain_id as "domainId", inside_id as "insideId" from tree`,
    [idArray(domainIds)]
  )
}

const insideColumns = (inside: readonly DomainInside[]): [string, string] => [
  idArray(inside.map(({ domainId }) => domainId)),
  idArray(inside.map(({ insideId }) => insideId))
]

/** How many assets that are not soft-deleted are in each requested domain. */
export async function countMembers(
  db: Db | Tx,
  inside: readonly DomainInside[]
): Promise<Map<number, number>> {
  const rows = await query<{ domainId: number; total: number }>(
    db,
    `
    select wanted.domain_id as "domainId", sum(member.total)::int as total
    from unnest(?::int[], ?::int[]) as wanted (domain_id, inside_id)
    join (
      select domain_association.domain_id, count(*) as total
      from domain_association
      join entity on entity.id = domain_association.entity_id
      where domain_association.domain_id = any(?::int[])
        and not entity.is_removed
      group by domain_association.domain_id
    ) as member on member.domain_id = wanted.inside_id
    group by wanted.domain_id`,
    [...insideColumns(inside), idArray([...new Set(inside.map(({ insideId }) => insideId))])]
  )
  return new Map(rows.map((row) => [row.domainId, row.total]))
}

export type MemberRow = { domainId: number; urn: Urn; exists: boolean }

/** One page of the assets of each domain that are not soft-deleted, by id. */
export async function pageOfMembers(
  db: Db | Tx,
  inside: readonly DomainInside[],
  start: number,
  count: number
): Promise<MemberRow[]> {
  return query<MemberRow>(
    db,
    `
    select
      wanted.domain_id as "domainId",
      member.urn,
      member.is_present as exists
    from (
      select domain_id, array_agg(inside_id) as inside_ids
      from unnest(?::int[], ?::int[]) as each (domain_id, inside_id)
      group by domain_id
    ) as wanted
    cross join lateral (
      select entity.id, entity.urn, entity.is_present
      from domain_association
      join entity on entity.id = domain_association.entity_id
      where domain_association.domain_id = any(wanted.inside_ids)
        and not entity.is_removed
      order by entity.id
      offset ?::int
      limit ?::int
    ) as member
    order by wanted.domain_id, member.id`,
    [...insideColumns(inside), start, count]
  )
}

/**
 * How many domains that exist and are not soft-deleted are directly under each domain: the number that
 * domainsOfLevel lists.
 */
export async function countChildDomains(
  db: Db | Tx,
  domainIds: readonly number[]
): Promise<Map<number, number>> {
  const rows = await query<{ id: number; count: number }>(
    db,
    `
    select domain.parent_id as id, count(*)::int as count
    from domain
    join entity on entity.id = domain.entity_id
    where domain.parent_id = any(?::int[])
      and entity.is_present
      and not entity.is_removed
    group by domain.parent_id`,
    [idArray(domainIds)]
  )
  return new Map(rows.map((row) => [row.id, row.count]))
}

export type AssociatedUrns = { id: number; entityUrn: Urn; domainUrn: Urn }

/**
 * The assets with an id above `after` that are in a domain, by id. `domainIds` limits the domains; null means
 * no limit. Deleted domains do not count, nor does what is soft-deleted.
 */
export async function pageOfAssociations(
  tx: Tx,
  domainIds: readonly number[] | null,
  after: number,
  count: number
): Promise<AssociatedUrns[]> {
  return query(
    tx,
    `
    select
      asset.id,
      asset.urn as "entityUrn",
      domain.urn as "domainUrn"
    from domain_association
    join entity asset on asset.id = domain_association.entity_id
    join entity domain on domain.id = domain_association.domain_id
    where domain_association.entity_id > ?::int
      and (?::boolean or domain_association.domain_id = any(?::int[]))
      and (domain.is_present or domain.deleted_seq is null)
      and not asset.is_removed
      and not domain.is_removed
    order by domain_association.entity_id
    limit ?::int`,
    [after, domainIds === null, idArray(domainIds ?? []), count]
  )
}
