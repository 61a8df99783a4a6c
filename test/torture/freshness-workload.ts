/**
 * The writes of the freshness torture: three layers of assets with all edges between neighbouring layers,
 * and a small tree of domains.
 */
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import type { Effects } from './freshness-history.ts'
import { pick, type Edge, type Random } from './workload.ts'

const layerSizes = [4, 7, 7]
/** Edges in one call that adds and removes edges. */
const edgesPerCallMax = 8
const topDomainCount = 3
const lowDomainCount = 4

/**
 * Assets of a layer may only have edges to assets of the next, so the number of hops between two assets
 * never depends on the writes.
 */
export const layers: readonly string[][] = layerSizes.map((size, layer) =>
  Array.from(
    { length: size },
    (_, index) => `urn:li:dataset:(urn:li:dataPlatform:torture,fresh.${layer}_${index},PROD)`
  )
)
export const assets: readonly string[] = layers.flat()
const edges: readonly Edge[] = layers
  .slice(1)
  .flatMap((below, layer) =>
    (layers[layer] ?? []).flatMap((upstreamUrn) =>
      below.map((downstreamUrn) => ({ upstreamUrn, downstreamUrn }))
    )
  )

const domainUrn = (id: string): string => `urn:li:domain:${id}`
export const topDomains: readonly string[] = Array.from({ length: topDomainCount }, (_, index) =>
  domainUrn(`top_${index}`)
)
export const lowDomains: readonly string[] = Array.from({ length: lowDomainCount }, (_, index) =>
  domainUrn(`low_${index}`)
)
export const domains: readonly string[] = [...topDomains, ...lowDomains]

/** The names of the registers. Values are `yes` and `no`, or the URN of a domain and `none`. */
export const edgeKey = (upstreamUrn: string, downstreamUrn: string): string =>
  `edge ${upstreamUrn} > ${downstreamUrn}`
export const existsKey = (urn: string): string => `exists ${urn}`
export const removedKey = (urn: string): string => `removed ${urn}`
export const domainKey = (urn: string): string => `domain ${urn}`
export const parentKey = (urn: string): string => `parent ${urn}`

export const initialValue = (key: string): string => (/^(domain|parent) /.test(key) ? 'none' : 'no')

/** How a write is sent: as a call that GraphQL and the catalog know by one name, as a proposal, or as a load. */
export type Request =
  | { kind: 'updateLineage'; edgesToAdd: Edge[]; edgesToRemove: Edge[] }
  | { kind: 'setDomain'; entityUrn: string; domainUrn: string }
  | { kind: 'unsetDomain'; entityUrn: string }
  | { kind: 'moveDomain'; resourceUrn: string; parentDomain: string | null }
  | { kind: 'proposal'; proposal: JsonObject }
  | { kind: 'load'; edge: Edge; op: 'addEdge' | 'removeEdge' }

export const directions = ['DOWNSTREAM', 'UPSTREAM'] as const

/** The start of a reader: an asset and a direction, or an asset or a domain alone. */
export type Place = { urn: string; direction?: (typeof directions)[number] }

/** `shows` is where the write can be seen; `next` is the write that must follow it. */
export type Write = { request: Request; effects: Effects; shows: Place; next?: Write }

const proposal = (
  entityUrn: string,
  changeType: string,
  aspectName: string,
  value?: JsonValue,
  contentType = 'application/json'
): Request => ({
  kind: 'proposal',
  proposal: {
    entityType: 'dataset',
    entityUrn,
    changeType,
    aspectName,
    ...(value === undefined ? {} : { aspect: { value: JSON.stringify(value), contentType } })
  }
})

/** Gives an asset a name, so that it exists. */
export const creation = (urn: string): Write => ({
  request: proposal(urn, 'UPSERT', 'datasetProperties', { name: 'again' }),
  effects: [
    [existsKey(urn), 'yes'],
    [removedKey(urn), 'no']
  ],
  shows: { urn }
})

const edgesOf = (urn: string): Edge[] =>
  edges.filter((edge) => edge.upstreamUrn === urn || edge.downstreamUrn === urn)

/**
 * The ways to add and remove edges: by people, by proposals, by a load. All state or remove the same edges.
 */
function edgeWrite(random: Random, hasLoads: boolean): Write {
  const edge = pick(random, edges)
  const { upstreamUrn, downstreamUrn } = edge
  const isAdded = random() < 0.55
  const effects: Effects = [[edgeKey(upstreamUrn, downstreamUrn), isAdded ? 'yes' : 'no']]
  const shows: Place =
    random() < 0.5
      ? { urn: upstreamUrn, direction: 'DOWNSTREAM' }
      : { urn: downstreamUrn, direction: 'UPSTREAM' }
  const way = random()
  if (hasLoads && way < 0.03)
    return { request: { kind: 'load', edge, op: isAdded ? 'addEdge' : 'removeEdge' }, effects, shows }
  if (way < 0.35) {
    const path = `/upstreams/${upstreamUrn}`
    const patch = isAdded
      ? { op: 'add', path, value: { dataset: upstreamUrn, type: 'COPY' } }
      : { op: 'remove', path }
    return {
      request: proposal(downstreamUrn, 'PATCH', 'upstreamLineage', [patch], 'application/json-patch+json'),
      effects,
      shows
    }
  }
  return manyEdges(random, edge, shows)
}

/** Adds some edges and removes others in one call; a reader will look for one of them. */
function manyEdges(random: Random, seen: Edge, shows: Place): Write {
  const count = 1 + Math.floor(random() * edgesPerCallMax)
  const chosen = [...new Set([seen, ...Array.from({ length: count - 1 }, () => pick(random, edges))])].map(
    (edge) => ({ edge, isAdded: random() < 0.55 })
  )
  const edgesWhere = (isAdded: boolean): Edge[] =>
    chosen.flatMap((each) => (each.isAdded === isAdded ? [each.edge] : []))
  return {
    request: { kind: 'updateLineage', edgesToAdd: edgesWhere(true), edgesToRemove: edgesWhere(false) },
    effects: chosen.map(
      ({ edge, isAdded }) => [edgeKey(edge.upstreamUrn, edge.downstreamUrn), isAdded ? 'yes' : 'no'] as const
    ),
    shows
  }
}

/** Replaces all upstreams of an asset, whoever stated them. */
function replacement(random: Random): Write {
  const downstreamUrn = pick(random, layers.slice(1).flat())
  const above = edgesOf(downstreamUrn)
    .filter((edge) => edge.downstreamUrn === downstreamUrn)
    .map((edge) => edge.upstreamUrn)
  const kept = above.filter(() => random() < 0.5)
  return {
    request: proposal(downstreamUrn, 'UPSERT', 'upstreamLineage', {
      upstreams: kept.map((dataset) => ({ dataset, type: 'COPY' }))
    }),
    effects: [
      ...above.map(
        (upstreamUrn) =>
          [edgeKey(upstreamUrn, downstreamUrn), kept.includes(upstreamUrn) ? 'yes' : 'no'] as const
      ),
      // It describes the asset, which brings it back.
      [removedKey(downstreamUrn), 'no']
    ],
    shows: { urn: downstreamUrn, direction: 'UPSTREAM' }
  }
}

function domainWrite(random: Random): Write {
  const entityUrn = pick(random, assets)
  if (random() < 0.25)
    return {
      request: { kind: 'unsetDomain', entityUrn },
      effects: [[domainKey(entityUrn), 'none']],
      shows: { urn: entityUrn }
    }
  const domain = pick(random, domains)
  return {
    request: { kind: 'setDomain', entityUrn, domainUrn: domain },
    effects: [[domainKey(entityUrn), domain]],
    shows: { urn: entityUrn }
  }
}

function move(random: Random): Write {
  const resourceUrn = pick(random, lowDomains)
  const parentDomain = random() < 0.2 ? null : pick(random, topDomains)
  return {
    request: { kind: 'moveDomain', resourceUrn, parentDomain },
    effects: [[parentKey(resourceUrn), parentDomain ?? 'none']],
    shows: { urn: resourceUrn }
  }
}

function softDeletion(random: Random): Write {
  const urn = pick(random, assets)
  const removed = random() < 0.4
  return {
    request: proposal(urn, 'UPSERT', 'status', { removed }),
    effects: [
      [existsKey(urn), 'yes'],
      [removedKey(urn), removed ? 'yes' : 'no']
    ],
    shows: { urn }
  }
}

function hardDeletion(random: Random): Write {
  const urn = pick(random, assets)
  const gone = edgesOf(urn).map((edge) => [edgeKey(edge.upstreamUrn, edge.downstreamUrn), 'no'] as const)
  return {
    request: proposal(urn, 'DELETE', 'datasetKey'),
    effects: [[existsKey(urn), 'no'], [removedKey(urn), 'no'], [domainKey(urn), 'none'], ...gone],
    shows: { urn },
    next: creation(urn)
  }
}

/** One write of any kind; loads only if a worker runs. */
export function randomWrite(random: Random, hasLoads: boolean): Write {
  const kind = random()
  if (kind < 0.6) return edgeWrite(random, hasLoads)
  if (kind < 0.68) return replacement(random)
  if (kind < 0.84) return domainWrite(random)
  if (kind < 0.89) return move(random)
  if (kind < 0.98) return softDeletion(random)
  return hardDeletion(random)
}

/** The number of edges, domains or assets in a write. */
export const changeCount = ({ request }: Write): number =>
  request.kind === 'updateLineage' ? request.edgesToAdd.length + request.edgesToRemove.length : 1
