/** The first items of a list, and a button that shows the others: nothing is left out silently. */
import { Button } from './fields.tsx'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'

export function ShowAll<Item>({
  items,
  firstCount,
  label,
  draw
}: {
  items: readonly Item[]
  firstCount: number
  /** What the items are. */
  label: string
  draw: (item: Item) => ComponentChildren
}) {
  const [isWhole, setWhole] = useState(false)
  const isCut = items.length > firstCount
  return (
    <>
      {(isCut && !isWhole ? items.slice(0, firstCount) : items).map(draw)}
      {isCut && (
        <Button
          class="plain"
          aria-expanded={isWhole}
          aria-label={`${texts.state.showAll(isWhole, items.length)}: ${label}`}
          run={() => setWhole(!isWhole)}
        >
          {texts.state.showAll(isWhole, items.length)}
        </Button>
      )}
    </>
  )
}
