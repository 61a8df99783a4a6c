/** Which entities a lineage graph shows: the nearest ones of each side, and what it is expanded by. */
import type { LineageDirection } from '../../model/walk.ts'
import type { Urn } from '../../urn/urn.ts'
import type { GraphQuestion } from './graph-question.ts'
import type { LineageReader } from './lineage-reader.ts'
import type { Look } from './through-hidden.ts'

/** Looks both ways with the rules of one graph. */
export type Looks = { [direction in LineageDirection]: (ids: readonly number[]) => Promise<Look> }

/** Entities whose neighbours are held at a time: a hub has 100,000. */
export const nodesSliceCount = 16

/**
 * Ids of what is shown, the start first, then nearest first, by id within a hop. Where a hop does not fit, each side gets
 * at least half of the room that is left, if it has use for it. What the graph is expanded by comes last, in the order of the
 * question; `ignored` has the places of expands whose entity is not shown.
 */
export async function chooseNodes(
  reader: LineageReader,
  startId: number,
  question: GraphQuestion,
  looks: Looks
): Promise<{ ids: Set<number>; ignored: number[] }> {
  const ids = new Set([startId])
  const room = (): number => question.count - ids.size
  const seen = { UPSTREAM: new Set([startId]), DOWNSTREAM: new Set([startId]) }
  let frontier = { UPSTREAM: [startId], DOWNSTREAM: [startId] }

  for (let hop = 1; hop <= Math.max(question.hops.UPSTREAM, question.hops.DOWNSTREAM); hop += 1) {
    const next = async (side: LineageDirection): Promise<number[]> =>
      hop > question.hops[side] ? [] : nearest(looks[side], frontier[side], seen[side], ids, room())
    const found = { UPSTREAM: await next('UPSTREAM'), DOWNSTREAM: await next('DOWNSTREAM') }
    const fresh = (side: LineageDirection): number[] => found[side].filter((id) => !ids.has(id))
    const [up, down] = [fresh('UPSTREAM').length, fresh('DOWNSTREAM').length]
    const share = Math.floor(room() / 2)
    const upRoom = Math.min(up, Math.max(share, room() - down))
    for (const id of fresh('UPSTREAM').slice(0, upRoom)) ids.add(id)
    for (const id of fresh('DOWNSTREAM').slice(0, room())) ids.add(id)
    // What lies on both sides was counted for both, and took room once.
    for (const id of fresh('UPSTREAM').slice(0, room())) ids.add(id)
    frontier = {
      UPSTREAM: found.UPSTREAM.filter((id) => ids.has(id)),
      DOWNSTREAM: found.DOWNSTREAM.filter((id) => ids.has(id))
    }
    for (const side of ['UPSTREAM', 'DOWNSTREAM'] as const)
      for (const id of frontier[side]) seen[side].add(id)
    if (frontier.UPSTREAM.length + frontier.DOWNSTREAM.length === 0) break
  }
  return { ids, ignored: await expand(reader, question, looks, ids, room) }
}

async function expand(
  reader: LineageReader,
  { expands }: GraphQuestion,
  looks: Looks,
  ids: Set<number>,
  room: () => number
): Promise<number[]> {
  const ignored: number[] = []
  const known = await reader.find([...new Set(expands.map(({ urn }): Urn => urn))])
  for (const [place, { urn, direction, count }] of expands.entries()) {
    const id = known.get(urn)?.id ?? null
    if (id === null || !ids.has(id)) {
      ignored.push(place)
      continue
    }
    for (const far of await nearest(looks[direction], [id], ids, new Set(), Math.min(count, room())))
      ids.add(far)
  }
  return ignored
}

/** Of what is next to a frontier and not seen: all that is shown already, and the least ids of the others, as many as there is room for. */
async function nearest(
  look: Looks[LineageDirection],
  frontier: readonly number[],
  seen: ReadonlySet<number>,
  shown: ReadonlySet<number>,
  room: number
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
      for (const far of beyond(id).met) {
        if (seen.has(far) || fateOf(far) !== 'shown') continue
        if (shown.has(far)) again.add(far)
        else fresh.add(far)
      }
      // A few hubs would otherwise fill the memory with what no picture has room for.
      if (fresh.size > 2 * room + 10_000) keepLeast()
    }
  }
  keepLeast()
  return [...again, ...fresh]
}
