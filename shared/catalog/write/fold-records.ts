/** Folds records into the cells they touch, one after the other and each all or none, and writes what came of it. */
import { setImmediate } from 'node:timers/promises'
import type { Tx } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { passOf } from '../../model/change-facts.ts'
import type { ChangeRecord } from '../../model/changes.ts'
import { appendedPosition } from '../../model/list-order.ts'
import { createPatchBudget, createReplayBudget, TooMuchPatching } from '../../model/patch-work.ts'
import { writeTimeseries } from '../../store/aspects.ts'
import { forgetEntities, unusedEntities, writePresence } from '../../store/entities.ts'
import { assertEdge, edgesOfOwner, removeEdge } from '../../statements/merge.ts'
import type { EdgeColumns } from '../../statements/columns.ts'
import { appendGraphChange } from '../../store/graph-changes.ts'
import { aspectCellKey, currentValue, writeAspectCells, type AspectCells } from './aspect-cells.ts'
import { authorizeDownstreams } from './authorize-domain.ts'
import { applyChange } from './apply-change.ts'
import { showEdges, type Cells } from './cells.ts'
import { readAspects, writeEdgeAspects } from './edge-aspects.ts'
import { keepSearchDocuments } from './keep-search-documents.ts'
import { domainsNamed, loadAssociationCells, writeAssociationCells } from './association-cells.ts'
import { openDomainTree, writeDomainTree } from './domain-tree.ts'
import { planLoads } from './plan-records.ts'
import { ownerAspectKey, readStatements } from './read-statements.ts'
import { writeStatements } from './write-statements.ts'
import { orderOf, type WorkingSet } from './working-set.ts'

/** `appliedLines`: those of the edges in columns that have changed something. */
export type Folded = {
  applied: Set<ChangeRecord>
  appliedLines: Set<number>
  refused: Map<ChangeRecord, CatalogError>
  cells: Cells
}

const patchValuesPerTurn = 50_000

/**
 * Folds in memory; nothing is written. Records must come in the order they are to be tried; their `line`, not this order,
 * decides which of two is newer.
 */
export async function foldRecords(
  tx: Tx,
  set: WorkingSet,
  records: readonly ChangeRecord[],
  columns: EdgeColumns | null,
  isCall: boolean
): Promise<Folded> {
  set.stated?.clear()
  set.patchBudget = !isCall && records.length === 1 ? createReplayBudget() : createPatchBudget()
  const loads = planLoads(set, records)
  const cells: Cells = {
    ...(await readAspects(tx, set, loads, columns)),
    statements: await readStatements(tx, set, { ...loads, columns }),
    associations: await loadAssociationCells(tx, set, loads.associations),
    tree: await openDomainTree(tx, loads.domains, loads.places),
    unmakeable: await unusedEntities(tx, loads.unmade),
    timeseries: [],
    refusesRepeatedCreation: isCall
  }
  await authorizeDownstreams(tx, set, cells.statements.values())
  const folded: Folded = { applied: new Set(), appliedLines: new Set(), refused: new Map(), cells }
  let edgesAt = 0
  let turnAt = set.patchBudget.valuesLeft - patchValuesPerTurn
  for (const record of records) {
    // In the order of the lines, as what creates entities has come before.
    if (columns && passOf(record.changes) === 3)
      edgesAt = foldEdges(set, columns, { from: edgesAt, beforeLine: record.line }, folded)
    await foldRecord(set, cells, record, folded)
    if (set.patchBudget.valuesLeft > turnAt) continue
    // Large documents are patched one after the other: others have a turn in between.
    turnAt = set.patchBudget.valuesLeft - patchValuesPerTurn
    await setImmediate()
  }
  if (columns) foldEdges(set, columns, { from: edgesAt, beforeLine: Infinity }, folded)
  return folded
}

/** Folds the edges from one on and before a line, and gives the place of the next. Nothing in them can be refused. */
function foldEdges(
  set: WorkingSet,
  columns: EdgeColumns,
  { from, beforeLine }: { from: number; beforeLine: number },
  { cells, appliedLines }: Folded
): number {
  const { isRemoval, lines, ownerIds, fields, downstreamIds, upstreamIds } = columns
  const context = { ...set.merging, undo: null }
  let at = from
  for (; at < lines.length && (lines[at] ?? 0) < beforeLine; at += 1) {
    set.undo.length = 0
    const [field, downstreamId, upstreamId] = [fields[at] ?? 0, downstreamIds[at] ?? 0, upstreamIds[at] ?? 0]
    const order = { seq: set.seq, line: lines[at] ?? 0 }
    const owner = cells.statements.get(ownerAspectKey(ownerIds[at] ?? 0, field >> 4))
    if (!owner) throw new Error('statements of an edge were not read')
    const hasChanged = isRemoval
      ? removeEdge(context, owner, { downstreamId, upstreamId }, order)
      : assertEdge(context, owner, field, { downstreamId, upstreamId, position: appendedPosition }, order)
    if (showEdges(set, cells, owner, { isMade: !isRemoval, hasChanged }, order)) appliedLines.add(order.line)
  }
  return at
}

async function foldRecord(
  set: WorkingSet,
  cells: Cells,
  record: ChangeRecord,
  folded: Folded
): Promise<void> {
  set.undo.length = 0
  const order = orderOf(set, record)
  try {
    let hasChanged = false
    for (const change of record.changes)
      hasChanged = (await applyChange(set, cells, change, order)) || hasChanged
    if (hasChanged) folded.applied.add(record)
  } catch (error) {
    if (!(error instanceof CatalogError) || error instanceof TooMuchPatching) throw error
    for (const step of set.undo.reverse()) step()
    folded.refused.set(record, error)
  }
}

/** Writes what came of the records, the change log last. */
export async function writeFolded(tx: Tx, set: WorkingSet, { cells }: Folded): Promise<void> {
  const forgotten = new Set(unused(set, cells))
  for (const id of set.inserted) if (!forgotten.has(id)) set.graph.push({ kind: 'created', id })
  await writeAspectCells(tx, set, cells.aspects)
  await writeEdgeAspects(tx, set, cells)
  const asserted = await writeStatements(tx, set, [...cells.statements.values()])
  await writeAssociationCells(tx, set, cells.associations)
  await writeDomainTree(set, cells.tree)
  await writeTimeseries(tx, cells.timeseries)
  for (const { entityId, aspectName } of cells.timeseries)
    set.journal?.note({ kind: 'event', entityId, aspectName })
  await writeExistence(tx, set, cells.aspects)
  await keepSearchDocuments(tx, set, cells.aspects, forgotten)
  await forgetEntities(tx, [...forgotten])
  await appendGraphChange(tx, set.graph, asserted)
}

/** Existence follows from what created entities, soft deletion from the aspect `status`. */
async function writeExistence(tx: Tx, set: WorkingSet, aspects: AspectCells): Promise<void> {
  const changed = new Map<number, { id: number; isPresent: boolean; isRemoved: boolean }>()
  const stateOf = (id: number) => {
    const row = set.byId.get(id)
    const state = changed.get(id) ?? {
      id,
      isPresent: row?.isPresent ?? false,
      isRemoved: row?.isRemoved ?? false
    }
    changed.set(id, state)
    return state
  }
  for (const id of set.created) stateOf(id).isPresent = true
  for (const id of set.takenBack) stateOf(id).isPresent = false
  for (const cell of aspects.values()) {
    if (cell.aspectName === 'status' && cell.rows.at(-1) !== cell.storedCurrent)
      stateOf(cell.entityId).isRemoved = currentValue(cell)?.removed === true
  }
  const rows = [...changed.values()].filter(
    ({ id, isPresent, isRemoved }) =>
      set.byId.get(id)?.isPresent !== isPresent || set.byId.get(id)?.isRemoved !== isRemoved
  )
  await writePresence(
    tx,
    rows.sort((a, b) => a.id - b.id)
  )
  for (const { id, isPresent } of rows) {
    // A domain is noted with its properties.
    if (
      isPresent !== set.byId.get(id)?.isPresent &&
      !(isPresent && aspects.has(aspectCellKey(id, 'domainProperties')))
    )
      set.journal?.note({
        kind: !isPresent ? 'unmade' : set.byId.get(id)?.entityType === 'domain' ? 'madeDomain' : 'made',
        entityId: id
      })
  }
  for (const row of rows)
    set.graph.push({
      kind: 'entity',
      ...row,
      isDeleted: typeof set.byId.get(row.id)?.deletedSeq === 'number'
    })
}

/** Ids that were given to what only refused records named. */
function unused(set: WorkingSet, cells: Cells): number[] {
  if (set.inserted.size === 0) return []
  const used = new Set<number>(set.created)
  for (const cell of cells.aspects.values()) if (cell.rows.length > 0) used.add(cell.entityId)
  for (const owner of cells.statements.values()) {
    for (const { rows } of edgesOfOwner(owner))
      for (const row of rows) used.add(row.ownerId).add(row.downstreamId).add(row.upstreamId)
    for (const row of [...(owner.order?.freshTombstones.values() ?? []), ...owner.patches])
      used.add(row.ownerId).add(row.downstreamId).add(row.upstreamId)
  }
  for (const cell of cells.associations.values()) {
    if (cell.row) used.add(cell.entityId)
    for (const domainId of domainsNamed(set, cell)) used.add(domainId)
  }
  for (const row of cells.tree.rows.values())
    if (row) used.add(row.entityId).add(row.parentId ?? row.entityId)
  for (const row of cells.timeseries) used.add(row.entityId)
  for (const row of set.byId.values()) if (row.deletedSeq !== null) used.add(row.id)
  for (const id of used) {
    const parentId = set.byId.get(id)?.parentId
    if (typeof parentId === 'number') used.add(parentId)
  }
  return [...set.inserted].filter((id) => !used.has(id))
}
