/**
 * Answers Marquez' questions about lineage: the nodes around one, with their edges, for datasets and jobs or
 * for columns.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { JsonObject } from '../../model/changes.ts'
import type { LineageDirection, LineageLevel } from '../../model/walk.ts'
import type { Connections } from '../../openlineage/connections.ts'
import { columnUrn } from '../../openlineage/names.ts'
import { nodeIdOf, readNodeId, type NodeKind } from '../../openlineage/node-id.ts'
import { operationsOfColumnEdges } from '../../store/column-operations.ts'
import type { EdgeEnds } from '../../store/edge-owners.ts'
import type { KnownEntity } from '../../store/entity-reads.ts'
import { schemaFieldParts } from '../../urn/kinds.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import type { LineageReader } from '../lineage/lineage-reader.ts'
import { graphUnits } from '../lineage/read-work.ts'
import { withLineage, type LineageSources } from '../lineage/with-lineage.ts'
import { entityTypeOfNode, readCards } from './asset-cards.ts'
import { namesOfAssets, urnsNamed } from './named-assets.ts'

export type NodeEdge = { origin: string; destination: string }
export type GraphNode = {
  id: string
  type: string
  data: JsonObject
  inEdges: NodeEdge[]
  outEdges: NodeEdge[]
}

/**
 * `truncatedBy` says why nodes are missing: `depth`, or a limit. `leftOut` counts the reached entities that
 * are neither dataset nor job.
 */
export type NodeGraph = {
  graph: GraphNode[]
  complete: boolean
  truncatedBy: 'depth' | 'graphNodesMaxCount' | null
  leftOut: number
}

export type GraphQuestion = {
  nodeId: string | undefined
  depth: number
  /** The direction to follow; null follows both from every node, as Marquez does. */
  direction: LineageDirection | null
}

/**
 * Depth as Marquez counts it: a job on the path counts one, a dataset nothing; a dataset's own jobs are at
 * depth 0.
 */
const hopsOf = (depth: number, kind: NodeKind): number => 2 * depth + (kind === 'dataset' ? 2 : 1)

/** Throws BAD_REQUEST, LIMIT_EXCEEDED, UNSUPPORTED, NOT_FOUND, DEADLINE_EXCEEDED. */
export function readJobGraph(
  sources: LineageSources,
  { nodeId, depth, direction }: GraphQuestion,
  connections: Connections | undefined
): Promise<NodeGraph> {
  const { kind, names } = readNodeId(nodeId, ['dataset', 'job'])
  return withLineage(
    sources,
    async (reader) => {
      const urns = await urnsNamed(sources.db, entityTypeOfNode(kind), names, connections)
      const start = firstOf(urns, await reader.find(urns), nodeId)
      const around = await surround(reader, [start], 'asset', { hops: hopsOf(depth, kind), direction })
      const cards = await readCards(reader, around.ids)
      const nodeIds = new Map(cards.map((card) => [card.id, card.nodeId]))
      return {
        graph: cards.map((card) => ({
          id: card.nodeId,
          type: card.type,
          data: card.data,
          inEdges: around.upstreamOf(card.id).flatMap((id) => edge(nodeIds.get(id), card.nodeId)),
          outEdges: around.downstreamOf(card.id).flatMap((id) => edge(card.nodeId, nodeIds.get(id)))
        })),
        complete: around.cutBy === null,
        truncatedBy: around.cutBy,
        leftOut: around.ids.length - cards.length
      }
    },
    { units: graphUnits({ count: limits.graphNodesMaxCount, expandCount: 0, totals: false, columns: false }) }
  )
}

/**
 * The lineage of columns: upstream, and on request also downstream. Edges lead from the requested node to the
 * other, as in Marquez.
 */
export function readColumnGraph(
  sources: LineageSources,
  { nodeId, depth, direction }: GraphQuestion,
  connections: Connections | undefined
): Promise<NodeGraph> {
  const { kind, names } = readNodeId(nodeId, ['datasetField', 'dataset', 'job'])
  return withLineage(
    sources,
    async (reader) => {
      const starts = await startColumns(sources, reader, { kind, names, nodeId }, connections)
      const around = await surround(reader, starts, 'column', { hops: depth, direction })
      const urnOf = await reader.urns(around.ids)
      const columns = around.ids.flatMap((id) => {
        const urn = urnOf(id)
        return urn !== null && entityTypeOf(urn) === 'schemaField'
          ? [{ id, urn, ...schemaFieldParts(urn) }]
          : []
      })
      const datasets = [...new Set(columns.map(({ parentUrn }) => parentUrn))]
      const assetNames = await reader.inSql('reading names', (tx, within) =>
        within(() => namesOfAssets(tx, datasets))
      )
      const types = await columnTypes(reader, datasets)
      const nodes = new Map(
        columns.map(({ id, parentUrn, fieldPath }) => {
          const { namespace, name } = assetNames.get(parentUrn) ?? { namespace: '', name: parentUrn }
          const place = { namespace, dataset: name, field: fieldPath }
          return [id, { id: nodeIdOf('datasetField', { namespace, name }, fieldPath), place, parentUrn }]
        })
      )
      const at = (ids: readonly number[]) => ids.flatMap((id) => nodes.get(id) ?? [])
      const operationOf = await columnOperations(
        reader,
        [...nodes.keys()].flatMap((downstreamId) =>
          around.upstreamOf(downstreamId).map((upstreamId) => ({ upstreamId, downstreamId }))
        )
      )
      return {
        graph: [...nodes].map(([id, node]) => ({
          id: node.id,
          type: 'DATASET_FIELD',
          data: {
            ...node.place,
            datasetVersion: null,
            fieldType: types.get(node.parentUrn)?.get(node.place.field) ?? null,
            transformationDescription: null,
            transformationType: null,
            inputFields: around.upstreamOf(id).flatMap((upstreamId) =>
              at([upstreamId]).map(({ place }) => ({
                ...place,
                datasetVersion: null,
                transformationDescription: null,
                transformationType: operationOf(upstreamId, id)
              }))
            )
          },
          inEdges: at(around.upstreamOf(id)).map((other) => ({ origin: node.id, destination: other.id })),
          outEdges: at(around.downstreamOf(id)).map((other) => ({ origin: node.id, destination: other.id }))
        })),
        complete: around.cutBy === null,
        truncatedBy: around.cutBy,
        leftOut: around.ids.length - columns.length
      }
    },
    { units: graphUnits({ count: limits.graphNodesMaxCount, expandCount: 0, totals: false, columns: true }) }
  )
}

const edge = (origin: string | undefined, destination: string | undefined): NodeEdge[] =>
  origin !== undefined && destination !== undefined ? [{ origin, destination }] : []

const noNode = (nodeId: string | undefined): CatalogError =>
  new CatalogError('NOT_FOUND', `No dataset, job or column is called ${nodeId?.slice(0, 300)}`, {
    field: 'nodeId'
  })

/** The id of the first URN that exists. Throws NOT_FOUND. */
function firstOf(
  urns: readonly Urn[],
  known: ReadonlyMap<Urn, KnownEntity>,
  nodeId: string | undefined
): number {
  const found = urns.flatMap((urn) => known.get(urn) ?? []).find(({ id }) => id !== null)
  if (found?.id == null) throw noNode(nodeId)
  return found.id
}

async function startColumns(
  sources: LineageSources,
  reader: LineageReader,
  { kind, names, nodeId }: ReturnType<typeof readNodeId> & { nodeId: string | undefined },
  connections: Connections | undefined
): Promise<number[]> {
  if (kind === 'datasetField') {
    const urns: Urn[] = []
    for (const name of names) {
      for (const dataset of await urnsNamed(sources.db, 'dataset', [name], connections)) {
        const current = (await reader.find([dataset])).get(dataset)
        if (current && name.field !== null) urns.push(columnUrn(current.urn, name.field))
      }
    }
    return [firstOf(urns, await reader.find(urns), nodeId)]
  }
  const urns = await urnsNamed(sources.db, entityTypeOfNode(kind), names, connections)
  const start = firstOf(urns, await reader.find(urns), nodeId)
  // For a job, the columns of the datasets that it writes are the start.
  const assets = kind === 'job' ? (await reader.neighbours([start], 'DOWNSTREAM', 'asset'))(start) : [start]
  const columnsOf = await reader.columns(assets)
  return assets.flatMap((id) => [...columnsOf(id)])
}

/** Types of columns by dataset and path, if the schema has them. */
async function columnTypes(
  reader: LineageReader,
  datasets: readonly Urn[]
): Promise<Map<Urn, Map<string, string>>> {
  const known = await reader.find(datasets)
  const cards = await readCards(
    reader,
    datasets.flatMap((urn) => known.get(urn)?.id ?? [])
  )
  return new Map(
    cards.map(({ urn, data }) => [
      urn,
      new Map(
        (Array.isArray(data.fields) ? data.fields : []).flatMap((field): [string, string][] =>
          typeof field === 'object' &&
          field !== null &&
          !Array.isArray(field) &&
          typeof field.name === 'string' &&
          typeof field.type === 'string'
            ? [[field.name, field.type]]
            : []
        )
      )
    ])
  )
}

/** The operation that makes a column from another, such as `DIRECT:IDENTITY`; null if nobody states one. */
async function columnOperations(
  reader: LineageReader,
  edges: readonly EdgeEnds[]
): Promise<(upstreamId: number, downstreamId: number) => string | null> {
  const rows = await reader.inSql('reading operations', (tx, within) =>
    within(() => operationsOfColumnEdges(tx, edges))
  )
  const operations = new Map<string, string>()
  for (const { upstreamId, downstreamId, operation } of rows) {
    const key = `${upstreamId} ${downstreamId}`
    const others = operations.get(key)
    operations.set(key, others === undefined ? operation : `${others},${operation}`)
  }
  return (upstreamId, downstreamId) => operations.get(`${upstreamId} ${downstreamId}`) ?? null
}

type Surroundings = {
  /** The ids, nearest first, then by id. */
  ids: number[]
  upstreamOf: (id: number) => number[]
  downstreamOf: (id: number) => number[]
  cutBy: NodeGraph['truncatedBy']
}

/** Everything within `hops` hops, up to graphNodesMaxCount, and the edges in between. */
async function surround(
  reader: LineageReader,
  starts: readonly number[],
  level: LineageLevel,
  { hops, direction }: { hops: number; direction: LineageDirection | null }
): Promise<Surroundings> {
  const directions: readonly LineageDirection[] = direction ? [direction] : ['UPSTREAM', 'DOWNSTREAM']
  const maximum = limits.graphNodesMaxCount
  const seen = new Set(starts.slice(0, maximum))
  let cutBy: NodeGraph['truncatedBy'] = starts.length > maximum ? 'graphNodesMaxCount' : null
  let frontier = [...seen]
  for (let hop = 0; frontier.length > 0 && cutBy === null; hop += 1) {
    const next = new Set<number>()
    for (const each of directions) {
      const neighboursOf = await reader.neighbours(frontier, each, level)
      for (const id of frontier) {
        await reader.pause()
        for (const other of neighboursOf(id)) if (!seen.has(other)) next.add(other)
      }
    }
    const found = [...next].sort((a, b) => a - b)
    if (found.length > 0 && hop === hops) cutBy = 'depth'
    else if (seen.size + found.length > maximum) cutBy = 'graphNodesMaxCount'
    frontier = cutBy === 'depth' ? [] : found.slice(0, maximum - seen.size)
    for (const id of frontier) seen.add(id)
  }
  const ids = [...seen]
  const [upstream, downstream] = [
    await reader.neighbours(ids, 'UPSTREAM', level),
    await reader.neighbours(ids, 'DOWNSTREAM', level)
  ]
  return {
    ids,
    cutBy,
    upstreamOf: (id) => upstream(id).filter((other) => seen.has(other)),
    downstreamOf: (id) => downstream(id).filter((other) => seen.has(other))
  }
}
