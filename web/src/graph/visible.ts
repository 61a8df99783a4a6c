/** Decides which parts of a picture are drawn: those that cross the viewport, and with how much detail. */
import type { Box, Point } from './layout.ts'

/** The transformation of a picture: its point p is at `p * scale + (x, y)` of the screen. */
export type View = { x: number; y: number; scale: number }
export type Size = { width: number; height: number }

/** `full`: whole cards. `names`: only their names, larger. `blocks`: coloured rectangles. */
export type DetailLevel = 'full' | 'names' | 'blocks'

/**
 * `legible` and `rows`: the smallest scales at which the names of cards and of columns can be read; no picture
 * is fitted below them.
 * `reading`: the scale of a first view that does not fit as a whole.
 */
export const scales = {
  least: 0.02,
  most: 2,
  reading: 0.8,
  names: 0.98,
  legible: 0.52,
  rows: 0.67,
  blocks: 0.25
}

export const detailAt = (scale: number): DetailLevel =>
  scale >= scales.names ? 'full' : scale >= scales.blocks ? 'names' : 'blocks'

/**
 * In pixels of the screen. The drawn part is larger than the viewport by this on each side, so that small
 * movements draw nothing new.
 */
const tile = 320

/**
 * The part of the picture to draw. It contains the viewport, and changes only when the view crosses a tile
 * or the scale changes by a tenth, so that a picture is not drawn at each step of a pan.
 */
export function windowOf(view: View, size: Size): Box {
  const step = tile / 1.1 ** Math.floor(Math.log(view.scale) / Math.log(1.1))
  const left = Math.floor(-view.x / view.scale / step - 0.5) * step
  const top = Math.floor(-view.y / view.scale / step - 0.5) * step
  const right = Math.ceil((size.width - view.x) / view.scale / step + 0.5) * step
  const bottom = Math.ceil((size.height - view.y) / view.scale / step + 0.5) * step
  return { x: left, y: top, width: right - left, height: bottom - top }
}

export const isSameBox = (a: Box, b: Box): boolean =>
  a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height

/** Boxes that only touch do not cross. */
export const crosses = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

/** The box of a line through the points, with room for its curves. At least one pixel in each direction. */
export function boxOfPoints(points: readonly Point[], margin = 0): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { x, y } of points) {
    left = Math.min(left, x)
    top = Math.min(top, y)
    right = Math.max(right, x)
    bottom = Math.max(bottom, y)
  }
  return {
    x: left - margin,
    y: top - margin,
    width: Math.max(1, right - left + 2 * margin),
    height: Math.max(1, bottom - top + 2 * margin)
  }
}

/**
 * The items whose box crosses the window. An edge is drawn if its own box crosses the window, even if
 * neither of its ends is inside: otherwise a long edge would vanish while its middle is on the screen.
 */
export const visibleOf = <Item extends { box: Box }>(items: readonly Item[], window: Box): Item[] =>
  items.filter(({ box }) => crosses(box, window))

/** The view that shows the whole box with a margin, at most at natural size. */
export function viewOfBox(box: Box, size: Size, margin = 24): View {
  const room = { width: Math.max(1, size.width - 2 * margin), height: Math.max(1, size.height - 2 * margin) }
  const scale = Math.max(
    scales.least,
    Math.min(1, room.width / Math.max(1, box.width), room.height / Math.max(1, box.height))
  )
  return {
    scale,
    x: (size.width - box.width * scale) / 2 - box.x * scale,
    y: (size.height - box.height * scale) / 2 - box.y * scale
  }
}

/** The view at the same scale, with the middle of the box in the middle of the screen. */
export const viewCentredOn = (box: Box, size: Size, scale: number): View => ({
  scale,
  x: size.width / 2 - (box.x + box.width / 2) * scale,
  y: size.height / 2 - (box.y + box.height / 2) * scale
})

/**
 * The view at the same scale, moved so that no side of the screen is empty while the box has more to show on
 * that side. In a direction in which the box fits, it is centred.
 */
export function withinBox(view: View, box: Box, size: Size, margin = 24): View {
  const along = (offset: number, begin: number, length: number, room: number): number => {
    const [first, last] = [margin - begin * view.scale, room - margin - (begin + length) * view.scale]
    return first < last ? (first + last) / 2 : Math.min(first, Math.max(last, offset))
  }
  return {
    scale: view.scale,
    x: along(view.x, box.x, box.width, size.width),
    y: along(view.y, box.y, box.height, size.height)
  }
}
