/** What a node is made from, as a whole, as records of edges and of aspects that state edges. */
import type { JsonObject } from '../../model/changes.ts'
import type { Urn } from '../../urn/urn.ts'
import type { NodeKind } from './pick-node.ts'
import type { DbtProject } from './project.ts'
import type { ProjectAssets } from './project-assets.ts'
import { upsert } from './proposals.ts'
import { upstreamsOf } from './upstreams.ts'

/**
 * For each kind of node, the kinds that it reads but that leave no table behind, so their own upstreams
 * replace them.
 */
const lookedThrough: Readonly<Record<Exclude<NodeKind, 'through'>, readonly NodeKind[]>> = {
  table: ['through', 'semanticModel', 'metric'],
  exposure: ['through', 'semanticModel', 'metric'],
  semanticModel: ['through'],
  metric: ['through', 'semanticModel']
}

/** `urn` is the URN of the node. */
export function lineageOf(
  { project, assets }: { project: DbtProject; assets: ProjectAssets },
  { id, urn, kind }: { id: string; urn: Urn; kind: NodeKind }
): JsonObject[] {
  if (kind === 'through') return []
  const upstreamIds = (wanted: NodeKind, through = lookedThrough[kind]): string[] =>
    upstreamsOf(project.nodes, id, { wanted, through })
  const urnsOf = (ids: readonly string[]): Urn[] => [
    ...new Set(
      ids.flatMap((each) => {
        const found = assets.urns.get(each)
        return typeof found === 'string' && found !== urn ? [found] : []
      })
    )
  ]
  const tables = urnsOf(upstreamIds('table'))
  switch (kind) {
    case 'table':
    case 'exposure':
      return tables.map((upstreamUrn) => ({ upstreamUrn, downstreamUrn: urn }))
    case 'semanticModel':
      return [
        upsert(urn, 'upstreamLineage', {
          upstreams: tables.map((dataset) => ({ dataset, type: 'TRANSFORMED' }))
        })
      ]
    case 'metric':
      return [
        upsert(urn, 'metricUpstreams', {
          datasetUpstreams: tables.map((destinationUrn) => ({ destinationUrn }))
        }),
        upsert(urn, 'metricRelationships', {
          derivedFrom: urnsOf(upstreamIds('metric', [])).map((destinationUrn) => ({ destinationUrn }))
        })
      ]
  }
}
