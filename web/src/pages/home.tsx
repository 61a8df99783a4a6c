/**
 * The start page: search, loads that need attention, recently opened, own and most connected assets, and the
 * top-level domains; in an empty catalog, how to load something.
 */
import type { ComponentChildren } from 'preact'
import { addressOf, assetAddress } from '../address.ts'
import { assetTypes, cardOf, typesInDomains, type Card } from '../api/entity.ts'
import { listLoads, type Load } from '../api/loads.ts'
import { home, mostConnected, type HomeDomain } from '../api/queries.ts'
import { failedRuns } from '../api/run-queries.ts'
import { graphql } from '../api/request.ts'
import { session } from '../api/session.ts'
import { AssetRow } from '../parts/asset-row.tsx'
import { LastRun } from '../parts/run-chip.tsx'
import { WholeName } from '../parts/card-line.tsx'
import { CopyAs } from '../parts/copy-as.tsx'
import { FirstLoad } from '../parts/first-load.tsx'
import { recentAssets } from '../parts/recent.ts'
import { SearchField } from '../parts/search-field.tsx'
import { Failure, Loading } from '../parts/states.tsx'
import { useResource } from '../parts/use-resource.ts'
import { Ago } from '../parts/when.tsx'
import { texts } from '../texts.ts'
import { StateChip } from './loads/state-chip.tsx'
import { withoutDomain } from './search-question.ts'
import '../style/home.css'

const connectedCount = 6
const words = texts.home

export function HomePage() {
  const me = session.value?.actor ?? ''
  const variables = { types: [...assetTypes], inDomains: typesInDomains, me }
  const { data, error, reload } = useResource(`home ${me}`, (signal) => graphql(home, variables, signal))
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data) return <Loading />
  const { total, isEstimate } = data.searchAcrossEntities
  if (total === 0) return <FirstLoad />
  const { mine } = data
  return (
    <div class="home stack">
      <header class="home-head stack">
        <h1>{words.title(total, isEstimate)}</h1>
        <SearchField isLarge />
        <a href={addressOf('search', { q: '*' })}>{words.all}</a>
      </header>
      <div class="home-starts">
        <FailedRuns />
        <FailedLoads />
      </div>
      <Domains {...data.listDomains} without={data.withoutDomain.total} />
      <div class="home-starts">
        <Assets id="recent" title={words.recent} cards={recentAssets().map(asCard)} />
        <Assets id="mine" title={words.mine} cards={mine.searchResults.map(({ entity }) => cardOf(entity))}>
          {mine.total > mine.searchResults.length && (
            <a href={addressOf('search', { q: '*', f: `owners:${me}` })}>{words.allMine(mine.total)}</a>
          )}
        </Assets>
        <Connected />
      </div>
      <CopyAs
        graphql={{ text: home.text, variables }}
        command={`tributary search '*' --types ${assetTypes.join(',')}`}
      />
    </div>
  )
}

const asCard = (recent: ReturnType<typeof recentAssets>[number]): Card => ({
  ...recent,
  environment: null,
  domain: null,
  nameThere: null,
  exists: true
})

function Assets({
  id,
  title,
  cards,
  children
}: {
  id: string
  title: string
  cards: readonly Card[]
  children?: ComponentChildren
}) {
  if (cards.length === 0) return null
  return (
    <section class="panel stack" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ul class="list">
        {cards.map((card) => (
          <li key={card.urn}>
            <AssetRow card={card} />
          </li>
        ))}
      </ul>
      {children}
    </section>
  )
}

const byName = (a: HomeDomain, b: HomeDomain): number =>
  (a.properties?.name ?? a.urn).localeCompare(b.properties?.name ?? b.urn)

const Domains = ({
  total,
  domains,
  without
}: {
  total: number
  domains: readonly HomeDomain[]
  without: number
}) => (
  <section class="stack" aria-labelledby="top-domains">
    <div class="row apart">
      <h2 id="top-domains">{words.domains}</h2>
      {total > domains.length && <a href={addressOf('domains')}>{words.allDomains(total)}</a>}
    </div>
    {domains.length === 0 ? (
      <p class="soft">
        {words.noDomains} <a href={addressOf('domains')}>{words.createDomain}</a>
      </p>
    ) : (
      <ul class="domain-cards">
        {domains.toSorted(byName).map(({ urn, properties, childCount, entities }) => (
          <li key={urn}>
            <a class="panel domain-card" href={addressOf('domains', { urn })}>
              <strong>{properties?.name ?? urn}</strong>
              <span class="soft">{words.domainHas(entities?.total ?? 0, childCount)}</span>
            </a>
          </li>
        ))}
        {without > 0 && (
          <li>
            <a class="panel domain-card without" href={withoutDomain}>
              <strong>{texts.search.noDomain}</strong>
              <span class="soft">{words.domainHas(without, 0)}</span>
            </a>
          </li>
        )}
      </ul>
    )}
  </section>
)

const failedCount = 4

/** Jobs whose last run failed; nothing if all went well. */
function FailedRuns() {
  const { data } = useResource('failed runs', (signal) => graphql(failedRuns, { count: failedCount }, signal))
  const failed = (data?.failedRuns ?? []).flatMap((run) =>
    run.job ? [{ ...run, job: cardOf(run.job) }] : []
  )
  if (failed.length === 0) return null
  return (
    <section class="panel stack notice bad" aria-labelledby="failed-runs">
      <h2 id="failed-runs">{words.failedRuns}</h2>
      <ul class="list">
        {failed.map(({ job, error, ...run }) => (
          <li key={run.run.urn} class="notice-row">
            <LastRun run={{ ...run, job }} />
            <a class="name" href={assetAddress(job.urn)}>
              <WholeName card={job} />
            </a>
            {error && <span class="soft">{error.message}</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** How many of the newest loads are looked at, and how many are shown. */
const [loadsReadCount, loadsShownCount] = [20, 3]

const needsAttention = ({ state, counts, dryRun, undoneBy }: Load): boolean =>
  !dryRun && undoneBy === undefined && (['failed', 'aborted'].includes(state) || counts.rejected > 0)

/** Requested separately, as what follows, so that the page does not wait for it. Nothing if all went well. */
function FailedLoads() {
  const { data } = useResource('failed loads', () =>
    listLoads({ state: null, cursor: null, limit: loadsReadCount })
  )
  const failed = (data?.loads ?? []).filter(needsAttention).slice(0, loadsShownCount)
  if (failed.length === 0) return null
  return (
    <section class="panel stack notice" aria-labelledby="failed-loads">
      <h2 id="failed-loads">{words.failedLoads}</h2>
      <ul class="list">
        {failed.map((load) => (
          <li key={load.id} class="notice-row">
            <span class="last-run">
              <StateChip load={load} /> <Ago millis={load.createdAt} />
            </span>
            <a href={addressOf('loads', { id: load.id })}>
              {words.loadOf(load.source, load.counts.received)}
            </a>
            {load.error && <span class="soft">{load.error}</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Connected() {
  const { data, error, reload } = useResource('connected', (signal) =>
    graphql(mostConnected, { count: connectedCount }, signal)
  )
  return (
    <section class="panel stack" aria-labelledby="connected">
      <h2 id="connected">{words.connected}</h2>
      {error && !data && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data?.mostConnected.length === 0 && <p class="soft">{words.noLineage}</p>}
      <ul class="list">
        {data?.mostConnected.map(({ entity, upstreamCount, downstreamCount }) => (
          <li key={entity.urn}>
            <AssetRow card={cardOf(entity)}>
              <p class="row-about">
                <a href={addressOf('lineage', { urn: entity.urn })}>
                  {words.neighbours(upstreamCount, downstreamCount)}
                </a>
              </p>
            </AssetRow>
          </li>
        ))}
      </ul>
    </section>
  )
}
