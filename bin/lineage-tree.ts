/**
 * Lineage as a tree of text: each entity once, at its nearest place, with a mark where it occurs again, so
 * cycles end.
 *
 * Memory is bounded by the number of lines, however large the lineage is: the nearest entities first, then
 * the marks; the rest is counted.
 */
import { nameFromUrn } from '../shared/urn/kinds.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { columnName } from './client/entity-card.ts'
import type { Direction, LineageLines, LineageNode } from './client/read-lineage.ts'
import { printable } from './printable.ts'

type Place = {
  node: LineageNode
  isPlaced: boolean
  below: { place: Place; isAgain: boolean }[]
  moreCount: number
}

export type LineageTree = {
  roots: readonly Place[]
  /** Nearest entities without a parent in the tree, because the entities in between were left out. */
  apart: readonly Place[]
  /** Entities in the tree, without the roots. */
  shownCount: number
  /** Hops to the farthest entity, shown or not. */
  hops: number
}

/**
 * Reads no further than the tree needs. `maxLines` counts entities and marks, not the lines that count the
 * rest.
 */
export async function growTree(
  { lines }: Pick<LineageLines, 'lines'>,
  direction: Direction,
  maxLines: number
): Promise<LineageTree> {
  const places = new Map<string, Place>()
  let marksLeft: number | null = null
  let hops = 0
  for await (const line of lines()) {
    if ('node' in line) {
      hops = Math.max(hops, line.node.degree)
      if (places.size < maxLines)
        places.set(line.node.urn, {
          node: line.node,
          isPlaced: line.node.degree === 0,
          below: [],
          moreCount: 0
        })
      continue
    }
    const { upstream, downstream, degree } = line.edge
    // It leads nowhere.
    if (upstream === downstream) continue
    const [nearUrn, farUrn] = direction === 'DOWNSTREAM' ? [upstream, downstream] : [downstream, upstream]
    const [near, far] = [places.get(nearUrn), places.get(farUrn)]
    // Edges are ordered by their near ends, so no remaining edge begins at a shown entity.
    if (near === undefined) break
    marksLeft ??= maxLines - places.size
    if (far === undefined) near.moreCount += 1
    else if (!far.isPlaced && far.node.degree === degree) {
      far.isPlaced = true
      near.below.push({ place: far, isAgain: false })
    } else if (marksLeft > 0) {
      marksLeft -= 1
      near.below.push({ place: far, isAgain: true })
    } else near.moreCount += 1
  }
  const all = [...places.values()]
  const roots = all.filter(({ node }) => node.degree === 0)
  return {
    roots,
    apart: all.filter(({ isPlaced }) => !isPlaced),
    shownCount: all.length - roots.length,
    hops
  }
}

type Strokes = { branch: string; last: string; pipe: string; gap: string }

const drawn: Strokes = { branch: '├─ ', last: '└─ ', pipe: '│  ', gap: '   ' }
const plain: Strokes = { branch: '|- ', last: '`- ', pipe: '|  ', gap: '   ' }

/** Whether a terminal with these variables can show line-drawing characters. */
export function canDraw(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || ''
  return /utf-?8/i.test(locale) && env.TERM !== 'dumb'
}

export function* printTree({ roots, apart }: LineageTree, isDrawn: boolean): Generator<string> {
  const strokes = isDrawn ? drawn : plain
  for (const root of roots) {
    yield titleOf(root.node)
    yield* printBelow(root, strokes)
  }
  for (const place of apart) {
    yield `${place.node.degree} hops away: ${titleOf(place.node)}`
    yield* printBelow(place, strokes)
  }
}

/** Without recursion: lineage may be deeper than the stack. */
function* printBelow(top: Place, strokes: Strokes): Generator<string> {
  const open = [{ place: top, next: 0, indent: '' }]
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const {
      place: { below, moreCount },
      next,
      indent
    } = level
    const count = below.length + (moreCount > 0 ? 1 : 0)
    const entry = below[next]
    level.next += 1
    const stroke = next + 1 >= count ? strokes.last : strokes.branch
    if (entry === undefined) {
      if (next < count) yield `${indent}${stroke}(+${moreCount.toLocaleString('en')} more)`
      open.pop()
      continue
    }
    yield `${indent}${stroke}${titleOf(entry.place.node)}${entry.isAgain ? ' (again)' : ''}`
    if (!entry.isAgain)
      open.push({
        place: entry.place,
        next: 0,
        indent: indent + (next + 1 >= count ? strokes.gap : strokes.pipe)
      })
  }
}

/** A title such as `orders (DATASET, hive)`. */
function titleOf({ urn, name, type, platform, exists }: LineageNode): string {
  const kind = platform === null ? type : `${type}, ${nameFromUrn(toUrn(platform))}`
  return `${printable(type === 'SCHEMA_FIELD' ? columnName(urn) : name)} (${printable(kind)})${exists ? '' : ' not described'}`
}
