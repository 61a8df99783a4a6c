/** The line above the graph: counts, columns, and the highlighted column or paths. */
import { Button } from '../parts/fields.tsx'
import { useEffect, useRef } from 'preact/hooks'
import { columnParts, shownPath } from '../api/column-urn.ts'
import { wholeName } from '../api/entity.ts'
import { columnPaths, columnReach, lineagePaths } from '../api/lineage-queries.ts'
import { graphql } from '../api/request.ts'
import { tellError } from '../parts/toasts.tsx'
import { useResource } from '../parts/use-resource.ts'
import { lineageTexts as words } from '../texts/lineage.ts'
import { bounds, type ViewState } from './model.ts'
import { closureOf, shownPaths } from './paths.ts'
import type { GraphAnswer } from './picture.ts'
import { columnEdgesDrawnMost, type Placed, type Stage } from './stage.ts'

/** The counts, and what the last change added or removed. Screen readers read them out when they change. */
export function Status({ answer, placed: { picture, scene } }: { answer: GraphAnswer; placed: Placed }) {
  const former = useRef<{ answer: GraphAnswer; change: string }>({ answer, change: '' })
  if (former.current.answer !== answer) {
    const difference = answer.nodes.length - former.current.answer.nodes.length
    former.current = {
      answer,
      change: difference > 0 ? words.added(difference) : difference < 0 ? words.removed(-difference) : ''
    }
  }
  return (
    <span role="status" data-testid="status">
      {words.status({ ...picture.counts, loops: scene.loopCount, isComplete: answer.isComplete })}{' '}
      {former.current.change}
    </span>
  )
}

/** Said only if the viewport has a part of the picture. */
export const InView = ({ stage }: { stage: Stage }) => {
  const { shown, total } = stage.inView.value
  return shown < total ? <span data-testid="in-view">{words.inView(shown, total)}</span> : null
}

export const ColumnStatus = ({ placed: { picture } }: { placed: Placed }) => {
  const { columnEdges, columnEdgesShown } = picture.counts
  if (columnEdges === null) return null
  return (
    <span data-testid="column-status">
      {columnEdgesShown > columnEdgesDrawnMost
        ? words.manyColumnEdges(columnEdgesShown)
        : words.columnEdges(columnEdgesShown, columnEdges)}
    </span>
  )
}

export function ColumnFocus({
  placed: { columnLinks, picture },
  column,
  state,
  show,
  clear
}: {
  placed: Placed
  column: string
  state: ViewState
  /** Adds the assets of the edges to the view. */
  show: (edges: readonly { upstreamUrn: string; downstreamUrn: string }[]) => void
  clear: () => void
}) {
  const { since, until } = state
  const showAll = (): void => {
    graphql(columnPaths, { urn: column, count: bounds.cardsMost, since, until })
      .then(({ lineageGraph }) => {
        show(lineageGraph.edges)
      })
      .catch(tellError)
  }
  const { data } = useResource(`${column} ${since} ${until}`, (signal) =>
    graphql(columnReach, { urn: column, since, until }, signal)
  )
  const { members } = closureOf(columnLinks, column)
  const assets = new Set(
    picture.columnEdges.flatMap(({ from, to, fromCard, toCard }) => [
      ...(members.has(from) ? [fromCard] : []),
      ...(members.has(to) ? [toCard] : [])
    ])
  )
  const totals = data?.lineageGraph.totals
  const reach = totals ? totals.upstream + totals.downstream - totals.both + 1 : null
  const owner = picture.cards.find(({ id }) => column.includes(`(${id},`))
  const name = owner ? wholeName(owner.node.card) : ''
  const path = shownPath(columnParts(column).path)
  const outside = reach === null ? 0 : reach - members.size
  return (
    <span class="chip" data-testid="column-focus">
      {words.focus(`${name}.${path}`, members.size, Math.max(1, assets.size), outside)}
      {outside > 0 && (
        <Button class="plain" data-testid="show-outside" run={showAll}>
          {words.showOutside(outside)}
        </Button>
      )}
      <Button class="plain" run={clear}>
        {words.clear}
      </Button>
    </span>
  )
}

/** The shortest paths between the start and another asset, whichever is upstream. */
export function PathChip({
  state,
  answer,
  setPaths,
  show,
  clear
}: {
  state: ViewState
  answer: GraphAnswer
  setPaths: (paths: readonly (readonly string[])[]) => void
  /** Adds the cards that the paths need but that the view does not show. */
  show: (paths: readonly (readonly string[])[]) => void
  clear: () => void
}) {
  const { urn, hidesJobs } = state
  const to = state.pathTo ?? ''
  const { data } = useResource(`${urn} ${to}`, (signal) =>
    graphql(lineagePaths, { from: urn, to, count: bounds.paths }, signal)
  )
  const found = [data?.forth, data?.back].flatMap((paths) => (paths && paths.hops !== null ? [paths] : []))
  const paths = shownPaths(
    found.flatMap(({ paths }) => paths.map(({ steps }) => steps.map(({ entity }) => entity))),
    { hidesJobs }
  )
  useEffect(() => {
    setPaths(paths)
    return () => {
      setPaths([])
    }
  }, [data, hidesJobs])
  // Hiding jobs removes the cards that were expanded behind them. Requested only once, because there may be
  // no room for them.
  const shownFor = useRef(hidesJobs)
  useEffect(() => {
    if (!data || shownFor.current === hidesJobs) return
    const cards = new Set(answer.nodes.map(({ card }) => card.urn))
    const lacking = paths.filter((path) => path.some((step) => !cards.has(step)))
    if (answer.hidesJobs !== hidesJobs) return
    shownFor.current = hidesJobs
    if (lacking.length > 0) show(paths)
  }, [data, hidesJobs, answer])
  return (
    <span class="chip" data-testid="path-chip">
      {data &&
        (found.length === 0
          ? words.paths.none
          : found
              .map(({ totalShortest, hops, paths }) =>
                [words.paths.label(totalShortest, hops ?? 0), words.paths.first(paths.length, totalShortest)]
                  .filter(Boolean)
                  .join('. ')
              )
              .join('; '))}
      <Button class="plain" run={clear}>
        {words.paths.clear}
      </Button>
    </span>
  )
}
