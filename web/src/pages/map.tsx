/** The map of lineage by level: domains, then systems, schemas and assets, each place at an address of its own. */
import { lineageMap } from '../api/domain-queries.ts'
import { graphqlCommand } from '../command-line.ts'
import { CopyAs } from '../parts/copy-as.tsx'
import { Check } from '../parts/fields.tsx'
import { Empty, Failure, Loading } from '../parts/states.tsx'
import { useAddress } from '../parts/use-address.ts'
import { useResource } from '../parts/use-resource.ts'
import { mapTexts as words } from '../texts/map.ts'
import { texts } from '../texts.ts'
import { MapList, MapPicture } from './map/map-picture.tsx'
import { boxesMaxCount, placeOf, readMap } from './map/read-map.ts'

export function MapPage() {
  const address = useAddress('map')
  const place = placeOf(address.query)
  const start = Math.max(0, Math.floor(Number(address.query.start)) || 0)
  const { data, last, error, reload } = useResource(`map ${JSON.stringify(place)} ${start}`, (signal) =>
    readMap(place, start, signal)
  )
  if (error && !data) return <Failure error={error} retry={reload} />
  // The place before stays until the next one is there.
  const map = data ?? last
  if (!map) return <Loading />
  const above = map.crumbs.slice(0, -1)
  const title = above.length === 0 ? words.all : (map.crumbs.at(-1)?.name ?? '')
  const end = start + map.boxes.length
  const isWhole = address.query.none === 'on'
  const drawn = (!isWhole && map.folded) || map
  const question = {
    text: lineageMap.text,
    variables: { input: { ...place, start }, domain: place.domain ?? '', isInDomain: Boolean(place.domain) }
  }
  return (
    <div class="stack map-page">
      <section class="panel stack" aria-labelledby="map-title" aria-busy={data === undefined}>
        <div>
          {above.length > 0 && (
            <nav aria-label={words.path} class="path">
              {above.map(({ name, href }) => (
                <a key={href} href={href}>
                  {name}
                </a>
              ))}
            </nav>
          )}
          <h1 id="map-title">{title}</h1>
        </div>
        <ol class="map-levels" aria-label={words.levels}>
          {Object.entries(words.level).map(([kind, name]) => (
            <li key={kind} aria-current={kind === map.kind ? 'step' : undefined}>
              {name}
            </li>
          ))}
        </ol>
        <CopyAs graphql={question} command={graphqlCommand(question)} />
        {map.total === 0 ? (
          <Empty title={above.length === 0 ? words.empty : words.none}>
            {above.length > 0 && <p>{words.noneHint}</p>}
          </Empty>
        ) : (
          <>
            <div class="row apart">
              <p role="status">
                {map.found}. {(start > 0 || end < map.total) && words.page(start + 1, end, map.total)}{' '}
                {map.edgesOfPage > map.edges.length && words.cut(map.edges.length, map.edgesOfPage)}{' '}
                {map.edges.length === 0 && words.noEdges}
              </p>
              {(start > 0 || end < map.total) && (
                <div class="row">
                  {start > 0 && (
                    <a
                      class="button"
                      href={address.with({ start: Math.max(0, start - boxesMaxCount) || null })}
                    >
                      {words.previous}
                    </a>
                  )}
                  {end < map.total && (
                    <a class="button" href={address.with({ start: end })}>
                      {words.next}
                    </a>
                  )}
                </div>
              )}
            </div>
            {map.folded && (
              <Check
                role="switch"
                label={words.showNone(texts.assets(map.folded.count))}
                value={isWhole}
                change={(isOn) => address.change({ none: isOn ? 'on' : null }, { replace: true })}
              />
            )}
            <MapPicture boxes={drawn.boxes} edges={drawn.edges} isPage />
            <MapList boxes={map.boxes} edges={map.edges} />
          </>
        )}
      </section>
    </div>
  )
}
