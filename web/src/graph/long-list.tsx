/**
 * A list of any length in a small box: only the visible rows are drawn, and scrolling and Tab reach every
 * row.
 */
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { useVirtual } from '../parts/use-virtual.ts'

type Props<Row> = {
  label: string
  testId: string
  rows: readonly Row[]
  /** The height of every row, in pixels. */
  rowHeight: number
  keyOf: (row: Row) => string
  draw: (row: Row) => ComponentChildren
}

export function LongList<Row>({ label, testId, rows, rowHeight, keyOf, draw }: Props<Row>) {
  const scroller = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState(-1)
  const { items, height } = useVirtual(scroller, {
    count: rows.length,
    rowHeight,
    headHeight: 0,
    alwaysDrawn: focused
  })
  return (
    <div ref={scroller} class="long-list">
      <ul aria-label={label} data-testid={testId} data-count={rows.length} style={{ height: `${height}px` }}>
        {items.map(({ index, start }) => {
          const row = rows[index]
          return row === undefined ? null : (
            <li
              key={keyOf(row)}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              style={{ height: `${rowHeight}px`, transform: `translateY(${start}px)` }}
              onFocusIn={() => {
                setFocused(index)
              }}
            >
              {draw(row)}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
