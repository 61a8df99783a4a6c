/**
 * One card, stack or closed group of the graph. It is drawn again only when it or its level of detail
 * changes; hovering only sets an attribute.
 */
import type { VNode } from 'preact'
import { shownPath } from '../api/column-urn.ts'
import type { Card } from '../api/entity.ts'
import { TypePath } from '../parts/icons.tsx'
import { PlatformPath } from '../parts/platform-mark.tsx'
import type { Colours } from './colours.ts'
import { factsOf, fitted, isAbsent, labelOf } from './labels.ts'
import type { Direction } from './model.ts'
import type { AnswerNode, CardItem, ColumnRow, SideOfCard } from './picture.ts'
import { sizes, type PlacedItem } from './scene.ts'
import { typeName } from '../texts.ts'
import { factsOf as rowFactsOf } from '../api/row-facts.ts'
import { assetTexts } from '../texts/asset.ts'
import { lineageTexts as words } from '../texts/lineage.ts'
import type { DetailLevel } from './visible.ts'

/** The left side of the texts beside the mark. */
const textX = 49

export type ItemLook = {
  detail: DetailLevel
  colours: Colours
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
  const hue = placed.item.kind === 'card' ? look.colours.of(placed.item.node)?.hue : null
  const key = [look.detail, hue, look.selected === id, look.tabStop === id, look.column].join(' ')
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
        data-absent={isAbsent(item.node) ? (item.node.isRemoved ? 'removed' : 'placeholder') : undefined}
        transform={transform}
      >
        <CardView item={item} box={box} look={look} isTabStop={isTabStop} />
      </g>
    )
  const isLarge = look.detail === 'names'
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
        <text class={isLarge ? 'name large' : 'name'} x="16" y={box.height / 2 + 7} aria-hidden="true">
          {fitted(label, box.width - 32, isLarge ? 24 : 14.5, 600)}
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
  const colour = look.colours.of(node)
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
        {isFull && <FullTexts node={node} width={box.width} />}
        {look.detail === 'names' && <LargeTexts card={node.card} width={box.width} />}
      </g>
      {!isBlock && <FailedMark urn={item.id} x={box.width} />}
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

/** The mark of the platform, or the icon of the type where there is none. */
const Mark = ({ card, x, y, size }: { card: Card; x: number; y: number; size: number }) =>
  card.platform === null ? (
    <TypePath type={card.type} x={x + (size - 16) / 2} y={y + (size - 16) / 2} />
  ) : (
    <PlatformPath platform={card.platform} x={x} y={y} size={size} />
  )

function FullTexts({ node, width }: { node: AnswerNode; width: number }) {
  const { card, degree } = node
  const hasBadge = degree !== null && degree > 1 && node.side !== 'START'
  const room = width - textX - 12
  const isAlone = card.qualifier === ''
  return (
    <>
      <Mark card={card} x={14} y={14} size={26} />
      {!isAlone && (
        <text class="qualifier" x={textX} y="23">
          {fitted(card.qualifier, room - (hasBadge ? 28 : 0), 12)}
        </text>
      )}
      <text class="name" x={textX} y={isAlone ? 32 : 40}>
        {fitted(card.name, room - (isAlone && hasBadge ? 28 : 0), 14.5, 600)}
      </text>
      <text class="facts" x="14" y="59">
        {fitted(factsOf(node), width - 28, 12)}
      </text>
      {hasBadge && <Badge degree={degree} x={width - 34} />}
    </>
  )
}

/** For small scales: the name on a line of its own. */
const LargeTexts = ({ card, width }: { card: Card; width: number }) => (
  <>
    <Mark card={card} x={14} y={9} size={22} />
    <text class="qualifier large" x="44" y="28">
      {fitted(card.qualifier || typeName(card.type), width - 56, 22)}
    </text>
    <text class="name large" x="14" y="59">
      {fitted(card.name, width - 26, 24, 600)}
    </text>
  </>
)

/** At the corner of what a failed run should have made, or of the job that failed. */
function FailedMark({ urn, x }: { urn: string; x: number }) {
  const state = rowFactsOf(urn).facts.value?.lastRun?.state ?? null
  return state === 'FAIL' || state === 'ABORT' ? (
    <g class="failed" transform={`translate(${x - 88} -12)`} data-testid="failed">
      <rect width="58" height="24" rx="12" />
      <text x="29" y="17">
        {assetTexts.runState(state)}
      </text>
    </g>
  ) : null
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
      transform={`translate(${left} -9)`}
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
      <g aria-hidden="true">
        <text class={isFull ? undefined : 'large'} x="14" y={isFull ? 15 : 17}>
          {fitted(shownPath(row.path), width - 34 - (isFull && related ? 78 : 0), isFull ? 12 : 18)}
        </text>
        {isFull && related && (
          <text class="type" x={width - 14} y="15">
            {fitted(related, 74, 12)}
          </text>
        )}
      </g>
    </g>
  )
}
