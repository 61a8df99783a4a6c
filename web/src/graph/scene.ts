/**
 * Places a picture: boxes of all items, curves of all edges, rows and curves of columns. Drawing only reads
 * the scene.
 */
import { curve, loop } from './curves.ts'
import { boundsOf, layOut, type Box, type Point } from './layout.ts'
import {
  edgeId,
  type CardItem,
  type ColumnEdge,
  type Item,
  type Picture,
  type PictureEdge
} from './picture.ts'

/** Sizes in pixels. */
export const sizes = { width: 264, header: 70, stack: 44, row: 22, rowsTop: 4, rowsBottom: 6 }

export type PlacedItem = { item: Item; box: Box; layer: number }
export type PlacedEdge = { edge: PictureEdge; path: string; box: Box; isLoop: boolean }
export type PlacedColumnEdge = { edge: ColumnEdge; path: string; box: Box }
export type PlacedGroup = { id: string; name: string; count: number; box: Box }

export type Scene = {
  items: readonly PlacedItem[]
  byId: ReadonlyMap<string, PlacedItem>
  edges: readonly PlacedEdge[]
  columnEdges: readonly PlacedColumnEdge[]
  groups: readonly PlacedGroup[]
  bounds: Box
  loopCount: number
}

export const heightOf = (item: Item): number => {
  if (item.kind === 'stack') return sizes.stack
  if (item.kind === 'group') return sizes.header
  const lines = item.rows.length + Number(item.moreRows > 0)
  return lines === 0 ? sizes.header : sizes.header + sizes.rowsTop + lines * sizes.row + sizes.rowsBottom
}

const portOf = (item: Item): number => (item.kind === 'stack' ? sizes.stack : sizes.header) / 2

/** The item `held` stays where it was in the previous scene. */
export function sceneOf(picture: Picture, former: Scene | null, held: string | null): Scene {
  const open = new Map(picture.groups.filter(({ isOpen }) => isOpen).map((group) => [group.id, group]))
  const laneOf = (item: Item): { lane?: string | null } =>
    open.size === 0 ? {} : { lane: item.kind === 'group' ? null : item.group }
  const before = held === null ? undefined : former?.byId.get(held)?.box
  const layout = layOut({
    nodes: picture.items.map((item) => ({
      id: item.id,
      width: sizes.width,
      height: heightOf(item),
      portY: portOf(item),
      ...laneOf(item)
    })),
    edges: picture.edges,
    ...(former ? { former: new Map([...former.byId].map(([id, { box }]) => [id, box])) } : {}),
    anchor: before && held !== null ? { id: held, x: before.x, y: before.y } : null
  })
  const items = picture.items.flatMap((item): PlacedItem[] => {
    const box = layout.boxes.get(item.id)
    return box ? [{ item, box, layer: layout.layerOf.get(item.id) ?? 0 }] : []
  })
  const byId = new Map(items.map((placed) => [placed.item.id, placed]))
  const edgeById = new Map(picture.edges.map((edge) => [edge.id, edge]))
  const routes = new Map(layout.edges.map(({ id, points }) => [id, points]))
  const edges = layout.edges.flatMap(({ id, from, to, isLoop, points }): PlacedEdge[] => {
    const edge = edgeById.get(id)
    const [source, target] = [byId.get(from)?.box, byId.get(to)?.box]
    if (!edge || !source || !target) return []
    return [isLoop ? { edge, isLoop, ...loop(points, source, target) } : { edge, isLoop, ...curve(points) }]
  })
  const columnEdges = picture.columnEdges.flatMap((edge) => placeColumnEdge(edge, byId, routes))
  return {
    items,
    byId,
    edges,
    columnEdges,
    groups: layout.lanes.flatMap(({ lane, ...box }) => {
      const group = open.get(lane)
      return group ? [{ id: group.id, name: group.name, count: group.count, box }] : []
    }),
    // Long edges and loops pass above and below the cards.
    bounds: boundsOf([layout.bounds, ...[...edges, ...columnEdges].map(({ box }) => box)]),
    loopCount: edges.filter(({ isLoop }) => isLoop).length
  }
}

/** The middle of the column's row. Without a row, the middle of the line “+n more”, or of the card. */
export function rowMiddle(item: CardItem, box: Box, columnUrn: string): number {
  const place = item.rows.findIndex(({ urn }) => urn === columnUrn)
  const line = place >= 0 ? place : item.moreRows > 0 ? item.rows.length : -1
  return line < 0 ? box.y + sizes.header / 2 : box.y + sizes.header + sizes.rowsTop + (line + 0.5) * sizes.row
}

/** Follows the edge between the two assets, so that it does not cross other cards. */
function placeColumnEdge(
  edge: ColumnEdge,
  byId: ReadonlyMap<string, PlacedItem>,
  routes: ReadonlyMap<string, readonly Point[]>
): PlacedColumnEdge[] {
  const [source, target] = [byId.get(edge.fromCard), byId.get(edge.toCard)]
  if (source?.item.kind !== 'card' || target?.item.kind !== 'card') return []
  const start = { x: source.box.x + source.box.width, y: rowMiddle(source.item, source.box, edge.from) }
  const end = { x: target.box.x, y: rowMiddle(target.item, target.box, edge.to) }
  const between = routes.get(edgeId(edge.fromCard, edge.toCard))?.slice(1, -1) ?? []
  const placed =
    end.x < start.x ? loop([start, end], source.box, target.box) : curve([start, ...between, end])
  return [{ edge, ...placed }]
}
