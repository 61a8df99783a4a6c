/**
 * The contents of a stack: its assets by name, which can be added one by one, by the page, or all at once.
 */
import { Button, FilterField } from '../parts/fields.tsx'
import { computePosition, flip, offset, shift } from '@floating-ui/dom'
import { useEffect, useRef, useState } from 'preact/hooks'
import { assetAddress } from '../address.ts'
import { cardOf, type Card } from '../api/entity.ts'
import { lineageSide } from '../api/lineage-queries.ts'
import { graphql } from '../api/request.ts'
import { CardMark, WholeName } from '../parts/card-line.tsx'
import { Failure } from '../parts/states.tsx'
import { usePages } from '../parts/use-pages.ts'
import { lineageTexts as words } from '../texts/lineage.ts'
import { LongList } from './long-list.tsx'
import { bounds, questionOf, type ViewState } from './model.ts'
import type { StackItem } from './picture.ts'

/** Names per request, and in total; the table has the rest. */
const pageCount = 1_000
const listedMostCount = 50_000

type Props = {
  stack: StackItem
  anchor: Element
  state: ViewState
  shown: ReadonlySet<string>
  add: (urns: readonly string[]) => void
  next: (options: { all: boolean }) => void
  close: () => void
}

export function StackList({ stack, anchor, state, shown, add, next, close }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [text, setText] = useState('')
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const [place, setPlace] = useState({ x: 8, y: 8 })
  const input = {
    ...questionOf(state),
    urn: stack.urn,
    upHops: 0,
    downHops: 0,
    collapse: [],
    fanOut: undefined,
    columns: false,
    count: pageCount + 1
  }
  const { rows, total, isLoading, error, retry } = usePages<Card>(
    JSON.stringify([input, stack.direction]),
    async (next, signal) => {
      const start = Number(next ?? 0)
      const expand = [{ urn: stack.urn, direction: stack.direction, start, count: pageCount }]
      const { nodes } = (await graphql(lineageSide, { input: { ...input, expand } }, signal)).lineageGraph
      const found = nodes.slice(1).map(({ entity }) => cardOf(entity))
      const [own] = nodes
      return {
        rows: found,
        next: found.length < pageCount ? null : String(start + pageCount),
        total: (stack.direction === 'UPSTREAM' ? own?.upstreamCount : own?.downstreamCount) ?? 0,
        isPartial: false
      }
    },
    listedMostCount
  )
  useEffect(() => {
    const element = box.current
    if (!element) return
    void computePosition(anchor, element, {
      placement: stack.direction === 'UPSTREAM' ? 'left' : 'right',
      middleware: [offset(8), flip(), shift({ padding: 8, crossAxis: true })]
    }).then(setPlace)
  }, [anchor, total === undefined])
  useEffect(() => {
    box.current?.querySelector('input')?.focus()
    const leave = (event: Event): void => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) close()
    }
    addEventListener('pointerdown', leave)
    return () => {
      removeEventListener('pointerdown', leave)
    }
  }, [])
  const cards = rows.filter(({ urn }) => !shown.has(urn))
  const wanted = text.trim().toLowerCase()
  const listed = cards.filter(
    ({ name, urn }) => name.toLowerCase().includes(wanted) || urn.toLowerCase().includes(wanted)
  )
  return (
    <div
      ref={box}
      class="over stack-list"
      role="dialog"
      aria-label={words.stack[stack.direction](stack.count)}
      style={{ left: `${place.x}px`, top: `${place.y}px` }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        close()
      }}
    >
      <strong>{words.stack[stack.direction](stack.count)}</strong>
      <FilterField label={words.stackList.filter} value={text} change={setText} />
      {error && <Failure error={error} retry={retry} />}
      <span class="soft" role="status" data-testid="stack-listed" aria-busy={isLoading}>
        {words.stackList.listed(listed.length, stack.count)}
      </span>
      <LongList
        label={words.stackList.label}
        testId="stack-names"
        rows={listed}
        rowHeight={28}
        keyOf={({ urn }) => urn}
        draw={(card) => (
          <label title={card.urn}>
            <input
              type="checkbox"
              checked={picked.has(card.urn)}
              onChange={() => {
                const next = new Set(picked)
                if (!next.delete(card.urn)) next.add(card.urn)
                setPicked(next)
              }}
            />
            <span>
              <CardMark card={card} size={16} /> <WholeName card={card} />
            </span>
          </label>
        )}
      />
      <div class="row">
        {picked.size > 0 ? (
          <Button class="primary" run={() => add([...picked])}>
            {words.stackList.add(picked.size)}
          </Button>
        ) : (
          <Button class="primary" data-testid="add-next" run={() => next({ all: false })}>
            {words.stackList.next(stack.count > bounds.fanOutAbove ? bounds.page : stack.count)}
          </Button>
        )}
        <Button run={() => next({ all: true })}>{words.stackList.all}</Button>
        <a
          class="button"
          href={assetAddress(stack.urn, { tab: 'impact', dir: stack.direction === 'UPSTREAM' ? 'up' : null })}
        >
          {words.stackList.table}
        </a>
      </div>
    </div>
  )
}
