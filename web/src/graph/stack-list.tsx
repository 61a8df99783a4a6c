/** What a stack stands for: its assets by name, to be added one by one, by the page, or all. */
import { computePosition, flip, offset, shift } from '@floating-ui/dom'
import { useEffect, useRef, useState } from 'preact/hooks'
import { assetAddress } from '../address.ts'
import { cardOf } from '../api/entity.ts'
import { lineageSide } from '../api/lineage-queries.ts'
import { graphql } from '../api/request.ts'
import { Failure, Loading } from '../parts/states.tsx'
import { useResource } from '../parts/use-resource.ts'
import { lineageTexts as words } from '../texts/lineage.ts'
import { bounds, questionOf, type ViewState } from './model.ts'
import type { StackItem } from './picture.ts'

/** As many names as are listed; a filter finds only among them, and the list says so. */
const listedMostCount = 1_000

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
  const [picked, setPicked] = useState<readonly string[]>([])
  const [place, setPlace] = useState({ x: 8, y: 8 })
  const input = {
    ...questionOf(state),
    urn: stack.urn,
    upHops: stack.direction === 'UPSTREAM' ? 1 : 0,
    downHops: stack.direction === 'DOWNSTREAM' ? 1 : 0,
    expand: [],
    collapse: [],
    fanOut: undefined,
    columns: false,
    count: Math.min(bounds.cardsMost, listedMostCount + 1)
  }
  const {
    last: data,
    error,
    reload
  } = useResource(JSON.stringify(input), (signal) => graphql(lineageSide, { input }, signal))
  useEffect(() => {
    const element = box.current
    if (!element) return
    void computePosition(anchor, element, {
      placement: stack.direction === 'UPSTREAM' ? 'left' : 'right',
      middleware: [offset(8), flip(), shift({ padding: 8, crossAxis: true })]
    }).then(setPlace)
  }, [anchor, data])
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
  const cards = (data?.lineageGraph.nodes ?? [])
    .map(({ entity }) => cardOf(entity))
    .filter(({ urn }) => urn !== stack.urn && !shown.has(urn))
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
      <input
        type="search"
        aria-label={words.stackList.filter}
        placeholder={words.stackList.filter}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
        }}
      />
      {error && !data ? <Failure error={error} retry={reload} /> : !data ? <Loading /> : null}
      {data && cards.length < stack.count && (
        <span class="soft">{words.stackList.first(cards.length, stack.count)}</span>
      )}
      <ul>
        {listed.slice(0, 200).map(({ urn, name, platform }) => (
          <li key={urn}>
            <label title={urn}>
              <input
                type="checkbox"
                checked={picked.includes(urn)}
                onChange={() => {
                  setPicked(picked.includes(urn) ? picked.filter((each) => each !== urn) : [...picked, urn])
                }}
              />
              <span>
                {name} <span class="soft">{platform}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
      <div class="row">
        {picked.length > 0 ? (
          <button
            type="button"
            class="primary"
            onClick={() => {
              add(picked)
            }}
          >
            {words.stackList.add(picked.length)}
          </button>
        ) : (
          <button
            type="button"
            class="primary"
            data-testid="add-next"
            onClick={() => {
              next({ all: false })
            }}
          >
            {words.stackList.next(stack.count > bounds.fanOutAbove ? bounds.page : stack.count)}
          </button>
        )}
        <button
          type="button"
          onClick={() => {
            next({ all: true })
          }}
        >
          {words.stackList.all}
        </button>
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
