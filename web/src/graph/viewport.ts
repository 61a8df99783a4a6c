/** Moves the view by wheel, pinch and drag (d3-zoom), and from code. */
import { select } from 'd3-selection'
import { zoom, zoomIdentity, type D3ZoomEvent } from 'd3-zoom'
import type { Stage } from './stage.ts'
import { scales, viewCentredOn, viewOfBox, withinBox, type View } from './visible.ts'
import type { Box } from './layout.ts'

export type Viewport = {
  show: (view: View) => void
  zoomBy: (factor: number) => void
  /**
   * Shows the whole if it fits at this scale or larger. Otherwise its part around `middle` at `part`, so that the names
   * can be read.
   */
  fit: (whole: Box, middle: Box | undefined, least: number, part?: number) => void
  centre: (box: Box) => void
  /** Moves only if the box is not in view, and then no more than it must. */
  reveal: (box: Box) => void
  end: () => void
}

/** A box farther outside than this is shown in the centre, with what is around it. */
const farPixels = 400
/** Beside a picture that is fitted to the width. */
const margin = 24

export function attachViewport(svg: SVGSVGElement, stage: Pick<Stage, 'view' | 'size'>): Viewport {
  const selection = select<SVGSVGElement, unknown>(svg)
  const behaviour = zoom<SVGSVGElement, unknown>()
    .scaleExtent([scales.least, scales.most])
    .clickDistance(4)
    .on('zoom', ({ transform }: D3ZoomEvent<SVGSVGElement, unknown>) => {
      stage.view.value = { x: transform.x, y: transform.y, scale: transform.k }
    })
  // A double click selects; it must not zoom.
  selection.call(behaviour).on('dblclick.zoom', null)
  const show = ({ x, y, scale }: View): void => {
    behaviour.transform(selection, zoomIdentity.translate(x, y).scale(scale))
  }
  const { view, size } = stage
  const measure = (): void => {
    const { width, height } = svg.getBoundingClientRect()
    if (width > 0 && height > 0) size.value = { width, height }
  }
  measure()
  const observer = new ResizeObserver(measure)
  observer.observe(svg)
  const centre = (box: Box): void => {
    show(viewCentredOn(box, size.peek(), view.peek().scale))
  }
  return {
    show,
    centre,
    zoomBy: (factor) => {
      behaviour.scaleBy(selection, factor)
    },
    fit(whole, middle, least, part = least) {
      const all = viewOfBox(whole, size.peek())
      if (all.scale >= least || !middle) show(all)
      else {
        // As many of the layers as can be read; what is beyond is above and below.
        const scale = Math.max(least, Math.min(part, (size.peek().width - 2 * margin) / whole.width))
        show(withinBox(viewCentredOn(middle, size.peek(), scale), whole, size.peek()))
      }
    },
    reveal(box) {
      measure()
      const { x, y, scale } = view.peek()
      const { width, height } = size.peek()
      const [left, top] = [box.x * scale + x, box.y * scale + y]
      /** How far the view moves along one side, so that the box is in it with a margin. */
      const moveOf = (begin: number, length: number, room: number): number =>
        begin < 8 ? 40 - begin : begin + length > room - 8 ? Math.max(room - 40 - length, 40) - begin : 0
      const move = {
        x: moveOf(left, box.width * scale, width),
        y: moveOf(top, box.height * scale, height)
      }
      if (Math.max(Math.abs(move.x), Math.abs(move.y)) > farPixels) centre(box)
      else if (move.x !== 0 || move.y !== 0) show({ x: x + move.x, y: y + move.y, scale })
    },
    end: () => {
      observer.disconnect()
      selection.on('.zoom', null)
    }
  }
}
