/**
 * One consistent state of the lineage for the functions that read it: the graph in memory, or a transaction
 * in SQL.
 *
 * Edges, existence, soft deletion and domains are all of one snapshot, never older than the moment the reader
 * was opened. Documents (names, descriptions) are read when asked for: never older, perhaps newer.
 */
import type { GraphVersion } from '../../graph/lineage-graph.ts'
import type { Connected } from '../../graph/most-connected.ts'
import type { Pause } from '../../graph/turns.ts'
import type { Tx } from '../../db/database.ts'
import type { JsonObject } from '../../model/changes.ts'
import type { LineageDirection, LineageLevel, Walk, WalkQuestion } from '../../model/walk.ts'
import type { WithinDeadline } from '../../store/deadline.ts'
import type { KnownEntity } from '../../store/entity-reads.ts'
import type { Urn } from '../../urn/urn.ts'
import type { ClassGroups } from './class-groups.ts'
import type { CountedMap } from './map-boxes.ts'
import type { MapRules } from './map-rules.ts'

/**
 * Facts that entities share when they are filtered and counted. One object for all entities with these facts,
 * so it can be a key.
 */
export type EntityClass = {
  /** The number of the class within one reader, counted up from 0. */
  index: number
  entityType: string
  platformUrn: Urn | null
  origin: string | null
  /** For a column: whether its asset exists. */
  exists: boolean
  /** Whether it is soft-deleted; for a column, also whether its asset is. */
  isRemoved: boolean
  /** For a column that is in no domain: that of its asset. */
  domainId: number | null
}

/**
 * All entities except columns. `ids` returns up to `count` ids of the kept classes, ascending and greater
 * than `after`.
 */
export type Census = {
  byClass: readonly { entityClass: EntityClass; count: number }[]
  ids: (keeps: (entityClass: EntityClass) => boolean, after: number, count: number) => Promise<Int32Array>
}

/** The tree of domains, by id. Stored cycles do no harm: every walk of the tree ends. */
export type DomainTree = {
  parentOf: (id: number) => number | null
  /** All domains below any of the ids; the ids themselves only if they are in a cycle. */
  below: (ids: readonly number[]) => Set<number>
  /** All domains above any of the ids; the ids themselves only if they are in a cycle. */
  above: (ids: readonly number[]) => Set<number>
}

/**
 * For ids of unknown entities the answer is null or an empty list. Lists are ascending, without duplicates.
 */
export type LineageReader = {
  engine: 'memory' | 'sql'
  /**
   * Two readers of one process with the same version give the same answers; null if the version is not known
   * (SQL).
   */
  version: GraphVersion | null
  /** The run of the database that gave the ids. In another run the same ids may belong to other entities. */
  epoch: () => Promise<string>
  find: (urns: readonly Urn[]) => Promise<Map<Urn, KnownEntity>>
  /** Throws DEADLINE_EXCEEDED. */
  walk: (question: WalkQuestion) => Promise<Walk>
  /** Neighbours one hop away; an edge of an entity to itself does not count. */
  neighbours: (
    ids: readonly number[] | Int32Array,
    direction: LineageDirection,
    level: LineageLevel
  ) => Promise<(id: number) => readonly number[]>
  /** Those of the ids that have an edge to themselves. */
  loops: (ids: readonly number[] | Int32Array, level: LineageLevel) => Promise<ReadonlySet<number>>
  /** Those neighbours of columns that only the rows of a table lead to. */
  indirect: (
    ids: readonly number[] | Int32Array,
    direction: LineageDirection
  ) => Promise<(id: number) => readonly number[]>
  classes: (ids: readonly number[] | Int32Array) => Promise<(id: number) => EntityClass | null>
  /** As classes, in a form for large results. */
  classGroups: (ids: Int32Array) => Promise<ClassGroups>
  /** The assets that columns belong to. */
  parents: (ids: readonly number[] | Int32Array) => Promise<(id: number) => number | null>
  /** Those of the columns that mean the rows of their table. */
  rowsAmong: (ids: readonly number[] | Int32Array) => Promise<ReadonlySet<number>>
  /** The columns of assets that anything names. */
  columns: (assetIds: readonly number[] | Int32Array) => Promise<(assetId: number) => readonly number[]>
  urns: (ids: readonly number[] | Int32Array) => Promise<(id: number) => Urn | null>
  /** All known entities except columns and the remains of deleted entities. */
  everyone: () => Promise<Int32Array>
  /**
   * What `everyone` returns, counted by class; null in SQL, where counting is no faster than looking at each
   * entity.
   */
  census: (() => Promise<Census>) | null
  /** Counts the boxes of a map and the edges between them; null in SQL, where `sqlMap` asks this reader. */
  map: ((rules: MapRules) => Promise<CountedMap>) | null
  /**
   * The assets with the most neighbours one hop away, most first and then by id; soft-deleted assets and
   * neighbours do not count.
   */
  mostConnected: (count: number) => Promise<Connected[]>
  /** The assets that are directly in any of the domains. */
  members: (domainIds: ReadonlySet<number>) => Promise<Int32Array>
  /** The domains that any asset is directly in. */
  domainsInUse: () => Promise<number[]>
  domainTree: () => Promise<DomainTree>
  /** Stored documents by id and aspect name. Not for `domains` and aspects that are lists of edges. */
  documents: (
    ids: readonly number[] | Int32Array,
    aspectNames: readonly string[]
  ) => Promise<Map<number, Map<string, JsonObject>>>
  /**
   * Runs statements in a transaction: the reader's, if it has one. `within` keeps the deadline; the error
   * names `what`.
   */
  inSql: <Result>(what: string, work: (tx: Tx, within: WithinDeadline) => Promise<Result>) => Promise<Result>
  /** Restarts the deadline, for a reader that streams slices to a client. */
  renew: () => void
  /**
   * Lets other work use the event loop after a long stretch of work. Call it in long loops. Throws
   * DEADLINE_EXCEEDED.
   */
  pause: Pause
}
