/** TanStack Virtual for Preact: decides which of many rows of equal height are drawn, and where. */
import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem
} from '@tanstack/virtual-core'
import type { RefObject } from 'preact'
import { useLayoutEffect, useReducer, useState } from 'preact/hooks'

export type VirtualRows = {
  items: readonly VirtualItem[]
  /** The height of each row, in pixels. */
  height: number
  scrollTo: (index: number) => void
}

const overscan = 6

/** `alwaysDrawn` is the index of the row with the focus, which stays drawn outside the view; -1 for none. */
export function useVirtual(
  scroller: RefObject<HTMLElement | null>,
  {
    count,
    rowHeight,
    headHeight,
    alwaysDrawn
  }: { count: number; rowHeight: number; headHeight: number; alwaysDrawn: number }
): VirtualRows {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0)
  const options = {
    count,
    overscan,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    scrollPaddingStart: headHeight,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    rangeExtractor: (range: Parameters<typeof defaultRangeExtractor>[0]) => {
      const drawn = defaultRangeExtractor(range)
      return alwaysDrawn >= 0 && alwaysDrawn < count && !drawn.includes(alwaysDrawn)
        ? [...drawn, alwaysDrawn].sort((a, b) => a - b)
        : drawn
    },
    onChange: () => {
      redraw(undefined)
    }
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => {
    virtualizer.measure()
  }, [rowHeight])
  useLayoutEffect(() => {
    virtualizer._willUpdate()
  })
  return {
    items: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    scrollTo: (index) => {
      virtualizer.scrollToIndex(index, { align: 'auto' })
    }
  }
}
