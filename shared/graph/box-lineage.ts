/**
 * Adds up the edges between assets to edges between the boxes that the assets are in, in one pass over one view
 * of the graph.
 */
import { membersIn, type AdjacencyView } from './adjacency.ts'
import { GrowableInts } from './growable.ts'
import type { GraphView } from './lineage-graph.ts'
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

/** Members looked at between two looks at the clock. */
const membersPerPause = 4_096
/** A list up to this long is searched for what it repeats; for a longer one, what was met is marked. */
const fewMembers = 8

export async function boxLineage(view: GraphView, boxes: Boxes, pause: Pause): Promise<BoxEdges> {
  const { boxOf, boxCount, hasOutside } = boxes
  const list = (): Int32Array => new Int32Array(boxCount + 1)
  const found = {
    inside: list(),
    upstream: list(),
    downstream: list(),
    fromOutside: list(),
    toOutside: list()
  }
  const [ups, downs, counts] = [new GrowableInts(0), new GrowableInts(0), new GrowableInts(0)]
  let pairCount = 0
  const reach = neighboursIn(boxes)
  /** The edges from one box to each other, and the boxes that have any. */
  const toBox = list()
  const met: number[] = []
  const { ids, ends } = byBox(boxes)
  let looked = 0
  for (let box = 1, at = 0; box <= boxCount; box += 1) {
    for (const end = ends[box] ?? 0; at < end; at += 1) {
      const id = ids[at] ?? 0
      const down = reach(view.downstream, id)
      for (let index = 0; index < down.count; index += 1) {
        const far = boxOf[down.ids[index] ?? 0] ?? 0
        if (far === box) add(found.inside, box)
        else if (far === outside) add(found.toOutside, box)
        else if (add(toBox, far) === 1) met.push(far)
      }
      looked += 1 + down.looked
      if (hasOutside) {
        const up = reach(view.upstream, id)
        for (let index = 0; index < up.count; index += 1)
          if (boxOf[up.ids[index] ?? 0] === outside) add(found.fromOutside, box)
        looked += up.looked
      }
      if (looked > membersPerPause) {
        looked = 0
        await pause()
      }
    }
    for (const far of met) {
      const count = toBox[far] ?? 0
      toBox[far] = 0
      add(found.downstream, box, count)
      add(found.upstream, far, count)
      ups.set(pairCount, box)
      downs.set(pairCount, far)
      counts.set(pairCount, count)
      pairCount += 1
    }
    met.length = 0
  }
  return {
    ...found,
    pairs: {
      upstream: ups.first(pairCount),
      downstream: downs.first(pairCount),
      counts: counts.first(pairCount)
    }
  }
}

const add = (list: Int32Array, at: number, count = 1): number => (list[at] = (list[at] ?? 0) + count)

/** The ids that are in boxes, box by box, and where those of each box end. */
function byBox({ boxOf, boxCount }: Boxes): { ids: Int32Array; ends: Int32Array } {
  const ends = new Int32Array(boxCount + 1)
  let total = 0
  for (let id = 0; id < boxOf.length; id += 1) {
    const box = boxOf[id] ?? 0
    if (box <= 0) continue
    ends[box] = (ends[box] ?? 0) + 1
    total += 1
  }
  let begin = 0
  for (let box = 1; box <= boxCount; box += 1) {
    const count = ends[box] ?? 0
    ends[box] = begin
    begin += count
  }
  const ids = new Int32Array(total)
  for (let id = 0; id < boxOf.length; id += 1) {
    const box = boxOf[id] ?? 0
    if (box <= 0) continue
    const at = ends[box] ?? 0
    ids[at] = id
    ends[box] = at + 1
  }
  return { ids, ends }
}

/** The first `count` of `ids`, valid until the next call; `looked` is how many entries of lists were read. */
type Reached = { ids: Int32Array; count: number; looked: number }

/**
 * Returns a function that finds the neighbours of an asset that are in a box or outside, each once, also those
 * behind jobs; never the asset itself.
 */
function neighboursIn({ boxOf }: Boxes) {
  const reached: Reached = { ids: new Int32Array(1_024), count: 0, looked: 0 }
  /** By id, the number of the last call in which it was met. */
  let metIn: Int32Array | null = null
  let call = 0
  const open: number[] = []

  const keep = (id: number): void => {
    if (reached.count === reached.ids.length) {
      const larger = new Int32Array(reached.ids.length * 2)
      larger.set(reached.ids)
      reached.ids = larger
    }
    reached.ids[reached.count] = id
    reached.count += 1
  }

  function throughMarks(adjacency: AdjacencyView, id: number): void {
    metIn ??= new Int32Array(boxOf.length)
    call += 1
    metIn[id] = call
    open.push(id)
    for (let near = open.pop(); near !== undefined; near = open.pop()) {
      const members = membersIn(adjacency, near)
      reached.looked += members.length
      for (let at = 0; at < members.length; at += 1) {
        const far = members[at] ?? 0
        const box = boxOf[far] ?? noPart
        if (box === noPart || metIn[far] === call) continue
        metIn[far] = call
        if (box === lookedThrough) open.push(far)
        else keep(far)
      }
    }
  }

  /** Returns false, having kept some, if it meets a job to look through. */
  function throughFew(members: Int32Array, id: number): boolean {
    for (let at = 0; at < members.length; at += 1) {
      const far = members[at] ?? 0
      const box = boxOf[far] ?? noPart
      if (box === lookedThrough) return false
      if (box === noPart || far === id) continue
      let before = 0
      while (before < reached.count && reached.ids[before] !== far) before += 1
      if (before === reached.count) keep(far)
    }
    return true
  }

  return (adjacency: AdjacencyView, id: number): Reached => {
    const members = membersIn(adjacency, id)
    reached.count = 0
    reached.looked = members.length
    if (members.length > fewMembers || !throughFew(members, id)) {
      reached.count = 0
      throughMarks(adjacency, id)
    }
    return reached
  }
}
