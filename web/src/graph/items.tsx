/**
 * One card, stack or closed group of the graph. It is drawn again only when it or its level of detail
 * changes; hovering only sets an attribute.
 */
import type { VNode } from 'preact'
import { shownPath } from '../api/column-urn.ts'
import { colourOf } from './colours.ts'
import { TypePath } from '../parts/icons.tsx'
import { factsOf, fitted, labelOf } from './labels.ts'
import type { Colouring, Direction } from './model.ts'
import type { CardItem, ColumnRow, SideOfCard } from './picture.ts'
import { sizes, type PlacedItem } from './scene.ts'
import { lineageTexts as words } from '../texts/lineage.ts'
import type { DetailLevel } from './visible.ts'

/** Bold letters are wider. */
const boldSize = (size: number): number => size * 1.1

export type ItemLook = {
  detail: DetailLevel
  colouring: Colouring
  selected: string | null
  column: string | null
  /** The item that Tab focuses. */
  tabStop: string | null
}

type Drawn = { key: string; node: VNode }
const drawn = new WeakMap<PlacedItem, Drawn>()

/** Returns the same node for the same appearance, so Preact does not update the item. */
export function itemNode(placed: PlacedItem, look: ItemLook): VNode {
  const { id } = placed.item
  const key = [look.detail, look.colouring, look.selected === id, look.tabStop === id, look.column].join(' ')
  const known = drawn.get(placed)
  if (known?.key === key) return known.node
  const node = <ItemView key={id} placed={placed} look={look} />
  drawn.set(placed, { key, node })
  return node
}

function ItemView({ placed: { item, box }, look }: { placed: PlacedItem; look: ItemLook }) {
  const isTabStop = look.tabStop === item.id
  const transform = `translate(${box.x} ${box.y})`
  if (item.kind === 'card')
    return (
      <g
        class="node"
        data-node={item.id}
        data-degree={item.node.degree ?? ''}
        data-side={item.node.side}
        data-selected={look.selected === item.id || undefined}
        transform={transform}
      >
        <CardView item={item} box={box} look={look} isTabStop={isTabStop} />
      </g>
    )
  const label =
    item.kind === 'stack' ? words.stack[item.direction](item.count) : words.group(item.name, item.count)
  return (
    <g
      class={item.kind === 'stack' ? 'node stack-node' : 'node group-node'}
      data-item={item.id}
      data-testid={item.kind === 'stack' ? 'stack' : 'group'}
      data-count={item.count}
      transform={transform}
    >
      <g
        class="card"
        role="button"
        tabindex={isTabStop ? 0 : -1}
        aria-label={item.kind === 'group' ? words.openGroup(label) : label}
        aria-haspopup={item.kind === 'stack' ? 'dialog' : undefined}
      >
        {item.kind === 'stack' && (
          <rect class="behind" x="5" y="5" width={box.width} height={box.height} rx="8" />
        )}
        <rect class="frame" width={box.width} height={box.height} rx="8" />
      </g>
      {look.detail !== 'blocks' && (
        <text class="name" x="16" y={box.height / 2 + 5} aria-hidden="true">
          {fitted(label, box.width - 32, boldSize(13))}
        </text>
      )}
    </g>
  )
}

function CardView({
  item,
  box,
  look,
  isTabStop
}: {
  item: CardItem
  box: { width: number; height: number }
  look: ItemLook
  isTabStop: boolean
}) {
  const { node } = item
  const colour = colourOf(node, look.colouring)
  const hue = colour === null ? 'var(--line-strong)' : `var(--hue-${colour.hue})`
  const isBlock = look.detail === 'blocks'
  const isFull = look.detail === 'full'
  return (
    <>
      <g
        class="card"
        role="button"
        tabindex={isTabStop ? 0 : -1}
        aria-label={labelOf(node)}
        aria-pressed={look.selected === item.id}
      >
        {isFull && <title>{node.card.urn}</title>}
        <rect
          class="frame"
          width={box.width}
          height={box.height}
          rx="8"
          style={isBlock ? { fill: hue } : undefined}
        />
      </g>
      {/** Hidden from screen readers, because the label of the button has these texts in a better order, and more. */}
      <g class="texts" aria-hidden="true">
        {!isBlock && (
          <rect class="bar" x="1.5" y="9" width="4" height={sizes.header - 18} rx="2" style={{ fill: hue }} />
        )}
        {isFull && (
          <>
            <TypePath type={node.card.type} x={14} y={10} />
            <text class="name" x="37" y="23">
              {fitted(
                node.card.name,
                box.width - 37 - (node.degree === null || node.side === 'START' ? 14 : 42),
                boldSize(13)
              )}
            </text>
            <text class="facts" x="14" y="43">
              {fitted(factsOf(node), box.width - 28, 11.5)}
            </text>
            {node.degree !== null && node.side !== 'START' && (
              <Badge degree={node.degree} x={box.width - 34} />
            )}
          </>
        )}
        {look.detail === 'names' && (
          <text class="name large" x="16" y="36">
            {fitted(node.card.name, box.width - 28, boldSize(21))}
          </text>
        )}
      </g>
      {isFull && (
        <>
          <Pill urn={item.id} direction="UPSTREAM" side={item.sides.UPSTREAM} x={0} />
          <Pill urn={item.id} direction="DOWNSTREAM" side={item.sides.DOWNSTREAM} x={box.width} />
        </>
      )}
      {!isBlock && <Rows item={item} width={box.width} isFull={isFull} column={look.column} />}
    </>
  )
}

const Badge = ({ degree, x }: { degree: number; x: number }) => (
  <g class="badge" transform={`translate(${x} 9)`}>
    <title>{words.degree(degree)}</title>
    <rect width="25" height="18" rx="9" />
    <text x="12.5" y="13">
      {degree}
    </text>
  </g>
)

/** `+12` shows hidden neighbours, `−` hides the added ones. */
function Pill({
  urn,
  direction,
  side,
  x
}: {
  urn: string
  direction: Direction
  side: SideOfCard
  x: number
}) {
  if (side.count === 0) return null
  const opens = !side.isOpen && side.hidden > 0
  if (!opens && !side.isOpen) return null
  const text = opens ? `+${side.hidden > 999 ? `${Math.floor(side.hidden / 1_000)}k` : side.hidden}` : '−'
  const width = Math.max(20, 11 + text.length * 7)
  const left = direction === 'UPSTREAM' ? x - width + 7 : x - 7
  return (
    <g
      class={opens ? 'pill opens' : 'pill closes'}
      data-pill={direction}
      data-of={urn}
      data-opens={opens}
      transform={`translate(${left} ${sizes.header / 2 - 10})`}
    >
      <rect
        width={width}
        height="20"
        rx="10"
        role="button"
        tabindex={-1}
        aria-label={opens ? words.pill[direction](side.hidden) : words.collapse[direction]}
      />
      <text x={width / 2} y="14" aria-hidden="true">
        {text}
      </text>
    </g>
  )
}

function Rows({
  item,
  width,
  isFull,
  column
}: {
  item: CardItem
  width: number
  isFull: boolean
  column: string | null
}) {
  if (item.rows.length === 0 && item.moreRows === 0) return null
  const top = sizes.header + sizes.rowsTop
  return (
    <g class="rows">
      <path class="rule" d={`M1 ${sizes.header}h${width - 2}`} />
      {item.rows.map((row, place) => (
        <Row
          key={row.path}
          row={row}
          y={top + place * sizes.row}
          width={width}
          isFull={isFull}
          isChosen={row.urn !== null && row.urn === column}
        />
      ))}
      {item.moreRows > 0 && (
        <g
          class="row more"
          data-more={item.id}
          data-testid="more-columns"
          transform={`translate(0 ${top + item.rows.length * sizes.row})`}
        >
          <rect
            x="4"
            width={width - 8}
            height={sizes.row}
            rx="4"
            role="button"
            tabindex={-1}
            aria-label={words.moreColumns(item.moreRows)}
          />
          {isFull && (
            <text x="14" y="15" aria-hidden="true">
              {words.moreColumns(item.moreRows)}
            </text>
          )}
        </g>
      )}
    </g>
  )
}

function Row({
  row,
  y,
  width,
  isFull,
  isChosen
}: {
  row: ColumnRow
  y: number
  width: number
  isFull: boolean
  isChosen: boolean
}) {
  const total = row.upstreamCount + row.downstreamCount
  const hidden = row.hiddenUpstream + row.hiddenDownstream
  const related = hidden > 0 ? words.relatedShort(total - hidden, total) : (row.dataType ?? '')
  return (
    <g
      class={total > 0 ? 'row linked' : 'row'}
      data-col={row.urn ?? row.path}
      transform={`translate(0 ${y})`}
    >
      <rect
        x="4"
        width={width - 8}
        height={sizes.row}
        rx="4"
        role="button"
        tabindex={-1}
        aria-pressed={isChosen}
        aria-label={words.columnRow(
          shownPath(row.path),
          row.dataType,
          hidden > 0 ? words.related(total - hidden, total) : ''
        )}
      >
        {isFull && <title>{row.path}</title>}
      </rect>
      {isFull && (
        <g aria-hidden="true">
          <text x="14" y="15">
            {fitted(shownPath(row.path), width - 34 - (related ? 74 : 0), 11.5)}
          </text>
          {related && (
            <text class="type" x={width - 14} y="15">
              {fitted(related, 70, 10.5)}
            </text>
          )}
        </g>
      )}
    </g>
  )
}
