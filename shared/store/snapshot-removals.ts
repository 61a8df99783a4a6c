/**
 * The difference between what a source states and what its snapshot states: found in one pass over the
 * statement table, and stored in pieces (snapshot_removal) that are removed one by one.
 */
import type { Db, Tx } from '../db/database.ts'
import { limitStatements } from '../db/end-silent.ts'
import { query } from '../db/query.ts'
import type { RemovedKey } from '../statements/rows.ts'

/**
 * The statements that are not removed: edges by their ends, and everything that an entity owns or touches.
 */
export type Spared = {
  downstreamIds: readonly number[]
  upstreamIds: readonly number[]
  touchedIds: readonly number[]
}

export type RemovalQuestion = {
  loadId: string
  sourceId: number
  /** Statements of this seq or a newer one stay. */
  seq: number
  spared: Spared
  /**
   * Only statements whose owner and downstream are in these domains may be removed; null if the token is not
   * limited.
   */
  domainIds: readonly number[] | null
  pieceMaxCount: number
  /** Ignores what the load states; only for a test that shows that this rule is needed. */
  ignoresStated?: boolean
}

/** `stated`: how many statements the source had before the load. */
export type PlannedRemovals = { stated: number; removable: number; pieces: number }

const compareTimeoutMs = 600_000

/**
 * Compares, and writes the pieces by owner, so that few aspects are in two of them.
 *
 * The planner cannot know the number of values in packed arrays, and would choose nested loops. They are
 * disabled, because a hash join is right for any size (1M statements, 100k of them removed: about 3 s). The
 * join scans the table once. With an index by source that would not be necessary, but the index would make
 * every loaded edge slower.
 */
export async function planRemovals(tx: Tx, question: RemovalQuestion): Promise<PlannedRemovals> {
  const { loadId, sourceId, seq, spared, domainIds } = question
  const resetLimit = await limitStatements(tx, compareTimeoutMs)
  const [before] = await query<{ nestloop: string; seqscan: string }>(
    tx,
    "select current_setting('enable_nestloop') as nestloop, current_setting('enable_seqscan') as seqscan"
  )
  await query(
    tx,
    "select set_config('enable_nestloop', 'off', true), set_config('enable_seqscan', 'on', true)"
  )
  const [stated] = await query<{ rows: number }>(
    tx,
    `
    select (
      select count(*)
      from statement
      where statement.source_id = ?::int and ${isAllowed}
    ) - coalesce((select sum(snapshot_statement.new_count) from snapshot_statement where snapshot_statement.load_id = ?::uuid), 0)::bigint as rows`,
    [sourceId, ...allowedBindings(domainIds), loadId]
  )
  const pieces = await query<{ rows: number }>(
    tx,
    `
    with stated as (
      select snapshot_statement.field, snapshot_statement.record_key, key.downstream_id, key.upstream_id, coalesce(key.owner_id, key.downstream_id) as owner_id
      from snapshot_statement
      cross join lateral unnest(snapshot_statement.downstream_ids, snapshot_statement.upstream_ids, snapshot_statement.owner_ids) as key (downstream_id, upstream_id, owner_id)
      where snapshot_statement.load_id = ?::uuid and not ?::boolean
    ), unstated as (
      select
        statement.downstream_id, statement.upstream_id, statement.owner_id, statement.field, statement.record_key,
        (row_number() over (order by statement.owner_id, statement.downstream_id, statement.upstream_id) - 1) / ?::int as piece
      from statement
      where statement.source_id = ?::int
        and statement.seq < ?::bigint
        and ${isAllowed}
        and not exists (
          select 1
          from stated
          where stated.downstream_id = statement.downstream_id
            and stated.upstream_id = statement.upstream_id
            and stated.owner_id = statement.owner_id
            and stated.field = statement.field
            and stated.record_key = statement.record_key
        )
        and not exists (
          select 1
          from unnest(?::int[], ?::int[]) as spared (downstream_id, upstream_id)
          where spared.downstream_id = statement.downstream_id and spared.upstream_id = statement.upstream_id
        )
        and statement.downstream_id <> all(?::int[])
        and statement.upstream_id <> all(?::int[])
        and statement.owner_id <> all(?::int[])
    )
    insert into snapshot_removal (load_id, piece, downstream_ids, upstream_ids, owner_ids, fields, record_keys)
    select ?::uuid, unstated.piece, array_agg(unstated.downstream_id), array_agg(unstated.upstream_id), array_agg(unstated.owner_id), array_agg(unstated.field), array_agg(unstated.record_key)
    from unstated
    group by unstated.piece
    returning cardinality(snapshot_removal.downstream_ids) as rows`,
    [
      loadId,
      question.ignoresStated ?? false,
      question.pieceMaxCount,
      sourceId,
      seq,
      ...allowedBindings(domainIds),
      spared.downstreamIds,
      spared.upstreamIds,
      spared.touchedIds,
      spared.touchedIds,
      spared.touchedIds,
      loadId
    ]
  )
  await query(tx, "select set_config('enable_nestloop', ?, true), set_config('enable_seqscan', ?, true)", [
    before?.nestloop ?? 'on',
    before?.seqscan ?? 'on'
  ])
  await resetLimit()
  const removable = pieces.reduce((sum, piece) => sum + piece.rows, 0)
  // Something newer may have removed statements that the load added. The difference is then too small, so at
  // least `removable` is returned.
  return { stated: Math.max(stated?.rows ?? 0, removable), removable, pieces: pieces.length }
}

/** Whether both the owner and the downstream are in the domains. */
const isAllowed = `(?::boolean or (exists (
          select 1
          from domain_association
          where domain_association.entity_id = statement.owner_id and domain_association.domain_id = any(?::int[])
        ) and exists (
          select 1
          from entity
          join domain_association on domain_association.entity_id = coalesce(entity.parent_id, entity.id)
          where entity.id = statement.downstream_id and domain_association.domain_id = any(?::int[])
        )))`
const allowedBindings = (domainIds: readonly number[] | null) =>
  [domainIds === null, domainIds ?? [], domainIds ?? []] as const

export async function readRemoval(tx: Tx, loadId: string, piece: number): Promise<RemovedKey[]> {
  return query<RemovedKey>(
    tx,
    `
    select key.downstream_id as "downstreamId", key.upstream_id as "upstreamId", key.owner_id as "ownerId", key.field, key.record_key as "recordKey"
    from snapshot_removal
    cross join lateral unnest(snapshot_removal.downstream_ids, snapshot_removal.upstream_ids, snapshot_removal.owner_ids, snapshot_removal.fields, snapshot_removal.record_keys)
      as key (downstream_id, upstream_id, owner_id, field, record_key)
    where snapshot_removal.load_id = ?::uuid and snapshot_removal.piece = ?::int`,
    [loadId, piece]
  )
}

export async function deleteRemoval(tx: Tx, loadId: string, piece: number): Promise<void> {
  await query(
    tx,
    'delete from snapshot_removal where snapshot_removal.load_id = ?::uuid and snapshot_removal.piece = ?::int',
    [loadId, piece]
  )
}

/** Deletes the pieces of a cancelled load. */
export async function deleteRemovals(tx: Tx, loadId: string): Promise<void> {
  await query(tx, 'delete from snapshot_removal where snapshot_removal.load_id = ?::uuid', [loadId])
}

/** How many statements a source has now. */
export async function countStatementsOf(db: Db, source: string): Promise<number> {
  const [row] = await query<{ rows: number }>(
    db,
    `
    select count(*) as rows
    from statement
    join statement_source on statement_source.id = statement.source_id
    where statement_source.name = ?`,
    [source]
  )
  return row?.rows ?? 0
}
