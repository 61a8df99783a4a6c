/** The page of an asset: its name, place and domain, and a tab for each kind of detail. */
import { useEffect } from 'preact/hooks'
import { cardOf, lastPartOf, wholeName } from '../api/entity.ts'
import { ApiError } from '../api/errors.ts'
import { asset, complete } from '../api/queries.ts'
import { graphql } from '../api/request.ts'
import { quoted } from '../command-line.ts'
import { CardLink } from '../parts/card-line.tsx'
import { CopyAs } from '../parts/copy-as.tsx'
import { lazyPage } from '../parts/lazy-page.ts'
import { rememberRecent } from '../parts/recent.ts'
import { Empty, Failure, Loading } from '../parts/states.tsx'
import { AssetTabs, tabsOf } from '../parts/asset-tabs.tsx'
import { useAddress } from '../parts/use-address.ts'
import { useResource } from '../parts/use-resource.ts'
import { assetTexts as words } from '../texts/asset.ts'
import { texts } from '../texts.ts'
import { Details } from './asset/details.tsx'
import { Header } from './asset/header.tsx'
import { Raw } from './asset/raw.tsx'
import { questionOf, readAsset } from './asset/read-asset.ts'
import '../style/asset.css'

// Tabs whose tables or pictures a reader of the overview does not wait for.
const Columns = lazyPage(() => import('./asset/columns.tsx').then((file) => file.Columns))
const ImpactTable = lazyPage(() => import('./impact.tsx').then((file) => file.ImpactTable))
const Runs = lazyPage(() => import('./asset/runs.tsx').then((file) => file.Runs))
const Run = lazyPage(() => import('./asset/runs.tsx').then((file) => file.Run))
const Statements = lazyPage(() => import('./asset/statements.tsx').then((file) => file.Statements))
const Lineage = lazyPage(() => import('../graph/page.tsx').then(({ EmbeddedLineage }) => EmbeddedLineage))

export function AssetPage() {
  const { query } = useAddress('asset')
  const urn = query.urn ?? ''
  const { data, error, reload } = useResource(urn === '' ? null : urn, (signal) => readAsset(urn, signal))
  const card = data?.card
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
  if (data === undefined) return <Loading />
  if (!data || !card) return <NotFound urn={urn} />
  const { aspects } = data
  const hasAspects = Object.keys(aspects).length > 0
  const tabs = tabsOf(card, hasAspects)
  const tab = tabs.find((name) => name === query.tab) ?? 'details'
  return (
    <article class="stack">
      <Header asset={data} isShort={tab !== 'details'} changed={reload} />
      <AssetTabs card={card} current={tab} hasAspects={hasAspects} />
      {tab === 'details' && <Details asset={data} />}
      {tab === 'lineage' && <Lineage />}
      {tab === 'columns' && <Columns urn={urn} aspects={aspects} />}
      {tab === 'impact' && <ImpactTable urn={urn} />}
      {tab === 'statements' && <Statements urn={urn} />}
      {tab === 'runs' && <Runs urn={urn} />}
      {tab === 'run' && <Run urn={urn} />}
      {tab === 'raw' && <Raw urn={urn} aspects={aspects} />}
      {tab !== 'impact' && tab !== 'lineage' && (
        <CopyAs
          graphql={{ text: asset.text, variables: questionOf(urn) }}
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
