/** Lineage between domains: as a drawing, and as a list with the same numbers. */
import { useId, useMemo } from 'preact/hooks'
import { addressOf } from '../../address.ts'
import {
  domainMap,
  domainMapOf,
  domainMapWithin,
  type RawDomainEdge,
  type RawDomainLineage
} from '../../api/domain-queries.ts'
import { graphql } from '../../api/request.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { useResource } from '../../parts/use-resource.ts'
import { domainTexts as words } from '../../texts/domains.ts'
import { texts } from '../../texts.ts'
import { drawMap, mergeEdges, outside, type MapPicture } from './map-layout.ts'
import { nameOfDomain } from './use-tree.ts'

/** More edges are not legible. */
const edgesMaxCount = 60
const nameMaxLength = 20

/**
 * The edges to show: between top-level domains, between one domain and all others, or between the sub-domains
 * of one.
 */
export type MapScope =
  { kind: 'top' } | { kind: 'of'; urn: string; name: string } | { kind: 'within'; urn: string; name: string }

const wordsOf = (scope: MapScope): { title: string; none: string } =>
  scope.kind === 'top'
    ? { title: words.map, none: words.mapNone }
    : scope.kind === 'of'
      ? { title: words.mapOf(scope.name), none: words.mapNoneOf }
      : { title: words.mapWithin(scope.name), none: words.mapNoneWithin }

export function DomainMap({ scope }: { scope: MapScope }) {
  const id = useId()
  const urn = scope.kind === 'top' ? null : scope.urn
  const { data, error, reload } = useResource(`map ${scope.kind} ${urn ?? ''}`, (signal) =>
    readMap(scope, signal)
  )
  const picture = useMemo(
    () => data && drawMap(data.edges.slice(0, edgesMaxCount), (of) => data.names.get(of) ?? words.noDomain),
    [data]
  )
  return (
    <section class="panel stack" aria-labelledby={id} data-testid="domain-map" data-scope={scope.kind}>
      <h2 id={id}>{wordsOf(scope).title}</h2>
      {error && !data && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data && picture && data.edges.length === 0 && <p class="soft">{wordsOf(scope).none}</p>}
      {data && picture && data.edges.length > 0 && (
        <>
          {data.total > picture.arrows.length && (
            <p role="status">{words.mapCut(picture.arrows.length, data.total)}</p>
          )}
          <Picture picture={picture} here={urn} label={wordsOf(scope).title} />
          <details>
            <summary>{words.mapLabel(picture.boxes.length, picture.arrows.length)}</summary>
            <ul class="list">
              {picture.arrows.map(({ from, to, fromName, toName, count }) => (
                <li key={`${from} ${to}`} data-from={from} data-to={to} data-count={count}>
                  {words.mapEdge(fromName, toName, count)}
                </li>
              ))}
            </ul>
          </details>
        </>
      )}
    </section>
  )
}

async function partsOf(scope: MapScope, signal: AbortSignal): Promise<RawDomainLineage[]> {
  const count = edgesMaxCount
  if (scope.kind === 'of') return Object.values(await graphql(domainMapOf, { urn: scope.urn, count }, signal))
  const { domainLineage } =
    scope.kind === 'top'
      ? await graphql(domainMap, { count }, signal)
      : await graphql(domainMapWithin, { urn: scope.urn, count }, signal)
  return [domainLineage]
}

async function readMap(scope: MapScope, signal: AbortSignal) {
  const parts = await partsOf(scope, signal)
  const raw = parts.flatMap(({ edges }) => edges)
  return {
    edges: mergeEdges(raw),
    total: parts.reduce((sum, { total }) => sum + total, 0) - selfEdges(raw),
    names: new Map(
      raw.flatMap(({ upstream, downstream }) =>
        [upstream, downstream].flatMap((domain): [string, string][] =>
          domain ? [[domain.urn, nameOfDomain(domain)]] : []
        )
      )
    )
  }
}

/** The edges between assets without a domain, which are not lineage between domains. */
const selfEdges = (edges: readonly RawDomainEdge[]): number =>
  edges.filter(({ upstream, downstream }) => (upstream?.urn ?? outside) === (downstream?.urn ?? outside))
    .length

const shortened = (name: string): string =>
  name.length > nameMaxLength ? `${name.slice(0, nameMaxLength - 1)}…` : name

const Picture = ({ picture, here, label }: { picture: MapPicture; here: string | null; label: string }) => {
  const arrow = useId()
  const { bounds } = picture
  return (
    <div class="map-scroll" tabIndex={0} role="group" aria-label={label}>
      <svg
        width={bounds.width}
        height={bounds.height}
        viewBox={`${bounds.x} ${bounds.y} ${bounds.width} ${bounds.height}`}
        aria-label={words.mapLabel(picture.boxes.length, picture.arrows.length)}
      >
        <defs>
          <marker
            id={arrow}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="14"
            markerHeight="14"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0 0 8 4 0 8z" class="map-head" />
          </marker>
        </defs>
        {picture.arrows.map(({ from, to, fromName, toName, count, path, width }) => (
          <path
            key={`${from} ${to}`}
            class="map-edge"
            d={path}
            stroke-width={width}
            marker-end={`url(#${arrow})`}
            data-edge={`${from} ${to}`}
            data-count={count}
          >
            <title>{words.mapEdge(fromName, toName, count)}</title>
          </path>
        ))}
        {picture.boxes.map(({ urn, name, box }) => (
          <MapBox key={urn} urn={urn} name={name} box={box} isHere={urn === here} />
        ))}
        {picture.arrows.map(({ from, to, count, label }) => (
          <text key={`${from} ${to}`} class="map-count" x={label.x} y={label.y - 4} aria-hidden="true">
            {texts.count(count)}
          </text>
        ))}
      </svg>
    </div>
  )
}

function MapBox({
  urn,
  name,
  box: { x, y, width, height },
  isHere
}: MapPicture['boxes'][number] & { isHere: boolean }) {
  const content = (
    <>
      <title>{name}</title>
      <rect x={x} y={y} width={width} height={height} rx="6" class={isHere ? 'map-box here' : 'map-box'} />
      <text x={x + width / 2} y={y + height / 2 + 5} class="map-name">
        {shortened(name)}
      </text>
    </>
  )
  return urn === outside ? (
    <g data-node="">{content}</g>
  ) : (
    <a href={addressOf('domains', { urn })} data-node={urn} aria-label={name}>
      {content}
    </a>
  )
}
