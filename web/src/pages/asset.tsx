/** The page of an asset: its name, place and domain, and a tab for each kind of detail. */
import { useEffect } from 'preact/hooks'
import { addressOf, assetAddress } from '../address.ts'
import { columnsIn, readAspects } from '../api/aspects.ts'
import { isColumnUrn } from '../api/column-urn.ts'
import {
  canBeInDomain,
  cardOf,
  hasEditableLineage,
  hasLineage,
  lastPartOf,
  wholeName,
  type Card
} from '../api/entity.ts'
import { ApiError } from '../api/errors.ts'
import { asset, complete } from '../api/queries.ts'
import { graphql } from '../api/request.ts'
import { canWrite } from '../api/session.ts'
import { quoted } from '../command-line.ts'
import { CardLink, WholeName } from '../parts/card-line.tsx'
import { CopyAs } from '../parts/copy-as.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { rememberRecent } from '../parts/recent.ts'
import { Empty, Failure, Loading } from '../parts/states.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { useAddress } from '../parts/use-address.ts'
import { useResource } from '../parts/use-resource.ts'
import { assetTexts as words } from '../texts/asset.ts'
import { texts, typeName } from '../texts.ts'
import { Columns } from './asset/columns.tsx'
import { Details } from './asset/details.tsx'
import { DomainChoice } from './asset/domain-choice.tsx'
import { Raw } from './asset/raw.tsx'
import { Run, Runs } from './asset/runs.tsx'
import { Statements } from './asset/statements.tsx'
import { asColumns } from './impact-question.ts'
import { ImpactTable } from './impact.tsx'
import '../style/asset.css'

type TabName = Exclude<keyof typeof words.tabs, 'lineage'>

const tabsOf = ({ urn, type }: Card): { name: TabName | 'lineage'; title: string }[] =>
  (
    [
      'details',
      ...(type === 'DATASET' ? ['columns'] : []),
      ...(hasLineage(urn) ? ['lineage', 'impact', 'statements'] : []),
      ...(type === 'DATA_JOB' ? ['runs'] : []),
      ...(type === 'DATA_PROCESS_INSTANCE' ? ['run'] : []),
      'raw'
    ] as (TabName | 'lineage')[]
  ).map((name) => ({ name, title: words.tabs[name] }))

export function AssetPage() {
  const { query } = useAddress('asset')
  const urn = query.urn ?? ''
  const withLineage = hasLineage(urn)
  // The impact of a column lists columns.
  const flags = isColumnUrn(urn) ? asColumns.searchFlags : null
  const { data, error, reload } = useResource(urn === '' ? null : urn, async (signal) => {
    const answer = await graphql(asset, { urn, withLineage, flags }, signal)
    // A placeholder has no aspects to read.
    const aspects = answer.entity?.exists === false ? {} : await readAspects(urn, signal)
    const { parent } = answer.entity ?? {}
    // The schema of the asset describes its columns.
    const ofParent = parent ? await readAspects(parent.urn, signal) : {}
    const column = columnsIn(ofParent).find(({ path }) => path === answer.entity?.fieldPath)
    return { ...answer, aspects, column, ofParent }
  })
  const card = data?.entity ? cardOf(data.entity) : null
  useEffect(() => {
    document.title = `${card ? wholeName(card) : texts.shell.asset} · ${texts.product}`
    if (card?.exists) rememberRecent(card)
  }, [card?.urn, card?.name])
  if (urn === '') return <NotFound urn={urn} />
  if (error && !data)
    return error instanceof ApiError &&
      ['NOT_FOUND', 'BAD_REQUEST', 'VALIDATION_FAILED', 'INVALID_URN', 'INVALID_CHARACTER'].includes(
        error.code
      ) ? (
      <NotFound urn={urn} />
    ) : (
      <Failure error={error} retry={reload} />
    )
  if (!data) return <Loading />
  if (!card) return <NotFound urn={urn} />
  const tabs = tabsOf(card)
  // The lineage is a page of its own.
  const tab = tabs.find(({ name }) => name === query.tab && name !== 'lineage')?.name ?? 'details'
  const { aspects, column, ofParent } = data
  const parent = data.entity?.parent ? cardOf(data.entity.parent) : null
  const isRemoved = aspects.status?.value.removed === true
  const isDeprecated = aspects.deprecation?.value.deprecated === true
  return (
    <article class="stack">
      <header class="stack">
        <div class="row">
          <span class="soft">{typeName(card.type)}</span>
          {card.platform && <span class="chip">{card.platform}</span>}
          {card.environment && <span class="chip">{card.environment}</span>}
          {isDeprecated && <span class="chip warn">{words.deprecated}</span>}
          {isRemoved && <span class="chip bad">{words.removed}</span>}
        </div>
        <h1>
          <WholeName card={card} />
        </h1>
        <div class="row">
          <code class="urn">{urn}</code>
          <CopyButton text={urn} label={texts.copy.urn} />
        </div>
        {!card.exists && <p class="chip warn">{words.placeholder}</p>}
        <div class="row apart">
          {parent && (
            <span class="row">
              {words.columnOf} <CardLink card={parent} />
              {parent.domain && (
                <a class="chip" data-testid="domain" href={assetAddress(parent.domain.urn)}>
                  {parent.domain.name}
                </a>
              )}
            </span>
          )}
          {canBeInDomain(card.type) && <DomainChoice card={card} changed={reload} />}
          {withLineage && (
            <span class="row">
              <a href={assetAddress(urn, { tab: 'impact', dir: 'up' })} data-testid="upstream-count">
                {words.upstream(data.up?.total ?? 0)}
              </a>
              <a href={assetAddress(urn, { tab: 'impact' })} data-testid="downstream-count">
                {words.downstream(data.down?.total ?? 0)}
              </a>
              {canWrite() && hasEditableLineage(urn) && (
                <a href={addressOf('edit-lineage', { urn })}>{words.editLineage}</a>
              )}
            </span>
          )}
        </div>
      </header>
      <Tabs
        label={words.tabList}
        tabs={tabs}
        current={tab}
        addressOf={(name) =>
          name === 'lineage'
            ? addressOf('lineage', { urn })
            : assetAddress(urn, { tab: name === 'details' ? null : name })
        }
      />
      {tab === 'details' && <Details aspects={aspects} column={column} ofParent={ofParent} />}
      {tab === 'columns' && <Columns urn={urn} aspects={aspects} />}
      {tab === 'impact' && <ImpactTable urn={urn} />}
      {tab === 'statements' && <Statements urn={urn} />}
      {tab === 'runs' && <Runs urn={urn} />}
      {tab === 'run' && <Run urn={urn} />}
      {tab === 'raw' && <Raw urn={urn} aspects={aspects} />}
      {tab !== 'impact' && (
        <CopyAs
          graphql={{ text: asset.text, variables: { urn, withLineage, flags } }}
          command={`tributary resolve ${quoted(urn)}`}
          urn={urn}
        />
      )}
    </article>
  )
}

const similarMaxCount = 5

function NotFound({ urn }: { urn: string }) {
  const name = lastPartOf(urn)
  const { data } = useResource(name === '' ? null : name, (signal) =>
    graphql(complete, { query: name, limit: similarMaxCount }, signal)
  )
  const similar = data?.autoCompleteForMultiple.suggestions.flatMap(({ entities }) => entities) ?? []
  return (
    <Empty isPage title={words.notFound}>
      <p>
        <code class="urn">{urn}</code>
      </p>
      <p>{words.notFoundHint}</p>
      {similar.length > 0 && (
        <>
          <h3>{words.similar}</h3>
          <ul class="list">
            {similar.map((entity) => (
              <li key={entity.urn}>
                <CardLink card={cardOf(entity)} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Empty>
  )
}
