/** Reads one place of the map: its boxes as they are shown, the edges between them, and the path to it. */
import { addressOf, assetAddress, type Query } from '../../address.ts'
import { lineageMap, type RawMapBox } from '../../api/domain-queries.ts'
import { cardOf, hasLineage } from '../../api/entity.ts'
import { graphql } from '../../api/request.ts'
import { platformTitle } from '../../parts/platforms.ts'
import { mapTexts as words } from '../../texts/map.ts'
import { texts, typeName } from '../../texts.ts'
import { nameOfDomain } from '../domains/use-tree.ts'
import type { MapEdge } from './map-layout.ts'

/** More boxes, or more arrows, are not legible. */
export const boxesMaxCount = 40
const edgesMaxCount = 80

export type Place = { domain?: string | undefined; system?: string | undefined; schema?: string | undefined }

export type MapBox = {
  id: string
  title: string
  facts: string
  /** More about it, in words. */
  hint: string
  href: string
  type: string
  platforms: string[]
}
export type Crumb = { name: string; href: string }
export type MapOfPlace = {
  boxes: MapBox[]
  edges: MapEdge[]
  /** The place and those around it, the whole catalog first. */
  crumbs: Crumb[]
  total: number
  found: string
  /** Of its boxes; MIXED if they are of several. */
  kind: string
  /** Without the box of what is in no domain, which is connected with nearly all; null where there is none beside domains. */
  folded: { boxes: MapBox[]; edges: MapEdge[]; count: number } | null
  edgesOfPage: number
}

/** The empty key has a form of its own in addresses, which leave out what is empty. */
const keyIn = (text: string | undefined): string | undefined => (text?.startsWith('-') ? text.slice(1) : text)
const inAddress = (key: string | undefined): string | undefined =>
  key === '' || key?.startsWith('-') ? `-${key}` : key

export const placeOf = ({ domain, system, schema }: { [name: string]: string | undefined }): Place =>
  Object.fromEntries(
    Object.entries({ domain: keyIn(domain), system: keyIn(system), schema: keyIn(schema) }).filter(
      ([, value]) => value !== undefined
    )
  )

export const mapAddress = ({ domain, system, schema }: Place, rest: Query = {}): string =>
  addressOf('map', {
    domain: inAddress(domain),
    system: inAddress(system),
    schema: inAddress(schema),
    ...rest
  })

function systemTitle(key: string): string {
  const [platform = '', environment] = key.split(',')
  const title = platform === '' ? words.noPlatform : platformTitle(platform)
  // Nearly all are of this environment.
  return environment === undefined || environment === 'PROD' ? title : `${title} ${environment}`
}

export async function readMap(place: Place, start: number, signal?: AbortSignal): Promise<MapOfPlace> {
  const input = { ...place, start, count: boxesMaxCount, edgeCount: edgesMaxCount }
  const isInDomain = place.domain !== undefined && place.domain !== ''
  const { lineageMap: map, domain } = await graphql(
    lineageMap,
    { input, domain: place.domain ?? '', isInDomain },
    signal
  )
  // Without domains, the first level would be a single box.
  if (place.domain === undefined && map.total === 1 && map.boxes[0]?.key === '')
    return readMap({ domain: '' }, start, signal)
  const kinds = new Set(map.boxes.map(({ kind }) => kind))
  const [kind = 'MIXED'] = kinds.size === 1 ? kinds : []
  const above = (domain?.parentDomains?.domains ?? []).toReversed()
  const steps: [string, Place][] = [
    [words.title, {}],
    ...above.map((each): [string, Place] => [nameOfDomain(each), { domain: each.urn }])
  ]
  if (place.domain !== undefined)
    steps.push([domain ? nameOfDomain(domain) : words.noDomain, { domain: place.domain }])
  if (place.system !== undefined)
    steps.push([systemTitle(place.system), { domain: place.domain, system: place.system }])
  if (place.schema !== undefined) steps.push([place.schema || words.noSchema, place])
  const boxes = map.boxes.map((box) => shown(box, place))
  const edges = map.edges.map(({ upstreamKey, downstreamKey, edgeCount }) => ({
    from: upstreamKey,
    to: downstreamKey,
    count: edgeCount
  }))
  const none = map.boxes.find((box) => box.kind === 'DOMAIN' && box.key === '')
  return {
    boxes,
    edges,
    crumbs: steps.map(([name, at]) => ({ name, href: mapAddress(at) })),
    total: map.total,
    found: words.found(words.kinds[kind](map.total), texts.assets(map.assetCount), map.edgeCount),
    kind,
    folded: none && boxes.length > 2 ? { ...withoutNone(boxes, edges), count: none.assetCount } : null,
    edgesOfPage: map.edgesOfPage
  }
}

const withoutNone = (boxes: readonly MapBox[], edges: readonly MapEdge[]) => ({
  boxes: boxes.filter(({ id }) => id !== ''),
  edges: edges.filter(({ from, to }) => from !== '' && to !== '')
})

function shown(box: RawMapBox, place: Place): MapBox {
  const card = box.kind === 'ASSET' && box.entity ? cardOf(box.entity) : null
  const [into, out] = [box.fromOutsideCount, box.toOutsideCount]
  const hasEdges = [into, out, box.upstreamCount, box.downstreamCount].some((count) => count > 0)
  const titles = {
    DOMAIN: box.key === '' ? words.noDomain : box.name,
    SYSTEM: systemTitle(box.key),
    SCHEMA: box.key || words.noSchema,
    ASSET: card?.name ?? box.name
  }
  const hrefs = {
    DOMAIN: () => mapAddress({ domain: box.key }),
    SYSTEM: () => mapAddress({ ...place, system: box.key }),
    SCHEMA: () => mapAddress({ ...place, schema: box.key }),
    ASSET: () =>
      hasEdges && hasLineage(box.key) ? addressOf('lineage', { urn: box.key }) : assetAddress(box.key)
  }
  return {
    id: box.key,
    title: titles[box.kind],
    facts: [card ? typeName(card.type) : texts.assets(box.assetCount), words.outside(into, out)]
      .filter(Boolean)
      .join(' · '),
    hint: [
      into + out > 0 && words.outsideHint(into, out),
      box.insideCount > 0 && words.inside(box.insideCount)
    ]
      .filter(Boolean)
      .join(' '),
    href: hrefs[box.kind](),
    type: card?.type ?? 'DOMAIN',
    platforms: box.platforms.map(({ name }) => name)
  }
}
