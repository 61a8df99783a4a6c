/**
 * What reads show about entities: whether a URN is known, the facts by which results are filtered, and
 * current documents.
 */
import type { Db, Tx } from '../db/database.ts'
import { int4sOf } from '../db/int4-array.ts'
import { query } from '../db/query.ts'
import type { JsonObject } from '../model/changes.ts'
import { entityTypeOf, type Urn } from '../urn/urn.ts'
import { schemaFieldParts } from '../urn/kinds.ts'
import { findEntities } from './entities.ts'
import { idArray } from './id-array.ts'

/**
 * `id` is null for a column that no statement or aspect names. It exists if its asset does and needs no row.
 */
export type KnownEntity = { urn: Urn; id: number | null; exists: boolean; isRemoved: boolean }

/**
 * The URNs that are known: present, or a placeholder that something refers to. A column is known if its asset
 * is known, and exists if its asset exists. A deleted entity is not known unless an edge refers to it again.
 */
export async function findKnownEntities(db: Db | Tx, urns: readonly Urn[]): Promise<Map<Urn, KnownEntity>> {
  const assetUrnsOf = new Map(urns.map((urn) => [urn, assetThatDecides(urn)]))
  const rows = await findEntities(db, [...new Set([...urns, ...assetUrnsOf.values()])])
  const deleted = rows.filter((row) => !row.isPresent && row.deletedSeq !== null).map((row) => row.id)
  const deletedUrns = new Set(deleted)
  for (const id of await withEdges(db, deleted)) deletedUrns.delete(id)
  const rowOf = new Map(rows.map((row) => [row.urn, row]))
  const known = new Map<Urn, KnownEntity>()
  for (const [urn, assetUrn] of assetUrnsOf) {
    const asset = rowOf.get(assetUrn)
    if (!asset || deletedUrns.has(asset.id)) continue
    const own = rowOf.get(urn)
    known.set(urn, {
      urn,
      id: own?.id ?? null,
      exists: asset.isPresent,
      isRemoved: asset.isRemoved || (own?.isRemoved ?? false)
    })
  }
  return known
}

function assetThatDecides(urn: Urn): Urn {
  return entityTypeOf(urn) === 'schemaField' ? assetThatDecides(schemaFieldParts(urn).parentUrn) : urn
}

async function withEdges(db: Db | Tx, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await query<{ id: number }>(
    db,
    `
    select wanted.id
    from unnest(?::int[]) as wanted (id)
    where exists (select 1 from statement where statement.upstream_id = wanted.id)
      or exists (select 1 from statement where statement.downstream_id = wanted.id)`,
    [idArray(ids)]
  )
  return rows.map((row) => row.id)
}

/** All present entities and placeholders by id, without columns. */
export async function everyEntityId(db: Db | Tx): Promise<Int32Array> {
  const [row] = await query<{ ids: Buffer | null }>(
    db,
    `
    select string_agg(int4send(entity.id), '' order by entity.id) as ids
    from entity
    where entity.entity_type <> 'schemaField'
      and (entity.is_present or entity.deleted_seq is null)`
  )
  return int4sOf(row?.ids ?? null)
}

/** The facts by which results of a walk are filtered and counted. `urn` is empty unless it was requested. */
export type EntityFacts = {
  id: number
  urn: Urn
  entityType: string
  exists: boolean
  /** Whether the entity is soft-deleted; a column is, with its asset. */
  isRemoved: boolean
  /** A column that is in no domain is in that of its asset. */
  domainId: number | null
}

/**
 * The facts about ids. URNs are most of the bytes, and domains need a second lookup, so both are read only on
 * request.
 */
export async function readEntityFacts(
  db: Db | Tx,
  ids: readonly number[] | Int32Array,
  wants: { urns: boolean; domains: boolean }
): Promise<Map<number, EntityFacts>> {
  if (ids.length === 0) return new Map()
  const rows = await query<EntityFacts>(
    db,
    `
    select
      entity.id,
      ${wants.urns ? 'entity.urn' : "''"} as urn,
      entity.entity_type as "entityType",
      coalesce(parent.is_present, entity.is_present) as exists,
      entity.is_removed or coalesce(parent.is_removed, false) as "isRemoved",
      ${wants.domains ? 'coalesce(domain_association.domain_id, of_parent.domain_id)' : 'null'} as "domainId"
    from entity
    left join entity parent on parent.id = entity.parent_id
    ${
      wants.domains
        ? `left join domain_association on domain_association.entity_id = entity.id
           left join domain_association of_parent on of_parent.entity_id = entity.parent_id`
        : ''
    }
    where entity.id = any(?::int[])`,
    [idArray(ids)]
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** The assets that columns belong to. */
export async function parentIdsOf(
  db: Db | Tx,
  columnIds: readonly number[] | Int32Array
): Promise<Map<number, number>> {
  if (columnIds.length === 0) return new Map()
  const rows = await query<{ id: number; parentId: number }>(
    db,
    `
    select entity.id, entity.parent_id as "parentId"
    from entity
    where entity.id = any(?::int[]) and entity.parent_id is not null`,
    [idArray(columnIds)]
  )
  return new Map(rows.map((row) => [row.id, row.parentId]))
}

/**
 * The stored documents of entities, by id and aspect name. Not for `domains` and aspects that are lists of
 * edges.
 */
export async function readDocuments(
  db: Db | Tx,
  ids: readonly number[] | Int32Array,
  aspectNames: readonly string[]
): Promise<Map<number, Map<string, JsonObject>>> {
  const documents = new Map<number, Map<string, JsonObject>>()
  if (ids.length === 0 || aspectNames.length === 0) return documents
  const rows = await query<{ id: number; aspectName: string; value: JsonObject }>(
    db,
    `
    select aspect.entity_id as id, aspect.aspect_name as "aspectName", aspect.value
    from aspect
    where aspect.entity_id = any(?::int[])
      and aspect.aspect_name = any(?::text[])
      and aspect.value is not null`,
    [idArray(ids), aspectNames]
  )
  for (const row of rows) {
    const own = documents.get(row.id) ?? new Map<string, JsonObject>()
    documents.set(row.id, own.set(row.aspectName, row.value))
  }
  return documents
}

/** When each entity was written last, in milliseconds since 1970: its aspects or its domain. */
export async function readLastChanges(
  db: Db | Tx,
  ids: readonly number[] | Int32Array
): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map()
  const rows = await query<{ id: number; at: Date }>(
    db,
    `
    select
      entity.id,
      greatest(
        entity.created_at,
        (select max(aspect.created_at) from aspect where aspect.entity_id = entity.id),
        (select domain_association.created_at from domain_association where domain_association.entity_id = entity.id)
      ) as at
    from entity
    where entity.id = any(?::int[])`,
    [idArray(ids)]
  )
  return new Map(rows.map(({ id, at }) => [id, at.getTime()]))
}
