/**
 * The graphs of the lineage benchmarks: S, M and L of assets, MC (M with its columns), and Debian's
 * packages. Nodes are numbers: first the assets, then the columns. Node n is entity n + 1 of a catalog that
 * load-graph.ts filled.
 */
import { toUrn, type Urn } from '../../shared/urn/urn.ts'
import { downstreamsOf, walker } from './adjacency.ts'
import { columnsPerAsset, drawColumnEdges } from './column-edges.ts'
import { debianUrn, readDebianGraph } from './debian-graph.ts'
import { choosePicks, type Pick } from './picks.ts'
import { drawProjectGraph, type EdgeList, type GraphShape } from './project-graph.ts'

export type GraphName = 'S' | 'M' | 'L' | 'XL' | 'MC' | 'Debian'

export type NodeType = 'dataset' | 'dataJob' | 'schemaField'

/**
 * The graphs of benchmarks that run all of them. XL takes half an hour and 6 GB, so it is measured only on
 * request.
 */
export const graphNames: readonly GraphName[] = ['S', 'M', 'MC', 'L', 'Debian']

export type BenchGraph = {
  name: string
  assetCount: number
  columnCount: number
  /** Between assets. */
  edges: EdgeList
  /** Edges between columns, as node numbers; empty except for MC. */
  columnEdges: EdgeList
  urnOf: (node: number) => Urn
  typeOf: (node: number) => NodeType
  /** The asset of a column; null for an asset. */
  parentOf: (node: number) => number | null
  /**
   * Starts of walks downstream along `walkedEdges`: `100`, `1k` and `50k`, named after the number of nodes
   * that they reach, and `hub`. Small graphs have fewer.
   */
  picks: Pick[]
}

export const entityIdOf = (node: number): number => node + 1

export const nodeOfEntity = (id: number): number => id - 1

/** The edges that walks of the graph follow: those of columns if it has any. */
export const walkedEdges = (graph: BenchGraph): EdgeList =>
  graph.columnCount > 0 ? graph.columnEdges : graph.edges

export const nodeCountOf = (graph: BenchGraph): number => graph.assetCount + graph.columnCount

const shapes: Record<'S' | 'M' | 'L' | 'XL', GraphShape> = {
  S: { assetCount: 10_000, edgeCount: 30_000, hubOutCount: 1_300, seed: 1 },
  M: { assetCount: 100_000, edgeCount: 400_000, hubOutCount: 10_300, seed: 2 },
  L: { assetCount: 1_000_000, edgeCount: 5_000_000, hubOutCount: 35_700, seed: 3 },
  XL: { assetCount: 10_000_000, edgeCount: 50_000_000, hubOutCount: 100_000, seed: 5 }
}
const columnEdgeCount = 3_000_000

export const noEdges: EdgeList = { upstream: new Int32Array(0), downstream: new Int32Array(0) }
export const onlyDatasets = { typeOf: (): NodeType => 'dataset', parentOf: () => null }

/**
 * The same graph for the same name, except Debian's, which depends on the machine; null if apt-cache knows
 * no packages.
 */
export function makeGraph(name: GraphName): BenchGraph | null {
  if (name === 'Debian') return debianGraph()
  const shape = shapes[name === 'MC' ? 'M' : name]
  const { projectOf, hub, ...edges } = drawProjectGraph(shape)
  const { assetCount } = shape
  const assetUrn = (asset: number) => projectAssetUrn(asset, projectOf[asset] ?? 0)
  if (name !== 'MC')
    return withPicks(
      { name, assetCount, columnCount: 0, edges, columnEdges: noEdges, ...onlyDatasets, urnOf: assetUrn },
      hub
    )
  const columns = drawColumnEdges(assetCount, edges, columnEdgeCount, 4)
  const parentOf = (node: number) =>
    node < assetCount ? null : Math.floor((node - assetCount) / columnsPerAsset)
  return withPicks(
    {
      name,
      assetCount,
      columnCount: assetCount * columnsPerAsset,
      edges,
      columnEdges: {
        upstream: columns.upstream.map((column) => assetCount + column),
        downstream: columns.downstream.map((column) => assetCount + column)
      },
      parentOf,
      typeOf: (node) => (node < assetCount ? 'dataset' : 'schemaField'),
      urnOf(node) {
        const parent = parentOf(node)
        return parent === null
          ? assetUrn(node)
          : toUrn(
              `urn:li:schemaField:(${assetUrn(parent)},a_column_${(node - assetCount) % columnsPerAsset})`
            )
      }
    },
    assetCount + hub * columnsPerAsset
  )
}

function debianGraph(): BenchGraph | null {
  const read = readDebianGraph()
  if (!read) return null
  const { names, edges } = read
  const [hub] = [...outDegrees(names.length, edges).entries()].reduce((most, entry) =>
    entry[1] > most[1] ? entry : most
  )
  return withPicks(
    {
      name: 'Debian',
      assetCount: names.length,
      columnCount: 0,
      edges,
      columnEdges: noEdges,
      ...onlyDatasets,
      urnOf: (node) => toUrn(debianUrn(names[node] ?? ''))
    },
    hub
  )
}

function withPicks(graph: Omit<BenchGraph, 'picks'>, hub: number): BenchGraph {
  const whole = { ...graph, picks: [] }
  const edges = walkedEdges(whole)
  return {
    ...graph,
    picks: choosePicks(walker(downstreamsOf(nodeCountOf(whole), edges)), edges.upstream, hub)
  }
}

function outDegrees(nodeCount: number, { upstream }: EdgeList): Int32Array {
  const degrees = new Int32Array(nodeCount)
  for (const node of upstream) degrees[node] = (degrees[node] ?? 0) + 1
  return degrees
}

const platforms = ['snowflake', 'bigquery', 'redshift', 'postgres']

/** 110 to 125 characters, like real ones. */
const projectAssetUrn = (asset: number, project: number): Urn => {
  const schema = `warehouse_${project % 40}.project_${project}_analytics`
  return toUrn(
    `urn:li:dataset:(urn:li:dataPlatform:${platforms[project % platforms.length] ?? ''},${schema}.a_table_of_ordinary_length_${asset},PROD)`
  )
}
