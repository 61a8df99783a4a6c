/**
 * The one write path: applies records of changes in one transaction, whichever door they came through.
 *
 * Set-based: resolves, locks and reads what the records touch in a fixed number of statements, folds them in memory,
 * and writes what has changed. The rules it keeps (order, locks, existence, the domain tree) are those of docs/architecture.md.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Tx } from '../../db/database.ts'
import { preferIndexes } from '../../db/prefer-indexes.ts'
import { CatalogError } from '../../errors.ts'
import { createsOf, passOf, standsOn } from '../../model/change-facts.ts'
import type { Actor, Change, ChangeRecord, MissingReferences, Verdict } from '../../model/changes.ts'
import { createPatchBudget } from '../../model/patch-work.ts'
import { distinct, type EdgeColumns } from '../../statements/columns.ts'
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
  tryLockAlone,
  type OlderWork
} from '../../store/order-of-changes.ts'
import { sourceId } from '../../store/statements.ts'
import { entityTypeOf, firstUrnOf, type Urn } from '../../urn/urn.ts'
import { applyDomainRules } from './apply-domain-rules.ts'
import { authorizeRecords, limitOf } from './authorize-domain.ts'
import { deleteEntities, deletionsOf } from './delete-entities.ts'
import { createJournal } from './journal.ts'
import { foldRecords, writeFolded, type Folded } from './fold-records.ts'
import { judgeReferences } from './judge-references.ts'
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
  type WorkingSet
} from './working-set.ts'
import type { EdgeBatch } from './edge-payload.ts'
import type { EntityIds } from './entity-ids.ts'
import { allGuards, type Guards } from './guards.ts'
import { resolveEdges, type ResolvedEdges } from './resolve-edges.ts'
import type { StatedKeys } from './stated-keys.ts'
import { WaitForOlderLoad } from './wait-for-older-load.ts'

export type ApplyContext = {
  actor: Actor
  /** Who states the edges: `manual`, `proposal`, or what a load calls itself. */
  source: string
  missingReferences: MissingReferences
  /** What the audit trail calls it. */
  operation: string
  requestId: string | null
  /** The chunk that the records are; absent for a synchronous call. */
  chunk?: { seq: number; loadId: string; chunkId: number }
  /** For the audit trail: the chunk whose events became the records, which are applied as a call's. */
  ofLoad?: { loadId: string; chunkId: number }
  /** Gathers what the records state, where they are of a snapshot; an UPSERT then replaces what their own source stated, and nobody else. */
  stated?: StatedKeys
  /** The transaction will be rolled back: what is new gets no id that would be used up. */
  isDryRun?: boolean
  /** What keeps concurrent writes right; tests leave parts out, nothing else does. */
  guards?: Guards
}

/** The edges of a chunk that are given by their two ends alone, and what the process remembers of ids. */
export type EdgesToApply = { batch: EdgeBatch; ids: EntityIds }

const aloneMaxTries = 60
const aloneWaitMs = 50

/**
 * Applies records, and edges in columns beside them, and gives a verdict for each: those of records first.
 *
 * A synchronous call is all or nothing: it throws the CatalogError of the first record that cannot be applied, and the
 * caller's transaction must then be rolled back. A chunk refuses record by record; it throws WaitForOlderLoad when a
 * reference may yet be created by an older load.
 */
export async function applyRecords(
  tx: Tx,
  given: readonly ChangeRecord[],
  context: ApplyContext,
  edges: EdgesToApply | null = null
): Promise<Verdict[]> {
  const guards = context.guards ?? allGuards
  // What a load fills has statistics from when it was empty.
  if (context.chunk ?? context.ofLoad) await preferIndexes(tx)
  const changes = given.flatMap((record) => record.changes)
  const deletes = changes.some(deletesEntity)
  if (guards.excludesDeletes) await (changes.some(excludesWriters) ? lockAlone(tx) : lockAsWriter(tx))
  if (guards.locksDomainTree && changes.some(changesDomainTree)) await lockDomainTree(tx)
  // Before existence is read: what an older load created after this question is not yet known to be missing.
  const before = context.chunk ? await olderWork(tx, context.chunk.seq, context.chunk.loadId) : null
  const set = await openSet(tx, context, changes, guards, before)
  const resolved = edges
    ? await resolveEdges(tx, set, edges.batch, edges.ids, context.missingReferences)
    : null
  const records = resolved ? [...given, ...resolved.records] : given
  const named = records.flatMap((record) => record.changes.flatMap(urnsNamed))
  for (const row of await findEntities(tx, [...new Set(named)])) rememberEntity(set, row)

  const refused = await authorizeRecords(tx, set, records)
  const applied = new Set<ChangeRecord>()
  if (deletes) await deleteFirst(tx, set, records, refused, applied, context)
  for (const [record, error] of await judge(
    tx,
    set,
    records.filter((each) => !refused.has(each)),
    context
  ))
    refused.set(record, error)
  throwFirst(records, refused, context)
  const folded = await foldUntilSettled(
    tx,
    set,
    { records, columns: resolved?.columns ?? null },
    refused,
    context
  )
  // What an undo makes again is not new: its domain is restored with the rest.
  if (!changes.some(isUndo)) await applyDomainRules(tx, set, folded.cells)
  await writeFolded(tx, set, folded)
  if (context.chunk) await set.journal?.write(tx, context.chunk)
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
    return {
      line: record.line,
      outcome: folded.applied.has(record) || applied.has(record) ? 'applied' : 'unchanged'
    }
  })
  const verdicts = resolved ? [...ofRecords, ...verdictsOn(resolved, folded)] : ofRecords
  await audit(tx, set, { records, resolved }, verdicts, context)
  return verdicts
}

function verdictsOn({ columns, idle }: ResolvedEdges, { appliedLines }: Folded): Verdict[] {
  const verdicts: Verdict[] = []
  for (const line of columns.lines)
    verdicts.push({ line, outcome: appliedLines.has(line) ? 'applied' : 'unchanged' })
  for (const line of idle.lines) verdicts.push({ line, outcome: 'unchanged' })
  return verdicts
}

/** Deletions come first: they hold the lock of all writers, and what else the records say is judged by what is left. */
async function deleteFirst(
  tx: Tx,
  set: WorkingSet,
  records: readonly ChangeRecord[],
  refused: Map<ChangeRecord, CatalogError>,
  applied: Set<ChangeRecord>,
  context: ApplyContext
): Promise<void> {
  const deleting = records.filter((record) => !refused.has(record) && record.changes.some(deletesEntity))
  for (const [record, error] of await judge(tx, set, deleting, context)) refused.set(record, error)
  throwFirst(records, refused, context)
  if (!context.chunk) await drawOrder(tx, set)
  const allowed = deleting.filter((record) => !refused.has(record))
  if (set.older.isUnfinished)
    await giveIds(
      tx,
      set,
      allowed.flatMap((record) => record.changes.filter(deletesEntity).flatMap(urnsToRemove))
    )
  for (const deletion of deletionsOf(set, allowed).toSorted((a, b) => a.record.line - b.record.line)) {
    try {
      for (const record of await deleteEntities(tx, set, [deletion])) applied.add(record)
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error
      refused.set(deletion.record, error)
      throwFirst(records, refused, context)
    }
  }
}

async function drawOrder(tx: Tx, set: WorkingSet): Promise<void> {
  set.seq = await drawSeq(tx)
  set.older = await olderWork(tx, set.seq, null)
}

/**
 * Folds the records that are not refused; where the creation of an entity turns out to be refused, again without those
 * that refer to it. Adds to `refused`.
 */
async function foldUntilSettled(
  tx: Tx,
  set: WorkingSet,
  { records, columns }: { records: readonly ChangeRecord[]; columns: EdgeColumns | null },
  refused: Map<ChangeRecord, CatalogError>,
  context: ApplyContext
): Promise<Folded> {
  const deleted = [...set.graph]
  for (;;) {
    const applicable = records.filter((record) => !refused.has(record))
    await resolveAndLock(tx, set, applicable, columns, context)
    const folded = await foldRecords(tx, set, inPasses(applicable), columns, context.chunk === undefined)
    for (const [record, error] of folded.refused) refused.set(record, error)
    throwFirst(records, refused, context)
    const hasLostCreator = [...folded.refused.keys()].some((record) =>
      record.changes.some((change) => createsOf(change).length > 0)
    )
    const dependent = hasLostCreator
      ? await judge(
          tx,
          set,
          applicable.filter((record) => !refused.has(record)),
          context
        )
      : new Map<ChangeRecord, CatalogError>()
    if (dependent.size === 0) return folded
    for (const [record, error] of dependent) refused.set(record, error)
    set.created.clear()
    set.takenBack.clear()
    set.graph = [...deleted]
  }
}

/** Gives ids to what has none and locks who is about to be changed. A call draws its seq when it holds its locks. */
async function resolveAndLock(
  tx: Tx,
  set: WorkingSet,
  records: readonly ChangeRecord[],
  columns: EdgeColumns | null,
  context: ApplyContext
): Promise<void> {
  const changes = records.flatMap((record) => record.changes)
  const removed = changes.flatMap(urnsToRemove)
  await giveIds(tx, set, [...changes.flatMap(urnsToWrite), ...(set.older.isUnfinished ? removed : [])])
  await lockOwners(tx, set, records, columns)
  // A call that deletes has its seq already: nobody else writes.
  if (!context.chunk && set.seq === notDrawn) await drawOrder(tx, set)
  // Only now is it known whether a removal must leave its order, and on whom; and what was made while the locks were waited for is there to be removed.
  const found = set.older.isUnfinished ? await giveIds(tx, set, removed) : await resolve(tx, set, removed)
  if (found > 0) await lockOwners(tx, set, records, columns)
}

/** Looks up those that have no row in the set yet, and says how many were found. */
async function resolve(tx: Tx, set: WorkingSet, urns: readonly Urn[]): Promise<number> {
  const rows = await findEntities(
    tx,
    [...new Set(urns.flatMap(withAssets))].filter((urn) => !set.entities.has(urn))
  )
  for (const row of rows) rememberEntity(set, row)
  return rows.length
}

/** The order of a call that has not drawn its own: after everything. */
const notDrawn = Number.MAX_SAFE_INTEGER

async function lockAlone(tx: Tx): Promise<void> {
  for (let attempt = 0; attempt < aloneMaxTries; attempt += 1) {
    if (await tryLockAlone(tx)) return
    await sleep(aloneWaitMs * (0.5 + Math.random()))
  }
  throw new CatalogError('UNAVAILABLE', 'The deletion waited too long for other writes; send it again.', {
    retryAfterSeconds: 5
  })
}

/** What a transaction holds in memory, empty yet. */
export async function openSet(
  tx: Tx,
  context: ApplyContext,
  changes: readonly Change[],
  guards: Guards,
  older: OlderWork | null
): Promise<WorkingSet> {
  const sourceIds = new Map<string, number>()
  for (const name of new Set([
    context.source,
    ...changes.flatMap((change) =>
      change.kind === 'replaceEdges' || change.kind === 'undoStatement' ? (change.source ?? []) : []
    )
  ]))
    sourceIds.set(name, await sourceId(tx, name))
  const undo: WorkingSet['undo'] = []
  const set: WorkingSet = {
    seq: context.chunk?.seq ?? notDrawn,
    now: await transactionTime(tx),
    actor: context.actor,
    limit: await limitOf(tx, context.actor),
    sourceId: sourceIds.get(context.source) ?? 0,
    sourceIds,
    stated: context.stated ?? null,
    guards,
    createsOwners: context.missingReferences === 'create',
    older: older ?? { isUnfinished: false, isDestructive: false, isCreating: false, horizonSeq: 0 },
    entities: new Map(),
    byId: new Map(),
    inserted: new Set(),
    created: new Set(),
    trialIds: context.isDryRun ? createTrialIds() : null,
    takenBack: new Set(),
    graph: [],
    patchBudget: createPatchBudget(),
    journal: context.chunk ? createJournal() : null,
    undo,
    merging: {
      sourceId: sourceIds.get(context.source) ?? 0,
      keepsOrder: guards.keepsOrder,
      isDeletedAfter: (id, order) => isIdDeletedAfter(set, id, order),
      checkDownstream: (downstreamId) => {
        checkDownstreamWithinLimit(set, downstreamId)
      },
      asserted: context.stated ?? null,
      undo
    }
  }
  return set
}

/** The records whose references are missing. Placeholders, where asked for, make every reference hold. */
async function judge(
  tx: Tx,
  set: WorkingSet,
  records: readonly ChangeRecord[],
  context: ApplyContext
): Promise<Map<ChangeRecord, CatalogError>> {
  if (context.missingReferences === 'create') return new Map()
  const absent = [...new Set(records.flatMap((record) => record.changes.flatMap(urnsNamed)))].filter(
    (urn) => !set.entities.get(urn)?.isPresent
  )
  const declared =
    context.chunk && absent.length > 0
      ? await declaredUrns(tx, context.chunk.loadId, absent)
      : new Set<string>()
  const refused = judgeReferences(records, {
    isPresent: (urn) => set.entities.get(urn)?.isPresent === true,
    isKnown: (urn) => set.entities.has(urn),
    isDeletedAfter: (urn, record) => isDeletedAfter(set, urn, orderOf(set, record)),
    isDeclared: (urn) => declared.has(urn),
    isDone: (change) =>
      change.kind === 'deleteDomain' && set.entities.get(change.domainUrn)?.deletedSeq === set.seq
  })
  if (refused.size > 0 && context.chunk && set.older.isCreating && set.guards.waitsForOlderLoads)
    throw new WaitForOlderLoad()
  return refused
}

function throwFirst(
  records: readonly ChangeRecord[],
  refused: ReadonlyMap<ChangeRecord, CatalogError>,
  context: ApplyContext
): void {
  if (context.chunk || refused.size === 0) return
  for (const record of records) {
    const error = refused.get(record)
    if (error) throw saidOf(record, error)
  }
}

/** The same error, its field named from the input that the record came from: `proposals[3].changeType`. */
function saidOf({ fields }: ChangeRecord, error: CatalogError): CatalogError {
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

/** Gives ids to what has none: assets first, so that columns know theirs. Says how many were given. */
async function giveIds(tx: Tx, set: WorkingSet, urns: readonly Urn[]): Promise<number> {
  const wanted = [...new Set(urns.flatMap(withAssets))].filter((urn) => !set.entities.has(urn))
  for (const depth of [...new Set(wanted.map(columnDepth))].sort((a, b) => a - b)) {
    const level = wanted.filter((urn) => columnDepth(urn) === depth)
    const rows = level.map((urn) => ({
      urn,
      parentId: depth === 0 ? null : (set.entities.get(firstUrnOf(urn))?.id ?? null)
    }))
    const { inserted, known } = await insertEntities(tx, rows, set.trialIds)
    for (const row of [...inserted, ...known]) rememberEntity(set, row)
    for (const row of inserted) set.inserted.add(row.id)
  }
  return wanted.length
}

const isColumn = (urn: Urn): boolean => entityTypeOf(urn) === 'schemaField'
const columnDepth = (urn: Urn): number => (isColumn(urn) ? 1 + columnDepth(firstUrnOf(urn)) : 0)
const withAssets = (urn: Urn): Urn[] => (isColumn(urn) ? [...withAssets(firstUrnOf(urn)), urn] : [urn])

/** Locks who is about to be changed, and takes over what may have changed before the lock was had. */
async function lockOwners(
  tx: Tx,
  set: WorkingSet,
  records: readonly ChangeRecord[],
  columns: EdgeColumns | null
): Promise<void> {
  if (!set.guards.locksOwners) return
  const subjects = new Set(
    records.flatMap((record) =>
      record.changes.flatMap((change) => set.entities.get(standsOn(subjectOf(change)))?.id ?? [])
    )
  )
  const owners = new Set(
    records.flatMap((record) =>
      record.changes.flatMap((change) => set.entities.get(subjectOf(change))?.id ?? [])
    )
  )
  const ids = [...new Set([...subjects, ...owners])].filter((id) => !set.inserted.has(id))
  // All at once: two writers meet in one order.
  if (columns) await lockById(tx, distinct(Int32Array.from([...ids, ...columns.ownerIds])))
  for (const row of await lockEntities(tx, ids)) rememberEntity(set, row)
}

/** Those who create come before those who refer, parents of domains before what stands below them. */
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

/** How many of the parents above each new domain are new as well; a cycle ends the count and is refused later. */
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

/** Of the owners that an application is about the audit trail names so many. */
const auditedUrnsMaxCount = 10

async function audit(
  tx: Tx,
  set: WorkingSet,
  { records, resolved }: { records: readonly ChangeRecord[]; resolved: ResolvedEdges | null },
  verdicts: readonly Verdict[],
  context: ApplyContext
): Promise<void> {
  const count = (outcome: Verdict['outcome']) =>
    verdicts.filter((verdict) => verdict.outcome === outcome).length
  const subjects = new Set(records.flatMap((record) => record.changes.map(subjectOf)))
  for (const owner of resolved?.idle.owners ?? []) subjects.add(owner)
  const owners = resolved ? distinct(resolved.columns.ownerIds) : new Int32Array(0)
  const known = new Set([...subjects].flatMap((urn) => set.entities.get(urn)?.id ?? []))
  const others = owners.filter((id) => !known.has(id))
  const named = others.subarray(0, Math.max(0, auditedUrnsMaxCount - subjects.size))
  const names = (await findEntitiesById(tx, [...named])).map(({ urn }) => urn)
  await appendAudit(tx, {
    actor: set.actor.urn,
    tokenId: set.actor.tokenId,
    operation: context.operation,
    seq: set.seq,
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
