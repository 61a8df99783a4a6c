/** The lineage of a node, as records of edges and of aspects that state edges. */
import type { JsonObject } from '../../model/changes.ts'
import { columnUrn } from '../../openlineage/names.ts'
import type { Urn } from '../../urn/urn.ts'
import type { NodeKind, PickedColumn } from './pick-node.ts'
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

type Lineage = {
  project: DbtProject
  assets: ProjectAssets
  columnsOf: (id: string) => readonly PickedColumn[]
}

/** `urn` is the URN of the node. */
export function lineageOf(
  { project, assets, columnsOf }: Lineage,
  { id, urn, kind, passesColumns }: { id: string; urn: Urn; kind: NodeKind; passesColumns: boolean }
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
  const ids = upstreamIds('table')
  const tables = urnsOf(ids)
  switch (kind) {
    case 'table':
    case 'exposure': {
      const edges = tables.map((upstreamUrn) => ({ upstreamUrn, downstreamUrn: urn }))
      const [only, ...others] = project.nodes.get(id)?.dependsOn ?? []
      const isPassed = kind === 'table' && passesColumns && others.length === 0 && only === ids[0]
      return isPassed && only !== undefined
        ? [...edges, ...passedColumns(tables[0], columnsOf(only), urn, columnsOf(id))]
        : edges
    }
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

/** The columns that are known in both tables. */
function passedColumns(
  upstream: Urn | undefined,
  of: readonly PickedColumn[],
  downstream: Urn,
  into: readonly PickedColumn[]
): JsonObject[] {
  const names = new Set(of.map(({ name }) => name))
  return upstream === undefined
    ? []
    : into
        .filter(({ name }) => names.has(name))
        .map(({ name }) => ({
          upstreamUrn: columnUrn(upstream, name),
          downstreamUrn: columnUrn(downstream, name)
        }))
}
