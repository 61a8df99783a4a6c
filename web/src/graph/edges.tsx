/**
 * Edges. All edges of one style are one path. Above them are the highlighted edges, and invisible wide edges
 * that react to the pointer.
 */
import type { PlacedColumnEdge, PlacedEdge } from './scene.ts'
import { columnEdgesDrawnMost, type Stage } from './stage.ts'
import { visibleOf } from './visible.ts'

/** More edges than this cannot be distinguished, and each would be an element of the page. */
const pointableMostCount = 1_500

const arrowOf = (path: string): string => {
  const [, x = '0', y = '0'] = /(-?[\d.]+),(-?[\d.]+)$/.exec(path) ?? []
  return `M${Number(x) - 8},${Number(y) - 4}L${x},${y}L${Number(x) - 8},${Number(y) + 4}Z`
}

const joined = (edges: readonly { path: string }[]): string => edges.map(({ path }) => path).join('')

const styleOf = ({ edge, isLoop }: PlacedEdge): string => (isLoop ? 'loop' : edge.kind)

export function Edges({ stage }: { stage: Stage }) {
  const scene = stage.placed.value?.scene
  if (!scene) return null
  const visible = visibleOf(scene.edges, stage.window.value)
  const isFar = stage.detail.value === 'blocks'
  const byStyle = new Map<string, PlacedEdge[]>()
  for (const edge of visible) {
    const own = byStyle.get(styleOf(edge))
    if (own) own.push(edge)
    else byStyle.set(styleOf(edge), [edge])
  }
  return (
    <g class="edges" data-testid="edges" data-count={scene.edges.length}>
      {[...byStyle].map(([style, edges]) => (
        <path key={style} class={`edge ${style}`} data-count={edges.length} d={joined(edges)} />
      ))}
      {!isFar && <path class="arrows" d={visible.map(({ path }) => arrowOf(path)).join('')} />}
      {!isFar &&
        visible.map(({ edge, box }) =>
          edge.kind === 'merged' && edge.count > 1 ? (
            <text key={edge.id} class="merged-count" x={box.x + box.width / 2} y={box.y + box.height / 2 - 5}>
              {edge.count}
            </text>
          ) : null
        )}
    </g>
  )
}

export function EdgeTargets({ stage }: { stage: Stage }) {
  const scene = stage.placed.value?.scene
  if (!scene || stage.detail.value === 'blocks') return null
  const visible = visibleOf(scene.edges, stage.window.value)
  return (
    <g class="edge-targets">
      {visible.slice(0, pointableMostCount).map(({ edge, path, isLoop }) => (
        <path
          key={edge.id}
          data-edge={edge.id}
          data-loop={isLoop || undefined}
          data-kind={edge.kind}
          d={path}
        />
      ))}
    </g>
  )
}

/** Column edges: all of them if they are few, otherwise those of the column in focus. */
export function ColumnEdges({ stage }: { stage: Stage }) {
  const scene = stage.placed.value?.scene
  const highlight = stage.highlight.value
  if (!scene || scene.columnEdges.length === 0) return null
  const isLit = ({ edge }: PlacedColumnEdge): boolean => highlight?.columnEdges.has(edge.id) === true
  const drawsAll = scene.columnEdges.length <= columnEdgesDrawnMost
  const visible = visibleOf(scene.columnEdges, stage.window.value)
  const lit = visible.filter(isLit)
  const drawn = drawsAll ? visible : lit
  return (
    <g class="column-edges" data-testid="column-edges" data-count={scene.columnEdges.length}>
      {drawsAll && <path class="edge column" d={joined(visible)} />}
      <path class="edge column lit" d={joined(lit)} />
      {drawn.map(({ edge, path }) => (
        <path
          key={edge.id}
          class="target"
          data-col-edge={edge.id}
          data-lit={isLit({ edge } as PlacedColumnEdge) || undefined}
          d={path}
        />
      ))}
    </g>
  )
}

export function LitEdges({ stage }: { stage: Stage }) {
  const scene = stage.placed.value?.scene
  const highlight = stage.highlight.value
  if (!scene || !highlight) return null
  const lit = visibleOf(scene.edges, stage.window.value).filter(({ edge }) => highlight.edges.has(edge.id))
  return (
    <g class="lit-edges" data-testid="lit-edges" data-count={lit.length}>
      <path class="edge lit" d={joined(lit.filter(({ isLoop }) => !isLoop))} />
      <path class="edge lit loop" d={joined(lit.filter(({ isLoop }) => isLoop))} />
      <path class="arrows lit" d={lit.map(({ path }) => arrowOf(path)).join('')} />
    </g>
  )
}
