/** Which of many edges are stated already: read by the ranges that they lie in, since neighbours in the table are read together. */
import type { Tx } from '../../db/database.ts'
import { lookUpStated, readStated, type AlreadyStated, type PlainEdgeStamp } from '../../store/plain-edges.ts'
import { reorder, type EdgeColumns } from './edge-columns.ts'

/** Edges of one downstream: from the `begin`th and before the `end`th. */
type Span = { begin: number; end: number }

/** So many statements are read for each edge, and a few: an asset that has more is looked up edge by edge. */
const statementsPerEdge = 4
const statementsAtLeast = 12

/**
 * The edges are in key order, each pair once; needs their owners locked. A load sent again has its downstreams' edges side by side:
 * 1.2 us an edge, against 5 for looking each up by its key. Of a downstream that has many more upstreams than are asked for at most
 * sixteen statements an edge are read in vain, and a dozen.
 */
export async function findStated(tx: Tx, edges: EdgeColumns, stamp: PlainEdgeStamp): Promise<AlreadyStated> {
  const found = { own: new Uint8Array(edges.places.length), other: new Uint8Array(edges.places.length) }
  const left: number[] = []
  for (const [width, spans] of spansByWidth(edges)) {
    const most = statementsPerEdge * width + statementsAtLeast
    for (const { at, count, own, others } of await readStated(tx, rangesOf(edges, spans), stamp, most)) {
      const span = spans[at] ?? { begin: 0, end: 0 }
      if (count < most) match(edges, span, own, others, found)
      else for (let index = span.begin; index < span.end; index += 1) left.push(index)
    }
  }
  if (left.length > 0) {
    const { bySource, byOthers } = await lookUpStated(tx, reorder(edges, Int32Array.from(left)), stamp)
    for (const at of bySource) found.own[left[at] ?? 0] = 1
    for (const at of byOthers) found.other[left[at] ?? 0] = 1
  }
  return { bySource: placesOf(found.own), byOthers: placesOf(found.other) }
}

/** Spans of like width are read with one bound; widths are powers of four. */
function spansByWidth({ downstreamIds }: EdgeColumns): Map<number, Span[]> {
  const byWidth = new Map<number, Span[]>()
  for (let begin = 0, end = 0; begin < downstreamIds.length; begin = end) {
    while (end < downstreamIds.length && downstreamIds[end] === downstreamIds[begin]) end += 1
    const width = 4 ** Math.ceil(Math.log2(end - begin) / 2)
    const spans = byWidth.get(width)
    if (spans) spans.push({ begin, end })
    else byWidth.set(width, [{ begin, end }])
  }
  return byWidth
}

function rangesOf({ downstreamIds, upstreamIds }: EdgeColumns, spans: readonly Span[]) {
  return {
    downstreamIds: Int32Array.from(spans, ({ begin }) => downstreamIds[begin] ?? 0),
    leastUpstreamIds: Int32Array.from(spans, ({ begin }) => upstreamIds[begin] ?? 0),
    greatestUpstreamIds: Int32Array.from(spans, ({ end }) => upstreamIds[end - 1] ?? 0)
  }
}

/** `own` and `others`: upstream, owner and field of each statement. What the source itself states in another list of the aspect is as good as another's. */
function match(
  edges: EdgeColumns,
  span: Span,
  own: Int32Array,
  others: Int32Array,
  found: { own: Uint8Array; other: Uint8Array }
): void {
  for (const [statements, isOwn] of [
    [own, true],
    [others, false]
  ] as const) {
    for (let at = 0; at < statements.length; at += 3) {
      const index = indexOf(edges.upstreamIds, span, statements[at] ?? 0)
      if (index < 0 || edges.ownerIds[index] !== statements[at + 1]) continue
      const [wanted, field] = [edges.fields[index] ?? 0, statements[at + 2] ?? 0]
      if (isOwn && field === wanted) found.own[index] = 1
      else if (field >> 4 === wanted >> 4) found.other[index] = 1
    }
  }
  for (let index = span.begin; index < span.end; index += 1)
    if (found.own[index] === 1) found.other[index] = 0
}

/** Where the number is among those of the span, which ascend; -1 where it is not. */
function indexOf(numbers: Int32Array, { begin, end }: Span, wanted: number): number {
  let [low, high] = [begin, end - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const number = numbers[middle] ?? 0
    if (number === wanted) return middle
    if (number < wanted) low = middle + 1
    else high = middle - 1
  }
  return -1
}

function placesOf(marks: Uint8Array): Int32Array {
  const places: number[] = []
  for (let at = marks.indexOf(1); at >= 0; at = marks.indexOf(1, at + 1)) places.push(at)
  return Int32Array.from(places)
}
