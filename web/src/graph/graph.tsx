/** The drawing: one SVG that moves as a whole and contains only what crosses the viewport. */
import { batch, effect } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { hold } from './edge-panel.tsx'
import { ColumnEdges, Edges, EdgeTargets, LitEdges } from './edges.tsx'
import { itemNode } from './items.tsx'
import { textWidth } from './labels.ts'
import './measure.ts'
import type { Box } from './layout.ts'
import type { Colours } from './colours.ts'
import type { Direction } from './model.ts'
import type { Highlight, Stage } from './stage.ts'
import { attachViewport, type Viewport } from './viewport.ts'
import { crosses, visibleOf } from './visible.ts'
import { lineageTexts as words } from '../texts/lineage.ts'

export type GraphActions = {
  choose: (urn: string) => void
  chooseColumn: (urn: string) => void
  expand: (urn: string, direction: Direction, options: { all: boolean }) => void
  collapse: (urn: string, direction: Direction) => void
  openStack: (id: string, element: Element) => void
  toggleGroup: (group: string) => void
  showColumnsOf: (urn: string) => void
  /** Moves the view if the item is not in it. */
  reveal: (id: string) => void
  keyDown: (event: KeyboardEvent, focused: string | null) => void
}

type Props = {
  stage: Stage
  name: string
  colours: Colours
  selected: string | null
  column: string | null
  actions: GraphActions
  ready: (viewport: Viewport) => void
}

/** How long the pointer must rest for what it points at to be lit, and how long that then stays. */
const pointerEntersMs = 90
const pointerLeavesMs = 200

const closest = (event: Event, selector: string): Element | null =>
  event.target instanceof Element ? event.target.closest(selector) : null

export function Graph({ stage, name, colours, selected, column, actions, ready }: Props) {
  const svg = useRef<SVGSVGElement>(null)
  const world = useRef<SVGGElement>(null)
  useEffect(() => {
    const element = svg.current
    if (!element) return
    const viewport = attachViewport(element, stage)
    ready(viewport)
    const stopMoving = effect(() => {
      const { x, y, scale } = stage.view.value
      world.current?.setAttribute('transform', `translate(${x} ${y}) scale(${scale})`)
      element.dataset.scale = String(scale)
    })
    const stopFading = effect(() => {
      const highlight = stage.highlight.value
      const { detail } = stage
      element.dataset.lod = detail.value
      if (world.current) light(world.current, highlight)
    })
    return () => {
      stopMoving()
      stopFading()
      viewport.end()
    }
  }, [stage])

  const edgeUnder = (event: MouseEvent): { id: string; x: number; y: number } | null => {
    const edge = closest(event, '[data-edge], [data-col-edge]')
    const id = edge?.getAttribute('data-edge') ?? edge?.getAttribute('data-col-edge') ?? null
    const box = svg.current?.getBoundingClientRect()
    return id === null || !box ? null : { id, x: event.clientX - box.left, y: event.clientY - box.top }
  }
  const onClick = (event: MouseEvent): void => {
    const pill = closest(event, '[data-pill]')
    if (pill) {
      const direction = pill.getAttribute('data-pill') === 'UPSTREAM' ? 'UPSTREAM' : 'DOWNSTREAM'
      const urn = pill.getAttribute('data-of') ?? ''
      if (pill.getAttribute('data-opens') === 'true') actions.expand(urn, direction, { all: event.shiftKey })
      else actions.collapse(urn, direction)
      return
    }
    const row = closest(event, '[data-col]')
    if (row) {
      actions.chooseColumn(row.getAttribute('data-col') ?? '')
      return
    }
    const more = closest(event, '[data-more]')
    if (more) {
      actions.showColumnsOf(more.getAttribute('data-more') ?? '')
      return
    }
    const node = closest(event, '[data-node]')
    if (node) {
      actions.choose(node.getAttribute('data-node') ?? '')
      return
    }
    const edge = edgeUnder(event)
    if (edge) {
      hold(stage, edge.id, edge.id.split(' -> ')[0] ?? '', edge)
      return
    }
    const item = closest(event, '[data-item]')
    const group = closest(event, '[data-group]')
    if (item?.getAttribute('data-testid') === 'stack')
      actions.openStack(item.getAttribute('data-item') ?? '', item)
    else if (item) actions.toggleGroup((item.getAttribute('data-item') ?? '').slice('group '.length))
    // The box of a group can be dragged to move the view; only its title closes the group.
    else if (group && closest(event, '[data-title], :focus-visible'))
      actions.toggleGroup(group.getAttribute('data-group') ?? '')
  }

  const timer = useRef(0)
  const resting = useRef('')
  /** After a moment: a pointer that only passes lights nothing, and a gap on its way ends nothing. */
  const pointAt = (wait: number, apply: () => void): void => {
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => {
      batch(apply)
    }, wait)
  }
  const leave = (): void => {
    pointAt(pointerLeavesMs, () => {
      stage.hovered.value = null
      stage.hoveredColumn.value = null
      if (stage.pointed.value?.isHeld === false) stage.pointed.value = null
    })
  }
  const onPointerOver = (event: PointerEvent): void => {
    if (event.pointerType === 'touch' || event.buttons !== 0) return
    // A resting pointer does not point at what a new picture puts under it.
    if (resting.current === `${event.clientX} ${event.clientY}`) return
    const col = closest(event, '[data-col]')?.getAttribute('data-col') ?? null
    const card = closest(event, '[data-node]')?.getAttribute('data-node') ?? null
    const edge = edgeUnder(event)
    if (card === null && edge === null) {
      leave()
      return
    }
    pointAt(pointerEntersMs, () => {
      stage.hoveredColumn.value = col !== null && col.startsWith('urn:') ? col : null
      stage.hovered.value = card
      if (!stage.pointed.value?.isHeld) stage.pointed.value = edge && { ...edge, card: '', isHeld: false }
    })
  }

  return (
    <svg
      ref={svg}
      class="graph"
      data-testid="graph"
      role="group"
      // Chromium makes an SVG with a focus listener a tab stop.
      tabindex={-1}
      aria-label={words.canvas(name)}
      onClick={onClick}
      onPointerOver={onPointerOver}
      onPointerMove={(event) => {
        resting.current = `${event.clientX} ${event.clientY}`
      }}
      onPointerLeave={leave}
      onFocusIn={(event) => {
        const element = closest(event, '[data-node], [data-item]')
        const id = element?.getAttribute('data-node') ?? element?.getAttribute('data-item') ?? null
        // A click next to the cards does not change which card has the keyboard.
        if (id === null) return
        stage.focused.value = id
        if (closest(event, ':focus-visible')) actions.reveal(id)
      }}
      onKeyDown={(event) => {
        actions.keyDown(event, stage.focused.value)
      }}
    >
      <g ref={world} class="world">
        <Groups stage={stage} />
        <Edges stage={stage} />
        <EdgeTargets stage={stage} />
        <LitEdges stage={stage} />
        <ColumnEdges stage={stage} />
        <Items stage={stage} colours={colours} selected={selected} column={column} />
      </g>
    </svg>
  )
}

/** Marks highlighted items; CSS fades the rest. No item is drawn again. */
function light(world: SVGGElement, highlight: Highlight | null): void {
  world.toggleAttribute('data-dim', highlight !== null)
  world.toggleAttribute('data-dim-columns', highlight?.columns != null)
  for (const element of world.querySelectorAll('[data-node], [data-item]')) {
    const id = element.getAttribute('data-node') ?? element.getAttribute('data-item') ?? ''
    element.toggleAttribute('data-lit', highlight?.items.has(id) === true)
  }
  for (const element of world.querySelectorAll('[data-col]'))
    element.toggleAttribute(
      'data-lit',
      highlight?.columns?.has(element.getAttribute('data-col') ?? '') === true
    )
}

function Items({
  stage,
  colours,
  selected,
  column
}: {
  stage: Stage
  colours: Colours
  selected: string | null
  column: string | null
}) {
  const layer = useRef<SVGGElement>(null)
  const placed = stage.placed.value
  const detail = stage.detail.value
  const window = stage.window.value
  const focused = stage.focused.value
  useLayoutEffect(() => {
    const world = layer.current?.parentElement
    if (world instanceof SVGGElement) light(world, stage.highlight.peek())
  })
  if (!placed) return <g ref={layer} />
  const { items, byId } = placed.scene
  const tabStop = [focused, selected].find((id) => id !== null && byId.has(id)) ?? items[0]?.item.id ?? null
  // The tab stop is always drawn. Without it, Tab would not reach the graph, and a focused card would lose
  // the focus.
  const visible = items.filter(({ item, box }) => item.id === tabStop || crosses(box, window))
  return (
    <g ref={layer} class="items">
      {visible.map((each) => itemNode(each, { detail, colours, selected, column, tabStop }))}
    </g>
  )
}

function Groups({ stage }: { stage: Stage }) {
  const scene = stage.placed.value?.scene
  if (!scene || scene.groups.length === 0) return null
  return (
    <g class="groups">
      {visibleOf(scene.groups, stage.window.value).map(({ id, name, count, box }) => (
        <g key={id} class="group" data-group={id} data-count={count}>
          <rect
            x={box.x}
            y={box.y}
            width={box.width}
            height={box.height}
            rx="12"
            role="button"
            tabindex={-1}
            aria-label={words.closeGroup(name)}
          />
          <GroupTitle stage={stage} name={name} count={count} box={box} />
        </g>
      ))}
    </g>
  )
}

/**
 * The title is visible as long as its box is, so it is drawn at each step of a pan, separately from the rest.
 */
function GroupTitle({ stage, name, count, box }: { stage: Stage; name: string; count: number; box: Box }) {
  const { x, y, scale } = stage.view.value
  const size = Math.min(40, Math.max(13, 12 / scale))
  const label = words.group(name, count)
  const left = Math.min(
    Math.max(box.x, -x / scale) + 14,
    Math.max(box.x + 14, box.x + box.width - textWidth(label, size) - 14)
  )
  const top = Math.min(Math.max(box.y, -y / scale), Math.max(box.y, box.y + box.height - size - 24))
  return (
    <text aria-hidden="true" data-title x={left} y={top + 10 + size} style={{ fontSize: `${size}px` }}>
      {label}
    </text>
  )
}
