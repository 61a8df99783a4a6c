/**
 * Chooses the entities that a lineage graph shows: the nearest ones of each side, and the requested
 * expansions.
 */
import type { LineageDirection } from '../../model/walk.ts'
import type { Urn } from '../../urn/urn.ts'
import type { FanOut, GraphQuestion } from './graph-question.ts'
import type { LineageReader } from './lineage-reader.ts'
import type { Look } from './through-hidden.ts'

/** Finds neighbours in each direction by the rules of one graph. */
export type Looks = { [direction in LineageDirection]: (ids: readonly number[]) => Promise<Look> }

/** Entities whose neighbours are in memory at once: a hub has 100,000. */
export const nodesSliceCount = 16

/** Nodes whose neighbours in a direction were requested, whether or not there was room for all. */
export type Expanded = { [direction in LineageDirection]: Set<number> }

/**
 * Ids of the shown entities: the start, then nearest first, by id within a hop, then the expansions in the
 * order of the question. Where a hop does not fit, each side gets at least half of the remaining room if it
 * needs it. `ignored` has the indexes of expansions whose entity is not shown.
 */
export async function chooseNodes(
  reader: LineageReader,
  startId: number,
  question: GraphQuestion,
  looks: Looks
): Promise<{ ids: Set<number>; expanded: Expanded; ignored: number[] }> {
  const ids = new Set([startId])
  const room = (): number => question.count - ids.size
  const seen = { UPSTREAM: new Set([startId]), DOWNSTREAM: new Set([startId]) }
  const expanded: Expanded = { UPSTREAM: new Set(), DOWNSTREAM: new Set() }
  const ends = await collapsedIds(reader, question)
  let frontier = { UPSTREAM: [startId], DOWNSTREAM: [startId] }

  for (let hop = 1; hop <= Math.max(question.hops.UPSTREAM, question.hops.DOWNSTREAM); hop += 1) {
    const next = async (side: LineageDirection): Promise<number[]> => {
      if (hop > question.hops[side]) return []
      const open = frontier[side].filter((id) => !ends[side].has(id))
      for (const id of open) expanded[side].add(id)
      return nearest(looks[side], open, {
        seen: seen[side],
        shown: ids,
        room: room(),
        fanOut: question.fanOut
      })
    }
    const found = { UPSTREAM: await next('UPSTREAM'), DOWNSTREAM: await next('DOWNSTREAM') }
    const unseen = (side: LineageDirection): number[] => found[side].filter((id) => !ids.has(id))
    const [up, down] = [unseen('UPSTREAM').length, unseen('DOWNSTREAM').length]
    const share = Math.floor(room() / 2)
    const upRoom = Math.min(up, Math.max(share, room() - down))
    for (const id of unseen('UPSTREAM').slice(0, upRoom)) ids.add(id)
    for (const id of unseen('DOWNSTREAM').slice(0, room())) ids.add(id)
    // Entities on both sides were counted twice, so there is still room.
    for (const id of unseen('UPSTREAM').slice(0, room())) ids.add(id)
    frontier = {
      UPSTREAM: found.UPSTREAM.filter((id) => ids.has(id)),
      DOWNSTREAM: found.DOWNSTREAM.filter((id) => ids.has(id))
    }
    for (const side of ['UPSTREAM', 'DOWNSTREAM'] as const)
      for (const id of frontier[side]) seen[side].add(id)
    if (frontier.UPSTREAM.length + frontier.DOWNSTREAM.length === 0) break
  }
  return { ids, expanded, ignored: await expand(reader, question, looks, ids, expanded) }
}

async function collapsedIds(
  reader: LineageReader,
  { collapsed }: GraphQuestion
): Promise<{ [direction in LineageDirection]: Set<number> }> {
  const urns = [...new Set([...collapsed.UPSTREAM, ...collapsed.DOWNSTREAM])]
  const known = urns.length === 0 ? new Map<Urn, { id: number | null }>() : await reader.find(urns)
  const idsOf = (direction: LineageDirection): Set<number> =>
    new Set(collapsed[direction].flatMap((urn) => known.get(urn)?.id ?? []))
  return { UPSTREAM: idsOf('UPSTREAM'), DOWNSTREAM: idsOf('DOWNSTREAM') }
}

async function expand(
  reader: LineageReader,
  { expands, count: nodesMaxCount }: GraphQuestion,
  looks: Looks,
  ids: Set<number>,
  expanded: Expanded
): Promise<number[]> {
  const ignored: number[] = []
  const known = await reader.find([
    ...new Set(expands.flatMap(({ urn, only }): Urn[] => [urn, ...(only ?? [])]))
  ])
  for (const [place, { urn, direction, start, count, only }] of expands.entries()) {
    const id = known.get(urn)?.id ?? null
    if (id === null || !ids.has(id)) {
      ignored.push(place)
      continue
    }
    expanded[direction].add(id)
    const found = await nearest(looks[direction], [id], {
      seen: ids,
      shown: new Set(),
      room: start + Math.min(count, nodesMaxCount - ids.size),
      fanOut: null,
      only: only && new Set(only.flatMap((neighbour) => known.get(neighbour)?.id ?? []))
    })
    for (const far of found.slice(start)) ids.add(far)
  }
  return ignored
}

type Nearby = {
  seen: ReadonlySet<number>
  shown: ReadonlySet<number>
  room: number
  /** Limits how many entities one entity of the frontier adds to those that the entities before it added. */
  fanOut: FanOut | null
  only?: ReadonlySet<number> | null
}

/**
 * The unseen neighbours of a frontier: all that are already shown, and as many others as fit, least ids
 * first.
 */
async function nearest(
  look: Looks[LineageDirection],
  frontier: readonly number[],
  { seen, shown, room, fanOut, only = null }: Nearby
): Promise<number[]> {
  const again = new Set<number>()
  let fresh = new Set<number>()
  const keepLeast = (): void => {
    fresh = new Set([...fresh].sort((a, b) => a - b).slice(0, room))
  }
  for (let begin = 0; begin < frontier.length; begin += nodesSliceCount) {
    const slice = frontier.slice(begin, begin + nodesSliceCount)
    const { beyond, fateOf } = await look(slice)
    for (const id of slice) {
      const own: number[] = []
      for (const far of beyond(id).met) {
        if (seen.has(far) || fateOf(far) !== 'shown' || only?.has(far) === false) continue
        if (shown.has(far)) again.add(far)
        else if (!fresh.has(far)) own.push(far)
      }
      // `own` is ascending, so its first entries are the least ids.
      for (const far of fanOut !== null && own.length > fanOut.above ? own.slice(0, fanOut.show) : own)
        fresh.add(far)
      // Without this, a few hubs would fill the memory with entities that there is no room for.
      if (fresh.size > 2 * room + 10_000) keepLeast()
    }
  }
  keepLeast()
  return [...again, ...fresh]
}
