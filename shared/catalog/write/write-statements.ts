/** Writes the assertions that a transaction has changed, and notes in the journal what they were. */
import type { Tx } from '../../db/database.ts'
import type { JsonObject, JsonValue, PatchBefore } from '../../model/changes.ts'
import { patchedAttributes } from '../../model/edge-patches.ts'
import { equalJson } from '../../model/equal-json.ts'
import type { StatedEdges } from '../../statements/graph-delta.ts'
import { explicitAttributes } from '../../model/lineage-document.ts'
import type { StatementBefore } from '../../statements/load-journal.ts'
import { compareOrder, seqOfChange } from '../../model/order.ts'
import {
  edgesOfOwner,
  isOutdone,
  patchesOfEdge,
  rowKeyText,
  rowsOfEdge,
  rowsSearchedMaxCount,
  saysTheSame,
  type OwnerStatements
} from '../../statements/merge.ts'
import type { EdgePatchRow, StatementRow } from '../../statements/rows.ts'
import { deleteEdgePatches, insertEdgePatches } from '../../store/edge-patches.ts'
import { columnsOfRows, insertStatements, type NewStatements } from '../../store/new-statements.ts'
import {
  deleteStatements,
  inKeyOrder,
  updateStatements,
  writeTombstones,
  writeWatermarks
} from '../../store/statements.ts'
import type { WorkingSet } from './working-set.ts'

/** Needs the owners locked. Gives the edges that are asserted once more than before; those asserted less often go to the change log of the set. */
export async function writeStatements(
  tx: Tx,
  set: WorkingSet,
  owners: readonly OwnerStatements[]
): Promise<StatedEdges> {
  const added: StatementRow[] = []
  const updated: StatementRow[] = []
  const deleted: StatementRow[] = []
  for (const owner of owners) {
    for (const edge of edgesOfOwner(owner)) {
      if (edge.rows === edge.stored) continue
      const before = finder(edge.stored)
      edge.rows = edge.rows.map((row) => withChangedSeq(set, owner, row, before(row)))
      for (const row of edge.rows) {
        const stored = before(row)
        if (!stored) added.push(row)
        else if (stored !== row && isWorthWriting(set, owner, stored, row)) updated.push(row)
      }
      const now = finder(edge.rows)
      for (const row of edge.stored) if (!now(row)) deleted.push(row)
    }
    noteChanges(set, owner)
  }
  const inserted = inKeyOrder(added)
  const columns = columnsOfRows(inserted)
  noteAdded(set, inserted, columns)
  await deleteStatements(tx, deleted)
  await updateStatements(tx, updated)
  await insertStatements(tx, columns)
  set.stated?.countNew(inserted.length)
  await writeOrder(tx, set, owners)
  await writePatches(tx, owners)
  for (const { downstreamId, upstreamId } of deleted)
    set.graph.push({ kind: 'unstated', downstreamId, upstreamId })
  return columns
}

/** Gives a look-up of an edge's rows by the key of another row. An edge may have thousands. */
function finder(rows: readonly StatementRow[]): (row: StatementRow) => StatementRow | undefined {
  if (rows.length > rowsSearchedMaxCount) {
    const byKey = new Map(rows.map((row) => [rowKeyText(row), row]))
    return (row) => byKey.get(rowKeyText(row))
  }
  return (row) =>
    rows.find(
      (each) => each.field === row.field && each.sourceId === row.sourceId && each.recordKey === row.recordKey
    )
}

const isWorthWriting = (
  set: WorkingSet,
  owner: OwnerStatements,
  before: StatementRow,
  row: StatementRow
): boolean =>
  mustRaise(set) ||
  owner.patches.length > 0 ||
  !saysTheSame(before, row) ||
  isOutdone(owner, before) ||
  seqOfChange(row) !== seqOfChange(before)

/** Whether raising the order of a row that says the same is worth a write. */
const mustRaise = (set: WorkingSet): boolean => set.guards.raisesOrder && set.older.isDestructive

/** A record that finds a statement as it says raises its order at most: it stays the work of the change that made it so. */
function withChangedSeq(
  { seq }: WorkingSet,
  owner: OwnerStatements,
  row: StatementRow,
  before: StatementRow | undefined
): StatementRow {
  if (
    !before ||
    before === row ||
    seqOfChange(row) !== seq ||
    isOutdone(owner, before) ||
    !isShownTheSame(owner, before, row)
  )
    return row
  return { ...row, changedSeq: stateSeq(before, owner.storedPatches) }
}

/** What was not there before; where an undo restored it, by whose change. */
function noteAdded(
  { journal, seq }: WorkingSet,
  rows: readonly StatementRow[],
  columns: NewStatements
): void {
  if (!journal) return
  const isRestored = (row: StatementRow): boolean => seqOfChange(row) !== seq
  for (const row of rows)
    if (isRestored(row)) journal.note({ kind: 'restated', key: row, before: null, left: seqOfChange(row) })
  journal.added(rows.some(isRestored) ? columnsOfRows(rows.filter((row) => !isRestored(row))) : columns)
}

/** What statements said before they were removed or rewritten, patches included: these count for what was said before them. */
function noteChanges({ journal, seq }: WorkingSet, owner: OwnerStatements): void {
  if (!journal) return
  const isPatched = owner.patches.length > 0 || owner.storedPatches.length > 0
  if (isPatched) notePatches({ journal }, owner)
  for (const edge of edgesOfOwner(owner)) {
    if (edge.rows === edge.stored && !isPatched) continue
    const current = finder(edge.rows)
    for (const row of edge.stored) {
      const now = current(row)
      if (now && !isPatched && now === row) continue
      const before = statedBefore(row, owner.storedPatches)
      if (!now) journal.note({ kind: 'removed', key: row, before })
      else {
        const left = stateSeq(now, owner.patches)
        if (left === before.changedSeq && isShownTheSame(owner, row, now)) continue
        journal.note({ kind: 'restated', key: row, before, ...(left === seq ? {} : { left }) })
      }
    }
  }
}

/** Patches of edges that nobody asserted before; those of a statement are noted with it. */
function notePatches({ journal }: Pick<WorkingSet, 'journal'>, owner: OwnerStatements): void {
  const edges = new Map(
    [...owner.patches, ...owner.storedPatches].map((patch) => [patchedEdge(patch), patch])
  )
  for (const { downstreamId, upstreamId, ownerId, field } of edges.values()) {
    const edge = owner.edges.get(downstreamId)?.get(upstreamId)
    if (edge?.stored.some((row) => row.field === field)) continue
    const key = { downstreamId, upstreamId, ownerId, field }
    const before = patchesBefore(owner.storedPatches, key)
    const isKept = rowsOfEdge(owner, downstreamId, upstreamId).every((row) => row.field !== field)
    if (isKept && equalJson(before.map(saidBy), patchesBefore(owner.patches, key).map(saidBy))) continue
    if (isKept || before.length > 0) journal?.note({ kind: 'patched', key, before })
  }
}

const patchedEdge = ({
  field,
  downstreamId,
  upstreamId
}: Pick<EdgePatchRow, 'field' | 'downstreamId' | 'upstreamId'>): string =>
  `${field} ${downstreamId} ${upstreamId}`
const saidBy = ({ changedSeq, operation }: PatchBefore): JsonValue => [changedSeq, operation as JsonObject]
const patchesBefore = (
  patches: readonly EdgePatchRow[],
  key: Pick<EdgePatchRow, 'field' | 'downstreamId' | 'upstreamId'>
): PatchBefore[] =>
  patchesOfEdge({ patches }, key)
    .toSorted((a, b) => compareOrder(a, b) || a.ordinal - b.ordinal)
    .map((patch) => ({
      seq: patch.seq,
      line: patch.line,
      ordinal: patch.ordinal,
      operation: patch.operation,
      changedSeq: seqOfChange(patch)
    }))

/** What a statement says, for a journal: with the patches of its aspect applied. */
export const statedBefore = (row: StatementRow, patches: readonly EdgePatchRow[]): StatementBefore => ({
  seq: row.seq,
  line: row.line,
  changedSeq: stateSeq(row, patches),
  position: row.position,
  attributes: shownAttributes(row, patches)
})

/** The seq of the last change of what a statement says: a patch of it is one. */
export const stateSeq = (row: StatementRow, patches: readonly EdgePatchRow[]): number =>
  patches.length === 0
    ? seqOfChange(row)
    : Math.max(seqOfChange(row), ...patchesOfEdge({ patches }, row).map(seqOfChange))

const isShownTheSame = (owner: OwnerStatements, before: StatementRow, now: StatementRow): boolean =>
  saysTheSame(now, before) &&
  (owner.patches.length + owner.storedPatches.length === 0 ||
    equalJson(shownAttributes(before, owner.storedPatches), shownAttributes(now, owner.patches)))

/** What a statement says beside its ends with what patches have said since; null where neither says anything. */
function shownAttributes(row: StatementRow, patches: readonly EdgePatchRow[]): JsonObject | null {
  const own = patchesOfEdge({ patches }, row)
  return own.length === 0
    ? row.attributes
    : patchedAttributes(row, explicitAttributes(row.field, row.attributes), own)
}

/** Removals and replacements are remembered while anything older may still be applied. */
async function writeOrder(tx: Tx, set: WorkingSet, owners: readonly OwnerStatements[]): Promise<void> {
  if (!set.older.isUnfinished) return
  await writeTombstones(
    tx,
    owners.flatMap(({ order }) => (order ? [...order.freshTombstones.values()] : []))
  )
  await writeWatermarks(
    tx,
    owners.flatMap(({ order }) => (order ? [...order.freshWatermarks.values()] : []))
  )
}

async function writePatches(tx: Tx, owners: readonly OwnerStatements[]): Promise<void> {
  const patched = owners.filter((owner) => owner.patches !== owner.storedPatches)
  const without = (all: readonly EdgePatchRow[], some: readonly EdgePatchRow[]): EdgePatchRow[] => {
    const known = new Set(some)
    return all.filter((patch) => !known.has(patch))
  }
  await deleteEdgePatches(
    tx,
    patched.flatMap((owner) => without(owner.storedPatches, owner.patches))
  )
  await insertEdgePatches(
    tx,
    patched.flatMap((owner) => without(owner.patches, owner.storedPatches))
  )
}
