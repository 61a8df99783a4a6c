/** Lineage between domains on their own pages: a level of the map, or one domain with all others. */
import { useId, useMemo } from 'preact/hooks'
import { addressOf } from '../../address.ts'
import { domainMapOf, type RawDomainLineage } from '../../api/domain-queries.ts'
import { graphql } from '../../api/request.ts'
import type { NamedDomain } from '../../api/queries.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { useResource } from '../../parts/use-resource.ts'
import { domainTexts as words } from '../../texts/domains.ts'
import { mapTexts } from '../../texts/map.ts'
import type { MapEdge } from '../map/map-layout.ts'
import { MapList, MapPicture } from '../map/map-picture.tsx'
import { mapAddress, readMap, type MapBox, type MapOfPlace } from '../map/read-map.ts'
import { nameOfDomain } from './use-tree.ts'

/** More edges are not legible. */
const edgesMaxCount = 60

/** What to show: the top level of the map, one domain with all others, or what is inside of one. */
export type MapScope =
  { kind: 'top' } | { kind: 'of'; urn: string; name: string } | { kind: 'within'; urn: string; name: string }

const wordsOf = (scope: MapScope): { title: string; none: string } =>
  scope.kind === 'top'
    ? { title: words.map, none: words.mapNone }
    : scope.kind === 'of'
      ? { title: words.mapOf(scope.name), none: words.mapNoneOf }
      : { title: words.mapWithin(scope.name), none: words.mapNoneWithin }

type Shown = Pick<MapOfPlace, 'boxes' | 'edges' | 'folded' | 'edgesOfPage'>

export function DomainMap({ scope }: { scope: MapScope }) {
  const id = useId()
  const urn = scope.kind === 'top' ? undefined : scope.urn
  const { data, error, reload } = useResource<Shown>(`map ${scope.kind} ${urn ?? ''}`, (signal) =>
    scope.kind === 'of'
      ? readOthers(scope.urn, signal)
      : readMap(urn === undefined ? {} : { domain: urn }, 0, signal)
  )
  const { title, none } = wordsOf(scope)
  const shown = useMemo(() => {
    const drawn = data?.folded ?? data
    return drawn && { boxes: drawn.boxes.map(toDomain), edges: drawn.edges }
  }, [data])
  return (
    <section class="panel stack" aria-labelledby={id} data-testid="domain-map" data-scope={scope.kind}>
      <div class="row apart">
        <h2 id={id}>{title}</h2>
        {scope.kind !== 'of' && (
          <a href={mapAddress(urn === undefined ? {} : { domain: urn })}>{mapTexts.open}</a>
        )}
      </div>
      {error && !data && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data?.edges.length === 0 && <p class="soft">{none}</p>}
      {data && data.edgesOfPage > data.edges.length && (
        <p role="status">{words.mapCut(data.edges.length, data.edgesOfPage)}</p>
      )}
      {shown && shown.edges.length > 0 && (
        <>
          <MapPicture {...shown} here={urn} />
          <MapList {...shown} />
        </>
      )}
    </section>
  )
}

/** On these pages, the box of a domain leads to its page. */
const toDomain = (box: MapBox): MapBox =>
  box.id.startsWith('urn:li:domain:') ? { ...box, href: addressOf('domains', { urn: box.id }) } : box

async function readOthers(urn: string, signal: AbortSignal) {
  const { up, down } = await graphql(domainMapOf, { urn, count: edgesMaxCount }, signal)
  const boxes = new Map<string, MapBox>()
  const boxOf = (domain: NamedDomain | null): string => {
    const id = domain?.urn ?? ''
    const title = domain ? nameOfDomain(domain) : mapTexts.noDomain
    boxes.set(id, {
      id,
      title,
      facts: '',
      hint: '',
      href: mapAddress({ domain: id }),
      type: 'DOMAIN',
      platforms: []
    })
    return id
  }
  const edgesOf = ({ edges }: RawDomainLineage): MapEdge[] =>
    edges.map(({ upstream, downstream, edgeCount }) => ({
      from: boxOf(upstream),
      to: boxOf(downstream),
      count: edgeCount
    }))
  const edges = [...edgesOf(down), ...edgesOf(up)].sort((a, b) => b.count - a.count)
  return { boxes: [...boxes.values()], edges, folded: null, edgesOfPage: down.total + up.total }
}
