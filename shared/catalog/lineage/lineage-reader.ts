/**
 * One consistent state of the lineage, as the verbs that read it see it: the graph in memory, or a transaction in SQL.
 *
 * All that a reader answers of edges, existence, soft deletion and domains is of one snapshot, never older than the moment
 * the reader was opened. Documents (names, descriptions) are read when asked for: never older, perhaps newer.
 */
import type { GraphVersion } from '../../graph/lineage-graph.ts'
import type { Pause } from '../../graph/turns.ts'
import type { Tx } from '../../db/database.ts'
import type { JsonObject } from '../../model/changes.ts'
import type { LineageDirection, LineageLevel, Walk, WalkQuestion } from '../../model/walk.ts'
import type { WithinDeadline } from '../../store/deadline.ts'
import type { KnownEntity } from '../../store/entity-reads.ts'
import type { Urn } from '../../urn/urn.ts'
import type { ClassGroups } from './class-groups.ts'

/** What entities have in common that are filtered and counted alike: one object for all of them, so that it can be a key. */
export type EntityClass = {
  /** Counts up from 0 within one reader. */
  index: number
  entityType: string
  platformUrn: Urn | null
  origin: string | null
  /** Of a column: whether its asset does. */
  exists: boolean
  /** Soft-deleted itself or, a column, by its asset. */
  isRemoved: boolean
  domainId: number | null
}

/** All entities except columns. `ids` gives up to `count` of the kept classes, ascending and above `after`. */
export type Census = {
  byClass: readonly { entityClass: EntityClass; count: number }[]
  ids: (keeps: (entityClass: EntityClass) => boolean, after: number, count: number) => Promise<Int32Array>
}

/** The domains, by id. Cycles in what is stored do not matter: every walk of the tree ends. */
export type DomainTree = {
  parentOf: (id: number) => number | null
  /** The domains below any of the ids, without these ids unless they are in a cycle. */
  below: (ids: readonly number[]) => Set<number>
  /** The domains above any of the ids, themselves left out unless a cycle leads back. */
  above: (ids: readonly number[]) => Set<number>
}

/** Ids of other than known entities answer nothing: null, or an empty list. Lists are ascending and without duplicates. */
export type LineageReader = {
  engine: 'memory' | 'sql'
  /** Two readers of one process with the same version answer the same; null if that is not known (SQL). */
  version: GraphVersion | null
  find: (urns: readonly Urn[]) => Promise<Map<Urn, KnownEntity>>
  /** Throws DEADLINE_EXCEEDED. */
  walk: (question: WalkQuestion) => Promise<Walk>
  /** Neighbours one hop away; an edge of an entity to itself does not count. */
  neighbours: (
    ids: readonly number[] | Int32Array,
    direction: LineageDirection,
    level: LineageLevel
  ) => Promise<(id: number) => readonly number[]>
  classes: (ids: readonly number[] | Int32Array) => Promise<(id: number) => EntityClass | null>
  /** The same for large results. */
  classGroups: (ids: Int32Array) => Promise<ClassGroups>
  /** The assets that columns belong to. */
  parents: (ids: readonly number[] | Int32Array) => Promise<(id: number) => number | null>
  /** The columns of assets, as far as anything names them. */
  columns: (assetIds: readonly number[] | Int32Array) => Promise<(assetId: number) => readonly number[]>
  urns: (ids: readonly number[] | Int32Array) => Promise<(id: number) => Urn | null>
  /** All entities that are known but columns, and but what is left of deleted ones. */
  everyone: () => Promise<Int32Array>
  /** The same, counted by class; null if that is no faster than a look at each (SQL). */
  census: (() => Promise<Census>) | null
  /** The assets that are directly in any of the domains. */
  members: (domainIds: ReadonlySet<number>) => Promise<Int32Array>
  /** The domains that any asset is directly in. */
  domainsInUse: () => Promise<number[]>
  domainTree: () => Promise<DomainTree>
  /** Stored documents by id and aspect name; for aspects that are not lists of edges and no domains. */
  documents: (
    ids: readonly number[] | Int32Array,
    aspectNames: readonly string[]
  ) => Promise<Map<number, Map<string, JsonObject>>>
  /** Statements in a transaction: that of the reader, where it is one. `within` keeps the deadline; `what` took too long. */
  inSql: <Result>(what: string, work: (tx: Tx, within: WithinDeadline) => Promise<Result>) => Promise<Result>
  /** Begins the deadline again: for a reader that continues, a slice at a time, as long as somebody listens. */
  renew: () => void
  /** A turn of the event loop for everybody else, where the work at hand has run for long. Call it in long loops. Throws DEADLINE_EXCEEDED. */
  pause: Pause
}
