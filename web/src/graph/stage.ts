/**
 * State that changes without a new picture: the viewport, the item under the pointer, the card with the
 * keyboard. Signals are used so that only dependent parts are drawn again.
 */
import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { Box } from './layout.ts'
import { closureOf, closureOfPaths, linksOf, type Links } from './paths.ts'
import { groupId, type Picture } from './picture.ts'
import type { Scene } from './scene.ts'
import {
  detailAt,
  isSameBox,
  visibleOf,
  windowOf,
  type DetailLevel,
  type Size,
  type View
} from './visible.ts'

/** The highlighted items; the rest fades. */
export type Highlight = {
  items: ReadonlySet<string>
  edges: ReadonlySet<string>
  /** Null if no columns are highlighted. */
  columns: ReadonlySet<string> | null
  columnEdges: ReadonlySet<string>
}

/** The edge that is explained, the place of its panel, and whether the panel stays; then the steps are those of `card`. */
export type PointedEdge = { id: string; x: number; y: number; card: string; isHeld: boolean }

export type Placed = { picture: Picture; scene: Scene; links: Links; columnLinks: Links }

/** If there are more column edges than this, only those of the column in focus are drawn. */
export const columnEdgesDrawnMost = 500

export type Stage = {
  view: Signal<View>
  size: Signal<Size>
  placed: Signal<Placed | null>
  hovered: Signal<string | null>
  hoveredColumn: Signal<string | null>
  /** The card with the keyboard. */
  focused: Signal<string | null>
  lockedColumn: Signal<string | null>
  paths: Signal<readonly (readonly string[])[]>
  pointed: Signal<PointedEdge | null>
  /** The cards of the value of the legend that is pointed at. */
  ofValue: Signal<ReadonlySet<string> | null>
  /** How many of the items are in the viewport, in whole or in part. */
  inView: ReadonlySignal<{ shown: number; total: number }>
  /** The part of the picture that is drawn. */
  window: ReadonlySignal<Box>
  detail: ReadonlySignal<DetailLevel>
  highlight: ReadonlySignal<Highlight | null>
}

export const placedOf = (picture: Picture, scene: Scene): Placed => ({
  picture,
  scene,
  links: linksOf(picture.edges),
  columnLinks: linksOf(picture.columnEdges)
})

const none: ReadonlySet<string> = new Set()

function highlightOfEdge({ picture }: Placed, id: string): Highlight | null {
  const edge = picture.edges.find((each) => each.id === id)
  if (edge)
    return { items: new Set([edge.from, edge.to]), edges: new Set([id]), columns: null, columnEdges: none }
  const own = picture.columnEdges.find((each) => each.id === id)
  if (!own) return null
  return {
    items: new Set([own.fromCard, own.toCard]),
    edges: none,
    columns: new Set([own.from, own.to]),
    columnEdges: new Set([id])
  }
}

function highlightOfColumn({ links, columnLinks, picture }: Placed, column: string): Highlight {
  const { members, links: columnEdges } = closureOf(columnLinks, column)
  const items = new Set<string>()
  const edges = new Set<string>()
  for (const edge of picture.columnEdges) {
    if (!columnEdges.has(edge.id)) continue
    items.add(edge.fromCard)
    items.add(edge.toCard)
    for (const link of links.from.get(edge.fromCard) ?? []) if (link.to === edge.toCard) edges.add(link.id)
  }
  const own = picture.items.find(
    (item) => item.kind === 'card' && item.rows.some(({ urn }) => urn === column)
  )
  if (own) items.add(own.id)
  return { items, edges, columns: members, columnEdges }
}

/**
 * Each step as the item that shows it, a card or its closed group. Steps without an item, such as hidden
 * jobs, are bridged.
 */
function pathsOfItems({ picture, scene }: Placed, paths: readonly (readonly string[])[]): string[][] {
  const groupOf = new Map(picture.cards.map(({ id, group }) => [id, group === null ? '' : groupId(group)]))
  return paths.map((path) => {
    const items = path
      .map((urn) => (scene.byId.has(urn) ? urn : (groupOf.get(urn) ?? '')))
      .filter((id) => scene.byId.has(id))
    return items.filter((id, place) => id !== items[place - 1])
  })
}

export function createStage(): Stage {
  const view = signal<View>({ x: 0, y: 0, scale: 1 })
  const size = signal<Size>({ width: 1, height: 1 })
  const placed = signal<Placed | null>(null)
  const hovered = signal<string | null>(null)
  const hoveredColumn = signal<string | null>(null)
  const lockedColumn = signal<string | null>(null)
  const paths = signal<readonly (readonly string[])[]>([])
  const pointed = signal<PointedEdge | null>(null)
  const ofValue = signal<ReadonlySet<string> | null>(null)
  let last: Box = { x: 0, y: 0, width: 0, height: 0 }
  return {
    view,
    size,
    placed,
    hovered,
    hoveredColumn,
    focused: signal<string | null>(null),
    lockedColumn,
    paths,
    pointed,
    ofValue,
    inView: computed(() => {
      const { x, y, scale } = view.value
      const { width, height } = size.value
      const box = { x: -x / scale, y: -y / scale, width: width / scale, height: height / scale }
      const items = placed.value?.scene.items ?? []
      return { shown: visibleOf(items, box).length, total: items.length }
    }),
    window: computed(() => {
      const next = windowOf(view.value, size.value)
      if (!isSameBox(next, last)) last = next
      return last
    }),
    detail: computed(() => detailAt(view.value.scale)),
    highlight: computed(() => {
      const current = placed.value
      if (current === null) return null
      if (ofValue.value) return { items: ofValue.value, edges: none, columns: null, columnEdges: none }
      const edge = pointed.value && highlightOfEdge(current, pointed.value.id)
      if (edge) return edge
      const column = hoveredColumn.value ?? lockedColumn.value
      if (column !== null) return highlightOfColumn(current, column)
      const card = hovered.value
      if (card === null && paths.value.length === 0) return null
      const { members, links } =
        card === null
          ? closureOfPaths(current.links, pathsOfItems(current, paths.value))
          : closureOf(current.links, card)
      return { items: members, edges: links, columns: null, columnEdges: none }
    })
  }
}
