/** Reads the statements that a transaction will touch, and writes those that it has changed. */
import type { Tx } from '../../db/database.ts'
import type { JsonObject, JsonValue, PatchBefore } from '../../model/changes.ts'
import { patchedAttributes } from '../../model/edge-patches.ts'
import { equalJson } from '../../model/equal-json.ts'
import { explicitAttributes } from '../../model/lineage-document.ts'
import { compareOrder, seqOfChange } from '../../model/order.ts'
import type { StatementBefore } from '../../model/load-journal.ts'
import {
  deleteEdgePatches,
  edgePatchesOfOwners,
  insertEdgePatches,
  type EdgePatchRow
} from '../../store/edge-patches.ts'
import { columnsOfRows, insertStatements } from '../../store/new-statements.ts'
import {
  deleteStatements,
  inKeyOrder,
  statementsOfEdges,
  statementsOfOwners,
  tombstonesOfEdges,
  updateStatements,
  watermarksOfOwners,
  writeTombstones,
  writeWatermarks,
  type EdgeKey,
  type OwnerAspect,
  type StatementRow
} from '../../store/statements.ts'
import {
  edgeCellKey,
  edgeKey,
  isOutdone,
  placeRow,
  placeTombstone,
  rowKey,
  rowsOfEdge,
  saysTheSame,
  type EdgeCell,
  type EdgeCells
} from './edge-cells.ts'
import type { WorkingSet } from './working-set.ts'

type EdgeLoads = { whole: readonly OwnerAspect[]; part: readonly OwnerAspect[]; single: readonly EdgeKey[] }

/** Reads whole aspects where something replaces them, and single edges elsewhere: one upstream more is one row read. */
export async function loadEdgeCells(
  tx: Tx,
  set: WorkingSet,
  { whole, part, single }: EdgeLoads
): Promise<EdgeCells> {
  const cells: EdgeCells = new Map()
  const cellOf = (owner: OwnerAspect): EdgeCell => {
    const key = edgeCellKey(owner.ownerId, owner.aspectCode)
    const cell = cells.get(key) ?? emptyCell(owner)
    cells.set(key, cell)
    return cell
  }
  const wholeKeys = new Set(whole.map((cell) => edgeCellKey(cellOf(cell).ownerId, cell.aspectCode)))
  const distinct = new Map(
    single.map((edge) => [
      `${edgeCellKey(cellOf(edge).ownerId, edge.aspectCode)} ${edgeKey(edge.downstreamId, edge.upstreamId)}`,
      edge
    ])
  )
  const edges = [...distinct.values()]
  for (const owner of part) cellOf(owner)
  const rows = [
    ...(await statementsOfOwners(
      tx,
      [...wholeKeys].flatMap((key) => cells.get(key) ?? [])
    )),
    ...(await statementsOfEdges(
      tx,
      edges.filter((edge) => !wholeKeys.has(edgeCellKey(edge.ownerId, edge.aspectCode)))
    ))
  ]
  for (const row of rows) {
    const cell = cellOf({ ownerId: row.ownerId, aspectCode: row.field >> 4 })
    placeRow(cell, row)
    cell.original.set(rowKey(row), row)
  }
  for (const { seq, line, ...removal } of await tombstonesOfEdges(tx, [...edges, ...intoColumns(set, edges)]))
    placeTombstone(cellOf(removal), removal, { seq, line })
  for (const { code, sourceId, seq, line, ...owner } of await watermarksOfOwners(tx, [...cells.values()]))
    cellOf(owner).watermarks.set(`${code} ${sourceId}`, { seq, line })
  for (const patch of await edgePatchesOfOwners(tx, [...cells.values()])) {
    cellOf(patch).patches.add(patch)
    cellOf(patch).storedPatches.add(patch)
  }
  return cells
}

const emptyCell = ({ ownerId, aspectCode }: OwnerAspect): EdgeCell => ({
  ownerId,
  aspectCode,
  rows: new Map(),
  byEdge: new Map(),
  original: new Map(),
  tombstones: new Map(),
  watermarks: new Map(),
  freshTombstones: new Map(),
  freshWatermarks: new Map(),
  patches: new Set(),
  storedPatches: new Set()
})

/** Where removals of everything that leads into a column are remembered. */
function intoColumns(set: WorkingSet, edges: readonly EdgeKey[]): EdgeKey[] {
  const columns = edges.filter((edge) => set.byId.get(edge.downstreamId)?.entityType === 'schemaField')
  return [
    ...new Map(
      columns.map((edge) => [
        `${edge.ownerId} ${edge.downstreamId} ${edge.aspectCode}`,
        { ...edge, upstreamId: 0 }
      ])
    ).values()
  ]
}

/** Writes what has changed, and tells the graph which edges are stated more or less often than before. */
export async function writeEdgeCells(tx: Tx, set: WorkingSet, cells: EdgeCells): Promise<void> {
  const added: StatementRow[] = []
  const updated: StatementRow[] = []
  const deleted: StatementRow[] = []
  for (const cell of cells.values()) {
    keepChangedSeqs(set, cell)
    for (const [key, row] of cell.rows) {
      const before = cell.original.get(key)
      if (!before) added.push(row)
      else if (
        before !== row &&
        (mustRaise(set) ||
          cell.patches.size > 0 ||
          !saysTheSame(before, row) ||
          isOutdone(cell, before) ||
          seqOfChange(row) !== seqOfChange(before))
      )
        updated.push(row)
    }
    for (const [key, row] of cell.original) if (!cell.rows.has(key)) deleted.push(row)
    noteChanges(set, cell)
  }
  const inserted = inKeyOrder(added)
  noteAdded(set, inserted)
  await deleteStatements(tx, deleted)
  await updateStatements(tx, updated)
  await insertStatements(tx, columnsOfRows(inserted))
  set.stated?.countNew(inserted.length)
  await writeOrder(tx, set, [...cells.values()])
  await writePatches(tx, [...cells.values()])
  for (const { downstreamId, upstreamId } of deleted)
    set.graph.push({ kind: 'unstated', downstreamId, upstreamId })
  for (const { downstreamId, upstreamId } of inserted)
    set.graph.push({ kind: 'stated', downstreamId, upstreamId })
}

/** Most rows of a chunk are of one source and no list has an upstream twice: those are noted without an object for each. */
function noteAdded({ journal, seq }: WorkingSet, rows: readonly StatementRow[]): void {
  const isRestored = (row: StatementRow): boolean => seqOfChange(row) !== seq
  for (const row of rows)
    if (isRestored(row)) journal?.note({ kind: 'restated', key: row, before: null, left: seqOfChange(row) })
  const inserted = rows.some(isRestored) ? rows.filter((row) => !isRestored(row)) : rows
  const [first] = inserted
  if (!journal || !first) return
  const { sourceId, recordKey } = first
  if (inserted.some((row) => row.sourceId !== sourceId || row.recordKey !== recordKey))
    return journal.addedEdges(inserted)
  const column = (of: (row: StatementRow) => number): Int32Array => Int32Array.from(inserted, of)
  journal.addedColumns({
    sourceId,
    recordKey,
    downstreamIds: column((row) => row.downstreamId),
    upstreamIds: column((row) => row.upstreamId),
    ownerIds: column((row) => row.ownerId),
    fields: column((row) => row.field)
  })
}

/** What statements said before they were removed or rewritten, patches included: these count for what was said before them. */
function noteChanges({ journal, seq }: WorkingSet, cell: EdgeCell): void {
  if (!journal) return
  notePatches({ journal }, cell)
  const isPatched = cell.patches.size > 0 || cell.storedPatches.size > 0
  for (const [key, row] of cell.original) {
    const now = cell.rows.get(key)
    if (now && !isPatched && now === row) continue
    const before = statedBefore(row, cell.storedPatches)
    if (!now) journal.note({ kind: 'removed', key: row, before })
    else {
      const left = stateSeq(now, cell.patches)
      if (left === before.changedSeq && isShownTheSame(cell, row, now)) continue
      journal.note({ kind: 'restated', key: row, before, ...(left === seq ? {} : { left }) })
    }
  }
}

/** Patches of edges that nobody stated before; those of a statement are noted with it. */
function notePatches({ journal }: Pick<WorkingSet, 'journal'>, cell: EdgeCell): void {
  const stated = new Set([...cell.original.values()].map(patchedEdge))
  const edges = new Map([...cell.patches, ...cell.storedPatches].map((patch) => [patchedEdge(patch), patch]))
  for (const [edge, { downstreamId, upstreamId, ownerId, field }] of edges) {
    if (stated.has(edge)) continue
    const key = { downstreamId, upstreamId, ownerId, field }
    const before = ownPatches(cell.storedPatches, key)
    const isKept = rowsOfEdge(cell, downstreamId, upstreamId).every((row) => row.field !== field)
    if (isKept && equalJson(before.map(saidBy), ownPatches(cell.patches, key).map(saidBy))) continue
    if (isKept || before.length > 0) journal?.note({ kind: 'patched', key, before })
  }
}

const patchedEdge = ({
  field,
  downstreamId,
  upstreamId
}: Pick<EdgePatchRow, 'field' | 'downstreamId' | 'upstreamId'>): string =>
  `${field} ${edgeKey(downstreamId, upstreamId)}`
const saidBy = ({ changedSeq, operation }: PatchBefore): JsonValue => [changedSeq, operation as JsonObject]
const ownPatches = (
  patches: ReadonlySet<EdgePatchRow>,
  key: Pick<EdgePatchRow, 'field' | 'downstreamId' | 'upstreamId'>
): PatchBefore[] =>
  [...patches]
    .filter((patch) => patchedEdge(patch) === patchedEdge(key))
    .sort((a, b) => compareOrder(a, b) || a.ordinal - b.ordinal)
    .map((patch) => ({
      seq: patch.seq,
      line: patch.line,
      ordinal: patch.ordinal,
      operation: patch.operation,
      changedSeq: seqOfChange(patch)
    }))

/** What a statement says, for a journal: the patches of its aspect have had their say. */
export const statedBefore = (row: StatementRow, patches: ReadonlySet<EdgePatchRow>): StatementBefore => ({
  seq: row.seq,
  line: row.line,
  changedSeq: stateSeq(row, patches),
  position: row.position,
  attributes: shownAttributes(row, patches)
})

/** The seq of the last change of what a statement says: a patch of it is one. */
export const stateSeq = (row: StatementRow, patches: ReadonlySet<EdgePatchRow>): number =>
  Math.max(seqOfChange(row), ...patchesOf(patches, row).map(seqOfChange))

/** Who finds a statement as it says raises its order at most: it stays the work of who made it so. */
function keepChangedSeqs({ seq }: WorkingSet, cell: EdgeCell): void {
  for (const [key, row] of cell.rows) {
    const before = cell.original.get(key)
    if (
      !before ||
      before === row ||
      seqOfChange(row) !== seq ||
      isOutdone(cell, before) ||
      !isShownTheSame(cell, before, row)
    )
      continue
    cell.rows.set(key, { ...row, changedSeq: stateSeq(before, cell.storedPatches) })
  }
}

const isShownTheSame = (cell: EdgeCell, before: StatementRow, now: StatementRow): boolean =>
  saysTheSame(now, before) &&
  (cell.patches.size + cell.storedPatches.size === 0 ||
    equalJson(shownAttributes(before, cell.storedPatches), shownAttributes(now, cell.patches)))

const patchesOf = (patches: ReadonlySet<EdgePatchRow>, row: StatementRow): EdgePatchRow[] =>
  patches.size === 0
    ? []
    : [...patches].filter(
        (patch) =>
          patch.field === row.field &&
          patch.downstreamId === row.downstreamId &&
          patch.upstreamId === row.upstreamId
      )

/** What a statement says beside its ends with what patches have said since; null where neither says anything. */
function shownAttributes(row: StatementRow, patches: ReadonlySet<EdgePatchRow>): JsonObject | null {
  const own = patchesOf(patches, row)
  return own.length === 0
    ? row.attributes
    : patchedAttributes(row, explicitAttributes(row.field, row.attributes), own)
}

/** Whether raising the order of a row that says the same is worth a write. */
const mustRaise = (set: WorkingSet): boolean => set.guards.raisesOrder && set.older.isDestructive

/** Removals and replacements are remembered while anything older may still be applied. */
async function writeOrder(tx: Tx, set: WorkingSet, cells: readonly EdgeCell[]): Promise<void> {
  if (!set.older.isUnfinished) return
  await writeTombstones(
    tx,
    cells.flatMap((cell) => [...cell.freshTombstones.values()])
  )
  await writeWatermarks(
    tx,
    cells.flatMap((cell) => [...cell.freshWatermarks.values()])
  )
}

async function writePatches(tx: Tx, cells: readonly EdgeCell[]): Promise<void> {
  await deleteEdgePatches(
    tx,
    cells.flatMap((cell) => [...cell.storedPatches].filter((patch) => !cell.patches.has(patch)))
  )
  await insertEdgePatches(
    tx,
    cells.flatMap((cell) => [...cell.patches].filter((patch) => !cell.storedPatches.has(patch)))
  )
}
