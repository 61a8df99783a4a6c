/**
 * Places a picture: boxes of all items, curves of all edges, rows and curves of columns. Drawing only reads
 * the scene.
 */
import { layOut, type Box, type Point } from './layout.ts'
import {
  edgeId,
  type CardItem,
  type ColumnEdge,
  type Item,
  type Picture,
  type PictureEdge
} from './picture.ts'
import { boxOfPoints } from './visible.ts'

/** Sizes in pixels. */
export const sizes = { width: 240, header: 56, stack: 40, row: 22, rowsTop: 4, rowsBottom: 6 }

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
  return {
    items,
    byId,
    edges,
    columnEdges: picture.columnEdges.flatMap((edge) => placeColumnEdge(edge, byId, routes)),
    groups: layout.lanes.flatMap(({ lane, ...box }) => {
      const group = open.get(lane)
      return group ? [{ id: group.id, name: group.name, count: group.count, box }] : []
    }),
    bounds: layout.bounds,
    loopCount: edges.filter(({ isLoop }) => isLoop).length
  }
}

const text = ({ x, y }: Point): string => `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`

/** An S-shaped curve between two points, horizontal at both ends. */
function bend(from: Point, to: Point): string {
  const reach = Math.max(24, (to.x - from.x) / 2)
  return `C${text({ x: from.x + reach, y: from.y })} ${text({ x: to.x - reach, y: to.y })} ${text(to)}`
}

/** Curves in the gaps between layers, and straight lines through the layers. */
function curve(points: readonly Point[]): { path: string; box: Box } {
  const [start, ...others] = points
  if (!start) return { path: '', box: boxOfPoints([]) }
  let path = `M${text(start)}`
  let last = start
  for (const [index, point] of others.entries()) {
    path += index % 2 === 0 ? bend(last, point) : `L${text(point)}`
    last = point
  }
  return { path, box: boxOfPoints(points, 4) }
}

/** A back edge: leaves on the right, passes above or below the cards, and enters on the left. */
function loop(points: readonly Point[], source: Box, target: Box): { path: string; box: Box } {
  const [start, end] = [points[0], points.at(-1)]
  if (!start || !end) return { path: '', box: boxOfPoints([]) }
  const far = 44
  const top = Math.min(source.y, target.y) - 26
  const corner = { right: { x: start.x + far, y: top }, left: { x: end.x - far, y: top } }
  const path =
    `M${text(start)}C${text({ x: start.x + far, y: start.y })} ${text(corner.right)} ${text({ x: start.x, y: top })}` +
    `L${text({ x: end.x, y: top })}C${text(corner.left)} ${text({ x: end.x - far, y: end.y })} ${text(end)}`
  return { path, box: boxOfPoints([start, end, corner.right, corner.left], 4) }
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
