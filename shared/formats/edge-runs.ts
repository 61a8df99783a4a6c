/**
 * Recognises plain edges between ordinary datasets in the bytes of a body, line after line, without making texts of them.
 *
 * What nearly all lines of large loads are: 1 us of the API for each until its chunk is stored, against 3 where each line and
 * each URN becomes a string (plain-edges.ts, which reads whatever is not read here).
 */
import { areSame, viewOf } from '../urn/byte-words.ts'
import { endOfOrdinaryDataset, ordinaryDatasetMinBytes } from '../urn/ordinary-dataset.ts'
import type { Urn } from '../urn/urn.ts'
import type { EdgeShape, FindEdgeShape, PlainEdge } from './plain-edges.ts'

/**
 * Edges of lines that follow one another, all of one shape. The four arrays have where in `bytes` the URNs of each begin and
 * end; the same URN as on the line before has the same places.
 */
export type EdgeRun = {
  firstLine: number
  count: number
  shape: EdgeShape
  bytes: Buffer
  /** The same memory. */
  view: DataView
  upstreamBegins: Int32Array
  upstreamEnds: Int32Array
  downstreamBegins: Int32Array
  downstreamEnds: Int32Array
  /** Where the line behind the last begins. */
  end: number
}

/** Reads as many lines as are such from a place on, where a line begins; null if the first is not. `bytes` ends with a line break. */
export type EdgeRunReader = (bytes: Buffer, begin: number, firstLine: number) => EdgeRun | null

const newline = 0x0a
const carriageReturn = 0x0d

/** A longer line is looked at as a text. */
const learnedMaxBytes = 2_048

export function createEdgeRunReader(findShape: FindEdgeShape): EdgeRunReader {
  let known: ShapeBytes | null = null
  let learnedIn: Buffer | null = null
  let view = viewOf(Buffer.alloc(0))

  /** Once a piece: where shapes take turns, lines are read faster as texts. */
  function learn(bytes: Buffer, begin: number): ShapeBytes | null {
    if (bytes === learnedIn) return null
    learnedIn = bytes
    const end = bytes.indexOf(newline, begin)
    const shape =
      end - begin > learnedMaxBytes ? undefined : findShape(bytes.toString('latin1', begin, end).trimEnd())
    if (!shape || shape === known?.shape) return null
    known = {
      shape,
      prefix: bytesOf(shape.prefix),
      middle: bytesOf(shape.middle),
      suffix: bytesOf(shape.suffix)
    }
    return known
  }

  return (bytes, begin, firstLine) => {
    if (
      view.buffer !== bytes.buffer ||
      view.byteOffset !== bytes.byteOffset ||
      view.byteLength !== bytes.byteLength
    )
      view = viewOf(bytes)
    const run = known && readRun(bytes, view, begin, firstLine, known)
    if (run || begin >= bytes.length) return run
    const shape = learn(bytes, begin)
    return shape && readRun(bytes, view, begin, firstLine, shape)
  }
}

type ShapePart = { view: DataView; length: number }
type ShapeBytes = { shape: EdgeShape; prefix: ShapePart; middle: ShapePart; suffix: ShapePart }

function bytesOf(text: string): ShapePart {
  const bytes = Buffer.from(text)
  return { view: viewOf(bytes), length: bytes.length }
}

function readRun(
  bytes: Buffer,
  view: DataView,
  begin: number,
  firstLine: number,
  { shape, prefix, middle, suffix }: ShapeBytes
): EdgeRun | null {
  const mostLines = Math.ceil(
    (bytes.length - begin) / (prefix.length + middle.length + suffix.length + 2 * ordinaryDatasetMinBytes)
  )
  const [firstBegins, firstEnds, secondBegins, secondEnds] = [
    new Int32Array(mostLines),
    new Int32Array(mostLines),
    new Int32Array(mostLines),
    new Int32Array(mostLines)
  ]
  const size = bytes.length
  let at = begin
  let count = 0
  let [firstBegin, firstEnd, secondBegin, secondEnd] = [0, 0, 0, 0]
  while (holds(view, size, at, prefix)) {
    const first = at + prefix.length
    const firstIsSame = isSame(view, size, first, firstBegin, firstEnd)
    const middleBegin = firstIsSame ? first + firstEnd - firstBegin : endOfOrdinaryDataset(bytes, first)
    if (middleBegin < 0 || !holds(view, size, middleBegin, middle)) break
    const second = middleBegin + middle.length
    const secondIsSame = isSame(view, size, second, secondBegin, secondEnd)
    const suffixBegin = secondIsSame ? second + secondEnd - secondBegin : endOfOrdinaryDataset(bytes, second)
    if (suffixBegin < 0 || !holds(view, size, suffixBegin, suffix)) break
    const lineEnd = suffixBegin + suffix.length
    const next = bytes[lineEnd] === carriageReturn ? lineEnd + 1 : lineEnd
    if (bytes[next] !== newline) break
    if (!firstIsSame) [firstBegin, firstEnd] = [first, middleBegin]
    if (!secondIsSame) [secondBegin, secondEnd] = [second, suffixBegin]
    firstBegins[count] = firstBegin
    firstEnds[count] = firstEnd
    secondBegins[count] = secondBegin
    secondEnds[count] = secondEnd
    count += 1
    at = next + 1
  }
  if (count === 0) return null
  const [first, second] = [
    [firstBegins.slice(0, count), firstEnds.slice(0, count)] as const,
    [secondBegins.slice(0, count), secondEnds.slice(0, count)] as const
  ]
  const [[upstreamBegins, upstreamEnds], [downstreamBegins, downstreamEnds]] = shape.upstreamFirst
    ? [first, second]
    : [second, first]
  return {
    firstLine,
    count,
    shape,
    bytes,
    view,
    upstreamBegins,
    upstreamEnds,
    downstreamBegins,
    downstreamEnds,
    end: at
  }
}

const holds = (bytes: DataView, size: number, at: number, { view, length }: ShapePart): boolean =>
  at + length <= size && areSame(bytes, at, view, 0, length)

/** Whether the bytes between two positions also occur at a third. A URN ends within them, so what follows is not part of it. */
const isSame = (bytes: DataView, size: number, at: number, begin: number, end: number): boolean =>
  begin !== end && at + end - begin <= size && areSame(bytes, begin, bytes, at, end - begin)

/** Each edge of a run with its texts. */
export function* edgesOfRun({
  firstLine,
  count,
  shape,
  bytes,
  upstreamBegins,
  upstreamEnds,
  downstreamBegins,
  downstreamEnds
}: EdgeRun): Generator<PlainEdge> {
  for (let index = 0; index < count; index += 1) {
    // They were checked when the run was read.
    const upstream = bytes.toString('latin1', upstreamBegins[index], upstreamEnds[index]) as Urn
    const downstream = bytes.toString('latin1', downstreamBegins[index], downstreamEnds[index]) as Urn
    yield { line: firstLine + index, shape, upstream, downstream }
  }
}
