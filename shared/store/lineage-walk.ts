/**
 * The lineage walk in plain SQL: one query per hop, exact smallest degrees, for any shape of graph.
 *
 * It is kept plain because other implementations are tested against it: the frontier goes to Postgres, the
 * distinct neighbours come back, and a bitmap in the process tells which of them are new. It does not know
 * names, types or filters. Measured on two cores, for a walk that reaches 50,000 assets over 58 hops and for
 * a hub that reaches 91,000:
 * - this, with distinct neighbours in SQL: 650 ms, 516 ms; 3 ms for a walk that reaches a hundred
 * - without distinct: 719 ms, 496 ms; all hops inside one PL/pgSQL function: 880 to 2,050 ms, 530 to 3,800 ms
 * - recursive SQL without the degree: 320 to 875 ms, 359 to 628 ms, but the degree is required
 * - recursive SQL with a hop column: 26,000 ms, 15,000 ms (1.5 million rows for 50,000 assets; endless on a
 *   cycle without a cap, and a cap silently cuts the answer)
 */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { columnFieldCodes } from '../model/lineage-fields.ts'
import type { TimeWindow, Walk, WalkQuestion } from '../model/walk.ts'
import type { WithinDeadline } from './deadline.ts'
import { stepsInWindow } from './edges-in-window.ts'
import { idArray } from './id-array.ts'
import { idSet } from './id-set.ts'
import { endsOf } from './neighbours.ts'

export type SqlWalkQuestion = WalkQuestion & { window?: TimeWindow | null; withinDeadline: WithinDeadline }

/**
 * Ids sent in one query. This keeps each statement short, so that the deadline can be checked between
 * statements.
 */
const frontierSliceCount = 20_000

/**
 * Walks from the starts. Run it in the same REPEATABLE READ transaction as the reads that show its results,
 * so that all see the same snapshot. Memory: about 9 bytes for each entity reached. Throws DEADLINE_EXCEEDED
 * if the deadline passes, even during a query.
 */
export const walkLineage = (tx: Tx, question: SqlWalkQuestion): Promise<Walk> =>
  walkByHops(question, (frontier, isReached) => nextFrontier(tx, question, frontier, isReached))

/**
 * Walks a hop at a time. `next` returns the unreached neighbours of a frontier, ascending. Throws what it
 * throws.
 */
export async function walkByHops(
  { startIds, hopsWanted, bounds }: Pick<WalkQuestion, 'startIds' | 'hopsWanted' | 'bounds'>,
  next: (frontier: Int32Array, isReached: (id: number) => boolean) => Promise<Int32Array>
): Promise<Walk> {
  const reached = idSet()
  for (const id of startIds) reached.add(id)
  const walk = walkRecord(Math.min(bounds.maxEntities, 1_024))
  let frontier: Int32Array = Int32Array.from(startIds)
  let cutBy: Walk['cutBy'] = null
  let hops = 0

  for (let hop = 1; hop <= hopsWanted && frontier.length > 0; hop += 1) {
    const found = await next(frontier, reached.has)
    if (hop > bounds.maxHops) {
      cutBy = found.length > 0 ? 'maxHops' : null
      break
    }
    const room = bounds.maxEntities - walk.size()
    if (found.length > room) cutBy = 'maxEntities'
    frontier = found.subarray(0, room)
    for (const id of frontier) {
      reached.add(id)
      walk.push(id, hop)
    }
    if (cutBy) break
    hops = hop
  }
  return { ...walk.result(), hops, cutBy }
}

/** The unreached neighbours of a frontier, ascending. */
async function nextFrontier(
  tx: Tx,
  question: SqlWalkQuestion,
  frontier: Int32Array,
  isReached: (id: number) => boolean
): Promise<Int32Array> {
  const found = idSet()
  const newIds: number[] = []
  for (let begin = 0; begin < frontier.length; begin += frontierSliceCount) {
    const slice = frontier.subarray(begin, begin + frontierSliceCount)
    const ids = await question.withinDeadline(() => farEnds(tx, slice, question))
    for (const id of ids) if (!isReached(id) && found.add(id)) newIds.push(id)
  }
  return Int32Array.from(newIds).sort()
}

async function farEnds(
  tx: Tx,
  nearIds: Int32Array,
  { direction, level, window }: SqlWalkQuestion
): Promise<number[]> {
  if (window) return (await stepsInWindow(tx, nearIds, direction, level, window)).map((step) => step.farId)
  const [near, far] = endsOf(direction)
  const rows = await query<{ far: number }>(
    tx,
    `
    select distinct statement.${far} as far
    from statement
    where statement.${near} = any(?::int[])
      and statement.field ${level === 'column' ? '= any' : '<> all'}(?::smallint[])`,
    [idArray(nearIds), columnFieldCodes]
  )
  return rows.map((row) => row.far)
}

/** The growing result of a walk, in typed arrays. */
function walkRecord(room: number) {
  let size = 0
  let ids = new Int32Array(room)
  let degrees = new Uint16Array(room)
  const grow = () => {
    const wider = Math.max(1_024, ids.length * 2)
    const [widerIds, widerDegrees] = [new Int32Array(wider), new Uint16Array(wider)]
    widerIds.set(ids)
    widerDegrees.set(degrees)
    ids = widerIds
    degrees = widerDegrees
  }
  return {
    size: () => size,
    push: (id: number, degree: number) => {
      if (size === ids.length) grow()
      ids[size] = id
      degrees[size] = degree
      size += 1
    },
    result: () => ({ ids: ids.slice(0, size), degrees: degrees.slice(0, size) })
  }
}
