/**
 * What an edge says of itself: its ends, who states it, since when, and when it was last used. It follows the
 * pointer; a click or the key E holds it, with a step to the other edges of the same card.
 */
import { Button } from '../parts/fields.tsx'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { addressOf, assetAddress } from '../address.ts'
import { cardOf, nameOfActor, wholeName } from '../api/entity.ts'
import { shownPath } from '../api/column-urn.ts'
import { statedEdge } from '../api/lineage-queries.ts'
import { graphql } from '../api/request.ts'
import { useResource } from '../parts/use-resource.ts'
import { When } from '../parts/when.tsx'
import { lineageTexts as words } from '../texts/lineage.ts'
import type { ColumnEdge, Item, PictureEdge } from './picture.ts'
import type { Placed, PointedEdge, Stage } from './stage.ts'

const namesMostCount = 3

const nameOf = ({ scene, picture }: Placed, id: string): string => {
  const item: Item | undefined = scene.byId.get(id)?.item
  if (item?.kind === 'card') return wholeName(item.node.card)
  if (item) return item.kind === 'group' ? item.name : words.stack[item.direction](item.count)
  const row = picture.cards.flatMap(({ rows }) => rows).find(({ urn }) => urn === id)
  return row ? shownPath(row.path) : id
}

const endsOf = (placed: Placed, edge: PictureEdge | ColumnEdge): string =>
  ('fromCard' in edge ? [edge.fromCard, edge.toCard] : [edge.from, edge.to])
    .map((id, end) => {
      const of = end === 0 ? edge.from : edge.to
      return id === of ? nameOf(placed, id) : `${nameOf(placed, id)}.${nameOf(placed, of)}`
    })
    .join(' → ')

/** The edges of a card, those that lead to it first; one that leads from it to itself once. */
export const edgesAt = ({ links }: Placed, id: string): string[] => [
  ...new Set([...(links.to.get(id) ?? []), ...(links.from.get(id) ?? [])].map((link) => link.id))
]

export function EdgePanel({ stage, close }: { stage: Stage; close: (card: string) => void }) {
  const panel = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState({ left: 0, top: 0 })
  const placed = stage.placed.value
  const pointed = stage.pointed.value
  const edge =
    placed?.picture.edges.find(({ id }) => id === pointed?.id) ??
    placed?.picture.columnEdges.find(({ id }) => id === pointed?.id)
  useLayoutEffect(() => {
    const own = panel.current?.getBoundingClientRect()
    if (!pointed || !own) return
    const { width, height } = stage.size.peek()
    setPlace({
      left: Math.max(4, Math.min(pointed.x + 12, width - own.width - 4)),
      top: Math.max(4, Math.min(pointed.y + 14, height - own.height - 4))
    })
  }, [pointed])
  useEffect(() => {
    if (pointed?.isHeld) panel.current?.focus({ preventScroll: true })
  }, [pointed?.isHeld, pointed?.id])
  if (!placed || !pointed || !edge) return null
  const around = pointed.isHeld ? edgesAt(placed, pointed.card) : []
  const at = around.indexOf(pointed.id)
  const step = (by: number) => (
    <Button
      class="plain"
      aria-label={by > 0 ? words.edge.next : words.edge.previous}
      run={() => hold(stage, around.at((at + by) % around.length) ?? '', pointed.card)}
    >
      {by > 0 ? '›' : '‹'}
    </Button>
  )
  const kind = 'kind' in edge ? edge.kind : 'edge'
  return (
    <div
      ref={panel}
      class={pointed.isHeld ? 'over edge-panel' : 'over edge-panel passing'}
      role={pointed.isHeld ? 'dialog' : 'tooltip'}
      aria-label={words.edge.label}
      tabIndex={-1}
      data-testid="edge-panel"
      style={{ left: `${place.left}px`, top: `${place.top}px` }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close(pointed.card)
      }}
    >
      <strong>{endsOf(placed, edge)}</strong>
      {'via' in edge && edge.via.length > 0 && (
        <div>
          {words.edge.via(
            edge.via.slice(0, namesMostCount).map(({ name }) => name),
            Math.max(0, edge.viaCount - namesMostCount)
          )}
        </div>
      )}
      {kind === 'merged' && 'count' in edge && <div>{words.edge.merged(edge.count)}</div>}
      {kind === 'edge' && <Stated from={edge.from} to={edge.to} />}
      {pointed.isHeld && (
        <div class="row apart">
          {around.length > 1 && (
            <span class="row">
              {step(-1)}
              <span class="soft">{words.edge.place(at + 1, around.length)}</span>
              {step(1)}
            </span>
          )}
          <Button class="plain" run={() => close(pointed.card)}>
            {words.drawer.close}
          </Button>
        </div>
      )}
    </div>
  )
}

/** Holds the panel of an edge below its middle, or where the pointer is. */
export function hold(stage: Stage, id: string, card: string, at?: Pick<PointedEdge, 'x' | 'y'>): void {
  const scene = stage.placed.peek()?.scene
  const box = [...(scene?.edges ?? []), ...(scene?.columnEdges ?? [])].find(({ edge }) => edge.id === id)?.box
  const { x, y, scale } = stage.view.peek()
  const middle = box && {
    x: (box.x + box.width / 2) * scale + x,
    y: (box.y + box.height) * scale + y + 24
  }
  stage.pointed.value = { id, card, isHeld: true, ...(at ?? middle ?? { x: 0, y: 0 }) }
}

function Stated({ from, to }: { from: string; to: string }) {
  const { data, error } = useResource(`${from} ${to}`, (signal) =>
    graphql(statedEdge, { upstreamUrn: from, downstreamUrn: to }, signal)
  )
  if (error) return <div role="alert">{error.message}</div>
  if (!data) return <div class="soft">…</div>
  const edge = data.lineageEdge
  if (!edge) return <div class="soft">{words.edge.bridged}</div>
  const first = Math.min(...edge.statements.flatMap(({ provenance }) => provenance?.at ?? []))
  return (
    <>
      {edge.statements.slice(0, namesMostCount).map(({ owner, aspect, source, provenance }, index) => (
        <div key={index}>
          {owner.type === 'DATA_JOB' ? words.edge.job : words.edge.statement(aspect)}{' '}
          <a href={assetAddress(owner.urn)}>{wholeName(cardOf(owner))}</a> {words.edge.source(source)}
          {provenance && (
            <span class="soft">
              , {words.edge.actor(nameOfActor(provenance.actor))} <When millis={provenance.at} />
              {provenance.loadId !== null && (
                <>
                  {', '}
                  <a href={addressOf('loads', { id: provenance.loadId })}>
                    {words.edge.load(provenance.loadId.slice(0, 8))}
                  </a>
                </>
              )}
            </span>
          )}
        </div>
      ))}
      {edge.statementCount > namesMostCount && (
        <div class="soft">{words.edge.more(edge.statementCount - namesMostCount)}</div>
      )}
      <div class="soft">
        {Number.isFinite(first) && (
          <>
            {words.edge.since} <When millis={first} />.{' '}
          </>
        )}
        {words.edge.lastUsed} {edge.lastUsed === null ? words.edge.unused : <When millis={edge.lastUsed} />}
      </div>
    </>
  )
}
