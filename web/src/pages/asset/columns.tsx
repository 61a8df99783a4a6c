/** The columns of an asset: those of its schema, each with links to its lineage and impact. */
import { useState } from 'preact/hooks'
import { addressOf, assetAddress } from '../../address.ts'
import type { Aspects } from '../../api/aspects.ts'
import { columnUrn, shownPath } from '../../api/column-urn.ts'
import { lastPartOf } from '../../api/entity.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import type { Sort } from '../../parts/sort-rows.ts'
import { useResource } from '../../parts/use-resource.ts'
import { assetTexts } from '../../texts/asset.ts'
import { readColumns } from './read-columns.ts'

const words = assetTexts.columns

export function Columns({ urn, aspects }: { urn: string; aspects: Aspects }) {
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
  const shown = all.filter(({ path, description }) =>
    `${path} ${description}`.toLowerCase().includes(filter.toLowerCase())
  )
  return (
    <div class="stack">
      <label class="field narrow">
        {words.filter}
        <input
          type="search"
          value={filter}
          onInput={(event) => {
            setFilter(event.currentTarget.value)
          }}
        />
      </label>
      <Table
        label={words.label}
        rows={shown}
        keyOf={({ path }) => path}
        sort={sort}
        onSort={setSort}
        columns={[
          {
            id: 'name',
            head: words.name,
            value: ({ path }) => shownPath(path),
            width: 'minmax(160px, 2fr)'
          },
          { id: 'type', head: words.type, value: ({ type }) => type, width: 'minmax(90px, 1fr)' },
          {
            id: 'description',
            head: words.description,
            value: ({ description }) => description,
            width: 'minmax(160px, 3fr)'
          },
          {
            id: 'tags',
            head: words.tags,
            value: ({ tags }) => tags.map(lastPartOf).join(', '),
            width: 'minmax(80px, 1fr)'
          },
          {
            id: 'trace',
            head: words.trace,
            value: () => '',
            isSortable: false,
            width: '150px',
            cell: ({ path }, tab) => (
              <span class="row">
                <a
                  tabIndex={tab}
                  href={addressOf('lineage', { urn, cols: 1, col: columnUrn(urn, path) })}
                  aria-label={words.traceOf(shownPath(path))}
                >
                  {words.trace}
                </a>
                <a
                  tabIndex={tab}
                  href={assetAddress(urn, { tab: 'impact', col: path })}
                  aria-label={words.impactOf(shownPath(path))}
                >
                  {words.impact}
                </a>
              </span>
            )
          }
        ]}
      />
    </div>
  )
}
