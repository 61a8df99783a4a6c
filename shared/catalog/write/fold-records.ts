/** Folds records into drafts one by one, each all or nothing, and writes the result. */
import { setImmediate } from 'node:timers/promises'
import type { Tx } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { passOf } from '../../model/change-facts.ts'
import type { ChangeRecord } from '../../model/changes.ts'
import { appendedPosition } from '../../model/list-order.ts'
import { createPatchBudget, createReplayBudget, TooMuchPatching } from '../../model/patch-work.ts'
import { forgetEntities, unusedEntities, writePresence } from '../../store/entities.ts'
import { assertEdge, edgesOfOwner, removeEdge } from '../../statements/merge.ts'
import type { EdgeColumns } from '../../statements/columns.ts'
import { appendGraphChange } from '../../store/graph-changes.ts'
import { aspectDraftKey, currentValue, writeAspectDrafts, type AspectDrafts } from './aspect-drafts.ts'
import { authorizeDownstreams } from './authorize-domain.ts'
import { applyChange } from './apply-change.ts'
import { readNewerDescriptions } from './bring-back.ts'
import { countEdgesInAspect, type Drafts } from './drafts.ts'
import { readAspects, writeEdgeAspects } from './edge-aspects.ts'
import { keepSearchDocuments } from './keep-search-documents.ts'
import { domainsNamed, readAssociationDrafts, writeAssociationDrafts } from './association-drafts.ts'
import { openDomainTree, writeDomainTree } from './domain-tree.ts'
import { eventRowsOf, readEventDrafts, writeEventDrafts } from './event-drafts.ts'
import { planReads } from './plan-records.ts'
import { ownerAspectKey, readStatements } from './read-statements.ts'
import { writeStatements } from './write-statements.ts'
import { orderOf, type UnitOfWork } from './unit-of-work.ts'

/** `appliedLines`: the lines of the edges in columns that changed something. */
export type Folded = {
  applied: Set<ChangeRecord>
  appliedLines: Set<number>
  refused: Map<ChangeRecord, CatalogError>
  drafts: Drafts
}

const patchValuesPerTurn = 50_000

/**
 * Folds in memory; nothing is written. Records are applied in the given order; the `line` of a record decides
 * which of two changes is newer.
 */
export async function foldRecords(
  tx: Tx,
  work: UnitOfWork,
  records: readonly ChangeRecord[],
  columns: EdgeColumns | null,
  isCall: boolean
): Promise<Folded> {
  work.statedKeys?.clear()
  work.patchBudget = !isCall && records.length === 1 ? createReplayBudget() : createPatchBudget()
  const plan = planReads(work, records)
  const drafts: Drafts = {
    ...(await readAspects(tx, work, plan, columns)),
    statements: await readStatements(tx, work, { ...plan, columns }),
    associations: await readAssociationDrafts(tx, work, plan.associations),
    tree: await openDomainTree(tx, plan.domains, plan.places),
    unreferenced: await unusedEntities(tx, plan.undoneCreations),
    events: await readEventDrafts(tx, work, records),
    newerDescriptions: await readNewerDescriptions(tx, work, records, isCall),
    refusesRepeatedCreation: isCall
  }
  await authorizeDownstreams(tx, work, drafts.statements.values())
  const folded: Folded = { applied: new Set(), appliedLines: new Set(), refused: new Map(), drafts }
  let edgesAt = 0
  let turnAt = work.patchBudget.valuesLeft - patchValuesPerTurn
  for (const record of records) {
    // Edges are folded by line number, after the records that create entities.
    if (columns && passOf(record.changes) === 3)
      edgesAt = foldEdges(work, columns, { from: edgesAt, beforeLine: record.line }, folded)
    await foldRecord(work, drafts, record, folded)
    if (work.patchBudget.valuesLeft > turnAt) continue
    // After a large document was patched, other work gets a turn.
    turnAt = work.patchBudget.valuesLeft - patchValuesPerTurn
    await setImmediate()
  }
  if (columns) foldEdges(work, columns, { from: edgesAt, beforeLine: Infinity }, folded)
  return folded
}

/**
 * Folds the edges from index `from` up to those of line `beforeLine`, and returns the index of the next.
 * Edges are never refused here.
 */
function foldEdges(
  work: UnitOfWork,
  columns: EdgeColumns,
  { from, beforeLine }: { from: number; beforeLine: number },
  { drafts, appliedLines }: Folded
): number {
  const { isRemoval, lines, ownerIds, fields, downstreamIds, upstreamIds } = columns
  const context = { ...work.merging, undo: null }
  let at = from
  for (; at < lines.length && (lines[at] ?? 0) < beforeLine; at += 1) {
    work.undo.length = 0
    const [field, downstreamId, upstreamId] = [fields[at] ?? 0, downstreamIds[at] ?? 0, upstreamIds[at] ?? 0]
    const order = { seq: work.seq, line: lines[at] ?? 0 }
    const owner = drafts.statements.get(ownerAspectKey(ownerIds[at] ?? 0, field >> 4))
    if (!owner) throw new Error('statements of an edge were not read')
    const hasChanged = isRemoval
      ? removeEdge(context, owner, { downstreamId, upstreamId }, order)
      : assertEdge(context, owner, field, { downstreamId, upstreamId, position: appendedPosition }, order)
    if (countEdgesInAspect(work, drafts, owner, { isMade: !isRemoval, hasChanged }, order))
      appliedLines.add(order.line)
  }
  return at
}

async function foldRecord(
  work: UnitOfWork,
  drafts: Drafts,
  record: ChangeRecord,
  folded: Folded
): Promise<void> {
  work.undo.length = 0
  const order = orderOf(work, record)
  try {
    let hasChanged = false
    for (const change of record.changes)
      hasChanged = (await applyChange(work, drafts, change, order)) || hasChanged
    if (hasChanged) folded.applied.add(record)
  } catch (error) {
    if (!(error instanceof CatalogError) || error instanceof TooMuchPatching) throw error
    for (const step of work.undo.reverse()) step()
    folded.refused.set(record, error)
  }
}

/** Writes the result of the records; the change log is last. */
export async function writeFolded(tx: Tx, work: UnitOfWork, { drafts }: Folded): Promise<void> {
  const forgotten = new Set(unusedIds(work, drafts))
  for (const id of work.inserted) if (!forgotten.has(id)) work.graph.push({ kind: 'created', id })
  await writeAspectDrafts(tx, work, drafts.aspects)
  await writeEdgeAspects(tx, work, drafts)
  const asserted = await writeStatements(tx, work, [...drafts.statements.values()])
  await writeAssociationDrafts(tx, work, drafts.associations)
  await writeDomainTree(work, drafts.tree)
  await writeEventDrafts(tx, work, drafts.events)
  await writeExistence(tx, work, drafts.aspects)
  await keepSearchDocuments(tx, work, drafts.aspects, forgotten)
  await forgetEntities(tx, [...forgotten])
  await appendGraphChange(tx, work.graph, asserted)
}

/**
 * Whether an entity exists follows from the records that created it; soft deletion follows from the aspect
 * `status`.
 */
async function writeExistence(tx: Tx, work: UnitOfWork, aspects: AspectDrafts): Promise<void> {
  const changed = new Map<number, { id: number; isPresent: boolean; isRemoved: boolean }>()
  const stateOf = (id: number) => {
    const row = work.byId.get(id)
    const state = changed.get(id) ?? {
      id,
      isPresent: row?.isPresent ?? false,
      isRemoved: row?.isRemoved ?? false
    }
    changed.set(id, state)
    return state
  }
  for (const id of work.created) stateOf(id).isPresent = true
  for (const id of work.undoneCreations) stateOf(id).isPresent = false
  for (const draft of aspects.values()) {
    if (draft.aspectName === 'status' && draft.rows.at(-1) !== draft.storedCurrent)
      stateOf(draft.entityId).isRemoved = currentValue(draft)?.removed === true
  }
  const rows = [...changed.values()].filter(
    ({ id, isPresent, isRemoved }) =>
      work.byId.get(id)?.isPresent !== isPresent || work.byId.get(id)?.isRemoved !== isRemoved
  )
  await writePresence(
    tx,
    rows.sort((a, b) => a.id - b.id)
  )
  for (const { id, isPresent } of rows) {
    // The journal entry for the properties of a domain already covers its creation.
    if (
      isPresent !== work.byId.get(id)?.isPresent &&
      !(isPresent && aspects.has(aspectDraftKey(id, 'domainProperties')))
    )
      work.journal?.note({
        kind: !isPresent ? 'unmade' : work.byId.get(id)?.entityType === 'domain' ? 'madeDomain' : 'made',
        entityId: id
      })
  }
  for (const row of rows)
    work.graph.push({
      kind: 'entity',
      ...row,
      isDeleted: typeof work.byId.get(row.id)?.deletedSeq === 'number'
    })
}

/** The ids of entities that only refused records name. */
function unusedIds(work: UnitOfWork, drafts: Drafts): number[] {
  if (work.inserted.size === 0) return []
  const used = new Set<number>(work.created)
  for (const draft of drafts.aspects.values()) if (draft.rows.length > 0) used.add(draft.entityId)
  for (const owner of drafts.statements.values()) {
    for (const { rows } of edgesOfOwner(owner))
      for (const row of rows) used.add(row.ownerId).add(row.downstreamId).add(row.upstreamId)
    for (const row of [...(owner.order?.newTombstones.values() ?? []), ...owner.patches])
      used.add(row.ownerId).add(row.downstreamId).add(row.upstreamId)
  }
  for (const draft of drafts.associations.values()) {
    if (draft.row) used.add(draft.entityId)
    for (const domainId of domainsNamed(work, draft)) used.add(domainId)
  }
  for (const row of drafts.tree.rows.values())
    if (row) used.add(row.entityId).add(row.parentId ?? row.entityId)
  for (const row of eventRowsOf(drafts.events)) used.add(row.entityId)
  for (const row of work.byId.values()) if (row.deletedSeq !== null) used.add(row.id)
  for (const id of used) {
    const parentId = work.byId.get(id)?.parentId
    if (typeof parentId === 'number') used.add(parentId)
  }
  return [...work.inserted].filter((id) => !used.has(id))
}
