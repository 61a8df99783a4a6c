/** A tip that names the two ends of the edge under the pointer. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { lineageTexts as words } from '../texts/lineage.ts'
import type { Item, Picture } from './picture.ts'

export type PointedEdge = { id: string; x: number; y: number }

const namesMostCount = 3

const nameOf = (item: Item | undefined): string =>
  item === undefined
    ? ''
    : item.kind === 'card'
      ? item.node.card.name
      : item.kind === 'group'
        ? item.name
        : words.stack[item.direction](item.count)

export function EdgeTip({ pointed, picture }: { pointed: PointedEdge; picture: Picture }) {
  const tip = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState({ left: 0, top: 0 })
  useLayoutEffect(() => {
    const canvas = tip.current?.parentElement?.getBoundingClientRect()
    const own = tip.current?.getBoundingClientRect()
    if (!canvas || !own) return
    setPlace({
      left: Math.max(4, Math.min(pointed.x - canvas.left + 12, canvas.width - own.width - 4)),
      top: Math.max(4, Math.min(pointed.y - canvas.top + 14, canvas.height - own.height - 4))
    })
  }, [pointed.id, pointed.x, pointed.y])
  const edge = picture.edges.find(({ id }) => id === pointed.id)
  if (!edge) return null
  const itemOf = (id: string): Item | undefined => picture.items.find((item) => item.id === id)
  const names = edge.via.slice(0, namesMostCount).map(({ name }) => name)
  return (
    <div
      ref={tip}
      class="over tooltip"
      role="tooltip"
      style={{ left: `${place.left}px`, top: `${place.top}px` }}
    >
      <strong>
        {nameOf(itemOf(edge.from))} → {nameOf(itemOf(edge.to))}
      </strong>
      {names.length > 0 && <div>{words.edge.via(names, edge.viaCount - names.length)}</div>}
      {edge.kind === 'merged' && <div>{words.edge.merged(edge.count)}</div>}
    </div>
  )
}
