/** What one application of changes holds in memory: the entities it touches, its place in the order, and how to undo a record. */
import { CatalogError } from '../../errors.ts'
import type { Actor, ChangeRecord } from '../../model/changes.ts'
import { isNewer, type Order } from '../../model/order.ts'
import type { GraphDelta } from '../../statements/graph-delta.ts'
import type { PatchBudget } from '../../model/patch-work.ts'
import { standsOn } from '../../model/change-facts.ts'
import type { MergeContext } from '../../statements/merge.ts'
import type { EntityRow, TrialIds } from '../../store/entities.ts'
import type { OlderWork } from '../../store/order-of-changes.ts'
import type { Urn } from '../../urn/urn.ts'
import type { Guards } from './guards.ts'
import type { StatedKeys } from './stated-keys.ts'
import type { Journal } from './journal.ts'

/** A token's domain, the ids of it and of what is below it, and (once edges are loaded) which of their downstreams are in it. */
export type DomainLimit = {
  rootId: number | null
  domainIds: Set<number>
  downstreams: Map<number, { urn: Urn; isWithin: boolean }>
}

export type WorkingSet = {
  seq: number
  now: Date
  actor: Actor
  /** The domains that the actor's token is limited to, those it has made included; null where it is not limited. */
  limit: DomainLimit | null
  sourceId: number
  /** The numbers of the sources that changes name themselves. */
  sourceIds: Map<string, number>
  /** Gathers what the records of a snapshot state; null for all others. */
  stated: StatedKeys | null
  guards: Guards
  /** What is missing is made: then whose aspect is written exists, also where the aspect is one that needs its entity. */
  createsOwners: boolean
  older: OlderWork
  entities: Map<Urn, EntityRow>
  byId: Map<number, EntityRow>
  /** Ids given by this transaction: taken back where nothing came to use them. */
  inserted: Set<number>
  /** Entities that records of this transaction have brought into existence so far. */
  created: Set<number>
  /** Of a dry run: ids for what is new, that nobody else will ever have. */
  trialIds: TrialIds | null
  /** Entities that an undo has taken back. */
  takenBack: Set<number>
  graph: GraphDelta[]
  patchBudget: PatchBudget
  /** Notes what a chunk changes; null for a call, which nobody takes back as a whole. */
  journal: Journal | null
  /** Steps that take back what the record at hand has done in memory; run backwards when it is refused. */
  undo: (() => void)[]
  /** The set as the merge of statements sees it. */
  merging: MergeContext
}

export const orderOf = (set: WorkingSet, record: ChangeRecord): Order => ({ seq: set.seq, line: record.line })

/** The row of a URN that has been resolved. */
export function entityOf(set: WorkingSet, urn: Urn): EntityRow {
  const row = set.entities.get(urn)
  if (!row) throw new Error(`${urn} was not resolved`)
  return row
}

/** The URN of an id that has been resolved. */
export function urnOf(set: WorkingSet, id: number): Urn {
  const row = set.byId.get(id)
  if (!row) throw new Error(`entity ${id} was not resolved`)
  return row.urn
}

/** What only a patch could tell that it is referred to was not judged with the rest. */
export function referred(set: WorkingSet, urn: Urn, field: string): EntityRow {
  const row = set.entities.get(urn)
  if (!row) throw new CatalogError('MISSING_REFERENCE', `${urn} does not exist.`, { urn, field })
  return row
}

export function rememberEntity(set: WorkingSet, row: EntityRow): void {
  set.entities.set(row.urn, row)
  set.byId.set(row.id, row)
}

/** Whether the entity (or the asset of a column) was deleted by something newer, so that a change to it has no effect. */
export function isDeletedAfter(set: WorkingSet, urn: Urn, order: Order): boolean {
  if (!set.guards.keepsOrder) return false
  return [set.entities.get(urn), set.entities.get(standsOn(urn))].some(
    (row) =>
      row !== undefined &&
      row.deletedSeq !== null &&
      isNewer({ seq: row.deletedSeq, line: row.deletedLine ?? 0 }, order)
  )
}

/** The same for an entity that has been resolved; one without a row in the set was found to exist, and never deleted. */
export function isIdDeletedAfter(set: WorkingSet, id: number, order: Order): boolean {
  const row = set.byId.get(id)
  if (!row) return false
  // A column stands and falls with its asset; of anything else its own row says all.
  if (row.deletedSeq === null && row.entityType !== 'schemaField') return false
  return isDeletedAfter(set, row.urn, order)
}

export const isPresentNow = (set: WorkingSet, row: EntityRow): boolean =>
  (row.isPresent && !set.takenBack.has(row.id)) || set.created.has(row.id)

/**
 * An edge says something of its downstream, whoever's aspect it stands in. Throws FORBIDDEN where the actor's token is
 * limited and the downstream is not within the limit; what is upstream may be anywhere.
 */
export function checkDownstreamWithinLimit(set: WorkingSet, downstreamId: number): void {
  if (!set.limit) return
  const downstream = set.limit.downstreams.get(downstreamId)
  if (downstream?.isWithin) return
  throw new CatalogError(
    'FORBIDDEN',
    `The token is limited to ${set.actor.domainUrn}; ${downstream?.urn ?? 'the downstream of an edge'} is not in it.`,
    downstream ? { urn: downstream.urn } : {}
  )
}

/** Throws FORBIDDEN where the actor's token is limited and the domain (null is the top level) is not within the limit. */
export function checkWithinLimit(set: WorkingSet, domainId: number | null): void {
  if (!set.limit || (domainId !== null && set.limit.domainIds.has(domainId))) return
  const urn = domainId === null ? undefined : set.byId.get(domainId)?.urn
  throw new CatalogError(
    'FORBIDDEN',
    `The token is limited to ${set.actor.domainUrn}; ${urn ?? 'the top level'} is not in it.`,
    urn ? { urn } : {}
  )
}
