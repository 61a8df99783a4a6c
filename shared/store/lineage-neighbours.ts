/** The entities one hop away, as ids only, for readers that continue from there. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { columnFieldCodes } from '../model/lineage-fields.ts'
import type { LineageDirection, LineageLevel, TimeWindow } from '../model/walk.ts'
import { stepsInWindow } from './edges-in-window.ts'
import { idArray } from './id-array.ts'
import { endsOf } from './neighbours.ts'

/** The neighbours of each id, ascending and without duplicates; an entity is not its own neighbour. */
export async function neighbourIdsOf(
  db: Db | Tx,
  ids: readonly number[] | Int32Array,
  direction: LineageDirection,
  level: LineageLevel,
  window: TimeWindow | null
): Promise<Map<number, number[]>> {
  if (ids.length === 0) return new Map()
  if (window) {
    const steps = (await stepsInWindow(db, ids, direction, level, window)).filter(
      (step) => step.nearId !== step.farId
    )
    return grouped(
      steps.sort((a, b) => a.nearId - b.nearId || a.farId - b.farId).map((step) => [step.nearId, step.farId])
    )
  }
  const [near, far] = endsOf(direction)
  const rows = await query<{ near: number; far: number }>(
    db,
    `
    select distinct statement.${near} as near, statement.${far} as far
    from statement
    where statement.${near} = any(?::int[])
      and statement.${near} <> statement.${far}
      and statement.field ${level === 'column' ? '= any' : '<> all'}(?::smallint[])
    order by near, far`,
    [idArray(ids), columnFieldCodes]
  )
  return grouped(rows.map((row) => [row.near, row.far]))
}

/** Those of the ids that have an edge to themselves. */
export async function loopsAmong(
  db: Db | Tx,
  ids: readonly number[] | Int32Array,
  level: LineageLevel,
  window: TimeWindow | null
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set()
  const rows = await query<{ id: number }>(
    db,
    `
    select wanted.id
    from unnest(?::int[]) as wanted (id)
    where exists (
      select from statement
      where statement.downstream_id = wanted.id
        and statement.upstream_id = wanted.id
        and statement.field ${level === 'column' ? '= any' : '<> all'}(?::smallint[])
    )`,
    [idArray(ids), columnFieldCodes]
  )
  const loops = rows.map(({ id }) => id)
  if (!window || loops.length === 0) return new Set(loops)
  const steps = await stepsInWindow(db, loops, 'DOWNSTREAM', level, window)
  return new Set(steps.filter(({ nearId, farId }) => nearId === farId).map(({ nearId }) => nearId))
}

/** The columns of each asset that anything names, ascending. */
export async function columnsOfAssets(
  db: Db | Tx,
  assetIds: readonly number[] | Int32Array
): Promise<Map<number, number[]>> {
  const rows = await query<{ id: number; parentId: number }>(
    db,
    `
    select entity.id, entity.parent_id as "parentId"
    from entity
    where entity.parent_id = any(?::int[])
    order by entity.id`,
    [idArray(assetIds)]
  )
  return grouped(rows.map((row) => [row.parentId, row.id]))
}

function grouped(pairs: readonly (readonly [number, number])[]): Map<number, number[]> {
  const groups = new Map<number, number[]>()
  for (const [key, value] of pairs) {
    const own = groups.get(key)
    if (own) own.push(value)
    else groups.set(key, [value])
  }
  return groups
}
