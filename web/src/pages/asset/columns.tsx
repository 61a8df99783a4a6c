/** The columns of an asset: those of its schema, each with links to its lineage and impact. */
import { FilterField } from '../../parts/fields.tsx'
import { useState } from 'preact/hooks'
import { addressOf, assetAddress } from '../../address.ts'
import type { Aspects } from '../../api/aspects.ts'
import { columnUrn, shownPath } from '../../api/column-urn.ts'
import { lastPartOf } from '../../api/entity.ts'
import { Markdown } from '../../parts/markdown.tsx'
import { goTo } from '../../parts/use-address.ts'
import { useLocation } from 'preact-iso'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Table, type CellTab, type TableColumn } from '../../parts/table.tsx'
import type { Sort } from '../../parts/sort-rows.ts'
import { useResource } from '../../parts/use-resource.ts'
import { assetTexts } from '../../texts/asset.ts'
import { addressWith } from '../search-question.ts'
import { readColumns, type CountedColumn } from './read-columns.ts'

const words = assetTexts.columns

export function Columns({ urn, aspects }: { urn: string; aspects: Aspects }) {
  const { route } = useLocation()
  const [filter, setFilter] = useState('')
  const [sort, setSort] = useState<Sort | null>(null)
  const {
    data: all,
    error,
    reload
  } = useResource(`${urn} ${Object.keys(aspects).length}`, (signal) => readColumns(urn, aspects, signal))
  if (error && !all) return <Failure error={error} retry={reload} />
  if (!all) return <Loading />
  if (all.length === 0)
    return (
      <Empty title={words.none}>
        <p>{words.noneHint}</p>
      </Empty>
    )
  const shown = all.filter(({ path, type, description, tagCards, tags }) =>
    [shownPath(path), type, description, ...tags.map(lastPartOf), ...tagCards.map(({ name }) => name)]
      .join(' ')
      .toLowerCase()
      .includes(filter.trim().toLowerCase())
  )
  return (
    <div class="stack">
      <div class="row apart">
        <FilterField class="narrow" label={words.filter} value={filter} change={setFilter} />
        <span class="soft" role="status">
          {words.shown(shown.length, all.length)}
        </span>
      </div>
      <Table
        label={words.label}
        rows={shown}
        keyOf={({ path }) => path}
        sort={sort}
        onSort={setSort}
        open={({ path }) => {
          goTo(route, assetAddress(columnUrn(urn, path)))
        }}
        columns={(
          [
            {
              id: 'name',
              head: words.name,
              value: ({ path }) => shownPath(path),
              cell: ({ path }, tab) => <ColumnLink urn={urn} path={path} tab={tab} />,
              width: 'minmax(160px, 2fr)'
            },
            { id: 'type', head: words.type, value: ({ type }) => type, width: 'minmax(100px, 1fr)', fold: 3 },
            {
              id: 'description',
              head: words.description,
              value: ({ description }) => description,
              cell: ({ description }) => <Markdown text={description} isInline />,
              width: 'minmax(180px, 3fr)',
              fold: 4
            },
            {
              id: 'tags',
              head: words.tags,
              value: ({ tagCards }) => tagCards.map(({ name }) => name).join(', '),
              cell: ({ tagCards }, tab) =>
                tagCards.map(({ urn: tag, name }) => (
                  <a
                    key={tag}
                    class="chip"
                    tabIndex={tab}
                    href={addressWith('*', [{ field: 'tags', values: [tag] }])}
                  >
                    {name}
                  </a>
                )),
              width: 'minmax(120px, 1fr)',
              fold: 2
            },
            {
              id: 'upstream',
              head: words.upstream,
              value: ({ upstream }) => upstream,
              isNumber: true,
              width: '90px',
              fold: 5,
              cell: ({ path, upstream }, tab) =>
                upstream !== null && (
                  <a
                    tabIndex={tab}
                    href={addressOf('lineage', { urn, cols: 1, col: columnUrn(urn, path) })}
                    aria-label={words.traceOf(shownPath(path), upstream)}
                  >
                    {upstream}
                  </a>
                )
            },
            {
              id: 'downstream',
              head: words.downstream,
              value: ({ downstream }) => downstream,
              isNumber: true,
              width: '108px',
              fold: 6,
              cell: ({ path, downstream }, tab) =>
                downstream !== null && (
                  <a
                    tabIndex={tab}
                    href={assetAddress(urn, { tab: 'impact', col: path })}
                    aria-label={words.impactOf(shownPath(path), downstream)}
                  >
                    {downstream}
                  </a>
                )
            }
          ] satisfies TableColumn<CountedColumn>[]
        ).filter(
          // What no column has says nothing.
          ({ id }) =>
            (id !== 'tags' || all.some(({ tags }) => tags.length > 0)) &&
            (id !== 'description' || all.some(({ description }) => description !== ''))
        )}
      />
    </div>
  )
}

/** The path within the column before its name is soft: nested fields keep the order of the schema. */
function ColumnLink({ urn, path, tab }: { urn: string; path: string; tab: CellTab }) {
  const shown = shownPath(path)
  const at = shown.lastIndexOf('.') + 1
  return (
    <a tabIndex={tab} class="column-name" href={assetAddress(columnUrn(urn, path))} title={shown}>
      <span class="qualifier">{shown.slice(0, at)}</span>
      {shown.slice(at)}
    </a>
  )
}
