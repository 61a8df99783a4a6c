/** Writes the statements that a transaction has changed, and notes their previous content in the journal. */
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
  isHidden,
  patchesOfEdge,
  rowsOfEdge,
  type OwnerStatements
} from '../../statements/merge.ts'
import { hasSameContent, rowFinder } from '../../statements/edge-rows.ts'
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
import type { UnitOfWork } from './unit-of-work.ts'

/**
 * The owners must be locked. Returns the edges that have more statements than before. Edges with fewer
 * statements are added to the change log of the unit of work.
 */
export async function writeStatements(
  tx: Tx,
  work: UnitOfWork,
  owners: readonly OwnerStatements[]
): Promise<StatedEdges> {
  const added: StatementRow[] = []
  const updated: StatementRow[] = []
  const deleted: StatementRow[] = []
  for (const owner of owners) {
    for (const edge of edgesOfOwner(owner)) {
      if (edge.rows === edge.stored) continue
      const before = rowFinder(edge.stored)
      edge.rows = edge.rows.map((row) => withChangedSeq(work, owner, row, before(row)))
      for (const row of edge.rows) {
        const stored = before(row)
        if (!stored) added.push(row)
        else if (stored !== row && isWorthWriting(work, owner, stored, row)) updated.push(row)
      }
      const now = rowFinder(edge.rows)
      for (const row of edge.stored) if (!now(row)) deleted.push(row)
    }
    noteChanges(work, owner)
  }
  const inserted = inKeyOrder(added)
  const columns = columnsOfRows(inserted)
  noteAdded(work, inserted, columns)
  await deleteStatements(tx, deleted)
  await updateStatements(tx, updated)
  await insertStatements(tx, columns)
  work.statedKeys?.countNew(inserted.length)
  await writeOrder(tx, work, owners)
  await writePatches(tx, owners)
  for (const { downstreamId, upstreamId } of deleted)
    work.graph.push({ kind: 'unstated', downstreamId, upstreamId })
  return columns
}

const isWorthWriting = (
  work: UnitOfWork,
  owner: OwnerStatements,
  before: StatementRow,
  row: StatementRow
): boolean =>
  mustRaiseOrder(work) ||
  owner.patches.length > 0 ||
  !hasSameContent(before, row) ||
  isHidden(owner, before) ||
  seqOfChange(row) !== seqOfChange(before)

/** Whether a row of which only the order was raised must be written. */
const mustRaiseOrder = (work: UnitOfWork): boolean => work.guards.raisesOrder && work.older.isDestructive

/**
 * A record that leaves a statement unchanged at most raises its order. The statement still belongs to the
 * change that set it.
 */
function withChangedSeq(
  { seq }: UnitOfWork,
  owner: OwnerStatements,
  row: StatementRow,
  before: StatementRow | undefined
): StatementRow {
  if (
    !before ||
    before === row ||
    seqOfChange(row) !== seq ||
    isHidden(owner, before) ||
    !looksTheSame(owner, before, row)
  )
    return row
  return { ...row, changedSeq: stateSeq(before, owner.storedPatches) }
}

/** Notes new statements; a statement that an undo restored is noted with the seq of its change. */
function noteAdded(
  { journal, seq }: UnitOfWork,
  rows: readonly StatementRow[],
  columns: NewStatements
): void {
  if (!journal) return
  const isRestored = (row: StatementRow): boolean => seqOfChange(row) !== seq
  for (const row of rows)
    if (isRestored(row)) journal.note({ kind: 'restated', key: row, before: null, left: seqOfChange(row) })
  journal.added(rows.some(isRestored) ? columnsOfRows(rows.filter((row) => !isRestored(row))) : columns)
}

/**
 * Notes the content of statements before they were removed or rewritten. It includes patches, because an
 * older patch counts as part of a statement.
 */
function noteChanges({ journal, seq }: UnitOfWork, owner: OwnerStatements): void {
  if (!journal) return
  const isPatched = owner.patches.length > 0 || owner.storedPatches.length > 0
  if (isPatched) notePatches({ journal }, owner)
  for (const edge of edgesOfOwner(owner)) {
    if (edge.rows === edge.stored && !isPatched) continue
    const current = rowFinder(edge.rows)
    for (const row of edge.stored) {
      const now = current(row)
      if (now && !isPatched && now === row) continue
      const before = statedBefore(row, owner.storedPatches)
      if (!now) journal.note({ kind: 'removed', key: row, before })
      else {
        const left = stateSeq(now, owner.patches)
        if (left === before.changedSeq && looksTheSame(owner, row, now)) continue
        journal.note({ kind: 'restated', key: row, before, ...(left === seq ? {} : { left }) })
      }
    }
  }
}

/**
 * Notes the patches of edges that nobody stated before, or states now. The patches of a statement are noted
 * with the statement.
 */
function notePatches({ journal }: Pick<UnitOfWork, 'journal'>, owner: OwnerStatements): void {
  const edges = new Map(
    [...owner.patches, ...owner.storedPatches].map((patch) => [patchedEdge(patch), patch])
  )
  for (const { downstreamId, upstreamId, ownerId, field } of edges.values()) {
    const edge = owner.edges.get(downstreamId)?.get(upstreamId)
    const key = { downstreamId, upstreamId, ownerId, field }
    const isKept = rowsOfEdge(owner, downstreamId, upstreamId).every((row) => row.field !== field)
    if (edge?.stored.some((row) => row.field === field)) {
      // The statement was removed and then patched. Its previous content includes the older patches.
      if (isKept && patchesOfEdge(owner, key).some((patch) => !owner.storedPatches.includes(patch)))
        journal?.note({ kind: 'patched', key, before: [] })
      continue
    }
    const before = patchesBefore(owner.storedPatches, key)
    if (isKept && equalJson(before.map(contentOf), patchesBefore(owner.patches, key).map(contentOf))) continue
    if (isKept || before.length > 0) journal?.note({ kind: 'patched', key, before })
  }
}

const patchedEdge = ({
  field,
  downstreamId,
  upstreamId
}: Pick<EdgePatchRow, 'field' | 'downstreamId' | 'upstreamId'>): string =>
  `${field} ${downstreamId} ${upstreamId}`
const contentOf = ({ changedSeq, operation }: PatchBefore): JsonValue => [changedSeq, operation as JsonObject]
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

/** The content of a statement for a journal, with the patches of its aspect applied. */
export const statedBefore = (row: StatementRow, patches: readonly EdgePatchRow[]): StatementBefore => ({
  seq: row.seq,
  line: row.line,
  changedSeq: stateSeq(row, patches),
  position: row.position,
  attributes: shownAttributes(row, patches)
})

/** The seq of the last change of the content of a statement, which may be a patch of it. */
export const stateSeq = (row: StatementRow, patches: readonly EdgePatchRow[]): number =>
  patches.length === 0
    ? seqOfChange(row)
    : Math.max(seqOfChange(row), ...patchesOfEdge({ patches }, row).map(seqOfChange))

const looksTheSame = (owner: OwnerStatements, before: StatementRow, now: StatementRow): boolean =>
  hasSameContent(now, before) &&
  (owner.patches.length + owner.storedPatches.length === 0 ||
    equalJson(shownAttributes(before, owner.storedPatches), shownAttributes(now, owner.patches)))

/** The attributes of a statement, with the patches applied; null if there are none. */
function shownAttributes(row: StatementRow, patches: readonly EdgePatchRow[]): JsonObject | null {
  const own = patchesOfEdge({ patches }, row)
  return own.length === 0
    ? row.attributes
    : patchedAttributes(row, explicitAttributes(row.field, row.attributes), own)
}

/** Writes removals and replacements, which are stored only while something older may still be applied. */
async function writeOrder(tx: Tx, work: UnitOfWork, owners: readonly OwnerStatements[]): Promise<void> {
  if (!work.older.isUnfinished) return
  await writeTombstones(
    tx,
    owners.flatMap(({ order }) => (order ? [...order.newTombstones.values()] : []))
  )
  await writeWatermarks(
    tx,
    owners.flatMap(({ order }) => (order ? [...order.newWatermarks.values()] : []))
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
