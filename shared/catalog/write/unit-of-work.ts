/**
 * The state in memory while changes are applied: the entities that they touch, their place in the order, and
 * how to revert a record.
 */
import { CatalogError } from '../../errors.ts'
import type { Actor, ChangeRecord } from '../../model/changes.ts'
import { isOutside } from '../../model/limited-to.ts'
import { isNewer, type Order } from '../../model/order.ts'
import type { GraphDelta } from '../../statements/graph-delta.ts'
import type { PatchBudget } from '../../model/patch-work.ts'
import { assetOrSelf } from '../../model/change-facts.ts'
import type { MergeContext } from '../../statements/merge.ts'
import type { EntityRow, TrialIds } from '../../store/entities.ts'
import type { OlderWork } from '../../store/order-of-changes.ts'
import type { Urn } from '../../urn/urn.ts'
import type { Guards } from './guards.ts'
import type { StatedKeys } from './stated-keys.ts'
import type { Journal } from './journal.ts'

/**
 * The domains of a token, the ids of those domains and their descendants, and (once edges are read) the
 * downstreams of the edges that are in one of them.
 */
export type DomainLimit = {
  domainUrns: readonly Urn[]
  domainIds: Set<number>
  downstreams: Map<number, { urn: Urn; isWithin: boolean }>
}

export type UnitOfWork = {
  seq: number
  now: Date
  actor: Actor
  /**
   * The domains that the actor's token is limited to, including those created here; null if it is not
   * limited.
   */
  limit: DomainLimit | null
  sourceId: number
  /** The ids of the sources that changes name. */
  sourceIds: Map<string, number>
  /** Gathers what the records of a snapshot state; null for all other loads, and for calls. */
  statedKeys: StatedKeys | null
  guards: Guards
  /**
   * If placeholders are created, writing an aspect creates its entity, even if the aspect needs its entity to
   * exist.
   */
  createsOwners: boolean
  /** Whether an UPSERT of a lineage aspect replaces only the statements of this source. */
  replacesOwnEdges: boolean
  older: OlderWork
  entities: Map<Urn, EntityRow>
  byId: Map<number, EntityRow>
  /** Ids given by this transaction. Ids that are not used in the end are deleted again. */
  inserted: Set<number>
  /** Entities that records of this transaction have created so far. */
  created: Set<number>
  /** In a dry run: ids for new entities, which no other transaction gets. */
  trialIds: TrialIds | null
  /** Entities whose creation an undo has reverted. */
  undoneCreations: Set<number>
  graph: GraphDelta[]
  patchBudget: PatchBudget
  /** Notes what a chunk changes; null for a call, which cannot be undone as a whole. */
  journal: Journal | null
  /** Steps that revert the current record in memory. They are run backwards if the record is refused. */
  undo: (() => void)[]
  /** The part of this state that the merge of statements needs. */
  merging: MergeContext
}

export const orderOf = (work: UnitOfWork, record: ChangeRecord): Order => ({
  seq: work.seq,
  line: record.line
})

/** The row of a URN that has been resolved. */
export function entityOf(work: UnitOfWork, urn: Urn): EntityRow {
  const row = work.entities.get(urn)
  if (!row) throw new Error(`${urn} was not resolved`)
  return row
}

/** The URN of an id that has been resolved. */
export function urnOf(work: UnitOfWork, id: number): Urn {
  const row = work.byId.get(id)
  if (!row) throw new Error(`entity ${id} was not resolved`)
  return row.urn
}

/**
 * Throws MISSING_REFERENCE. Only for references that are found after the check of references, while a patch
 * is applied.
 */
export function referred(work: UnitOfWork, urn: Urn, field: string): EntityRow {
  const row = work.entities.get(urn)
  if (!row) throw new CatalogError('MISSING_REFERENCE', `${urn} does not exist.`, { urn, field })
  return row
}

export function rememberEntity(work: UnitOfWork, row: EntityRow): void {
  work.entities.set(row.urn, row)
  work.byId.set(row.id, row)
}

/**
 * Whether something newer has deleted the entity (or the asset of a column), so that a change to it has no
 * effect.
 */
export function isDeletedAfter(work: UnitOfWork, urn: Urn, order: Order): boolean {
  if (!work.guards.keepsOrder) return false
  return [work.entities.get(urn), work.entities.get(assetOrSelf(urn))].some(
    (row) =>
      row !== undefined &&
      row.deletedSeq !== null &&
      isNewer({ seq: row.deletedSeq, line: row.deletedLine ?? 0 }, order)
  )
}

/** As isDeletedAfter, for a resolved id. An entity without a row in memory exists and was never deleted. */
export function isIdDeletedAfter(work: UnitOfWork, id: number, order: Order): boolean {
  const row = work.byId.get(id)
  if (!row) return false
  // A column is deleted with its asset. For any other entity its own row is enough.
  if (row.deletedSeq === null && row.entityType !== 'schemaField') return false
  return isDeletedAfter(work, row.urn, order)
}

export const isPresentNow = (work: UnitOfWork, row: EntityRow): boolean =>
  (row.isPresent && !work.undoneCreations.has(row.id)) || work.created.has(row.id)

/**
 * An edge is a fact about its downstream, whichever aspect states it. Throws FORBIDDEN if the downstream is
 * outside the limit of the actor's token; the upstream may be anywhere.
 */
export function checkDownstreamWithinLimit(work: UnitOfWork, downstreamId: number): void {
  if (!work.limit) return
  const downstream = work.limit.downstreams.get(downstreamId)
  if (downstream?.isWithin) return
  throw new CatalogError(
    'FORBIDDEN',
    isOutside(work.limit.domainUrns, downstream?.urn ?? 'the downstream of an edge'),
    downstream ? { urn: downstream.urn } : {}
  )
}

/** Throws FORBIDDEN if the domain (null is the top level) is outside the limit of the actor's token. */
export function checkWithinLimit(work: UnitOfWork, domainId: number | null): void {
  if (!work.limit || (domainId !== null && work.limit.domainIds.has(domainId))) return
  const urn = domainId === null ? undefined : work.byId.get(domainId)?.urn
  throw new CatalogError(
    'FORBIDDEN',
    isOutside(work.limit.domainUrns, urn ?? 'the top level'),
    urn ? { urn } : {}
  )
}
