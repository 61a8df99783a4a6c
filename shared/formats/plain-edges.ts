/**
 * Recognises the lines that most loads are made of, edges given by their two ends alone, to be added or removed, without reading them as JSON.
 *
 * Lines of one program look alike: what stands before, between and after the two URNs is a shape, found once and then
 * only compared (0.7 us a line, against 5.2 as JSON with its checks). Whatever does not fit is read as any other record.
 */
import { edgePairOf } from '../model/lineage-fields.ts'
import { knownUrn } from '../urn/known-urns.ts'
import { isOrdinaryDataset } from '../urn/ordinary-dataset.ts'
import type { Urn } from '../urn/urn.ts'

/** The text of a line is prefix, URN, middle, URN, suffix. Which of the two it asks for is `isRemoval`. */
export type EdgeShape = {
  prefix: string
  middle: string
  suffix: string
  upstreamFirst: boolean
  isRemoval: boolean
}

/** `shape` is the same object for all lines of a body that have it. */
export type PlainEdge = { line: number; shape: EdgeShape; upstream: Urn; downstream: Urn }

const end = '"(upstreamUrn|downstreamUrn)"[ \\t]*:[ \\t]*"'
const op = '"op"[ \\t]*:[ \\t]*"(?:addEdge|removeEdge)"'
const edgeLine = new RegExp(
  `^(\\{[ \\t]*(?:${op}[ \\t]*,[ \\t]*)?${end})([^"\\\\]*)("[ \\t]*,[ \\t]*${end})([^"\\\\]*)("[ \\t]*(?:,[ \\t]*${op}[ \\t]*)?\\})$`
)

/** Bodies have one shape, hand-made ones a few. */
const shapesMaxCount = 16

/** Thousands of lines are made again from one shape: one that is padded out would be held as often. */
const shapeMaxChars = 256

/** Columns are on assets, and jobs on flows: their edges take more than two look-ups. */
const takesMore = new Set(['schemaField', 'dataFlow'])

/** Reads a line that is a plain edge; null for one that is to be read in full. */
export type PlainEdgeReader = (text: string, line: number) => PlainEdge | null

/** The shapes of one body, each once. Finds that of a line; nothing if it has none, or they are too many. */
export type FindEdgeShape = (text: string) => EdgeShape | undefined

export function createEdgeShapes(): FindEdgeShape {
  const shapes: EdgeShape[] = []
  return (text) => {
    const [, prefix, firstName, , middle, secondName, , suffix] = edgeLine.exec(text) ?? []
    if (prefix === undefined || middle === undefined || suffix === undefined || firstName === secondName)
      return undefined
    if (prefix.includes('"op"') && suffix.includes('"op"')) return undefined
    if (prefix.length + middle.length + suffix.length > shapeMaxChars) return undefined
    const upstreamFirst = firstName === 'upstreamUrn'
    const known = shapes.find(
      (each) => each.prefix === prefix && each.middle === middle && each.suffix === suffix
    )
    if (known || shapes.length >= shapesMaxCount) return known
    const isRemoval = prefix.includes('"removeEdge"') || suffix.includes('"removeEdge"')
    const fresh = {
      prefix: flat(prefix),
      middle: flat(middle),
      suffix: flat(suffix),
      upstreamFirst,
      isRemoval
    }
    shapes.push(fresh)
    return fresh
  }
}

/** A reader for the lines of one body of JSON. */
export function createPlainEdgeReader(findShape: FindEdgeShape = createEdgeShapes()): PlainEdgeReader {
  let shape: EdgeShape | undefined
  return (text, line) => {
    const edge = shape && edgeOfShape(shape, text, line)
    if (edge) return edge
    const other = findShape(text)
    if (!other || other === shape) return null
    shape = other
    return edgeOfShape(other, text, line)
  }
}

/** What another shape has behind its URNs may end as this one does: the second text is then no URN. */
function edgeOfShape(shape: EdgeShape, text: string, line: number): PlainEdge | null {
  const fits =
    text.startsWith(shape.prefix) && text.endsWith(shape.suffix)
      ? text.indexOf(shape.middle, shape.prefix.length)
      : -1
  if (fits < 0) return null
  const first = text.slice(shape.prefix.length, fits)
  const second = text.slice(fits + shape.middle.length, text.length - shape.suffix.length)
  const [upstream, downstream] = shape.upstreamFirst ? [first, second] : [second, first]
  return plainEdge(line, shape, upstream, downstream)
}

/** The edge between two texts; null if they are not URNs, or it takes more than that to tell what it means. */
export function plainEdge(
  line: number,
  shape: EdgeShape,
  upstream: string,
  downstream: string
): PlainEdge | null {
  if (isOrdinaryDataset(upstream) && isOrdinaryDataset(downstream))
    return { line, shape, upstream, downstream }
  return otherEdge(line, shape, upstream, downstream)
}

/** An edge between entities of any types; null if it takes more than that to tell what it means. */
function otherEdge(
  line: number,
  shape: EdgeShape,
  upstreamText: string,
  downstreamText: string
): PlainEdge | null {
  const [upstream, downstream] = [knownUrn(asWritten(upstreamText)), knownUrn(asWritten(downstreamText))]
  if (!upstream || !downstream || takesMore.has(upstream.entityType) || takesMore.has(downstream.entityType))
    return null
  return edgePairOf(upstream.entityType, downstream.entityType)
    ? { line, shape, upstream: upstream.urn, downstream: downstream.urn }
    : null
}

/** What holds a quote or an escape is not one text of JSON as it stands; the empty text is not a URN. */
const asWritten = (text: string): string => (text.includes('"') || text.includes('\\') ? '' : text)

/** A slice of a longer text would keep all of that text in memory. */
export const flat = (text: string): string => Buffer.from(text, 'utf8').toString('utf8')

/** The line as it was sent. */
export const textOfEdge = (shape: EdgeShape, upstreamUrn: string, downstreamUrn: string): string =>
  shape.upstreamFirst
    ? `${shape.prefix}${upstreamUrn}${shape.middle}${downstreamUrn}${shape.suffix}`
    : `${shape.prefix}${downstreamUrn}${shape.middle}${upstreamUrn}${shape.suffix}`
