/**
 * The impact table: everything that lineage reaches from an asset or a column, with counts by degree,
 * filters, and the same rows as CSV.
 */
import { Button, Select } from '../parts/fields.tsx'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { addressOf, assetAddress } from '../address.ts'
import { assignMaxCount } from '../api/assign-domain.ts'
import { isColumnUrn, shownPath } from '../api/column-urn.ts'
import { canGetDomain, domainPath, nameOfActor, wholeName } from '../api/entity.ts'
import { columnsOf, impactCounts, impactRows, type ImpactCounts } from '../api/queries.ts'
import { graphql } from '../api/request.ts'
import { canWrite } from '../api/session.ts'
import { CardMark, WholeName } from '../parts/card-line.tsx'
import { CopyAs } from '../parts/copy-as.tsx'
import { platformTitle } from '../parts/platforms.ts'
import { ChoiceMenu } from '../parts/choice-menu.tsx'
import { FoldButton } from '../parts/fold-button.tsx'
import { Empty, Failure, Loading } from '../parts/states.tsx'
import { SetDomainDialog } from '../parts/set-domain-dialog.tsx'
import { printSort, readSort } from '../parts/sort-rows.ts'
import { Table, type TableColumn } from '../parts/table.tsx'
import { goTo, useAddress, type Address } from '../parts/use-address.ts'
import { useAfterTyping } from '../parts/use-after-typing.ts'
import { usePages } from '../parts/use-pages.ts'
import { useResource } from '../parts/use-resource.ts'
import { domainTexts } from '../texts/domains.ts'
import { impactTexts as words } from '../texts/impact.ts'
import { tableTexts } from '../texts/table.ts'
import { typeName } from '../texts.ts'
import {
  allInput,
  countsInput,
  degreeGroups,
  exportCommand,
  exportPath,
  isFiltered,
  noDomain,
  printList,
  readImpactQuestion,
  rowsInput,
  type ImpactQuestion
} from './impact-question.ts'
import { Affected } from './impact-affected.tsx'
import { toImpactRow, type ImpactRow } from './impact-rows.ts'

/** The number of rows in one request, and in the table. */
const pageCount = 1_000
const rowsMaxCount = 50_000

/** A part of the asset page; its state is in the address of that page. */
export function ImpactTable({ urn }: { urn: string }) {
  const address = useAddress('asset')
  const { route } = useLocation()
  const question = readImpactQuestion(urn, address.query)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [isSetting, setSetting] = useState(false)
  /** A number that grows with every change of domains. */
  const [version, setVersion] = useState(0)
  const key = `${version} ${JSON.stringify(question)}`
  useEffect(() => {
    setChosen(new Set())
  }, [key])
  const counts = useResource(key, (signal) =>
    graphql(
      impactCounts,
      {
        all: allInput(question),
        anyDegree: countsInput(question, { withDegrees: false }),
        shown: countsInput(question, { withDegrees: true })
      },
      signal
    )
  )
  const { rows, total, isPartial, isLoading, error, retry } = usePages<ImpactRow>(
    key,
    async (scrollId, signal) => {
      const { scrollAcrossLineage: page } = await graphql(
        impactRows,
        { input: rowsInput(question, { count: pageCount, scrollId }) },
        signal
      )
      return {
        rows: page.searchResults.map(toImpactRow),
        next: page.nextScrollId,
        total: page.total,
        isPartial: page.isPartial === true
      }
    },
    rowsMaxCount
  )
  const isOfColumn = question.column !== null
  const columns = useMemo(() => columnsOfTable(isOfColumn), [isOfColumn])
  const ordered = useMemo(() => readFirst(rows), [rows])
  return (
    <section class="stack" aria-label={words.label}>
      {counts.data && (
        <Affected
          counts={counts.data.shown}
          rows={rows}
          total={total}
          question={question}
          address={address}
        />
      )}
      {counts.error && <Failure error={counts.error} retry={counts.reload} />}
      <Choices
        question={question}
        ownerName={rows.flatMap(({ owners }) => owners).find(({ urn: of }) => of === question.owner)?.name}
        address={address}
        counts={counts.data}
      />
      <div class="row apart">
        <p role="status" data-testid="impact-showing">
          {total === undefined ? '' : tableTexts.showing(rows.length, total)}
          {isLoading && total !== undefined ? `, ${words.loadingMore}` : ''}
        </p>
        <div class="row">
          {total !== undefined && total > 0 && (
            <a class="button" href={`../${exportPath(question)}`} download="">
              {words.exportCsv(total)}
            </a>
          )}
          <CopyAs
            graphql={{
              text: impactRows.text,
              variables: { input: rowsInput(question, { count: pageCount, scrollId: null }) }
            }}
            command={exportCommand(question)}
          />
        </div>
      </div>
      {chosen.size > 0 && (
        <div class="row">
          <span>{domainTexts.chosen(chosen.size)}</span>
          <Button disabled={chosen.size > assignMaxCount} run={() => setSetting(true)}>
            {domainTexts.set}
          </Button>
          {chosen.size > assignMaxCount && (
            <span class="soft">{domainTexts.tooManyChosen(assignMaxCount)}</span>
          )}
        </div>
      )}
      {isSetting && (
        <SetDomainDialog
          assets={rows.flatMap(({ card }) => (chosen.has(card.urn) ? [card] : []))}
          close={() => {
            setSetting(false)
          }}
          changed={() => {
            setVersion((last) => last + 1)
          }}
        />
      )}
      {isPartial && <p class="chip warn">{words.partial}</p>}
      {total !== undefined && total > rowsMaxCount && <p class="soft">{words.tooMany(rowsMaxCount)}</p>}
      {error && <Failure error={error} retry={retry} />}
      {total === undefined && !error && <Loading />}
      {total === 0 ? (
        <Empty
          title={
            isFiltered(question)
              ? words.none
              : words.noLineage[question.direction === 'UPSTREAM' ? 'up' : 'down']
          }
        >
          <p>{words.noneHint}</p>
        </Empty>
      ) : (
        total !== undefined && (
          <Table<ImpactRow>
            label={words.label}
            columns={columns}
            rows={ordered}
            total={total}
            keyOf={({ card }) => card.urn}
            sort={readSort(address.query.sort)}
            onSort={(sort) => {
              address.change({ sort: printSort(sort) }, { replace: true })
            }}
            open={({ card, parent }) => {
              goTo(route, assetAddress(parent?.urn ?? card.urn))
            }}
            {...(canWrite() && !isOfColumn
              ? { selection: { keys: chosen, change: setChosen, allows: ({ card }) => canGetDomain(card) } }
              : {})}
          />
        )
      )}
    </section>
  )
}

/** What people look at comes before what it is made from; otherwise the order of the server. */
const readFirst = (rows: readonly ImpactRow[]): ImpactRow[] =>
  rows.toSorted((a, b) => Number(isRead(b)) - Number(isRead(a)))
const isRead = ({ card: { type } }: ImpactRow): boolean => type === 'DASHBOARD' || type.startsWith('MLMODEL')

const columnsOfTable = (isOfColumn: boolean): TableColumn<ImpactRow>[] => [
  { id: 'degree', head: words.heads.degree, value: ({ degree }) => degree, width: '56px', isNumber: true },
  {
    id: 'name',
    head: words.heads.name,
    value: ({ card }) => (isOfColumn ? card.name : wholeName(card)),
    width: 'minmax(240px, 3fr)',
    cell: ({ card, parent }, tab) => (
      <span class="marked-name">
        <CardMark card={card} />
        <a href={assetAddress(parent?.urn ?? card.urn)} title={card.urn} tabIndex={tab}>
          {isOfColumn ? card.name : <WholeName card={card} />}
        </a>
      </span>
    )
  },
  ...(isOfColumn
    ? [
        {
          id: 'asset',
          head: words.heads.asset,
          value: ({ parent }: ImpactRow) => parent && wholeName(parent),
          width: 'minmax(180px, 3fr)',
          fold: 7
        }
      ]
    : []),
  {
    id: 'type',
    head: words.heads.type,
    value: ({ card }) => typeName(card.type),
    width: 'minmax(90px, 1fr)',
    fold: 2
  },
  {
    id: 'platform',
    head: words.heads.platform,
    value: ({ card }) => card.platform && platformTitle(card.platform),
    width: 'minmax(100px, 1fr)',
    fold: 1
  },
  {
    id: 'environment',
    head: words.heads.environment,
    value: ({ card }) => card.environment,
    width: '56px',
    fold: 3
  },
  {
    id: 'domain',
    head: words.heads.domain,
    value: ({ card }) => card.domain && domainPath(card.domain),
    width: 'minmax(150px, 2fr)',
    fold: 6
  },
  {
    id: 'owners',
    head: words.heads.owners,
    value: ({ owners }) => owners.map(({ name }) => name).join(', ') || null,
    width: 'minmax(130px, 1fr)',
    fold: 5
  },
  {
    id: 'lineage',
    head: words.heads.lineage,
    value: () => null,
    isSortable: false,
    width: '72px',
    fold: 4,
    cell: ({ card, parent }, tab) => (
      <a
        href={addressOf('lineage', { urn: parent?.urn ?? card.urn })}
        tabIndex={tab}
        aria-label={words.lineageOf(card.name)}
      >
        {words.lineage}
      </a>
    )
  }
]

const unknown = { all: undefined, anyDegree: undefined }

function Choices({
  question,
  ownerName,
  address,
  counts
}: {
  question: ImpactQuestion
  ownerName: string | undefined
  address: Address
  counts: { all: ImpactCounts; anyDegree: ImpactCounts } | undefined
}) {
  const { all, anyDegree } = counts ?? unknown
  const [areFiltersOpen, setFiltersOpen] = useState(false)
  // Without an answer, nothing is known to be 0.
  const degreeLabel = (group: (typeof degreeGroups)[number]): string =>
    anyDegree
      ? words.chip(words.degrees[group], anyDegree.degrees.find(({ degree }) => degree === group)?.count ?? 0)
      : words.degrees[group]
  return (
    <div class="row impact-choices">
      <div class="row">
        <div class="row" role="group" aria-label={words.degree}>
          {degreeGroups.map((group) => (
            <Button
              key={group}
              data-degree={group}
              aria-pressed={question.degrees.includes(group)}
              run={() => address.change({ degree: printList(toggled(question.degrees, group)) })}
            >
              {degreeLabel(group)}
            </Button>
          ))}
        </div>
        <FoldButton label={words.filters} isOpen={areFiltersOpen} setOpen={setFiltersOpen} />
      </div>
      <div class={areFiltersOpen ? 'row filters' : 'row filters folded'}>
        {!isColumnUrn(address.query.urn ?? '') && <ColumnPicker question={question} address={address} />}
        <TextFilter text={question.text} address={address} />
        <ChoiceMenu
          label={words.types}
          options={(all?.types ?? []).map(({ type, count }) => ({
            value: type,
            name: words.option(typeName(type), count)
          }))}
          chosen={question.types}
          choose={(types) => {
            address.change({ types: printList(types) })
          }}
        />
        <ChoiceMenu
          label={words.platforms}
          options={(all?.platforms ?? []).flatMap(({ platform, count }) =>
            platform ? [{ value: platform.urn, name: words.option(platform.name, count) }] : []
          )}
          chosen={question.platforms}
          choose={(platforms) => {
            address.change({ platforms: printList(platforms) })
          }}
        />
        <Select
          label={words.domain}
          value={question.domain ?? ''}
          change={(domain) => address.change({ domain })}
          options={[
            ['', words.anyDomain],
            ...(all?.domains ?? []).map(
              ({ domain, count }) =>
                [
                  domain?.urn ?? noDomain,
                  words.option(domain ? (domain.properties?.name ?? domain.urn) : words.noDomain, count)
                ] as const
            )
          ]}
        />
        {question.owner !== null && (
          <a class="chip" href={address.with({ owner: null })}>
            {words.clearOwner(ownerName ?? nameOfActor(question.owner))} ×
          </a>
        )}
        {isFiltered(question) && (
          <a
            href={address.with({
              degree: null,
              types: null,
              platforms: null,
              domain: null,
              owner: null,
              text: null
            })}
          >
            {words.clear}
          </a>
        )}
      </div>
    </div>
  )
}

const toggled = <Value,>(values: readonly Value[], value: Value): Value[] =>
  values.includes(value) ? values.filter((each) => each !== value) : [...values, value]

function TextFilter({ text, address }: { text: string; address: Address }) {
  const [typed, setTyped] = useState(text)
  useEffect(() => {
    setTyped(text)
  }, [text])
  useAfterTyping(typed, () => {
    if (typed !== text) address.change({ text: typed }, { replace: true })
  })
  return (
    <input
      type="search"
      aria-label={words.text}
      placeholder={words.textHint}
      value={typed}
      onInput={(event) => {
        setTyped(event.currentTarget.value)
      }}
    />
  )
}

function ColumnPicker({ question, address }: { question: ImpactQuestion; address: Address }) {
  const { data } = useResource(question.urn, (signal) => graphql(columnsOf, { urn: question.urn }, signal))
  const names = [
    ...(data?.entity?.schemaMetadata?.fields.map(({ fieldPath }) => fieldPath) ?? []),
    ...(data?.entity?.inputFields?.fields?.flatMap((field) => field?.schemaField?.fieldPath ?? []) ?? [])
  ]
  // An address may name a column that is not in the list.
  const all = [...new Set([...(question.column === null ? [] : [question.column]), ...names])]
  if (all.length === 0) return null
  return (
    <label class="row">
      {words.column}
      <Select
        label={words.column}
        value={question.column ?? ''}
        change={(col) => address.change({ col })}
        options={[['', words.wholeAsset], ...all.map((name) => [name, shownPath(name)] as const)]}
      />
    </label>
  )
}
