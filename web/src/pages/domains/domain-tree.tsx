/**
 * The tree of domains. Levels are loaded when they are opened, only visible rows are drawn, and a domain is
 * moved by dragging it onto another.
 */
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useVirtual } from '../../parts/use-virtual.ts'
import { domainTexts as words } from '../../texts/domains.ts'
import { texts } from '../../texts.ts'
import { canMove, parentsOf, rowBeginning, stepOf, type TreeRow } from './tree-model.ts'

const rowHeight = 34

export type DomainTreeProps = {
  rows: readonly TreeRow[]
  chosen: string | null
  /** The number of assets in a domain; undefined until it is known. */
  countOf: (urn: string) => number | undefined
  choose: (urn: string) => void
  toggle: (urn: string, isOpen: boolean) => void
  /** Moves a domain; undefined if the person may not move domains. */
  move: ((row: TreeRow, to: TreeRow | null) => void) | undefined
}

export function DomainTree({ rows, chosen, countOf, choose, toggle, move }: DomainTreeProps) {
  const id = useId()
  const scroller = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState<string | null>(null)
  const [dragged, setDragged] = useState<TreeRow | null>(null)
  const [target, setTarget] = useState<string | null | undefined>(undefined)
  const isMoving = useRef(false)
  const indexOf = (urn: string | null): number => rows.findIndex((row) => row.urn === urn)
  const current = Math.max(0, active === null ? indexOf(chosen) : indexOf(active))
  const { items, height, scrollTo } = useVirtual(scroller, {
    count: rows.length,
    rowHeight,
    headHeight: 0,
    alwaysDrawn: current
  })

  useEffect(() => {
    const index = indexOf(chosen)
    if (index >= 0) scrollTo(index)
    // The index of the row changes often, so it is not a dependency: the row is scrolled into view only when
    // it is chosen or first appears.
  }, [chosen, indexOf(chosen) >= 0])

  useLayoutEffect(() => {
    if (!isMoving.current) return
    const row = document.getElementById(`${id}-${current}`)
    if (!row) return
    isMoving.current = false
    row.focus({ preventScroll: true })
  })

  const go = (index: number): void => {
    const row = rows[index]
    if (!row) return
    isMoving.current = true
    setActive(row.urn)
    scrollTo(index)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const step = stepOf(rows, current, event.key)
    const row = rows[current]
    if (step?.kind === 'go') go(step.index)
    else if (step && row) {
      if (step.kind === 'choose') choose(row.urn)
      else toggle(row.urn, step.kind === 'open')
    } else if (/^[\p{L}\p{N}]$/u.test(event.key)) go(rowBeginning(rows, current, event.key))
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const allows = (to: TreeRow | null): boolean =>
    dragged !== null &&
    canMove(dragged.urn, dragged.parent, to && { urn: to.urn, parents: parentsOf(rows, to) })
  const dropOn = (to: TreeRow | null) => ({
    onDragOver: (event: DragEvent) => {
      if (!allows(to)) return
      event.preventDefault()
      setTarget(to?.urn ?? null)
    },
    onDragLeave: () => {
      setTarget(undefined)
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      if (dragged && allows(to)) move?.(dragged, to)
      setDragged(null)
      setTarget(undefined)
    }
  })
  return (
    <div>
      <div class="tree" ref={scroller} role="tree" aria-label={words.tree} onKeyDown={onKeyDown}>
        <div role="presentation" class="tree-rows" style={{ height: `${height}px` }}>
          {items.map(({ index, start }) => {
            const row = rows[index]
            if (!row) return null
            const count = countOf(row.urn)
            return (
              <div
                key={row.urn}
                id={`${id}-${index}`}
                class={target === row.urn ? 'tree-row target' : 'tree-row'}
                role="treeitem"
                data-domain={row.urn}
                aria-level={row.level}
                aria-setsize={row.siblings}
                aria-posinset={row.position}
                aria-expanded={row.childCount > 0 ? row.isOpen : undefined}
                aria-selected={row.urn === chosen}
                tabIndex={index === current ? 0 : -1}
                style={{
                  transform: `translateY(${start}px)`,
                  paddingLeft: `${8 + Math.min(row.level - 1, 8) * 18}px`
                }}
                draggable={move !== undefined}
                onDragStart={(event) => {
                  event.dataTransfer?.setData('text/plain', row.urn)
                  setDragged(row)
                }}
                onDragEnd={() => {
                  setDragged(null)
                  setTarget(undefined)
                }}
                {...dropOn(row)}
                onFocus={() => {
                  if (active !== row.urn) setActive(row.urn)
                }}
                onClick={() => {
                  choose(row.urn)
                }}
              >
                <span
                  class="tree-toggle"
                  aria-hidden="true"
                  onClick={(event) => {
                    if (row.childCount === 0) return
                    event.stopPropagation()
                    toggle(row.urn, !row.isOpen)
                  }}
                >
                  {row.childCount > 0 ? (row.isOpen ? '▾' : '▸') : ''}
                </span>
                <span class="tree-name" title={row.name}>
                  {row.name}
                </span>
                {count !== undefined && (
                  <span class="soft number">
                    {texts.count(count)}
                    <span class="visually-hidden"> {words.assetsOf(count)}</span>
                  </span>
                )}
              </div>
            )
          })}
        </div>
      </div>
      {/** Below the tree, so that the tree does not move under the pointer when this appears. */}
      {dragged && dragged.parent !== null && (
        <div
          class={target === null ? 'tree-top target' : 'tree-top'}
          data-testid="tree-top"
          {...dropOn(null)}
        >
          {words.toTop}
        </div>
      )}
    </div>
  )
}
