/**
 * The one write path: applies records of changes from any interface in one transaction.
 *
 * It works on sets: it resolves, locks and reads what the records touch in a fixed number of statements,
 * folds the records in memory, and writes what has changed. docs/architecture.md lists the rules that it
 * keeps (order, locks, existence, the domain tree).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Tx } from '../../db/database.ts'
import { preferIndexes } from '../../db/prefer-indexes.ts'
import { CatalogError } from '../../errors.ts'
import { createsOf, passOf, assetOrSelf } from '../../model/change-facts.ts'
import type {
  Actor,
  Change,
  ChangeRecord,
  LoadWarnings,
  MissingReferences,
  UpsertReplaces,
  Verdict
} from '../../model/changes.ts'
import { createPatchBudget } from '../../model/patch-work.ts'
import { distinct, type EdgeColumns } from '../../statements/columns.ts'
import { findAspects } from '../../store/aspects.ts'
import { appendAudit } from '../../store/audit.ts'
import { declaredUrns } from '../../store/declarations.ts'
import {
  createTrialIds,
  findEntities,
  findEntitiesById,
  insertEntities,
  lockEntities,
  lockOwners as lockById
} from '../../store/entities.ts'
import {
  drawSeq,
  lockAsWriter,
  lockDomainTree,
  olderWork,
  transactionTime,
  tryLockOutWriters,
  type OlderWork
} from '../../store/order-of-changes.ts'
import { sourceId } from '../../store/statements.ts'
import { entityTypeOf, firstUrnOf, type Urn } from '../../urn/urn.ts'
import { applyDomainRules } from './apply-domain-rules.ts'
import { authorizeRecords, limitOf } from './authorize-domain.ts'
import { deleteEntities, deletionsOf } from './delete-entities.ts'
import { createJournal } from './journal.ts'
import { foldRecords, writeFolded, type Folded } from './fold-records.ts'
import { checkReferences } from './check-references.ts'
import {
  changesDomainTree,
  deletesEntity,
  excludesWriters,
  isUndo,
  subjectOf,
  urnsNamed,
  urnsToRemove,
  urnsToWrite
} from './plan-records.ts'
import {
  checkDownstreamWithinLimit,
  isDeletedAfter,
  isIdDeletedAfter,
  orderOf,
  rememberEntity,
  type UnitOfWork
} from './unit-of-work.ts'
import type { EdgeBatch } from './edge-payload.ts'
import type { EntityIds } from './entity-ids.ts'
import { allGuards, type Guards } from './guards.ts'
import { resolveEdges, type ResolvedEdges } from './resolve-edges.ts'
import type { StatedKeys } from './stated-keys.ts'
import { removedAmong, staysRemovedIn } from './stays-removed.ts'
import { WaitForOlderLoad } from './wait-for-older-load.ts'

export type ApplyContext = {
  actor: Actor
  /** The source of the edges: `manual`, `proposal`, or the source of a load. */
  source: string
  missingReferences: MissingReferences
  /** Default: the whole aspect. */
  upsertReplaces?: UpsertReplaces
  /** The name of the operation in the audit trail. */
  operation: string
  requestId: string | null
  /** The chunk that contains the records; absent for a synchronous call. */
  chunk?: { seq: number; loadId: string; chunkId: number }
  /**
   * For the audit trail: the chunk of events from which the records were made. These records are applied like
   * those of a call.
   */
  ofLoad?: { loadId: string; chunkId: number }
  /**
   * Gathers what the records of a snapshot state; null for any other load. An UPSERT in a snapshot replaces
   * only the statements of the snapshot's source.
   */
  stated?: StatedKeys
  /** The transaction already holds the lock of writers. */
  isWriter?: true
  /** The domains for new assets that no domain rule puts into a domain. */
  domains?: ReadonlyMap<Urn, Urn>
  /** The transaction will be rolled back, so new entities get ids that are not taken from the sequence. */
  isDryRun?: boolean
  /** The rules that keep concurrent writes correct. Only tests leave one out. */
  guards?: Guards
  /** Tells the caller of a synchronous call what is written and stays hidden. */
  warn?: ((warnings: LoadWarnings) => void) | undefined
}

/** The edges of a chunk that consist of their two ends, and the ids that the process remembers. */
export type EdgesToApply = { batch: EdgeBatch; ids: EntityIds }

const exclusiveLockMaxTries = 60
const exclusiveLockWaitMs = 50

/**
 * Applies records, and edges in columns. Returns a verdict for each, records first.
 *
 * A synchronous call is all or nothing: the CatalogError of the first record that cannot be applied is
 * thrown, and the caller must roll back. In a chunk, each record is refused on its own. A chunk throws
 * WaitForOlderLoad if an older load may still create a missing reference.
 */
export async function applyRecords(
  tx: Tx,
  given: readonly ChangeRecord[],
  context: ApplyContext,
  edges: EdgesToApply | null = null
): Promise<Verdict[]> {
  const guards = context.guards ?? allGuards
  // The table that a load fills may still have the statistics of an empty table.
  if (context.chunk ?? context.ofLoad) await preferIndexes(tx)
  const changes = given.flatMap((record) => record.changes)
  const deletes = changes.some(deletesEntity)
  if (guards.excludesDeletes && !context.isWriter)
    await (changes.some(excludesWriters) ? lockOutWriters(tx) : lockAsWriter(tx))
  if (guards.locksDomainTree && changes.some(changesDomainTree)) await lockDomainTree(tx)
  // Read before existence is checked, so that an entity that an older load creates in between does not count
  // as missing.
  const before = context.chunk ? await olderWork(tx, context.chunk.seq, context.chunk.loadId) : null
  const work = await openUnitOfWork(tx, context, changes, guards, before)
  const resolved = edges
    ? await resolveEdges(tx, work, edges.batch, edges.ids, context.missingReferences)
    : null
  const records = resolved ? [...given, ...resolved.records] : given
  const named = records.flatMap((record) => record.changes.flatMap(urnsNamed))
  for (const row of await findEntities(tx, [...new Set(named)])) rememberEntity(work, row)

  const refused = await authorizeRecords(tx, work, records)
  const applied = new Set<ChangeRecord>()
  if (deletes) await deleteFirst(tx, work, records, refused, applied, context)
  for (const [record, error] of await refuseMissingReferences(
    tx,
    work,
    records.filter((each) => !refused.has(each)),
    context
  ))
    refused.set(record, error)
  throwFirst(records, refused, context)
  const folded = await foldUntilSettled(
    tx,
    work,
    { records, columns: resolved?.columns ?? null },
    refused,
    context
  )
  // An undo recreates assets together with their domains, so the rules do not apply to them.
  if (!changes.some(isUndo)) await applyDomainRules(tx, work, folded.drafts, context.domains)
  await writeFolded(tx, work, folded)
  // The journal and the audit trail of a dry run would be rolled back with it.
  if (context.chunk && !context.isDryRun) await work.journal?.write(tx, context.chunk)
  const removedIn = staysRemovedIn(work, folded.drafts.aspects)
  const ofRecords = records.map((record): Verdict => {
    const error = refused.get(record)
    if (error)
      return {
        line: record.line,
        outcome: 'rejected',
        code: error.code,
        message: error.message,
        details: error.details
      }
    const staysRemoved = removedIn(record)
    return {
      line: record.line,
      outcome: folded.applied.has(record) || applied.has(record) ? 'applied' : 'unchanged',
      ...(staysRemoved.length > 0 ? { staysRemoved } : {})
    }
  })
  const verdicts = resolved
    ? [
        ...ofRecords,
        ...verdictsOn(resolved, folded, await removedAmong(tx, resolved.assets, resolved.columns.lines))
      ]
    : ofRecords
  if (!context.isDryRun) await audit(tx, work, { records, resolved }, verdicts, context)
  return verdicts
}

function verdictsOn(
  { columns, idle }: ResolvedEdges,
  { appliedLines }: Folded,
  removed: ReadonlyMap<number, readonly Urn[]>
): Verdict[] {
  const verdicts: Verdict[] = []
  for (const line of columns.lines) {
    const staysRemoved = removed.get(line)
    verdicts.push({
      line,
      outcome: appliedLines.has(line) ? 'applied' : 'unchanged',
      ...(staysRemoved ? { staysRemoved } : {})
    })
  }
  for (const line of idle.lines) verdicts.push({ line, outcome: 'unchanged' })
  return verdicts
}

/**
 * Deletions come first: they hold the lock that excludes all writers, and the other records are checked
 * against what remains.
 */
async function deleteFirst(
  tx: Tx,
  work: UnitOfWork,
  records: readonly ChangeRecord[],
  refused: Map<ChangeRecord, CatalogError>,
  applied: Set<ChangeRecord>,
  context: ApplyContext
): Promise<void> {
  const deleting = records.filter((record) => !refused.has(record) && record.changes.some(deletesEntity))
  for (const [record, error] of await refuseMissingReferences(tx, work, deleting, context))
    refused.set(record, error)
  throwFirst(records, refused, context)
  if (!context.chunk) await drawOrder(tx, work)
  const allowed = deleting.filter((record) => !refused.has(record))
  if (work.older.isUnfinished)
    await giveIds(
      tx,
      work,
      allowed.flatMap((record) => record.changes.filter(deletesEntity).flatMap(urnsToRemove))
    )
  for (const deletion of deletionsOf(work, allowed).toSorted((a, b) => a.record.line - b.record.line)) {
    try {
      for (const record of await deleteEntities(tx, work, [deletion])) applied.add(record)
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error
      refused.set(deletion.record, error)
      throwFirst(records, refused, context)
    }
  }
}

async function drawOrder(tx: Tx, work: UnitOfWork): Promise<void> {
  work.seq = await drawSeq(tx)
  work.older = await olderWork(tx, work.seq, null)
}

/**
 * Folds the records that are not refused. If a record that creates an entity is refused, folds again without
 * the records that refer to the entity. The refused records are added to `refused`.
 */
async function foldUntilSettled(
  tx: Tx,
  work: UnitOfWork,
  { records, columns }: { records: readonly ChangeRecord[]; columns: EdgeColumns | null },
  refused: Map<ChangeRecord, CatalogError>,
  context: ApplyContext
): Promise<Folded> {
  const deleted = [...work.graph]
  for (;;) {
    const applicable = records.filter((record) => !refused.has(record))
    await resolveAndLock(tx, work, applicable, columns, context)
    const folded = await foldRecords(tx, work, inPasses(applicable), columns, context.chunk === undefined)
    for (const [record, error] of folded.refused) refused.set(record, error)
    throwFirst(records, refused, context)
    const hasLostCreator = [...folded.refused.keys()].some((record) =>
      record.changes.some((change) => createsOf(change).length > 0)
    )
    const dependent = hasLostCreator
      ? await refuseMissingReferences(
          tx,
          work,
          applicable.filter((record) => !refused.has(record)),
          context
        )
      : new Map<ChangeRecord, CatalogError>()
    if (dependent.size === 0) return folded
    for (const [record, error] of dependent) refused.set(record, error)
    work.created.clear()
    work.undoneCreations.clear()
    work.graph = [...deleted]
  }
}

/**
 * Gives ids to entities without an id, and locks the owners. A call draws its seq here, because it must hold
 * the locks when it does.
 */
async function resolveAndLock(
  tx: Tx,
  work: UnitOfWork,
  records: readonly ChangeRecord[],
  columns: EdgeColumns | null,
  context: ApplyContext
): Promise<void> {
  const changes = records.flatMap((record) => record.changes)
  const removed = changes.flatMap(urnsToRemove)
  await giveIds(tx, work, [...changes.flatMap(urnsToWrite), ...(work.older.isUnfinished ? removed : [])])
  await lockOwners(tx, work, records, columns)
  // A call that deletes already has its seq: no other writer is active.
  if (!context.chunk && work.seq === seqNotDrawn) await drawOrder(tx, work)
  // Only now is it known whether removals must store their order, and on which rows. Entities that were
  // created while this transaction waited for its locks are found too.
  const found = work.older.isUnfinished ? await giveIds(tx, work, removed) : await resolve(tx, work, removed)
  if (found > 0) await lockOwners(tx, work, records, columns)
}

/** Looks up the URNs that have no row in memory yet, and returns how many were found. */
async function resolve(tx: Tx, work: UnitOfWork, urns: readonly Urn[]): Promise<number> {
  const rows = await findEntities(
    tx,
    [...new Set(urns.flatMap(withAssets))].filter((urn) => !work.entities.has(urn))
  )
  for (const row of rows) rememberEntity(work, row)
  return rows.length
}

/** The seq of a call that has not drawn its own yet: it counts as newer than everything. */
const seqNotDrawn = Number.MAX_SAFE_INTEGER

export async function lockOutWriters(tx: Tx): Promise<void> {
  for (let attempt = 0; attempt < exclusiveLockMaxTries; attempt += 1) {
    if (await tryLockOutWriters(tx)) return
    await sleep(exclusiveLockWaitMs * (0.5 + Math.random()))
  }
  throw new CatalogError('UNAVAILABLE', 'The deletion waited too long for other writes; send it again.', {
    retryAfterSeconds: 5
  })
}

/** A new unit of work, with nothing read yet. */
export async function openUnitOfWork(
  tx: Tx,
  context: ApplyContext,
  changes: readonly Change[],
  guards: Guards,
  older: OlderWork | null
): Promise<UnitOfWork> {
  const sourceIds = new Map<string, number>()
  for (const name of new Set([
    context.source,
    ...changes.flatMap((change) =>
      change.kind === 'replaceEdges' || change.kind === 'undoStatement' ? (change.source ?? []) : []
    )
  ]))
    sourceIds.set(name, await sourceId(tx, name))
  const undo: UnitOfWork['undo'] = []
  const work: UnitOfWork = {
    seq: context.chunk?.seq ?? seqNotDrawn,
    now: await transactionTime(tx),
    actor: context.actor,
    limit: await limitOf(tx, context.actor),
    sourceId: sourceIds.get(context.source) ?? 0,
    sourceIds,
    statedKeys: context.stated ?? null,
    guards,
    createsOwners: context.missingReferences === 'create',
    replacesOwnEdges: context.stated !== undefined || context.upsertReplaces === 'proposals',
    older: older ?? { isUnfinished: false, isDestructive: false, isCreating: false, horizonSeq: 0 },
    entities: new Map(),
    byId: new Map(),
    inserted: new Set(),
    created: new Set(),
    trialIds: context.isDryRun ? createTrialIds() : null,
    undoneCreations: new Set(),
    graph: [],
    patchBudget: createPatchBudget(),
    journal: context.chunk ? createJournal() : null,
    undo,
    merging: {
      sourceId: sourceIds.get(context.source) ?? 0,
      keepsOrder: guards.keepsOrder,
      isDeletedAfter: (id, order) => isIdDeletedAfter(work, id, order),
      checkDownstream: (downstreamId) => {
        checkDownstreamWithinLimit(work, downstreamId)
      },
      asserted: context.stated ?? null,
      undo
    }
  }
  return work
}

/** Returns the records whose references are missing; none if placeholders are created. */
async function refuseMissingReferences(
  tx: Tx,
  work: UnitOfWork,
  records: readonly ChangeRecord[],
  context: ApplyContext
): Promise<Map<ChangeRecord, CatalogError>> {
  const named = [...new Set(records.flatMap((record) => record.changes.flatMap(urnsNamed)))]
  const hidden = await hiddenDomains(tx, work, named)
  const createsMissing = context.missingReferences === 'create'
  if (createsMissing && hidden.size === 0) return new Map()
  const absent = named.filter((urn) => hidden.has(urn) || !work.entities.get(urn)?.isPresent)
  const declared =
    context.chunk && absent.length > 0
      ? await declaredUrns(tx, context.chunk.loadId, absent)
      : new Set<string>()
  const refused = checkReferences(records, {
    isPresent: (urn) => createsMissing || work.entities.get(urn)?.isPresent === true,
    isHiddenDomain: (urn) => hidden.has(urn),
    isKnown: (urn) => work.entities.has(urn),
    isDeletedAfter: (urn, record) => isDeletedAfter(work, urn, orderOf(work, record)),
    isDeclared: (urn) => declared.has(urn),
    isDone: (change) =>
      change.kind === 'deleteDomain' && work.entities.get(change.domainUrn)?.deletedSeq === work.seq
  })
  if (refused.size > 0 && context.chunk && work.older.isCreating && work.guards.waitsForOlderLoads)
    throw new WaitForOlderLoad()
  return refused
}

/** The domains that were soft-deleted before these changes. A later soft deletion hides what they put there. */
async function hiddenDomains(tx: Tx, work: UnitOfWork, named: readonly Urn[]): Promise<ReadonlySet<Urn>> {
  const removed = named.flatMap((urn) => {
    const row = work.entities.get(urn)
    return row?.entityType === 'domain' && row.isRemoved ? [row] : []
  })
  const states = await findAspects(
    tx,
    removed.map(({ id }) => ({ entityId: id, aspectName: 'status' }))
  )
  const ids = new Set(states.filter(({ seq }) => seq < work.seq).map(({ entityId }) => entityId))
  return new Set(removed.filter(({ id }) => ids.has(id)).map(({ urn }) => urn))
}

function throwFirst(
  records: readonly ChangeRecord[],
  refused: ReadonlyMap<ChangeRecord, CatalogError>,
  context: ApplyContext
): void {
  if (context.chunk || refused.size === 0) return
  for (const record of records) {
    const error = refused.get(record)
    if (error) throw withInputField(record, error)
  }
}

/** The same error, with its field prefixed with the input of the record: `proposals[3].changeType`. */
function withInputField({ fields }: ChangeRecord, error: CatalogError): CatalogError {
  const inner = error.details.field ?? ''
  const [outer = '', ...others] = new Set(fields)
  if (outer === '' || others.length > 0 || inner.startsWith(outer)) return error
  return new CatalogError(
    error.code,
    error.message,
    { ...error.details, field: inner === '' ? outer : `${outer}.${inner}` },
    { cause: error }
  )
}

/**
 * Gives ids to entities without one: assets before their columns, because a column's row has the id of its
 * asset. Returns how many URNs had no row in memory.
 */
async function giveIds(tx: Tx, work: UnitOfWork, urns: readonly Urn[]): Promise<number> {
  const wanted = [...new Set(urns.flatMap(withAssets))].filter((urn) => !work.entities.has(urn))
  for (const depth of [...new Set(wanted.map(columnDepth))].sort((a, b) => a - b)) {
    const level = wanted.filter((urn) => columnDepth(urn) === depth)
    const rows = level.map((urn) => ({
      urn,
      parentId: depth === 0 ? null : (work.entities.get(firstUrnOf(urn))?.id ?? null)
    }))
    const { inserted, known } = await insertEntities(tx, rows, work.trialIds)
    for (const row of [...inserted, ...known]) rememberEntity(work, row)
    for (const row of inserted) work.inserted.add(row.id)
  }
  return wanted.length
}

const isColumn = (urn: Urn): boolean => entityTypeOf(urn) === 'schemaField'
const columnDepth = (urn: Urn): number => (isColumn(urn) ? 1 + columnDepth(firstUrnOf(urn)) : 0)
const withAssets = (urn: Urn): Urn[] => (isColumn(urn) ? [...withAssets(firstUrnOf(urn)), urn] : [urn])

/**
 * Locks the owners that are about to change, and reads them again: they may have changed before the lock was
 * granted.
 */
async function lockOwners(
  tx: Tx,
  work: UnitOfWork,
  records: readonly ChangeRecord[],
  columns: EdgeColumns | null
): Promise<void> {
  if (!work.guards.locksOwners) return
  const subjects = new Set(
    records.flatMap((record) =>
      record.changes.flatMap((change) => work.entities.get(assetOrSelf(subjectOf(change)))?.id ?? [])
    )
  )
  const owners = new Set(
    records.flatMap((record) =>
      record.changes.flatMap((change) => work.entities.get(subjectOf(change))?.id ?? [])
    )
  )
  const ids = [...new Set([...subjects, ...owners])].filter((id) => !work.inserted.has(id))
  // One statement locks all rows, so that two writers lock in the same order.
  if (columns) await lockById(tx, distinct(Int32Array.from([...ids, ...columns.ownerIds])))
  for (const row of await lockEntities(tx, ids)) rememberEntity(work, row)
}

/** Orders records: those that create before those that refer, and parent domains before their children. */
function inPasses(records: readonly ChangeRecord[]): ChangeRecord[] {
  const depths = domainDepths(records)
  const rank = (record: ChangeRecord): number =>
    Math.max(
      0,
      ...record.changes.map((change) =>
        change.kind === 'createDomain' ? (depths.get(change.domainUrn) ?? 0) : 0
      )
    )
  return records
    .map((record) => ({ record, pass: passOf(record.changes), rank: rank(record) }))
    .sort((a, b) => a.pass - b.pass || a.rank - b.rank || a.record.line - b.record.line)
    .map(({ record }) => record)
}

/**
 * The number of ancestors of each new domain that are new as well. A cycle ends the count, and is refused
 * later.
 */
function domainDepths(records: readonly ChangeRecord[]): Map<Urn, number> {
  const parents = new Map<Urn, Urn | undefined>()
  for (const record of records)
    for (const change of record.changes)
      if (change.kind === 'createDomain') parents.set(change.domainUrn, change.parentDomain)
  const depths = new Map<Urn, number>()
  for (const urn of parents.keys()) {
    const seen = new Set<Urn>()
    for (
      let above = parents.get(urn);
      above && parents.has(above) && !seen.has(above);
      above = parents.get(above)
    )
      seen.add(above)
    depths.set(urn, seen.size)
  }
  return depths
}

/** The most owners that the audit trail names for one application. */
const auditedUrnsMaxCount = 10

async function audit(
  tx: Tx,
  work: UnitOfWork,
  { records, resolved }: { records: readonly ChangeRecord[]; resolved: ResolvedEdges | null },
  verdicts: readonly Verdict[],
  context: ApplyContext
): Promise<void> {
  const count = (outcome: Verdict['outcome']) =>
    verdicts.filter((verdict) => verdict.outcome === outcome).length
  const subjects = new Set(records.flatMap((record) => record.changes.map(subjectOf)))
  for (const owner of resolved?.idle.owners ?? []) subjects.add(owner)
  const owners = resolved ? distinct(resolved.columns.ownerIds) : new Int32Array(0)
  const known = new Set([...subjects].flatMap((urn) => work.entities.get(urn)?.id ?? []))
  const others = owners.filter((id) => !known.has(id))
  const named = others.subarray(0, Math.max(0, auditedUrnsMaxCount - subjects.size))
  const names = (await findEntitiesById(tx, [...named])).map(({ urn }) => urn)
  await appendAudit(tx, {
    actor: work.actor.urn,
    tokenId: work.actor.tokenId,
    operation: context.operation,
    seq: work.seq,
    loadId: (context.chunk ?? context.ofLoad)?.loadId ?? null,
    chunkId: (context.chunk ?? context.ofLoad)?.chunkId ?? null,
    requestId: context.requestId,
    details: {
      records: verdicts.length,
      applied: count('applied'),
      unchanged: count('unchanged'),
      rejected: count('rejected'),
      urns: [...subjects, ...names].slice(0, auditedUrnsMaxCount),
      urnCount: subjects.size + others.length
    }
  })
}
