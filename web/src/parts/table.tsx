/**
 * The one table of the UI. It draws only the visible rows of any number, sorts at a click on a column head,
 * folds columns below the others where there is no room, and is one stop of the Tab key: inside it, arrows,
 * Page Up and Down, Home and End move, Enter opens and Space chooses a row.
 */
import { Button } from './fields.tsx'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { tableTexts } from '../texts/table.ts'
import { columnGap, foldedColumns } from './folded-columns.ts'
import { nextSort, sortRows, type Sort, type SortValue } from './sort-rows.ts'
import { useVirtual } from './use-virtual.ts'
import { useWidth } from './use-width.ts'
import '../style/table.css'

/** Of a row in one line, of its first line where others follow, and of each of those, for letters of 16 pixels. */
const [rowHeight, firstHeight, foldedHeight] = [44, 38, 23]
const [padding, selectionWidth] = [12, 28]
/** How much larger than usual the reader has letters. */
const zoomOfText = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
/** A track in pixels, in units that grow with the letters. */
const growing = (track: string): string =>
  track.replaceAll(/(\d+)px/g, (_all, pixels) => `${Number(pixels) / 16}rem`)
const rowsPerPage = 10
/** The widths below which folded columns get a line for each two of them, and for each. */
const [narrowWidth, narrowestWidth] = [440, 240]

/** The tab index of controls inside a cell: 0 only in the focused row, so that Tab leaves the table. */
export type CellTab = 0 | -1

export type TableColumn<Row> = {
  id: string
  head: string
  /** The value to sort by, which is also shown if there is no `cell`. */
  value: (row: Row) => SortValue
  cell?: (row: Row, tab: CellTab) => ComponentChildren
  /** A track of a CSS grid with its least width in pixels: `minmax(160px, 2fr)`. */
  width: string
  /** Where there is no room for all, columns are drawn below the others, the lowest number first; without one, never. */
  fold?: number
  isNumber?: boolean
  /** False if sorting makes no sense, as for buttons. */
  isSortable?: boolean
}

export type TableSelection<Row> = {
  keys: ReadonlySet<string>
  change: (keys: ReadonlySet<string>) => void
  /** Whether a row can be chosen; by default each can. */
  allows?: (row: Row) => boolean
}

export type TableProps<Row> = {
  label: string
  columns: readonly TableColumn<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  sort?: Sort | null
  onSort?: (sort: Sort | null) => void
  /** The number of all rows if not all are loaded yet. */
  total?: number
  /** The action for Enter on a row. */
  open?: (row: Row) => void
  selection?: TableSelection<Row>
}

export function Table<Row extends object>({
  label,
  columns,
  rows,
  keyOf,
  sort = null,
  onSort,
  total,
  open,
  selection
}: TableProps<Row>) {
  const id = useId()
  const scroller = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const isMoving = useRef(false)
  const sorted = useMemo(() => sortRows(rows, columns, sort), [rows, columns, sort?.id, sort?.isDescending])
  const current = Math.min(active, Math.max(0, sorted.length - 1))
  const head = useRef<HTMLDivElement>(null)
  const zoom = zoomOfText()
  const width = useWidth(scroller) / zoom
  const folded = foldedColumns(columns, width - 2 * padding - (selection ? selectionWidth + columnGap : 0))
  const inLine = columns.filter((column) => !folded.includes(column))
  const lines =
    width < narrowestWidth
      ? folded.length
      : width < narrowWidth
        ? Math.min(3, Math.ceil(folded.length / 2))
        : 1
  const drawnHeight = zoom * (folded.length === 0 ? rowHeight : firstHeight + lines * foldedHeight)
  const { items, height, scrollTo } = useVirtual(scroller, {
    count: sorted.length,
    rowHeight: drawnHeight,
    headHeight: head.current?.offsetHeight ?? drawnHeight,
    alwaysDrawn: current
  })

  useLayoutEffect(() => {
    if (!isMoving.current) return
    const row = document.getElementById(`${id}-${current}`)
    if (!row) return
    isMoving.current = false
    row.focus({ preventScroll: true })
  })

  const move = (to: number): void => {
    const index = Math.max(0, Math.min(sorted.length - 1, to))
    isMoving.current = true
    setActive(index)
    scrollTo(index)
  }
  const canChoose = (row: Row): boolean => selection?.allows?.(row) ?? true
  const toggle = (row: Row): void => {
    if (!selection || !canChoose(row)) return
    const key = keyOf(row)
    const keys = new Set(selection.keys)
    if (!keys.delete(key)) keys.add(key)
    selection.change(keys)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // Controls inside a row handle their own keys.
    if (!(event.target instanceof HTMLElement) || event.target.getAttribute('role') !== 'row') return
    const row = sorted[current]
    const target = movesOf(current, sorted.length)[event.key]
    if (target !== undefined) move(target)
    else if (event.key === 'Enter' && row && open) open(row)
    else if (event.key === ' ' && row && selection) toggle(row)
    else return
    event.preventDefault()
  }
  const nameColumn = columns.find(({ id }) => id === 'name') ?? columns[0]
  const gridTemplateColumns = growing(
    [
      ...(selection ? [`${selectionWidth}px`] : []),
      // Where folding is not enough, what is left shrinks.
      ...inLine.map((column) => (width < narrowWidth ? column.width.replace(/\d+px,/, '0,') : column.width))
    ].join(' ')
  )
  // What is folded begins below the first words.
  const foldStyle = {
    gridColumn: `${inLine.findIndex(({ isNumber }) => !isNumber) + (selection ? 2 : 1)} / -1`
  }
  const drawCell = (column: TableColumn<Row>, row: Row, tab: CellTab) => {
    const { id: columnId, value, cell, isNumber, head } = column
    return (
      <div
        key={columnId}
        role="gridcell"
        data-cell={columnId}
        aria-colindex={columns.indexOf(column) + (selection ? 2 : 1)}
        class={isNumber ? 'number' : undefined}
      >
        {isNumber && folded.includes(column) && <span class="soft">{head} </span>}
        {cell ? cell(row, tab) : <span title={String(value(row) ?? '')}>{value(row)}</span>}
      </div>
    )
  }
  const choosable = selection ? sorted.filter(canChoose) : []
  const allChosen = choosable.length > 0 && choosable.every((row) => selection?.keys.has(keyOf(row)))
  return (
    <div
      class="table"
      ref={scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={(total ?? sorted.length) + 1}
      aria-colcount={columns.length + (selection ? 1 : 0)}
      aria-multiselectable={selection ? true : undefined}
      onKeyDown={onKeyDown}
    >
      <div class="table-sheet">
        <div class="table-head" ref={head} role="row" aria-rowindex={1} style={{ gridTemplateColumns }}>
          {selection && (
            <div role="columnheader">
              <input
                type="checkbox"
                aria-label={tableTexts.chooseAll}
                checked={allChosen}
                disabled={choosable.length === 0}
                onChange={() => {
                  // Rows that are chosen but not in this list stay chosen.
                  const shown = new Set(choosable.map(keyOf))
                  const others = [...selection.keys].filter((key) => !shown.has(key))
                  selection.change(new Set(allChosen ? others : [...others, ...shown]))
                }}
              />
            </div>
          )}
          {inLine.map((column) => (
            <Head key={column.id} column={column} sort={sort} onSort={onSort} />
          ))}
          {folded.length > 0 && (
            <div class="table-fold" role="none" style={foldStyle}>
              {folded.map((column) => (
                <Head key={column.id} column={column} sort={sort} onSort={onSort} />
              ))}
            </div>
          )}
        </div>
        <div class="table-rows" role="rowgroup" style={{ height: `${height}px` }}>
          {items.map(({ index, start }) => {
            const row = sorted[index]
            if (!row) return null
            const key = keyOf(row)
            const tab: CellTab = index === current ? 0 : -1
            return (
              <div
                key={key}
                id={`${id}-${index}`}
                class="table-row"
                role="row"
                data-row={key}
                aria-rowindex={index + 2}
                aria-selected={selection ? selection.keys.has(key) : undefined}
                tabIndex={tab}
                style={{
                  gridTemplateColumns,
                  height: `${drawnHeight}px`,
                  transform: `translateY(${start}px)`
                }}
                onFocus={() => {
                  if (index !== current) setActive(index)
                }}
              >
                {selection && (
                  <div role="gridcell">
                    <input
                      type="checkbox"
                      tabIndex={tab}
                      aria-label={tableTexts.choose(String(nameColumn?.value(row) ?? key))}
                      checked={selection.keys.has(key)}
                      disabled={!canChoose(row)}
                      title={canChoose(row) ? undefined : tableTexts.cannotChoose}
                      onChange={() => {
                        toggle(row)
                      }}
                    />
                  </div>
                )}
                {inLine.map((column) => drawCell(column, row, tab))}
                {folded.length > 0 && (
                  <div class="table-fold" role="none" style={foldStyle}>
                    {folded
                      .filter(({ value, cell }) => cell !== undefined || (value(row) ?? '') !== '')
                      .map((column) => drawCell(column, row, tab))}
                  </div>
                )}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

function Head<Row>({
  column: { id, head, isNumber, isSortable = true },
  sort,
  onSort
}: {
  column: TableColumn<Row>
  sort: Sort | null
  onSort: TableProps<Row>['onSort']
}) {
  const order = sort?.id === id ? (sort.isDescending ? 'descending' : 'ascending') : 'none'
  const className = isNumber ? 'number' : undefined
  if (!onSort || !isSortable)
    return (
      <div role="columnheader" class={className}>
        {head}
      </div>
    )
  return (
    <div role="columnheader" aria-sort={order} class={className}>
      <Button class="plain" run={() => onSort(nextSort(sort, id))}>
        {head}
        {order !== 'none' && <span aria-hidden="true">{order === 'ascending' ? '↑' : '↓'}</span>}
      </Button>
    </div>
  )
}

const movesOf = (from: number, count: number): { readonly [key: string]: number } => ({
  ArrowDown: from + 1,
  ArrowUp: from - 1,
  PageDown: from + rowsPerPage,
  PageUp: from - rowsPerPage,
  Home: 0,
  End: count - 1
})
