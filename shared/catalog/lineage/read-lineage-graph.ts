/** Reads everything for one lineage diagram: nodes, the edges between them, hidden neighbours, and totals. */
import { limits } from '../../limits.ts'
import { graphqlTypeOf } from '../../model/entity-types.ts'
import type { LineageDirection, LineageLevel, Walk } from '../../model/walk.ts'
import { referencesOf } from './entity-references.ts'
import { readColumnEdges, readEdges, type EdgesFound, type IdEdge, type Rim } from './graph-edges.ts'
import { chooseNodes, type Looks } from './graph-nodes.ts'
import { checkGraphQuestion, jobTypes, type GraphQuestion, type LineageGraphInput } from './graph-question.ts'
import { readColumnRows, type ColumnRows } from './graph-columns.ts'
import type { EntityClass, LineageReader } from './lineage-reader.ts'
import { millisecondsSince, windowReport, type LineageReport } from './lineage-report.ts'
import { entityNotFound, type EntityReference } from './read-entity.ts'
import { throughHidden } from './through-hidden.ts'
import { graphUnits } from './read-work.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'
import type { Urn } from '../../urn/urn.ts'

export type GraphSide = 'START' | LineageDirection | 'ASIDE'

export type GraphNode = {
  entity: EntityReference
  side: GraphSide
  /** The degree as scrollAcrossLineage counts it: every entity is a hop. Null for nodes on neither side. */
  degree: number | null
  upstreamCount: number
  downstreamCount: number
  hiddenUpstream: number
  hiddenDownstream: number
  expandedUpstream: boolean
  expandedDownstream: boolean
  /** Null unless columns were requested. */
  columns: EntityReference[] | null
  /** Null unless columns and their rows were requested. */
  columnRows: ColumnRows | null
}

export type GraphEdge = {
  upstreamUrn: string
  downstreamUrn: string
  level: 'ASSET' | 'COLUMN'
  via: EntityReference[]
  viaCount: number
  /** Whether only the rows of a table join the two columns. */
  indirect: boolean
}

export type LineageGraph = {
  nodes: GraphNode[]
  edges: GraphEdge[]
  /** `upstream`, `downstream` and `both` are null unless totals were requested. */
  totals: {
    upstream: number | null
    downstream: number | null
    both: number | null
    assetEdges: number
    columnEdges: number | null
  }
  report: LineageReport
}

/** Parts that are only read for clients that request them. */
export type GraphWishes = { totals: boolean; columnRows: boolean }

const bounds = { maxHops: limits.walkMaxHops, maxEntities: limits.walkMaxEntities }
/** The id for a column that nothing names: it has no id of its own, and no neighbours. */
const noEntity = 0
const directions = ['UPSTREAM', 'DOWNSTREAM'] as const

/**
 * Everything is of one snapshot. Without totals, no walk goes further than the shown nodes. Throws what
 * checkGraphQuestion throws, NOT_FOUND for a start that does not exist, LIMIT_EXCEEDED, DEADLINE_EXCEEDED.
 */
export async function readLineageGraph(
  sources: LineageSources,
  input: LineageGraphInput,
  wishes: GraphWishes
): Promise<LineageGraph> {
  const question = checkGraphQuestion(input)
  const startedAt = performance.now()
  return withLineage(
    sources,
    async (reader) => {
      const start = (await reader.find([question.startUrn])).get(question.startUrn)
      if (!start) throw entityNotFound(question.startUrn, 'input.urn')
      return drawGraph(
        reader,
        { id: start.id ?? noEntity, entity: { urn: start.urn, exists: start.exists } },
        question,
        wishes,
        startedAt
      )
    },
    {
      window: question.window,
      units: graphUnits({
        count: question.count,
        expandCount: question.expands.length,
        columns: question.showsColumns,
        ...wishes
      })
    }
  )
}

type Start = { id: number; entity: EntityReference }

async function drawGraph(
  reader: LineageReader,
  start: Start,
  question: GraphQuestion,
  wishes: GraphWishes,
  startedAt: number
): Promise<LineageGraph> {
  const isHidden = (entityClass: EntityClass): boolean =>
    entityClass.isRemoved || (question.hidesJobs && jobTypes.has(entityClass.entityType))
  const isLeftOut = ({ entityType }: EntityClass): boolean =>
    question.types !== null && !question.types.has(graphqlTypeOf(entityType))
  const lookTo = (direction: LineageDirection) =>
    throughHidden(reader, {
      direction,
      level: question.level,
      // The start is always shown.
      fateOf: (entityClass, id) =>
        id === start.id
          ? 'shown'
          : isHidden(entityClass)
            ? 'through'
            : isLeftOut(entityClass)
              ? 'counted'
              : 'shown'
    })
  const looks: Looks = { UPSTREAM: lookTo('UPSTREAM'), DOWNSTREAM: lookTo('DOWNSTREAM') }

  const { ids, expanded, ignored } = await chooseNodes(reader, start.id, question, looks)
  const { rims, ...assets } = await readEdges(reader, ids, looks, question.level)
  const columns = question.showsColumns ? await readColumnEdges(reader, ids) : null
  const walks = await walkBothDirections(reader, start.id, question, ids, wishes)
  const isVisible = (entityClass: EntityClass): boolean => !isHidden(entityClass) && !isLeftOut(entityClass)
  const countOf = async (walk: Walk): Promise<number | null> =>
    wishes.totals ? countVisible(reader, walk.ids, isVisible) : null
  const inBoth = wishes.totals ? await idsOfBoth(reader, walks.UPSTREAM.ids, walks.DOWNSTREAM.ids) : null

  const named = [assets, ...(columns ? [columns] : [])].flatMap(({ edges }) =>
    edges.flatMap((edge) => [edge.upstreamId, edge.downstreamId, ...edge.between])
  )
  const known = await referencesOf(reader, [...new Set([...ids, ...named])])
  const rows =
    columns && wishes.columnRows
      ? await readColumnRows(
          reader,
          new Map(
            [...ids].flatMap((id): [number, Urn][] => {
              const urn = id === start.id ? start.entity.urn : known(id)?.urn
              return urn ? [[id, urn]] : []
            })
          ),
          columns,
          question.columnRows
        )
      : null
  const isIndirect = await indirectEdges(reader, [
    ...(question.level === 'column' ? assets.edges : []),
    ...(columns?.edges ?? [])
  ])
  const referenceTo = (id: number): EntityReference[] => {
    const found = id === start.id ? start.entity : known(id)
    return found ? [found] : []
  }
  return {
    nodes: [...ids].flatMap((id) =>
      referenceTo(id).map((entity): GraphNode => ({
        entity,
        ...placeOf(id, start.id, walks.degrees),
        ...countsOf(rims.UPSTREAM.get(id), rims.DOWNSTREAM.get(id)),
        expandedUpstream: expanded.UPSTREAM.has(id),
        expandedDownstream: expanded.DOWNSTREAM.has(id),
        columns: columns ? (columns.columnsOf.get(id) ?? []).flatMap(referenceTo) : null,
        columnRows: rows?.get(id) ?? null
      }))
    ),
    edges: [
      ...shownEdges(assets, question.level, referenceTo, isIndirect),
      ...(columns ? shownEdges(columns, 'column', referenceTo, isIndirect) : [])
    ],
    totals: {
      upstream: await countOf(walks.UPSTREAM),
      downstream: await countOf(walks.DOWNSTREAM),
      both: inBoth && (await countVisible(reader, inBoth, isVisible)),
      assetEdges: question.level === 'asset' ? assets.total : 0,
      columnEdges: question.level === 'column' ? assets.total : (columns?.total ?? null)
    },
    report: {
      complete: directions.every((direction) => walks[direction].cutBy === null),
      truncatedBy: walks.UPSTREAM.cutBy ?? walks.DOWNSTREAM.cutBy,
      hops: Math.max(walks.UPSTREAM.hops, walks.DOWNSTREAM.hops),
      visited: walks.UPSTREAM.ids.length + walks.DOWNSTREAM.ids.length,
      ms: millisecondsSince(startedAt),
      engine: reader.engine,
      ...windowReport(question.window),
      ...(ignored.length > 0 ? { withoutEffect: ignored.map((place) => `expand[${place}]`) } : {})
    }
  }
}

type IsIndirect = (upstreamId: number, downstreamId: number) => boolean

/** Tells which edges between columns only the rows of a table make. */
async function indirectEdges(reader: LineageReader, edges: readonly IdEdge[]): Promise<IsIndirect> {
  const ids = [...new Set(edges.map(({ upstreamId }) => upstreamId))]
  const farOf = await reader.indirect(ids, 'DOWNSTREAM')
  const indirect = new Map(ids.map((id) => [id, new Set(farOf(id))]))
  return (upstreamId, downstreamId) => indirect.get(upstreamId)?.has(downstreamId) ?? false
}

type Degrees = { [direction in LineageDirection]: Map<number, number> }

/**
 * Walks as far as the requested hops. Walks to the end if totals are requested, or if those hops did not
 * reach every node.
 */
async function walkBothDirections(
  reader: LineageReader,
  startId: number,
  { level, hops }: GraphQuestion,
  ids: ReadonlySet<number>,
  wishes: GraphWishes
) {
  const walkFor = async (hopsWanted: number) => {
    const walk = (direction: LineageDirection): Promise<Walk> =>
      reader.walk({ startIds: startId === noEntity ? [] : [startId], direction, level, hopsWanted, bounds })
    const walks = { UPSTREAM: await walk('UPSTREAM'), DOWNSTREAM: await walk('DOWNSTREAM') }
    const degrees: Degrees = {
      UPSTREAM: await degreesIn(reader, walks.UPSTREAM, ids),
      DOWNSTREAM: await degreesIn(reader, walks.DOWNSTREAM, ids)
    }
    return { ...walks, degrees }
  }
  if (wishes.totals) return walkFor(Infinity)
  const near = await walkFor(Math.max(hops.UPSTREAM, hops.DOWNSTREAM))
  const isDone = [...ids].every(
    (id) => id === startId || near.degrees.UPSTREAM.has(id) || near.degrees.DOWNSTREAM.has(id)
  )
  return isDone ? near : walkFor(Infinity)
}

const walkSliceCount = 20_000

async function degreesIn(
  reader: LineageReader,
  walk: Walk,
  ids: ReadonlySet<number>
): Promise<Map<number, number>> {
  const degrees = new Map<number, number>()
  for (let begin = 0; begin < walk.ids.length && degrees.size < ids.size - 1; begin += walkSliceCount) {
    walk.ids.subarray(begin, begin + walkSliceCount).forEach((id, at) => {
      if (ids.has(id)) degrees.set(id, walk.degrees[begin + at] ?? 0)
    })
    await reader.pause()
  }
  return degrees
}

/** The ids that both walks reached, as in a cycle. Uses one bit for each id of the first walk. */
async function idsOfBoth(reader: LineageReader, some: Int32Array, others: Int32Array): Promise<Int32Array> {
  const isFound = new Uint8Array((some.reduce((most, id) => Math.max(most, id), 0) >>> 3) + 1)
  for (const id of some) isFound[id >>> 3] = (isFound[id >>> 3] ?? 0) | (1 << (id & 7))
  await reader.pause()
  return others.filter((id) => ((isFound[id >>> 3] ?? 0) & (1 << (id & 7))) !== 0)
}

async function countVisible(
  reader: LineageReader,
  ids: Int32Array,
  isVisible: (entityClass: EntityClass) => boolean
): Promise<number> {
  let count = 0
  for (let begin = 0; begin < ids.length; begin += walkSliceCount) {
    const slice = ids.subarray(begin, begin + walkSliceCount)
    const classOf = await reader.classes(slice)
    for (const id of slice) {
      const entityClass = classOf(id)
      if (entityClass && isVisible(entityClass)) count += 1
    }
    await reader.pause()
  }
  return count
}

/** The nearer side of a node; upstream if both sides are equally near, as in a cycle. */
function placeOf(id: number, startId: number, degrees: Degrees): Pick<GraphNode, 'side' | 'degree'> {
  if (id === startId) return { side: 'START', degree: 0 }
  const up = degrees.UPSTREAM.get(id) ?? Infinity
  const down = degrees.DOWNSTREAM.get(id) ?? Infinity
  if (up === Infinity && down === Infinity) return { side: 'ASIDE', degree: null }
  return up <= down ? { side: 'UPSTREAM', degree: up } : { side: 'DOWNSTREAM', degree: down }
}

const countsOf = (up: Rim | undefined, down: Rim | undefined) => ({
  upstreamCount: up?.count ?? 0,
  downstreamCount: down?.count ?? 0,
  hiddenUpstream: up?.hidden ?? 0,
  hiddenDownstream: down?.hidden ?? 0
})

const shownEdges = (
  { edges }: EdgesFound,
  level: LineageLevel,
  referenceTo: (id: number) => EntityReference[],
  isIndirect: IsIndirect
): GraphEdge[] =>
  edges.flatMap(({ upstreamId, downstreamId, between, betweenCount }: IdEdge) => {
    const [upstream] = referenceTo(upstreamId)
    const [downstream] = referenceTo(downstreamId)
    if (!upstream || !downstream) return []
    return [
      {
        upstreamUrn: upstream.urn,
        downstreamUrn: downstream.urn,
        level: level === 'asset' ? 'ASSET' : 'COLUMN',
        via: between.flatMap(referenceTo),
        viaCount: betweenCount,
        indirect: isIndirect(upstreamId, downstreamId)
      }
    ]
  })
