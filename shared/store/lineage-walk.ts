/**
 * The lineage walk in plain SQL: one query a hop, exact least degrees, whatever the graph's shape.
 *
 * It is kept plain because it is also what other ways of walking are held against: the frontier goes to Postgres, the
 * distinct neighbours come back, and a bitmap in the process says which of them are new. Nothing here knows names, types
 * or filters. Measured on two cores, for a walk that reaches 50,000 assets over 58 hops and for a hub that reaches 91,000:
 * - this, distinct neighbours in SQL: 650 ms, 516 ms; 3 ms where a hundred are reached
 * - the same without distinct: 719 ms, 496 ms; all hops inside one PL/pgSQL function: 880 to 2,050 ms, 530 to 3,800 ms
 * - recursive SQL that drops the degree: 320 to 875 ms, 359 to 628 ms, and the degree is what is asked for
 * - recursive SQL with a hop column: 26,000 ms, 15,000 ms (1.5 million rows for 50,000 assets; endless on a cycle without
 *   a cap, and a cap cuts the answer silently)
 */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { columnFieldCodes } from '../model/lineage-fields.ts'
import type { TimeWindow, Walk, WalkQuestion } from '../model/walk.ts'
import type { WithinDeadline } from './deadline.ts'
import { idArray } from './id-array.ts'
import { idSet } from './id-set.ts'

export type SqlWalkQuestion = WalkQuestion & { window?: TimeWindow | null, withinDeadline: WithinDeadline }

export type SqlWalk = Walk & {
  /** For each id, where in `ids` the entity stands that a shortest way comes from; -1 - n is the nth start. */
  cameFrom: Int32Array
}

/** Ids sent in one query: keeps a statement short enough for the deadline to be looked at between them. */
const frontierSliceCount = 20_000

/**
 * Walks from the starts. Run it in a REPEATABLE READ transaction, with what shows its results, so that all hops and all
 * that is shown are of one snapshot. Memory: about 13 bytes for each entity reached.
 * Throws DEADLINE_EXCEEDED when the deadline passes, also within a query.
 */
export async function walkLineage(tx: Tx, question: SqlWalkQuestion): Promise<SqlWalk> {
  const { startIds, hopsWanted, bounds } = question
  const reached = idSet()
  for (const id of startIds) reached.add(id)
  const walk = walkRecord(Math.min(bounds.maxEntities, 1_024))
  let frontier: Int32Array = Int32Array.from(startIds)
  let frontierBegin = -startIds.length
  let cutBy: Walk['cutBy'] = null
  let hops = 0

  for (let hop = 1; hop <= hopsWanted && frontier.length > 0; hop += 1) {
    const found = await nextFrontier(tx, question, frontier, frontierBegin, (id) => !reached.has(id))
    if (hop > bounds.maxHops) {
      cutBy = found.length > 0 ? 'maxHops' : null
      break
    }
    const room = bounds.maxEntities - walk.size()
    if (found.length > room) cutBy = 'maxEntities'
    const kept = found.slice(0, room)
    frontierBegin = walk.size()
    for (const { id, from } of kept) {
      reached.add(id)
      walk.push(id, hop, from)
    }
    if (cutBy) break
    hops = hop
    frontier = walk.idsFrom(frontierBegin)
  }
  return { ...walk.result(), hops, cutBy }
}

type Step = { id: number, from: number }

/** The unreached neighbours of a frontier by id, each with the place of the least neighbour it was reached from. */
async function nextFrontier(tx: Tx, question: SqlWalkQuestion, frontier: Int32Array, frontierBegin: number, isNew: (id: number) => boolean): Promise<Step[]> {
  const [near, far] = question.direction === 'DOWNSTREAM' ? ['upstream_id', 'downstream_id'] : ['downstream_id', 'upstream_id']
  const found = new Map<number, number>()
  for (let begin = 0; begin < frontier.length; begin += frontierSliceCount) {
    const slice = frontier.subarray(begin, begin + frontierSliceCount)
    const rows = await question.withinDeadline(() => query<{ far: number, near: number }>(tx, `
      select statement.${far} as far, min(statement.${near}) as near
      from statement
      where statement.${near} = any(?::int[])
        and statement.field ${question.level === 'column' ? '= any' : '<> all'}(?::smallint[])
      group by statement.${far}`, [idArray(slice), columnFieldCodes]))
    for (const row of rows) if (isNew(row.far) && !found.has(row.far)) found.set(row.far, row.near)
  }
  const placeOf = placesOf(frontier, frontierBegin)
  return [...found].map(([id, near]) => ({ id, from: placeOf(near) })).sort((a, b) => a.id - b.id)
}

/** Where the entities of a frontier stand in the walk. Beyond the starts a frontier is in id order, so it is searched. */
function placesOf(frontier: Int32Array, frontierBegin: number): (id: number) => number {
  if (frontierBegin < 0) return (id) => -1 - frontier.indexOf(id)
  return (id) => {
    let low = 0
    let high = frontier.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((frontier[middle] ?? 0) < id) low = middle + 1
      else high = middle
    }
    return frontierBegin + low
  }
}

/** The growing record of a walk, in typed arrays. */
function walkRecord(room: number) {
  let size = 0
  let ids = new Int32Array(room)
  let degrees = new Uint16Array(room)
  let cameFrom = new Int32Array(room)
  const grow = () => {
    const wider = Math.max(1_024, ids.length * 2)
    const [widerIds, widerDegrees, widerCameFrom] = [new Int32Array(wider), new Uint16Array(wider), new Int32Array(wider)]
    widerIds.set(ids)
    widerDegrees.set(degrees)
    widerCameFrom.set(cameFrom)
    ids = widerIds
    degrees = widerDegrees
    cameFrom = widerCameFrom
  }
  return {
    size: () => size,
    push: (id: number, degree: number, from: number) => {
      if (size === ids.length) grow()
      ids[size] = id
      degrees[size] = degree
      cameFrom[size] = from
      size += 1
    },
    idsFrom: (begin: number): Int32Array => ids.slice(begin, size),
    result: () => ({ ids: ids.slice(0, size), degrees: degrees.slice(0, size), cameFrom: cameFrom.slice(0, size) })
  }
}

/** Positions in the walk from the start to an entity: first the start as -1 - n, last the entity's own. */
export function pathTo(walk: SqlWalk, place: number): number[] {
  const path = [place]
  for (let at = walk.cameFrom[place] ?? -1; ; at = walk.cameFrom[at] ?? -1) {
    path.push(at)
    if (at < 0) return path.reverse()
  }
}
