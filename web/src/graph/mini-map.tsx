/** The whole graph in a corner, with the visible part marked; a click or a drag moves the view there. */
import { useRef } from 'preact/hooks'
import type { Stage } from './stage.ts'
import { scales } from './visible.ts'
import type { Viewport } from './viewport.ts'
import { lineageTexts as words } from '../texts/lineage.ts'

/** If there are fewer items, a viewport shows most of the cards anyway. */
const itemsMinCount = 30
const [width, height] = [190, 120]

export function MiniMap({ stage, viewport }: { stage: Stage; viewport: Viewport | null }) {
  const svg = useRef<SVGSVGElement>(null)
  const scene = stage.placed.value?.scene
  if (!scene || !viewport || scene.items.length <= itemsMinCount) return null
  const { bounds } = scene
  const scale = Math.max(scales.least / 10, Math.min(width / bounds.width, height / bounds.height))
  const moveTo = (event: PointerEvent): void => {
    const box = svg.current?.getBoundingClientRect()
    if (!box) return
    viewport.centre({
      x: bounds.x + (event.clientX - box.left - (width - bounds.width * scale) / 2) / scale,
      y: bounds.y + (event.clientY - box.top - (height - bounds.height * scale) / 2) / scale,
      width: 0,
      height: 0
    })
  }
  // At least one pixel each, so that no item disappears.
  const [least, lowest] = [1 / scale, 1 / scale]
  const path = scene.items
    .map(
      ({ box }) =>
        `M${box.x},${box.y}h${Math.max(box.width, least)}v${Math.max(box.height, lowest)}h${-Math.max(box.width, least)}z`
    )
    .join('')
  return (
    <div class="over mini-map" data-testid="mini-map">
      <svg
        ref={svg}
        width={width}
        height={height}
        role="img"
        aria-label={words.miniMap}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          moveTo(event)
        }}
        onPointerMove={(event) => {
          if (event.buttons === 1) moveTo(event)
        }}
      >
        <g
          transform={`translate(${(width - bounds.width * scale) / 2} ${(height - bounds.height * scale) / 2}) scale(${scale}) translate(${-bounds.x} ${-bounds.y})`}
        >
          <path d={path} />
          <Look stage={stage} />
        </g>
      </svg>
    </div>
  )
}

/** Drawn at each step of a pan, so it is a component of its own. */
function Look({ stage }: { stage: Stage }) {
  const { x, y, scale } = stage.view.value
  const size = stage.size.value
  return <rect x={-x / scale} y={-y / scale} width={size.width / scale} height={size.height / scale} />
}
