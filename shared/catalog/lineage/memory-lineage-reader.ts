/** A lineage reader over a pinned view of the graph in memory. Only documents are read from the database. */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { CatalogError } from '../../errors.ts'
import { membersIn, type AdjacencyView } from '../../graph/adjacency.ts'
import type { GraphView, LineageGraph } from '../../graph/lineage-graph.ts'
import { domainIn, isDeletedIn, isKnownIn, isPresentIn, isRemovedIn, kindIn } from '../../graph/nodes.ts'
import { mostConnected } from '../../graph/most-connected.ts'
import type { Turns } from '../../graph/turns.ts'
import { walkGraph } from '../../graph/walk-graph.ts'
import { limits } from '../../limits.ts'
import type { LineageDirection, LineageLevel } from '../../model/walk.ts'
import { keepDeadline } from '../../store/deadline.ts'
import type { KnownEntity } from '../../store/entity-reads.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import { schemaFieldParts } from '../../urn/kinds.ts'
import { domainTreeOf } from './domain-tree.ts'
import { readFilterDocuments } from './filter-documents.ts'
import type { LineageReader } from './lineage-reader.ts'
import { memoryCensus } from './memory-census.ts'
import type { MemoryClasses } from './memory-classes.ts'
import { memoryMap } from './memory-map.ts'

export type MemorySources = {
  graph: LineageGraph
  view: GraphView
  epoch: string
  classes: MemoryClasses
  db: Db
  turns: Turns
}

const idsPerPause = 4_096
const longListCount = 4_096
const unbounded = { maxHops: 1, maxEntities: Infinity }

export function memoryLineageReader({
  graph,
  view,
  epoch,
  classes,
  db,
  turns
}: MemorySources): LineageReader {
  const { urns } = graph
  let endsAt = Date.now() + limits.walkDeadlineMs
  const check = (): void => {
    if (Date.now() > endsAt)
      throw new CatalogError(
        'DEADLINE_EXCEEDED',
        'The lineage walk took longer than allowed; limit the hops (a filter on degree), or start nearer to the assets you are looking for'
      )
  }
  const pause = turns.begin(check)
  // Only the given ids are checked for their level; results need no check, because columns only have edges to
  // columns.
  const isOf =
    (level: LineageLevel) =>
    (id: number): boolean =>
      urns.isColumn(id) === (level === 'column')
  const wayOf = (direction: LineageDirection): AdjacencyView =>
    direction === 'DOWNSTREAM' ? view.downstream : view.upstream

  return {
    engine: 'memory',
    version: view.version,
    epoch: async () => epoch,
    find: async (wanted) =>
      new Map(
        wanted.flatMap((urn) => {
          const known = findInView(graph, view, urn)
          return known ? [[urn, known]] : []
        })
      ),
    walk: (question) =>
      walkGraph(
        wayOf(question.direction),
        view.idsEnd,
        { ...question, startIds: question.startIds.filter(isOf(question.level)) },
        pause
      ),
    async neighbours(ids, direction, level) {
      const adjacency = wayOf(direction)
      const found = new Map<number, number[]>()
      for (const id of ids.filter(isOf(level))) {
        const members = membersIn(adjacency, id)
        // Sorting a long list at once would block the event loop; a walk of one hop sorts it in slices.
        found.set(
          id,
          members.length > longListCount
            ? Array.from(
                (
                  await walkGraph(
                    adjacency,
                    view.idsEnd,
                    { startIds: [id], hopsWanted: 1, bounds: unbounded },
                    pause
                  )
                ).ids
              )
            : distinct(members, id)
        )
        await pause()
      }
      return (id) => found.get(id) ?? []
    },
    async loops(ids, level) {
      const found = new Set<number>()
      for (const id of ids.filter(isOf(level))) {
        if (membersIn(view.downstream, id).includes(id)) found.add(id)
        await pause()
      }
      return found
    },
    classes: async () => (id) => classes.of(view, id),
    classGroups: async (ids) => classes.groupsOf(view, ids),
    parents: async () => (id) => urns.parentOf(id) || null,
    // Both readers return rows as they are stored; throughRows leads through them.
    indirect: async () => () => [],
    rowsAmong: async (ids) =>
      graph.rows.size === 0 ? graph.rows : new Set(ids.filter((id) => graph.rows.has(id))),
    columns: async () => (assetId) => graph.columns.of(assetId).filter((id) => isKnownIn(view.nodes, id)),
    urns: async () => (id) => urns.urnOf(id),
    async everyone() {
      const found = new Int32Array(view.idsEnd)
      let count = 0
      for (let id = 1; id < view.idsEnd; id += 1) {
        const kind = kindIn(view.nodes, id)
        if (kind.isKnown && !kind.isColumn && (kind.isPresent || !kind.isDeleted)) found[count++] = id
        if (id % idsPerPause === 0) await pause()
      }
      return found.subarray(0, count)
    },
    census: () => memoryCensus(view, classes, pause),
    map: (rules) => memoryMap({ graph, view, classes }, rules, pause),
    mostConnected: (count) => mostConnected(view, count, pause),
    async members(domainIds) {
      const members: number[] = []
      for (let id = 1; id < view.idsEnd; id += 1) {
        const domainId = domainIn(view.nodes, id)
        if (domainId !== 0 && domainIds.has(domainId)) members.push(id)
        if (id % idsPerPause === 0) await pause()
      }
      return Int32Array.from(members)
    },
    async domainsInUse() {
      const found = new Set<number>()
      for (let id = 1; id < view.idsEnd; id += 1) {
        const domainId = domainIn(view.nodes, id)
        if (domainId !== 0) found.add(domainId)
        if (id % idsPerPause === 0) await pause()
      }
      return [...found]
    },
    domainTree: async () => domainTreeOf(view.domainParents),
    async documents(ids, aspectNames) {
      check()
      return readFilterDocuments(db, ids, aspectNames)
    },
    inSql: (what, work) =>
      inTransaction(db, (tx) => work(tx, keepDeadline(tx, limits.walkDeadlineMs, what)), { readOnly: true }),
    renew() {
      endsAt = Date.now() + limits.walkDeadlineMs
    },
    pause
  }
}

/**
 * Returns the same answer as findKnownEntities in SQL: a deleted entity is known only if an edge refers to it.
 */
export function findInView({ urns }: LineageGraph, view: GraphView, urn: Urn): KnownEntity | null {
  const id = urns.idOf(urn)
  const isInView = id !== 0 && isKnownIn(view.nodes, id)
  const assetId = entityTypeOf(urn) === 'schemaField' ? urns.idOf(assetOf(urn)) : id
  if (assetId === 0 || !isKnownIn(view.nodes, assetId)) return null
  const exists = isPresentIn(view.nodes, assetId)
  if (
    !exists &&
    isDeletedIn(view.nodes, assetId) &&
    membersIn(view.downstream, assetId).length + membersIn(view.upstream, assetId).length === 0
  )
    return null
  return {
    urn,
    id: isInView ? id : null,
    exists,
    isRemoved: isRemovedIn(view.nodes, assetId) || (isInView && isRemovedIn(view.nodes, id))
  }
}

function assetOf(urn: Urn): Urn {
  const { parentUrn } = schemaFieldParts(urn)
  return entityTypeOf(parentUrn) === 'schemaField' ? assetOf(parentUrn) : parentUrn
}

function distinct(members: Int32Array, id: number): number[] {
  const ascending = members.slice().sort()
  const kept: number[] = []
  for (const member of ascending) if (member !== id && member !== kept.at(-1)) kept.push(member)
  return kept
}
