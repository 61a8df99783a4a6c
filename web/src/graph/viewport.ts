/** Moves the view by wheel, pinch and drag (d3-zoom), and from code. */
import { select } from 'd3-selection'
import { zoom, zoomIdentity, type D3ZoomEvent } from 'd3-zoom'
import type { Stage } from './stage.ts'
import { scales, viewCentredOn, viewOfBox, withinBox, type View } from './visible.ts'
import type { Box } from './layout.ts'

export type Viewport = {
  show: (view: View) => void
  zoomBy: (factor: number) => void
  /** Shows the graph at a readable scale or larger. If it does not fit, `start` is in the centre. */
  begin: (whole: Box, start: Box | undefined) => void
  fit: (whole: Box) => void
  centre: (box: Box) => void
  /** Moves only if the box is not in view. */
  reveal: (box: Box) => void
  end: () => void
}

/** The smallest scale of the first view. Smaller text would be illegible. */
const readingScale = 0.78

export function attachViewport(svg: SVGSVGElement, stage: Stage): Viewport {
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
    begin(whole, start) {
      const all = viewOfBox(whole, size.peek())
      if (all.scale >= readingScale || !start) show(all)
      else show(withinBox(viewCentredOn(start, size.peek(), readingScale), whole, size.peek()))
    },
    fit: (whole) => {
      show(viewOfBox(whole, size.peek()))
    },
    reveal(box) {
      const { x, y, scale } = view.peek()
      const { width, height } = size.peek()
      const [left, top] = [box.x * scale + x, box.y * scale + y]
      const isInView =
        left >= 8 &&
        top >= 8 &&
        left + box.width * scale <= width - 8 &&
        top + box.height * scale <= height - 8
      if (!isInView) centre(box)
    },
    end: () => {
      observer.disconnect()
      selection.on('.zoom', null)
    }
  }
}
