/** Decides which edges count in a time window, from their statements and patches. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { countsIn } from '../model/edge-stamps.ts'
import { columnFieldCodes } from '../model/lineage-fields.ts'
import type { LineageDirection, LineageLevel, TimeWindow } from '../model/walk.ts'
import { idArray } from './id-array.ts'
import { endsOf, statementsBetween, type StatedByRow } from './neighbours.ts'

export type Step = { nearId: number; farId: number }

/**
 * The steps from ids along edges that count in the window, in no particular order, including edges of an
 * entity to itself. Which edges count is said at `countsIn`.
 *
 * Postgres checks edges as they were stated. The few edges that have been patched since are checked here,
 * with their patches applied.
 */
export async function stepsInWindow(
  db: Db | Tx,
  ids: readonly number[] | Int32Array,
  direction: LineageDirection,
  level: LineageLevel,
  window: TimeWindow
): Promise<Step[]> {
  const [near, far] = endsOf(direction)
  const rows = await query<Step & { counts: boolean; isPatched: boolean }>(
    db,
    `
    select
      statement.${near} as "nearId",
      statement.${far} as "farId",
      bool_or(statement_source.name = 'manual' or statement.attributes #>> '{properties,source}' = 'UI')
        or coalesce(min(stamp.time) <= ?::numeric and max(stamp.time) >= ?::numeric, true) as counts,
      bool_or(exists (
        select 1
        from edge_patch
        where edge_patch.owner_id = statement.owner_id
          and edge_patch.aspect_code = statement.field >> 4
          and edge_patch.field = statement.field
          and edge_patch.downstream_id = statement.downstream_id
          and edge_patch.upstream_id = statement.upstream_id
      )) as "isPatched"
    from statement
    join statement_source on statement_source.id = statement.source_id
    left join lateral (
      select case when jsonb_typeof(said.stamp -> 'time') = 'number' then nullif(greatest((said.stamp ->> 'time')::numeric, 0), 0) end as time
      from unnest(array[statement.attributes -> 'created', statement.attributes -> 'lastModified', statement.attributes -> 'auditStamp']) as said (stamp)
    ) as stamp on true
    where statement.${near} = any(?::int[])
      and statement.field ${level === 'column' ? '= any' : '<> all'}(?::smallint[])
    group by statement.${near}, statement.${far}`,
    [window.toMs, window.fromMs, idArray(ids), columnFieldCodes]
  )
  const patched = rows.filter((row) => row.isPatched)
  const counting = await countingOf(db, patched, direction, window)
  return rows.filter((row) => (row.isPatched ? counting.has(stepKey(row)) : row.counts))
}

const stepKey = ({ nearId, farId }: Step): string => `${nearId} ${farId}`

/** The keys of the edges that count with their patches applied. */
async function countingOf(
  db: Db | Tx,
  edges: readonly Step[],
  direction: LineageDirection,
  window: TimeWindow
): Promise<Set<string>> {
  const statements = new Map<string, StatedByRow[]>()
  for (const row of await statementsBetween(db, edges, direction)) {
    const own = statements.get(stepKey(row))
    if (own) own.push(row)
    else statements.set(stepKey(row), [row])
  }
  return new Set([...statements].filter(([, own]) => countsIn(own, window)).map(([key]) => key))
}
