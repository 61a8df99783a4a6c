/**
 * Reads one level of the map of lineage: the domains, systems, schemas or assets of a place as boxes, and the
 * lineage between them.
 */
import { CatalogError } from '../../errors.ts'
import { orderedBy, placesUpTo } from '../../model/digit-order.ts'
import { nameFromUrn, urnOfType } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'
import { pageCount, pageStart } from '../entities/page-count.ts'
import { noDomain } from './domain-groups.ts'
import { referencesOf } from './entity-references.ts'
import type { LineageReader } from './lineage-reader.ts'
import { millisecondsSince, type LineageReport } from './lineage-report.ts'
import type { CountedMap } from './map-boxes.ts'
import { mapRules, type MapPlace } from './map-rules.ts'
import { domainIdOf } from './read-domain-lineage.ts'
import type { EntityReference } from './read-entity.ts'
import { sqlMap } from './sql-map.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'

/** The input as clients send it. The empty text means: in no domain, on no platform, in no schema. */
export type LineageMapInput = {
  domain?: string | null
  system?: string | null
  schema?: string | null
  start?: number | null
  count?: number | null
  edgeCount?: number | null
}

/** `key` opens the box: it is the value of `domain`, `system` or `schema`; of an asset, its URN. */
export type LineageMapBox = {
  key: string
  kind: 'DOMAIN' | 'SYSTEM' | 'SCHEMA' | 'ASSET'
  name: string
  /** The domain or the asset. */
  entity: EntityReference | null
  /** Most assets first. */
  platformUrns: Urn[]
  assetCount: number
  insideCount: number
  upstreamCount: number
  downstreamCount: number
  fromOutsideCount: number
  toOutsideCount: number
}

export type LineageMapEdge = { upstreamKey: string; downstreamKey: string; edgeCount: number }

export type LineageMap = {
  start: number
  total: number
  assetCount: number
  boxes: LineageMapBox[]
  edgeCount: number
  edgeTotal: number
  edgesOfPage: number
  edges: LineageMapEdge[]
  report: LineageReport
}

const boxesDefaultCount = 50
const edgesDefaultCount = 200
const platformsMaxCount = 5
const units = 5

/**
 * Counts as readDomainLineage does: direct edges, each pair of assets once; jobs in no domain are bridged, and
 * are in no box. The boxes with the most lineage come first, then those with the most assets. Throws
 * BAD_REQUEST, INVALID_URN, NOT_FOUND for a domain that does not exist, LIMIT_EXCEEDED (pageMaxCount, and in
 * SQL hiddenEntitiesMaxCount), DEADLINE_EXCEEDED.
 */
export async function readLineageMap(sources: LineageSources, input: LineageMapInput): Promise<LineageMap> {
  const start = pageStart(input.start, 'input.start')
  const count = pageCount(input.count, 'input.count', boxesDefaultCount)
  const edgeCount = pageCount(input.edgeCount, 'input.edgeCount', edgesDefaultCount)
  const [domain, system, schema] = [input.domain ?? null, input.system ?? null, input.schema ?? null]
  if (system !== null && domain === null) throw needs('system', 'domain')
  if (schema !== null && system === null) throw needs('schema', 'system')
  const domainUrn = domain === null || domain === '' ? null : urnOfType(domain, 'domain', 'input.domain')
  const startedAt = performance.now()
  return withLineage(
    sources,
    async (reader) => {
      const domainId = domain === '' ? noDomain : await domainIdOf(reader, domainUrn, 'input.domain')
      const place = { domainId, system, schema }
      const rules = mapRules(await reader.domainTree(), place)
      const counted = await (reader.map?.(rules) ?? sqlMap(reader, rules))
      const numbers = inOrder(counted).subarray(start, start + count)
      const boxes = await boxesOf(reader, counted, place, numbers)
      return {
        start,
        total: counted.boxes.length,
        assetCount: counted.visited,
        boxes,
        ...edgesBetween(counted, numbers, boxes, edgeCount),
        report: {
          complete: true,
          truncatedBy: null,
          hops: 1,
          visited: counted.visited,
          ms: millisecondsSince(startedAt),
          engine: reader.engine
        }
      }
    },
    { units }
  )
}

const needs = (field: string, other: string): CatalogError =>
  new CatalogError('BAD_REQUEST', `input.${field} needs input.${other}: the key of the box that it is in`, {
    field: `input.${field}`
  })

/** The numbers of the boxes in the order of the answer. Equal ones are in the order of their first assets. */
function inOrder({ boxes, edges }: CountedMap): Uint32Array {
  const lineage = Int32Array.from(boxes, (_, at) => {
    const number = at + 1
    const { upstream, downstream, fromOutside, toOutside } = edges
    return [upstream, downstream, fromOutside, toOutside].reduce((sum, list) => sum + (list[number] ?? 0), 0)
  })
  const bySize = descending(
    Int32Array.from(boxes, ({ assetCount }) => assetCount),
    placesUpTo(boxes.length)
  )
  return descending(lineage, bySize).map((place) => place + 1)
}

function descending(key: Int32Array, places: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const most = key.reduce((greatest, value) => Math.max(greatest, value), 0)
  return orderedBy(
    key.map((value) => most - value),
    places
  )
}

async function boxesOf(
  reader: LineageReader,
  { boxes, edges }: CountedMap,
  { system, schema }: MapPlace,
  numbers: Uint32Array
): Promise<LineageMapBox[]> {
  const ids = [...numbers].flatMap((number) => {
    const name = boxes[number - 1]?.name
    return typeof name === 'number' && name !== noDomain ? [name] : []
  })
  const referenceOf = await referencesOf(reader, ids)
  const isOfDomains = system === null
  const documents = isOfDomains ? await reader.documents(ids, ['domainProperties']) : null
  return [...numbers].flatMap((number) => {
    const box = boxes[number - 1]
    if (!box) return []
    const entity = typeof box.name === 'number' ? referenceOf(box.name) : null
    const name = documents?.get(Number(box.name))?.get('domainProperties')?.name
    const key = typeof box.name === 'string' ? box.name : (entity?.urn ?? '')
    return [
      {
        key,
        kind:
          typeof box.name === 'string'
            ? isOfDomains
              ? ('SYSTEM' as const)
              : ('SCHEMA' as const)
            : schema === null
              ? ('DOMAIN' as const)
              : ('ASSET' as const),
        name: typeof name === 'string' ? name : entity ? nameFromUrn(entity.urn) : key,
        entity,
        platformUrns: [...box.platforms]
          .sort(([a, many], [b, few]) => few - many || (a < b ? -1 : 1))
          .slice(0, platformsMaxCount)
          .map(([urn]) => urn),
        assetCount: box.assetCount,
        insideCount: edges.inside[number] ?? 0,
        upstreamCount: edges.upstream[number] ?? 0,
        downstreamCount: edges.downstream[number] ?? 0,
        fromOutsideCount: edges.fromOutside[number] ?? 0,
        toOutsideCount: edges.toOutside[number] ?? 0
      }
    ]
  })
}

/** The edges between the boxes of the page, those with the most asset edges first; then by the boxes. */
function edgesBetween(
  { edges: { pairs, downstream } }: CountedMap,
  numbers: Uint32Array,
  boxes: readonly LineageMapBox[],
  edgeCount: number
): Pick<LineageMap, 'edgeCount' | 'edgeTotal' | 'edgesOfPage' | 'edges'> {
  const keyOf = new Map([...numbers].map((number, at) => [number, boxes[at]?.key ?? '']))
  const ofPage: { upstream: number; downstream: number; count: number }[] = []
  for (let at = 0; at < pairs.counts.length; at += 1) {
    const [from = 0, to = 0] = [pairs.upstream[at], pairs.downstream[at]]
    if (keyOf.has(from) && keyOf.has(to))
      ofPage.push({ upstream: from, downstream: to, count: pairs.counts[at] ?? 0 })
  }
  ofPage.sort((a, b) => b.count - a.count || a.upstream - b.upstream || a.downstream - b.downstream)
  return {
    edgeCount: downstream.reduce((sum, count) => sum + count, 0),
    edgeTotal: pairs.counts.length,
    edgesOfPage: ofPage.length,
    edges: ofPage.slice(0, edgeCount).map((pair) => ({
      upstreamKey: keyOf.get(pair.upstream) ?? '',
      downstreamKey: keyOf.get(pair.downstream) ?? '',
      edgeCount: pair.count
    }))
  }
}
