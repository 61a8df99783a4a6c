/**
 * The lineage of a catalog in memory: the neighbours of each entity in both directions, and the facts that
 * filters need.
 *
 * One writer advances the graph from one snapshot of the database to the next. Readers pin a view, which is
 * exactly one such snapshot and does not change. URNs never change and are not part of a view.
 */
import { orderedBy, placesUpTo } from '../model/digit-order.ts'
import type { GraphDelta, StatedEdges } from '../statements/graph-delta.ts'
import { isRowsUrn } from '../urn/rows-urn.ts'
import type { Urn } from '../urn/urn.ts'
import { Adjacency, type AdjacencyView } from './adjacency.ts'
import { DomainDocuments, type DomainDocument } from './domain-documents.ts'
import { Nodes, type NodeFlags, type NodesView } from './nodes.ts'
import type { Pause } from './turns.ts'
import { ColumnLists } from './column-lists.ts'
import { SchemaNumbers } from './schema-numbers.ts'
import { UrnTable } from './urn-table.ts'

export type GraphView = {
  /** A new value for every snapshot with a change; no two graphs of a process share one. */
  version: GraphVersion
  /** All ids are less than this. */
  idsEnd: number
  edgeCount: number
  /** Leads from an id to the entities derived from it. */
  downstream: AdjacencyView
  /** Leads from an id to the entities that it is derived from. */
  upstream: AdjacencyView
  nodes: NodesView
  /** The parent of each domain that has one. */
  domainParents: ReadonlyMap<number, number>
}

/** A row of the table of entities. `parentId` is the asset of a column, otherwise 0. */
export type NewEntity = { id: number; urn: Urn; parentId: number }

/** `documents` has the present domainProperties of each domain whose documents changed. */
export type GraphChanges = {
  stated?: readonly StatedEdges[]
  deltas: readonly GraphDelta[]
  entities: readonly NewEntity[]
  documents: ReadonlyMap<number, DomainDocument | null>
}

const unknownFlags: NodeFlags = { isPresent: false, isRemoved: false, isDeleted: false }
const deltasPerLook = 256
const edgesPerLook = 1_024

/**
 * Identifies one state of one graph: a new object for each, so no two are equal, even after the graph is
 * loaded again.
 */
export type GraphVersion = { readonly graphVersion: true }
const nextVersion = (): GraphVersion => ({ graphVersion: true })

export class LineageGraph {
  readonly urns: UrnTable
  readonly schemas: SchemaNumbers
  readonly columns = new ColumnLists()
  /** The columns that mean the rows of their table. */
  readonly rows = new Set<number>()
  readonly domainDocuments = new DomainDocuments()
  readonly #downstream: Adjacency
  readonly #upstream: Adjacency
  readonly #nodes: Nodes
  #domainParents: ReadonlyMap<number, number> = new Map()
  #idsEnd = 1
  #edgeCount = 0
  #version = nextVersion()
  #era = 0
  #view: GraphView | null = null
  /** Views in use, with the era in which they were made. */
  readonly #pinned = new Map<GraphView, { era: number; count: number }>()

  /**
   * Makes room for this many entities and statements, so that nothing has to be copied until there are more.
   */
  constructor(expected: { entityCount: number; greatestId: number; statementCount?: number }) {
    this.#downstream = new Adjacency(expected.statementCount)
    this.#upstream = new Adjacency(expected.statementCount)
    this.urns = new UrnTable(expected.entityCount, expected.greatestId)
    this.schemas = new SchemaNumbers(this.urns)
    this.#nodes = new Nodes(this.urns)
  }

  get bytes(): number {
    return (
      this.urns.bytes +
      this.schemas.bytes +
      this.columns.bytes +
      this.#downstream.bytes +
      this.#upstream.bytes +
      this.#nodes.bytes +
      this.domainDocuments.bytes
    )
  }

  /** Number of views in use. */
  get pinnedCount(): number {
    return this.#pinned.size
  }

  /** The present view. Return it with `unpin`. Never call it while `apply` runs. */
  pin(): GraphView {
    const view = (this.#view ??= {
      version: this.#version,
      idsEnd: this.#idsEnd,
      edgeCount: this.#edgeCount,
      downstream: this.#downstream.view(),
      upstream: this.#upstream.view(),
      nodes: this.#nodes.view(),
      domainParents: this.#domainParents
    })
    const pinned = this.#pinned.get(view)
    if (pinned) pinned.count += 1
    else this.#pinned.set(view, { era: this.#era, count: 1 })
    return view
  }

  /** Pins a pinned view once more. */
  pinAgain(view: GraphView): void {
    const pinned = this.#pinned.get(view)
    if (!pinned) throw new Error('a view that nobody holds cannot be pinned again')
    pinned.count += 1
  }

  unpin(view: GraphView): void {
    const pinned = this.#pinned.get(view)
    if (!pinned) return
    pinned.count -= 1
    if (pinned.count > 0) return
    this.#pinned.delete(view)
    let oldest = Infinity
    for (const { era } of this.#pinned.values()) oldest = Math.min(oldest, era)
    this.#downstream.reclaim(oldest + 1)
    this.#upstream.reclaim(oldest + 1)
  }

  /** Adds one entity of the snapshot that the graph is loaded from. */
  load(entity: NewEntity & NodeFlags): void {
    this.#addEntity(entity)
    this.#nodes.setFlags(entity.id, entity)
  }

  /** Sets the domain of one asset of that snapshot. */
  loadDomain(id: number, domainId: number): void {
    this.#nodes.setDomain(id, domainId)
  }

  /** Sets the tree and the documents of domains of that snapshot. */
  loadDomainTree(parents: ReadonlyMap<number, number>, documents: ReadonlyMap<number, DomainDocument>): void {
    this.#domainParents = parents
    for (const [id, document] of documents) this.domainDocuments.set(id, document)
  }

  /** Adds all statements of that snapshot, as pairs in pieces. */
  async loadEdges(
    upstream: readonly Int32Array[],
    downstream: readonly Int32Array[],
    pause: Pause
  ): Promise<void> {
    await this.#downstream.fill(upstream, downstream, this.#idsEnd - 1, pause)
    await this.#upstream.fill(downstream, upstream, this.#idsEnd - 1, pause)
    this.#edgeCount = upstream.reduce((sum, piece) => sum + piece.length, 0)
  }

  /**
   * Advances the graph to the next snapshot, in slices; pinned views do not change. If it throws (a removed
   * edge is not in the graph, an entity is unknown), the graph is between two snapshots and must be dropped.
   */
  async apply({ stated = [], deltas, entities, documents }: GraphChanges, pause: Pause): Promise<void> {
    if (deltas.length === 0 && stated.length === 0) return
    const isLookedAt = this.#beginChanges()
    for (const [index, entity] of entities.entries()) {
      this.#addEntity(entity)
      this.#nodes.setFlags(entity.id, unknownFlags)
      if (index % deltasPerLook === 0) await pause()
    }
    let domainParents: Map<number, number> | null = null
    for (const [index, delta] of deltas.entries()) {
      if (delta.kind === 'entity') this.#nodes.setFlags(this.#known(delta.id), delta)
      else if (delta.kind === 'domain') this.#nodes.setDomain(this.#known(delta.id), delta.domainId ?? 0)
      else if (delta.kind === 'parentDomain')
        setOrDelete((domainParents ??= new Map(this.#domainParents)), delta.id, delta.parentId)
      if (index % deltasPerLook === 0) await pause()
    }
    if (domainParents) this.#domainParents = domainParents
    for (const [id, document] of documents) this.domainDocuments.set(id, document)
    const era = isLookedAt ? this.#era : null
    // Appended before the removals, which may remove these edges.
    for (const edges of stated) await this.#append(edges, era, pause)
    await this.#remove(deltas, era, pause)
  }

  async #append(
    { downstreamIds, upstreamIds }: StatedEdges,
    era: number | null,
    pause: Pause
  ): Promise<void> {
    for (let begin = 0; begin < upstreamIds.length; begin += edgesPerLook) {
      const [downstream, upstream] = [
        downstreamIds.subarray(begin, begin + edgesPerLook),
        upstreamIds.subarray(begin, begin + edgesPerLook)
      ]
      for (const ids of [downstream, upstream]) for (const id of ids) this.#known(id)
      this.#downstream.append(upstream, downstream, orderedBy(upstream, placesUpTo(upstream.length)), era)
      this.#upstream.append(downstream, upstream, orderedBy(downstream, placesUpTo(downstream.length)), era)
      await pause()
    }
    this.#edgeCount += upstreamIds.length
  }

  /** Prepares for changes. Returns whether any view is in use. */
  #beginChanges(): boolean {
    this.#version = nextVersion()
    this.#view = null
    if (this.#pinned.size === 0) return false
    this.#era += 1
    this.#downstream.freeze()
    this.#upstream.freeze()
    this.#nodes.freeze()
    return true
  }

  async #remove(deltas: readonly GraphDelta[], era: number | null, pause: Pause): Promise<void> {
    const [downstreamOf, upstreamOf] = [new Map<number, number[]>(), new Map<number, number[]>()]
    for (const [index, delta] of deltas.entries()) {
      if (index % deltasPerLook === 0) await pause()
      if (delta.kind !== 'unstated') continue
      push(downstreamOf, delta.upstreamId, delta.downstreamId)
      push(upstreamOf, delta.downstreamId, delta.upstreamId)
      this.#edgeCount -= 1
    }
    for (const [adjacency, removed] of [
      [this.#downstream, downstreamOf],
      [this.#upstream, upstreamOf]
    ] as const) {
      let index = 0
      for (const [id, members] of removed) {
        adjacency.remove(this.#known(id), members, era)
        if ((index += 1) % deltasPerLook === 0) await pause()
      }
    }
  }

  #addEntity({ id, urn, parentId }: NewEntity): void {
    if (this.urns.has(id)) return
    this.urns.add(id, urn, parentId)
    if (parentId !== 0) this.columns.add(parentId, id)
    if (parentId !== 0 && isRowsUrn(urn)) this.rows.add(id)
    this.#idsEnd = Math.max(this.#idsEnd, id + 1)
  }

  #known(id: number): number {
    if (!this.urns.has(id)) throw new Error(`the change log names entity ${id}, which is not known`)
    return id
  }
}

function setOrDelete<Value>(map: Map<number, Value>, key: number, value: Value | null): void {
  if (value === null) map.delete(key)
  else map.set(key, value)
}

function push(lists: Map<number, number[]>, id: number, member: number): void {
  const list = lists.get(id)
  if (list) list.push(member)
  else lists.set(id, [member])
}
