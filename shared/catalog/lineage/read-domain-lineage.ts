/**
 * Reads lineage between domains: the edges into or out of one domain, or between all, each with its asset
 * edges.
 */
import type { LineageDirection } from '../../model/walk.ts'
import { urnOfType } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'
import { countDistinct, domainEdges, type DomainEdge } from './domain-edges.ts'
import { groupsOf, nearDomains, noDomain, type DomainQuestion } from './domain-groups.ts'
import { referencesOf } from './entity-references.ts'
import { jobTypes } from './graph-question.ts'
import type { EntityClass, LineageReader } from './lineage-reader.ts'
import { millisecondsSince, type LineageReport } from './lineage-report.ts'
import { pageCount, pageStart } from '../entities/page-count.ts'
import { entityNotFound, type EntityReference } from './read-entity.ts'
import { throughHidden } from './through-hidden.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'

/** The input as clients send it. */
export type DomainLineageInput = {
  urn?: string | null
  direction: LineageDirection
  within?: string | null
  includeDescendants?: boolean | null
  start?: number | null
  count?: number | null
}

/** One edge from domain to domain; a domain is null for assets that are in none. */
export type DomainToDomain = {
  upstream: EntityReference | null
  downstream: EntityReference | null
  edgeCount: number
  upstreamAssetCount: number
  downstreamAssetCount: number
  /**
   * A page of the asset edges: by the ids of the requested side, then by those of the other side. Throws
   * BAD_REQUEST, LIMIT_EXCEEDED.
   */
  pageOfEdges: (
    start: number | null | undefined,
    count: number | null | undefined
  ) => { start: number; edges: { upstreamId: number; downstreamId: number }[] }
}

export type DomainLineage = {
  start: number
  total: number
  edgeCount: number
  edges: DomainToDomain[]
  report: LineageReport
}

const domainsDefaultCount = 100
const membersSliceCount = 2_000

/**
 * Counts direct edges between assets, each pair once. Jobs in no domain are bridged; soft-deleted entities
 * are ignored, even between two others. Throws BAD_REQUEST, INVALID_URN, NOT_FOUND for a domain that does not
 * exist, LIMIT_EXCEEDED (pageMaxCount, hiddenEntitiesMaxCount, domainEdgesMaxCount), DEADLINE_EXCEEDED.
 */
export async function readDomainLineage(
  sources: LineageSources,
  input: DomainLineageInput
): Promise<DomainLineage> {
  const start = pageStart(input.start, 'input.start')
  const count = pageCount(input.count, 'input.count', domainsDefaultCount)
  const domainUrn = input.urn ? urnOfType(input.urn, 'domain', 'input.urn') : null
  const withinUrn = input.within ? urnOfType(input.within, 'domain', 'input.within') : null
  const startedAt = performance.now()
  return withLineage(
    sources,
    async (reader) => {
      const question: DomainQuestion = {
        domainId: await domainIdOf(reader, domainUrn, 'input.urn'),
        includesDescendants: input.includeDescendants ?? true,
        withinId: await domainIdOf(reader, withinUrn, 'input.within')
      }
      const { edges, total, visited } = await addUp(
        reader,
        question,
        input.direction,
        domainUrn === null && withinUrn === null ? await reader.domainsInUse() : []
      )
      const page = edges.slice(start, start + count)
      const domainOf = await referencesOf(
        reader,
        [...new Set(page.flatMap(({ nearGroup, farGroup }) => [nearGroup, farGroup]))].filter(
          (id) => id !== noDomain
        )
      )
      return {
        start,
        total: edges.length,
        edgeCount: total,
        edges: page.map((edge) => shapeOf(edge, input.direction, domainOf)),
        report: {
          complete: true,
          truncatedBy: null,
          hops: 1,
          visited,
          ms: millisecondsSince(startedAt),
          engine: reader.engine
        }
      }
    },
    { units: 5 }
  )
}

/** The id of the domain; null for no domain. Throws NOT_FOUND. */
export async function domainIdOf(
  reader: LineageReader,
  urn: Urn | null,
  field: string
): Promise<number | null> {
  if (urn === null) return null
  const known = (await reader.find([urn])).get(urn)
  if (!known) throw entityNotFound(urn, field)
  return known.id
}

const fateOf = ({ isRemoved, entityType, domainId }: EntityClass) =>
  isRemoved ? 'none' : domainId === null && jobTypes.has(entityType) ? 'through' : 'shown'

async function addUp(
  reader: LineageReader,
  question: DomainQuestion,
  direction: LineageDirection,
  inUse: readonly number[]
): Promise<{ edges: DomainEdge[]; total: number; visited: number }> {
  const tree = await reader.domainTree()
  const near = nearDomains(tree, question, inUse)
  const { nearGroupOf, farGroupOf } = groupsOf(tree, question, near)
  const look = throughHidden(reader, { direction, level: 'asset', fateOf: fateOf })
  const members = await reader.members(near)
  const found = domainEdges()
  for (let begin = 0; begin < members.length; begin += membersSliceCount) {
    const slice = members.subarray(begin, begin + membersSliceCount)
    const nearClassOf = await reader.classes(slice)
    const living = slice.filter((id) => nearClassOf(id)?.isRemoved === false)
    const { beyond, classOf } = await look(living)
    for (const nearId of living) {
      // Bridging may visit many thousands of jobs.
      await reader.pause()
      const nearGroup = nearGroupOf(nearClassOf(nearId)?.domainId ?? null)
      if (nearGroup === null) continue
      for (const farId of beyond(nearId).met) {
        const farGroup = farGroupOf(classOf(farId)?.domainId ?? null)
        if (farGroup !== null && farGroup !== nearGroup) found.add(nearGroup, nearId, farGroup, farId)
      }
    }
  }
  return { edges: found.edges(), total: found.total(), visited: members.length }
}

function shapeOf(
  { nearGroup, farGroup, nearIds, farIds, nearCount }: DomainEdge,
  direction: LineageDirection,
  domainOf: (id: number) => EntityReference | null
): DomainToDomain {
  const isDown = direction === 'DOWNSTREAM'
  const [upstreamIds, downstreamIds] = isDown ? [nearIds, farIds] : [farIds, nearIds]
  const farCount = countDistinct(farIds)
  return {
    upstream: domainOf(isDown ? nearGroup : farGroup),
    downstream: domainOf(isDown ? farGroup : nearGroup),
    edgeCount: nearIds.length,
    upstreamAssetCount: isDown ? nearCount : farCount,
    downstreamAssetCount: isDown ? farCount : nearCount,
    pageOfEdges(wantedStart, wantedCount) {
      const start = pageStart(wantedStart, 'start')
      const end = start + pageCount(wantedCount, 'count')
      const later = downstreamIds.slice(start, end)
      return {
        start,
        edges: upstreamIds
          .slice(start, end)
          .map((upstreamId, at) => ({ upstreamId, downstreamId: later[at] ?? 0 }))
      }
    }
  }
}
