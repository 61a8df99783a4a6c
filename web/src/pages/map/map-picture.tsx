/** A map as a picture that fits and zooms, and the same as a list. */
import { Button } from '../../parts/fields.tsx'
import { effect, signal } from '@preact/signals'
import { select } from 'd3-selection'
import { useLocation } from 'preact-iso'
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import '../../graph/measure.ts'
import { fitted } from '../../graph/labels.ts'
import { attachViewport, type Viewport } from '../../graph/viewport.ts'
import type { Size, View } from '../../graph/visible.ts'
import { TypePath } from '../../parts/icons.tsx'
import { PlatformPath } from '../../parts/platform-mark.tsx'
import { goTo } from '../../parts/use-address.ts'
import '../../style/map.css'
import { mapTexts as words } from '../../texts/map.ts'
import { texts } from '../../texts.ts'
import { boxSize, labelOf, layOutMap, paired, type MapArrow, type MapEdge } from './map-layout.ts'
import type { MapBox } from './read-map.ts'

/** The smallest scale at which a map is fitted, because smaller names cannot be read. */
const legibleScale = 0.5
/** Below it, boxes have only their names, larger. */
const factsScale = 0.92
/** The most platforms of which a box has the marks. */
const marksMaxCount = 4

/** Around a fitted map, for the buttons over it. */
const margin = 120

type Props = {
  boxes: readonly MapBox[]
  edges: readonly MapEdge[]
  here?: string | undefined
  isPage?: boolean
}

/** `here` is the box of the place that a page is about. `isPage`: the wheel zooms instead of scrolling the page. */
export function MapPicture({ boxes, edges, here, isPage = false }: Props) {
  const arrow = useId()
  const svg = useRef<SVGSVGElement>(null)
  const world = useRef<SVGGElement>(null)
  const [viewport, setViewport] = useState<Viewport | null>(null)
  const [lit, setLit] = useState<string | null>(null)
  const [isSmall, setSmall] = useState(false)
  const layout = useMemo(
    () =>
      layOutMap(
        boxes.map(({ id }) => id),
        paired(edges)
      ),
    [boxes, edges]
  )
  const boxOf = useMemo(() => new Map(boxes.map((box) => [box.id, box])), [boxes])
  useEffect(() => {
    const element = svg.current
    if (!element) return
    const view = signal<View>({ x: 0, y: 0, scale: 1 })
    const attached = attachViewport(element, { view, size: signal<Size>({ width: 1, height: 1 }) })
    if (!isPage) select(element).on('wheel.zoom', null)
    const stop = effect(() => {
      const { x, y, scale } = view.value
      world.current?.setAttribute('transform', `translate(${x} ${y}) scale(${scale})`)
      setSmall(scale < factsScale)
    })
    setViewport(attached)
    return () => {
      stop()
      attached.end()
    }
  }, [isPage])
  const fit = (): void => {
    viewport?.fit(layout.bounds, layout.boxes[0]?.box, legibleScale)
  }
  useEffect(fit, [viewport, layout])
  const isFaded = (...ids: string[]): boolean => lit !== null && !ids.includes(lit)
  const near = new Set(edges.flatMap(({ from, to }) => (from === lit || to === lit ? [from, to] : [])))
  return (
    <div
      class={isPage ? 'map-canvas page' : 'map-canvas'}
      style={{ aspectRatio: `${layout.bounds.width + margin} / ${layout.bounds.height + margin}` }}
      data-testid="map-picture"
    >
      <svg ref={svg} class="graph map" role="group" aria-label={words.picture(boxes.length, edges.length)}>
        <defs>
          <marker
            id={arrow}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="12"
            markerHeight="12"
            markerUnits="userSpaceOnUse"
            orient="auto-start-reverse"
          >
            <path d="M0 0 8 4 0 8z" class="arrows" />
          </marker>
        </defs>
        <g ref={world}>
          {layout.arrows.map((each) => (
            <path
              key={`${each.from} ${each.to}`}
              class={lit === null || isFaded(each.from, each.to) ? 'edge' : 'edge lit'}
              data-faded={isFaded(each.from, each.to) || undefined}
              d={each.path}
              style={{ strokeWidth: `${each.width}px` }}
              marker-end={`url(#${arrow})`}
              marker-start={each.back === undefined ? undefined : `url(#${arrow})`}
              data-edge={`${each.from} ${each.to}`}
              data-count={each.count}
              data-back={each.back}
            />
          ))}
          {layout.arrows.map((each) => (
            <Count
              key={`${each.from} ${each.to}`}
              arrow={each}
              isSmall={isSmall}
              isFaded={isFaded(each.from, each.to)}
            />
          ))}
          {layout.boxes.map(({ id, box }) => {
            const of = boxOf.get(id)
            return (
              of && (
                <Box
                  key={id}
                  box={of}
                  at={box}
                  isHere={id === here}
                  isSmall={isSmall}
                  isFaded={lit !== null && lit !== id && !near.has(id)}
                  point={setLit}
                  reveal={() => viewport?.reveal(box)}
                />
              )
            )
          })}
        </g>
      </svg>
      <div class="over map-tools">
        <Button aria-label={words.zoomOut} run={() => viewport?.zoomBy(1 / 1.4)}>
          −
        </Button>
        <Button aria-label={words.zoomIn} run={() => viewport?.zoomBy(1.4)}>
          +
        </Button>
        <Button run={fit}>{words.fit}</Button>
      </div>
    </div>
  )
}

const Count = ({ arrow, isSmall, isFaded }: { arrow: MapArrow; isSmall: boolean; isFaded: boolean }) =>
  arrow.label && (
    <g class={isSmall ? 'map-count large' : 'map-count'} data-faded={isFaded || undefined} aria-hidden="true">
      <rect {...arrow.label} rx="8" />
      <text x={arrow.label.x + arrow.label.width / 2} y={arrow.label.y + (isSmall ? 18 : 16)}>
        {labelOf(arrow)}
      </text>
    </g>
  )

function Box({
  box: { id, title, facts, hint, href, type, platforms },
  at: { x, y, width, height },
  isHere,
  isSmall,
  isFaded,
  point,
  reveal
}: {
  box: MapBox
  at: { x: number; y: number; width: number; height: number }
  isHere: boolean
  /** Only the name, larger. */
  isSmall: boolean
  isFaded: boolean
  point: (id: string | null) => void
  reveal: () => void
}) {
  const { route } = useLocation()
  const isOfOne = type !== 'DOMAIN' || platforms.length === 1
  const marks = isOfOne ? [] : platforms.slice(0, marksMaxCount)
  const [platform] = platforms
  return (
    <g transform={`translate(${x} ${y})`} data-faded={isFaded || undefined}>
      <a
        href={href}
        class="node card"
        data-node={id}
        data-selected={isHere || undefined}
        aria-label={[title, facts, hint].filter(Boolean).join('. ')}
        onMouseEnter={() => point(id)}
        onMouseLeave={() => point(null)}
        onFocus={(event) => {
          if (event.currentTarget.matches(':focus-visible')) {
            point(id)
            reveal()
          }
        }}
        onBlur={() => point(null)}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
          event.preventDefault()
          goTo(route, href)
        }}
      >
        <title>{[title, hint].filter(Boolean).join('\n')}</title>
        <rect class="frame" width={width} height={height} rx="8" />
      </a>
      {/* Beside the link, whose name says more: cut texts in it would contradict its name. */}
      <g class="texts" aria-hidden="true">
        {isOfOne && platform !== undefined ? (
          <PlatformPath platform={platform} x={12} y={isSmall ? 18 : 10} size={22} />
        ) : (
          <TypePath type={type} x={15} y={isSmall ? 21 : 13} />
        )}
        <text class={isSmall ? 'name large' : 'name'} x="44" y={isSmall ? 37 : 26}>
          {fitted(title, width - 54, isSmall ? 22 : 14.5, 600)}
        </text>
        {!isSmall && (
          <text class="facts" x="12" y={height - 11}>
            {fitted(facts, width - 24 - marks.length * 19, 12)}
          </text>
        )}
        {!isSmall &&
          marks.map((each, index) => (
            <PlatformPath
              key={each}
              platform={each}
              x={width - 9 - (marks.length - index) * 19}
              y={boxSize.height - 24}
              size={16}
            />
          ))}
      </g>
    </g>
  )
}

/** For screen readers, and where there is no room for a picture. */
export function MapList({ boxes, edges }: Pick<Props, 'boxes' | 'edges'>) {
  const nameOf = new Map(boxes.map((box) => [box.id, box.title]))
  const ends = (own: readonly MapEdge[], end: 'from' | 'to'): string =>
    own.map((edge) => `${nameOf.get(edge[end]) ?? ''} ${texts.count(edge.count)}`).join(', ')
  return (
    <div class="map-list">
      <h2>{words.list}</h2>
      <ul>
        {boxes.map(({ id: key, title, facts, href }) => {
          const into = edges.filter(({ to }) => to === key)
          const out = edges.filter(({ from }) => from === key)
          return (
            <li key={key} data-box={key}>
              <a href={href}>{title}</a> <span class="soft">{facts}</span>
              {into.length > 0 && (
                <p class="soft">
                  {words.from} {ends(into, 'from')}
                </p>
              )}
              {out.length > 0 && (
                <p class="soft">
                  {words.to} {ends(out, 'to')}
                </p>
              )}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
