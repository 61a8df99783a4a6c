/**
 * Adds up the edges between assets to edges between the boxes that the assets are in, in one pass over one view
 * of the graph.
 */
import type { AdjacencyView } from './adjacency.ts'
import { GrowableInts } from './growable.ts'
import type { GraphView } from './lineage-graph.ts'
import { pageBits, pageMask } from './pages.ts'
import type { Pause } from './turns.ts'

/** What `boxOf` has for an id that is in no box: it takes no part, is outside, or is a job to look through. */
export const noPart = 0
export const outside = -1
export const lookedThrough = -2

/** By id: the number of a box, from 1, or one of the three above. */
export type Boxes = { boxOf: Int32Array; boxCount: number; hasOutside: boolean }

/** Lists by number of box, with room for number 0. All count pairs of assets, each pair once. */
export type BoxEdges = {
  /** Within the box. */
  inside: Int32Array
  /** From and to other boxes. */
  upstream: Int32Array
  downstream: Int32Array
  /** From and to assets outside of all boxes. */
  fromOutside: Int32Array
  toOutside: Int32Array
  /** Pairs of boxes, by the upstream box, with the number of pairs of assets. */
  pairs: { upstream: Int32Array; downstream: Int32Array; counts: Int32Array }
}

/** All lists of BoxEdges but the pairs, with nothing counted yet. */
export function emptyLists(boxCount: number): Omit<BoxEdges, 'pairs'> {
  const list = (): Int32Array => new Int32Array(boxCount + 1)
  return { inside: list(), upstream: list(), downstream: list(), fromOutside: list(), toOutside: list() }
}

/** Members looked at between two looks at the clock. */
const membersPerPause = 4_096

/**
 * Few boxes are counted in a table of all pairs, in the order of the ids, in which memory is read once; many are
 * counted box by box, with room for the pairs of one.
 */
const fewBoxes = 1_000

export async function boxLineage(
  view: Pick<GraphView, 'upstream' | 'downstream'>,
  boxes: Boxes,
  pause: Pause
): Promise<BoxEdges> {
  const { boxOf, boxCount, hasOutside } = boxes
  const found = emptyLists(boxCount)
  const reach = neighboursIn(boxes)
  const pairs = boxCount <= fewBoxes ? pairTable(boxCount) : pairLists(boxCount)
  const ids = boxCount <= fewBoxes ? null : byBox(boxes)
  let looked = 0
  for (let at = 0, end = ids?.length ?? boxOf.length; at < end; at += 1) {
    const id = ids ? (ids[at] ?? 0) : at
    const box = boxOf[id] ?? noPart
    if (box <= 0) continue
    const down = reach(view.downstream, id)
    for (let index = 0; index < down.count; index += 1) {
      const far = down.boxes[index] ?? noPart
      if (far === box) add(found.inside, box)
      else if (far === outside) add(found.toOutside, box)
      else pairs.add(box, far)
    }
    looked += 1 + down.looked
    if (hasOutside) {
      const up = reach(view.upstream, id)
      for (let index = 0; index < up.count; index += 1)
        if (up.boxes[index] === outside) add(found.fromOutside, box)
      looked += up.looked
    }
    if (looked > membersPerPause) {
      looked = 0
      await pause()
    }
  }
  const all = pairs.all()
  for (let at = 0; at < all.counts.length; at += 1) {
    add(found.downstream, all.upstream[at] ?? 0, all.counts[at])
    add(found.upstream, all.downstream[at] ?? 0, all.counts[at])
  }
  return { ...found, pairs: all }
}

type Pairs = { add: (from: number, to: number) => void; all: () => BoxEdges['pairs'] }

function pairTable(boxCount: number): Pairs {
  const width = boxCount + 1
  const table = new Int32Array(width * width)
  return {
    add: (from, to) => add(table, from * width + to),
    all() {
      const places = Int32Array.from(table.keys()).filter((place) => table[place] !== 0)
      return {
        upstream: places.map((place) => Math.floor(place / width)),
        downstream: places.map((place) => place % width),
        counts: places.map((place) => table[place] ?? 0)
      }
    }
  }
}

/** All pairs of one upstream box must be added before those of the next. */
function pairLists(boxCount: number): Pairs {
  const [ups, downs, counts] = [new GrowableInts(0), new GrowableInts(0), new GrowableInts(0)]
  let pairCount = 0
  /** By the downstream box: the place of its pair with the last upstream box, and that box. */
  const [placeOf, upstreamOf] = [new Int32Array(boxCount + 1), new Int32Array(boxCount + 1)]
  return {
    add(from, to) {
      if (upstreamOf[to] !== from) {
        upstreamOf[to] = from
        placeOf[to] = pairCount
        ups.set(pairCount, from)
        downs.set(pairCount, to)
        pairCount += 1
      }
      const place = placeOf[to] ?? 0
      counts.set(place, counts.at(place) + 1)
    },
    all: () => ({
      upstream: ups.first(pairCount),
      downstream: downs.first(pairCount),
      counts: counts.first(pairCount)
    })
  }
}

/** Returns the new value. */
const add = (list: Int32Array, at: number, count = 1): number => (list[at] = (list[at] ?? 0) + count)

/** The ids that are in boxes, box by box. */
function byBox({ boxOf, boxCount }: Boxes): Int32Array {
  const begins = new Int32Array(boxCount + 2)
  for (let id = 0; id < boxOf.length; id += 1) {
    const box = boxOf[id] ?? noPart
    if (box > 0) add(begins, box + 1)
  }
  for (let box = 1; box <= boxCount + 1; box += 1) add(begins, box, begins[box - 1])
  const ids = new Int32Array(begins[boxCount + 1] ?? 0)
  for (let id = 0; id < boxOf.length; id += 1) {
    const box = boxOf[id] ?? noPart
    if (box > 0) ids[add(begins, box) - 1] = id
  }
  return ids
}

/** The longest list that is searched for what it repeats: in longer ones, what was met is marked. */
const shortMaxCount = 16

/** The first `count` of `boxes`, valid until the next call; `looked` is how many entries of lists were read. */
type Reached = { boxes: Int32Array; count: number; looked: number }

/**
 * Returns a function that finds the neighbours of an asset that are in a box or outside, each once, also those
 * behind jobs and never the asset itself, and returns where each is.
 */
function neighboursIn({ boxOf, boxCount }: Boxes) {
  // Half the memory, most of which stays in the cache of the processor, for all but maps of very many boxes.
  const near = boxCount <= 32_767 ? new Int16Array(boxOf) : boxOf
  // Where an id is, and the number of the last call that met it, side by side: one access to memory for both.
  const marks = new Int32Array(boxOf.length * 2)
  for (let id = 0; id < boxOf.length; id += 1) marks[id * 2] = boxOf[id] ?? noPart
  const reached: Reached = { boxes: new Int32Array(1_024), count: 0, looked: 0 }
  let call = 0
  const open: number[] = []

  function follow({ heads, pool }: AdjacencyView, id: number): void {
    const page = heads[id >>> pageBits]
    const place = (id & pageMask) * 2
    const begin = page?.[place] ?? 0
    const end = begin + (page?.[place + 1] ?? 0)
    let { boxes, count } = reached
    reached.looked += end - begin
    if (count + end - begin > boxes.length) {
      boxes = new Int32Array((count + end - begin) * 2)
      boxes.set(reached.boxes)
      reached.boxes = boxes
    }
    for (let at = begin; at < end; at += 1) {
      const far = (pool[at] ?? 0) * 2
      const box = marks[far] ?? noPart
      if (box === noPart || marks[far + 1] === call) continue
      marks[far + 1] = call
      if (box === lookedThrough) open.push(far / 2)
      else boxes[count++] = box
    }
    reached.count = count
  }

  /** Of a short list without jobs to look through; false for any other. Marks nothing, so it writes no memory. */
  function ofShort({ heads, pool }: AdjacencyView, id: number): boolean {
    const page = heads[id >>> pageBits]
    const place = (id & pageMask) * 2
    const begin = page?.[place] ?? 0
    const length = page?.[place + 1] ?? 0
    if (length > shortMaxCount) return false
    const { boxes } = reached
    let count = 0
    for (let at = begin; at < begin + length; at += 1) {
      const far = pool[at] ?? 0
      const box = near[far] ?? noPart
      if (box === lookedThrough) return false
      if (box === noPart || far === id) continue
      let before = begin
      while (pool[before] !== far) before += 1
      if (before === at) boxes[count++] = box
    }
    reached.count = count
    reached.looked = length
    return true
  }

  return (adjacency: AdjacencyView, id: number): Reached => {
    if (ofShort(adjacency, id)) return reached
    call += 1
    marks[id * 2 + 1] = call
    reached.count = 0
    reached.looked = 0
    follow(adjacency, id)
    for (let near = open.pop(); near !== undefined; near = open.pop()) follow(adjacency, near)
    return reached
  }
}
