/** Resolvers for lineage diagrams, paths, domains and counts: each calls one function of the catalog. */
import type { GraphQLResolveInfo } from 'graphql'
import { countLineage, type LineageCountsInput } from '../../../shared/catalog/lineage/count-lineage.ts'
import { readReferences } from '../../../shared/catalog/lineage/entity-references.ts'
import {
  findLineagePaths,
  type LineagePathsInput
} from '../../../shared/catalog/lineage/find-lineage-paths.ts'
import type { LineageGraphInput } from '../../../shared/catalog/lineage/graph-question.ts'
import {
  readDomainLineage,
  type DomainLineageInput,
  type DomainToDomain
} from '../../../shared/catalog/lineage/read-domain-lineage.ts'
import {
  readLineageMap,
  type LineageMapBox,
  type LineageMapInput
} from '../../../shared/catalog/lineage/read-lineage-map.ts'
import { readLineageGraph } from '../../../shared/catalog/lineage/read-lineage-graph.ts'
import {
  readMostConnected,
  type MostConnectedInput
} from '../../../shared/catalog/lineage/read-most-connected.ts'
import type { EntityReference } from '../../../shared/catalog/lineage/read-entity.ts'
import { batched } from '../batched.ts'
import type { GraphqlContext } from '../context.ts'
import { reportWalk } from '../lineage-extensions.ts'
import { selects } from '../selection.ts'

type Input<T> = { input: T }

const loadById = batched<EntityReference | null>((ids, { db }) => readReferences(db, ids.map(Number)))

export const lineageViewResolvers = {
  Query: {
    async lineageGraph(
      _: unknown,
      { input }: Input<LineageGraphInput>,
      context: GraphqlContext,
      info: GraphQLResolveInfo
    ) {
      const wishes = {
        totals: ['upstream', 'downstream', 'both'].some((name) => selects(info, ['totals', name])),
        columnRows: selects(info, ['nodes', 'columnRows'])
      }
      const { nodes, edges, totals, report } = await readLineageGraph(context.lineage, input, wishes)
      context.budget.spendReads(
        nodes.reduce((sum, { columnRows }) => sum + 1 + (columnRows?.rows.length ?? 0), 0) +
          edges.reduce((sum, edge) => sum + 1 + edge.via.length, 0)
      )
      reportWalk(context, String(info.path.key), report)
      return { nodes, edges, totals, complete: report.complete, timeWindow: report.timeWindow ?? null }
    },
    async lineagePaths(
      _: unknown,
      { input }: Input<LineagePathsInput>,
      context: GraphqlContext,
      info: GraphQLResolveInfo
    ) {
      const { hops, total, paths, report } = await findLineagePaths(context.lineage, input, {
        via: selects(info, ['paths', 'steps', 'via'])
      })
      context.budget.spendReads(paths.reduce((sum, steps) => sum + steps.length, 0))
      reportWalk(context, String(info.path.key), report)
      return {
        hops,
        totalShortest: total,
        paths: paths.map((steps) => ({ steps })),
        complete: report.complete
      }
    },
    async domainLineage(
      _: unknown,
      { input }: Input<DomainLineageInput>,
      context: GraphqlContext,
      info: GraphQLResolveInfo
    ) {
      const { report, ...page } = await readDomainLineage(context.lineage, input)
      context.budget.spendReads(page.edges.length)
      reportWalk(context, String(info.path.key), report)
      return { ...page, count: page.edges.length }
    },
    async lineageMap(
      _: unknown,
      { input }: { input?: LineageMapInput | null },
      context: GraphqlContext,
      info: GraphQLResolveInfo
    ) {
      const { report, ...map } = await readLineageMap(context.lineage, input ?? {})
      context.budget.spendReads(map.boxes.length + map.edges.length)
      reportWalk(context, String(info.path.key), report)
      return { ...map, count: map.boxes.length }
    },
    async lineageCounts(
      _: unknown,
      { input }: Input<LineageCountsInput>,
      context: GraphqlContext,
      info: GraphQLResolveInfo
    ) {
      const { report, ...counts } = await countLineage(context.lineage, input)
      context.budget.spendReads(counts.platforms.length + counts.domains.length)
      reportWalk(context, String(info.path.key), report)
      return { ...counts, complete: report.complete, timeWindow: report.timeWindow ?? null }
    },
    async mostConnected(
      _: unknown,
      { input }: { input?: MostConnectedInput | null },
      context: GraphqlContext
    ) {
      const assets = await readMostConnected(context.lineage, input ?? {})
      context.budget.spendReads(assets.length)
      return assets
    }
  },
  LineageMapBox: {
    platforms: ({ platformUrns }: LineageMapBox) => platformUrns.map((urn) => ({ urn }))
  },
  DomainEdge: {
    assetEdges(
      { edgeCount, pageOfEdges }: DomainToDomain,
      page: { start?: number | null; count?: number | null },
      context: GraphqlContext
    ) {
      const { start, edges } = pageOfEdges(page.start, page.count)
      context.budget.spendReads(edges.length)
      return { start, count: edges.length, total: edgeCount, edges }
    }
  },
  AssetEdge: {
    upstream: ({ upstreamId }: { upstreamId: number }, _: unknown, context: GraphqlContext) =>
      loadById(context, String(upstreamId)),
    downstream: ({ downstreamId }: { downstreamId: number }, _: unknown, context: GraphqlContext) =>
      loadById(context, String(downstreamId))
  }
}
