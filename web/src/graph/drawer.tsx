/** Details of the chosen card, and the actions that start from it. */
import { Button, Check, FilterField } from '../parts/fields.tsx'
import { useState } from 'preact/hooks'
import { addressOf, assetAddress } from '../address.ts'
import { shownPath } from '../api/column-urn.ts'
import { cardOf, domainPath } from '../api/entity.ts'
import { cardDetails, lineageColumns, lineagePaths } from '../api/lineage-queries.ts'
import { graphql } from '../api/request.ts'
import { CardMark, WholeName } from '../parts/card-line.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { platformTitle } from '../parts/platforms.ts'
import { ShowAll } from '../parts/show-all.tsx'
import { Failure, Loading } from '../parts/states.tsx'
import { useResource } from '../parts/use-resource.ts'
import { texts, typeName } from '../texts.ts'
import { lineageTexts as words } from '../texts/lineage.ts'
import { LongList } from './long-list.tsx'
import { bounds, type Direction } from './model.ts'
import { shownPaths } from './paths.ts'
import type { CardItem } from './picture.ts'

/** The number of owners, tags or terms that are shown at first. */
const chipsFirstCount = 8

type Props = {
  item: CardItem
  start: { urn: string; name: string }
  showsColumns: boolean
  hidesJobs: boolean
  column: string | null
  chooseColumn: (urn: string) => void
  recentre: () => void
  showPaths: (paths: readonly (readonly string[])[]) => void
  expand: (direction: Direction) => void
  collapse: (direction: Direction) => void
  close: () => void
}

export function Drawer({
  item,
  start,
  showsColumns,
  hidesJobs,
  column,
  chooseColumn,
  recentre,
  showPaths,
  expand,
  collapse,
  close
}: Props) {
  const { node, sides, id } = item
  const { card } = node
  const isStart = id === start.urn
  return (
    <aside
      class="over drawer"
      aria-label={words.drawer.label}
      data-testid="drawer"
      onKeyDown={(event) => {
        if (event.key === 'Escape') close()
      }}
    >
      <div class="row apart">
        <span class="row soft">
          <CardMark card={card} size={24} />
          {[typeName(card.type), card.platform && platformTitle(card.platform), card.environment]
            .filter(Boolean)
            .join(' · ')}
        </span>
        <Button class="plain" aria-label={words.drawer.close} run={close}>
          ×
        </Button>
      </div>
      <h2 title={card.urn}>
        <WholeName card={card} />
      </h2>
      {!card.exists && <p class="chip warn">{words.drawer.placeholder}</p>}
      {node.isRemoved && <p class="chip warn">{words.drawer.removed}</p>}
      <About urn={card.urn} />
      <dl>
        <dt>{words.drawer.domain}</dt>
        <dd>
          {card.domain ? (
            <a href={addressOf('domains', { urn: card.domain.urn })}>{domainPath(card.domain)}</a>
          ) : (
            words.drawer.noDomain
          )}
        </dd>
        {(['UPSTREAM', 'DOWNSTREAM'] as const).map((direction) => {
          const { count, hidden, isOpen } = sides[direction]
          return (
            <>
              <dt>{direction === 'UPSTREAM' ? words.drawer.upstream : words.drawer.downstream}</dt>
              <dd class="row apart">
                {words.drawer.shownOf(count - hidden, count)}
                {hidden > 0 ? (
                  <Button
                    class="plain"
                    aria-label={words.pill[direction](hidden)}
                    run={() => expand(direction)}
                  >
                    +
                  </Button>
                ) : (
                  isOpen &&
                  count > 0 && (
                    <Button
                      class="plain"
                      aria-label={words.collapse[direction]}
                      run={() => collapse(direction)}
                    >
                      −
                    </Button>
                  )
                )}
              </dd>
            </>
          )
        })}
      </dl>
      <div class="row">
        <a class="button" href={assetAddress(card.urn)}>
          {words.drawer.open}
        </a>
        <a class="button" href={assetAddress(card.urn, { tab: 'impact' })}>
          {words.drawer.impact}
        </a>
        {!isStart && (
          <Button data-testid="recentre" run={recentre}>
            {words.drawer.recentre}
          </Button>
        )}
        <CopyButton text={card.urn} label={texts.copy.urn} />
      </div>
      {!isStart && <Paths from={start} to={card.urn} hidesJobs={hidesJobs} showPaths={showPaths} />}
      {showsColumns && node.columnRows !== null && node.columnRows.total > 0 && (
        <ColumnList urn={card.urn} column={column} choose={chooseColumn} />
      )}
    </aside>
  )
}

/** The beginning of the description, and owners, tags and terms as links. */
function About({ urn }: { urn: string }) {
  const { data } = useResource(urn, (signal) => graphql(cardDetails, { urn }, signal))
  if (!data?.entity) return null
  const { about, edited, ownership, tags, glossaryTerms } = data.entity
  // Its first paragraph, without the marks of Markdown that are most frequent.
  const [description = ''] = (edited?.description ?? about?.description ?? '')
    .trim()
    .replace(/\*\*|`/g, '')
    .split(/\n\s*\n/)
  const lists = [
    [words.drawer.owners, (ownership?.owners ?? []).map(({ owner }) => owner)],
    [words.drawer.tags, (tags?.tags ?? []).map(({ tag }) => tag)],
    [words.drawer.terms, (glossaryTerms?.terms ?? []).map(({ term }) => term)]
  ] as const
  return (
    <>
      {description !== '' && <p class="about">{description}</p>}
      {lists.map(([label, entities]) =>
        entities.length === 0 ? null : (
          <div key={label} class="row chips" role="group" aria-label={label}>
            <span class="soft">{label}</span>
            <ShowAll
              items={entities}
              firstCount={chipsFirstCount}
              label={label}
              draw={(entity) => (
                <a key={entity.urn} class="chip" href={assetAddress(entity.urn)} title={entity.urn}>
                  {cardOf(entity).name}
                </a>
              )}
            />
          </div>
        )
      )}
    </>
  )
}

function Paths({
  from,
  to,
  hidesJobs,
  showPaths
}: {
  from: { urn: string; name: string }
  to: string
  hidesJobs: boolean
  showPaths: Props['showPaths']
}) {
  const [isAsked, setAsked] = useState<string | null>(null)
  const { data, error, reload } = useResource(isAsked === to ? `${from.urn} ${to}` : null, (signal) =>
    graphql(lineagePaths, { from: from.urn, to, count: bounds.paths }, signal)
  )
  if (isAsked !== to)
    return (
      <div>
        <Button data-testid="paths" run={() => setAsked(to)}>
          {words.drawer.pathsFromStart}
        </Button>
      </div>
    )
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data) return <Loading />
  const found = [data.forth, data.back].filter(({ hops }) => hops !== null)
  if (found.length === 0) return <p class="soft">{words.paths.none}</p>
  return (
    <>
      {found.map(({ hops, totalShortest, paths }) => (
        <div key={hops} class="stack">
          <strong>{words.paths.label(totalShortest, hops ?? 0)}</strong>
          {words.paths.first(paths.length, totalShortest) && (
            <span class="soft">{words.paths.first(paths.length, totalShortest)}</span>
          )}
          <ol class="paths">
            {paths.map(({ steps }) => (
              <li key={steps.map(({ entity }) => entity.urn).join(' ')}>
                {steps.map(({ entity }) => cardOf(entity).name).join(' → ')}
              </li>
            ))}
          </ol>
          <Button
            class="primary"
            data-testid="show-paths"
            run={() => {
              showPaths(
                shownPaths(
                  paths.map(({ steps }) => steps.map(({ entity }) => entity)),
                  { hidesJobs }
                )
              )
            }}
          >
            {words.drawer.pathsFromStart}
          </Button>
        </div>
      ))}
    </>
  )
}

function ColumnList({
  urn,
  column,
  choose
}: {
  urn: string
  column: string | null
  choose: (urn: string) => void
}) {
  const [text, setText] = useState('')
  const [isLinkedOnly, setLinkedOnly] = useState(false)
  const { data, error, reload } = useResource(urn, (signal) =>
    graphql(lineageColumns, { urn, columns: true }, signal)
  )
  if (error && !data) return <Failure error={error} retry={reload} />
  const found = data?.lineageGraph.nodes[0]?.columnRows
  if (!found) return <Loading />
  const wanted = text.trim().toLowerCase()
  const listed = found.rows.filter(
    ({ path, upstreamCount, downstreamCount }) =>
      path.toLowerCase().includes(wanted) && (!isLinkedOnly || upstreamCount + downstreamCount > 0)
  )
  return (
    <section class="stack" aria-label={words.drawer.columns}>
      <h3>
        {words.drawer.columns} <span class="soft">{texts.count(found.total)}</span>
      </h3>
      <FilterField label={words.drawer.filter} value={text} change={setText} />
      <Check label={words.drawer.onlyLineage} value={isLinkedOnly} change={setLinkedOnly} />
      <span class="soft" role="status" data-testid="drawer-listed">
        {words.drawer.listed(listed.length, found.total)}
      </span>
      <LongList
        label={words.drawer.columns}
        testId="drawer-columns"
        rows={listed}
        rowHeight={30}
        keyOf={({ path }) => path}
        draw={({ urn, path, dataType }) => (
          <Button
            class="plain"
            disabled={urn === null}
            aria-pressed={urn !== null && urn === column}
            title={path}
            run={() => urn !== null && choose(urn)}
          >
            <span>{shownPath(path)}</span>
            <span class="soft">{dataType}</span>
          </Button>
        )}
      />
    </section>
  )
}
