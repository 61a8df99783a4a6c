/**
 * The start page: search, recently opened and most connected assets, top-level domains; in an empty catalog,
 * how to load something.
 */
import { addressOf } from '../address.ts'
import { assetTypes, cardOf } from '../api/entity.ts'
import { home, mostConnected } from '../api/queries.ts'
import { graphql } from '../api/request.ts'
import { CopyAs } from '../parts/copy-as.tsx'
import { FirstLoad } from '../parts/first-load.tsx'
import { recentAssets } from '../parts/recent.ts'
import { SearchField } from '../parts/search-field.tsx'
import { Failure, Loading } from '../parts/states.tsx'
import { useResource } from '../parts/use-resource.ts'
import { CardLink } from '../parts/card-line.tsx'
import { texts } from '../texts.ts'

const connectedCount = 8

export function HomePage() {
  const { data, error, reload } = useResource('home', (signal) =>
    graphql(home, { types: [...assetTypes] }, signal)
  )
  const words = texts.home
  if (error && !data) return <Failure error={error} retry={reload} />
  if (!data) return <Loading />
  const { total, isEstimate, searchResults } = data.searchAcrossEntities
  if (total === 0) return <FirstLoad />
  const recent = recentAssets()
  return (
    <div class="home stack">
      <h1>{words.title(total, isEstimate)}</h1>
      <SearchField isLarge />
      <div class="home-starts">
        {recent.length > 0 && (
          <section class="panel stack" aria-labelledby="recent">
            <h2 id="recent">{words.recent}</h2>
            <ul class="list">
              {recent.map((each) => (
                <li key={each.urn}>
                  <CardLink
                    card={{ ...each, environment: null, domain: null, nameThere: null, exists: true }}
                  />
                </li>
              ))}
            </ul>
          </section>
        )}
        <Connected />
      </div>
      <section class="panel stack" aria-labelledby="top-domains">
        <h2 id="top-domains">{words.domains}</h2>
        {data.listDomains.domains.length === 0 ? (
          <p class="soft">
            {words.noDomains} <a href={addressOf('domains')}>{words.createDomain}</a>
          </p>
        ) : (
          <div class="row">
            {data.listDomains.domains.map(({ urn, properties }) => (
              <a key={urn} class="chip" href={addressOf('domains', { urn })}>
                {properties?.name ?? urn}
              </a>
            ))}
            {data.listDomains.total > data.listDomains.domains.length && (
              <a href={addressOf('domains')}>{words.allDomains(data.listDomains.total)}</a>
            )}
          </div>
        )}
      </section>
      <section class="panel stack" aria-labelledby="some-assets">
        <h2 id="some-assets">{words.some}</h2>
        <ul class="list">
          {searchResults.map(({ entity }) => (
            <li key={entity.urn} class="row apart">
              <CardLink card={cardOf(entity)} />
              <a href={addressOf('lineage', { urn: entity.urn })}>{words.lineage}</a>
            </li>
          ))}
        </ul>
        <a href={addressOf('search', { q: '*' })}>{words.all}</a>
      </section>
      <CopyAs
        graphql={{ text: home.text, variables: { types: [...assetTypes] } }}
        command={`tributary search '*' --types ${assetTypes.join(',')}`}
      />
    </div>
  )
}

/** Requested separately, so that the page does not wait for it. */
function Connected() {
  const { data, error, reload } = useResource('connected', (signal) =>
    graphql(mostConnected, { count: connectedCount }, signal)
  )
  const words = texts.home
  return (
    <section class="panel stack" aria-labelledby="connected">
      <h2 id="connected">{words.connected}</h2>
      {error && !data && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data?.mostConnected.length === 0 && <p class="soft">{words.noLineage}</p>}
      <ul class="list">
        {data?.mostConnected.map(({ entity, upstreamCount, downstreamCount }) => (
          <li key={entity.urn} class="row apart">
            <CardLink card={cardOf(entity)} />
            <a href={addressOf('lineage', { urn: entity.urn })}>
              {words.neighbours(upstreamCount, downstreamCount)}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
