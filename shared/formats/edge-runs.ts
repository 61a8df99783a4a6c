/**
 * Recognises plain edges between ordinary datasets line by line in the bytes of a body, without making
 * strings.
 *
 * Nearly all lines of large loads are such edges. Each costs the API 1 us until its chunk is stored; it would
 * cost 3 us if every line and URN became a string. All other lines are left to plain-edges.ts.
 */
import { areSame, viewOf } from '../urn/byte-words.ts'
import { endOfOrdinaryDataset, ordinaryDatasetMinBytes } from '../urn/ordinary-dataset.ts'
import type { Urn } from '../urn/urn.ts'
import type { EdgeShape, FindEdgeShape, PlainEdge } from './plain-edges.ts'

/**
 * The edges of consecutive lines with the same shape. The four arrays contain where in `bytes` the URNs of
 * each edge begin and end. A URN that repeats that of the previous line has the same positions.
 */
export type EdgeRun = {
  firstLine: number
  count: number
  shape: EdgeShape
  bytes: Buffer
  /** A DataView of the same memory. */
  view: DataView
  upstreamBegins: Int32Array
  upstreamEnds: Int32Array
  downstreamBegins: Int32Array
  downstreamEnds: Int32Array
  /** The place where the next line begins. */
  end: number
}

/**
 * Reads lines from `begin`, which is the beginning of a line, until a line is not a plain edge of the same
 * shape; null if the first line is not a plain edge. `bytes` ends with a line break.
 */
export type EdgeRunReader = (bytes: Buffer, begin: number, firstLine: number) => EdgeRun | null

const newline = 0x0a
const carriageReturn = 0x0d

/** Longer lines are read as text. */
const learnedMaxBytes = 2_048

export function createEdgeRunReader(findShape: FindEdgeShape): EdgeRunReader {
  let known: ShapeBytes | null = null
  let learnedIn: Buffer | null = null
  let view = viewOf(Buffer.alloc(0))

  /** Called once per piece of the body: if shapes alternate, reading lines as text is faster. */
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

/**
 * Whether the bytes from `begin` to `end` also occur at `at`. The compared bytes contain the end of the URN,
 * so the URN cannot continue after them.
 */
const isSame = (bytes: DataView, size: number, at: number, begin: number, end: number): boolean =>
  begin !== end && at + end - begin <= size && areSame(bytes, begin, bytes, at, end - begin)

/** The edges of a run, with their URNs as text. */
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
    // Safe: the URNs were checked when the run was read.
    const upstream = bytes.toString('latin1', upstreamBegins[index], upstreamEnds[index]) as Urn
    const downstream = bytes.toString('latin1', downstreamBegins[index], downstreamEnds[index]) as Urn
    yield { line: firstLine + index, shape, upstream, downstream }
  }
}
