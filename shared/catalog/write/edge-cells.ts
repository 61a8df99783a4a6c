/**
 * The statements of one aspect of one owner, as far as a transaction touches them: adds, removes and replaces edges
 * where that is newer than what is stored.
 *
 * Rows are never altered, only replaced, so that a record can be taken back and store-edge-cells.ts sees what has changed.
 */
import type { JsonObject } from '../../model/changes.ts'
import { equalJson } from '../../model/equal-json.ts'
import { patchesIt } from '../../model/edge-patches.ts'
import { lineageFieldByCode } from '../../model/lineage-fields.ts'
import { appendedPosition } from '../../model/list-order.ts'
import { isNewer, type Order } from '../../model/order.ts'
import { bareRecordKey, columnGroupKey, removalCode, singleRecordKey } from '../../model/record-keys.ts'
import type { EdgePatchRow } from '../../store/edge-patches.ts'
import type { OwnerAspect, StatementRow, TombstoneRow, WatermarkRow } from '../../store/statements.ts'
import { checkDownstreamWithinLimit, isIdDeletedAfter, type WorkingSet } from './working-set.ts'

export type EdgeCell = OwnerAspect & {
  rows: Map<string, StatementRow>
  byEdge: Map<string, Set<string>>
  original: Map<string, StatementRow>
  /** By code (of the aspect, of one list, of a group of column records) and edge; upstream 0 is every upstream of a column. */
  tombstones: Map<string, Order>
  /** By code (of the aspect, or of one list) and source; source 0 is all of them. */
  watermarks: Map<string, Order>
  freshTombstones: Map<string, TombstoneRow>
  freshWatermarks: Map<string, WatermarkRow>
  patches: Set<EdgePatchRow>
  storedPatches: Set<EdgePatchRow>
}

export type EdgeCells = Map<string, EdgeCell>

/** An entry of a list with its ends resolved. */
export type ResolvedEntry = {
  fieldCode: number
  downstreamId: number
  upstreamId: number
  recordKey: number
  position: number
  attributes: JsonObject | null
  group?: number | null
}

export const edgeCellKey = (ownerId: number, aspectCode: number): string => `${ownerId} ${aspectCode}`
export const edgeKey = (downstreamId: number, upstreamId: number): string => `${downstreamId} ${upstreamId}`
const tombstoneKey = (code: number, downstreamId: number, upstreamId: number): string =>
  `${code} ${edgeKey(downstreamId, upstreamId)}`
export const rowKey = (
  row: Pick<StatementRow, 'downstreamId' | 'upstreamId' | 'field' | 'sourceId' | 'recordKey'>
): string => `${row.downstreamId} ${row.upstreamId} ${row.field} ${row.sourceId} ${row.recordKey}`

export function placeRow(cell: EdgeCell, row: StatementRow, key = rowKey(row)): void {
  cell.rows.set(key, row)
  const edge = edgeKey(row.downstreamId, row.upstreamId)
  const keys = cell.byEdge.get(edge)
  if (keys) keys.add(key)
  else cell.byEdge.set(edge, new Set([key]))
}

function displace(cell: EdgeCell, row: StatementRow): void {
  cell.rows.delete(rowKey(row))
  cell.byEdge.get(edgeKey(row.downstreamId, row.upstreamId))?.delete(rowKey(row))
}

/** Throws FORBIDDEN (checkDownstreamWithinLimit) where that says anything new. */
export function put(set: WorkingSet, cell: EdgeCell, row: StatementRow, key = rowKey(row)): void {
  const before = cell.rows.get(key)
  if (!before || !saysTheSame(before, row)) checkDownstreamWithinLimit(set, row.downstreamId)
  placeRow(cell, row, key)
  set.undo.push(() => (before ? placeRow(cell, before) : displace(cell, row)))
}

/** Throws FORBIDDEN (checkDownstreamWithinLimit). */
export function take(set: WorkingSet, cell: EdgeCell, row: StatementRow): void {
  checkDownstreamWithinLimit(set, row.downstreamId)
  displace(cell, row)
  set.undo.push(() => placeRow(cell, row))
}

export const rowsOfEdge = (cell: EdgeCell, downstreamId: number, upstreamId: number): StatementRow[] =>
  [...(cell.byEdge.get(edgeKey(downstreamId, upstreamId)) ?? [])].flatMap((key) => cell.rows.get(key) ?? [])

const isKept = (set: WorkingSet, row: Order, order: Order): boolean =>
  set.guards.keepsOrder && isNewer(row, order)

type Ends = { downstreamId: number; upstreamId: number }

/**
 * Whether something newer has removed the edge, replaced its list, or deleted one of its ends. `group` is that of a column
 * record; undefined of every other entry.
 */
export function isOvertaken(
  set: WorkingSet,
  cell: EdgeCell,
  fieldCode: number,
  { downstreamId, upstreamId }: Ends,
  order: Order,
  sourceId: number,
  group?: number | null
): boolean {
  if (!set.guards.keepsOrder) return false
  return (
    (cell.tombstones.size > 0 &&
      isRemovedAfter(cell, fieldCode, group, { downstreamId, upstreamId }, order)) ||
    (cell.watermarks.size > 0 &&
      [`${cell.aspectCode} 0`, `${cell.aspectCode} ${sourceId}`, `${fieldCode} 0`].some((key) =>
        isNewer(cell.watermarks.get(key), order)
      )) ||
    isIdDeletedAfter(set, downstreamId, order) ||
    isIdDeletedAfter(set, upstreamId, order) ||
    isIdDeletedAfter(set, cell.ownerId, order)
  )
}

function isRemovedAfter(
  cell: EdgeCell,
  fieldCode: number,
  group: number | null | undefined,
  { downstreamId, upstreamId }: Ends,
  order: Order
): boolean {
  const keys = [
    tombstoneKey(cell.aspectCode, downstreamId, upstreamId),
    tombstoneKey(cell.aspectCode, downstreamId, 0)
  ]
  // A record with several downstreams is named by no path.
  if (group !== null) keys.push(tombstoneKey(removalCode(fieldCode, group ?? null), downstreamId, upstreamId))
  return keys.some((key) => isNewer(cell.tombstones.get(key), order))
}

/** The group of a column record that a statement is part of; undefined of what is no column record. `written` are groups of the document. */
function groupOf(
  { fieldCode, recordKey }: { fieldCode: number; recordKey: number },
  written: (recordKey: number) => number | null
): number | null | undefined {
  if (lineageFieldByCode(fieldCode).shape !== 'columns') return undefined
  if (recordKey === bareRecordKey) return columnGroupKey({})
  return recordKey > 0 ? written(recordKey) : recordKey
}

/** Whether something newer has replaced, or deleted, all that the aspect states. */
export const isReplacedAfter = (set: WorkingSet, cell: EdgeCell, order: Order): boolean =>
  set.guards.keepsOrder && isNewer(cell.watermarks.get(`${cell.aspectCode} 0`), order)

/**
 * States an entry as written. Says whether that changed anything but the order, which is raised all the same: whether
 * that is worth a write is decided when all is known.
 */
export function stateEntry(
  set: WorkingSet,
  cell: EdgeCell,
  entry: ResolvedEntry,
  order: Order,
  sourceId = set.sourceId
): boolean {
  if (sourceId === set.sourceId) set.stated?.add({ ...entry, ownerId: cell.ownerId, field: entry.fieldCode })
  const { fieldCode: field, group = null, ...ends } = entry
  const row: StatementRow = { ...ends, field, ownerId: cell.ownerId, sourceId, ...order }
  const patches = patchesOfEdge(cell, row)
  // What the same record said before is said anew, also where this entry comes too late to be seen.
  dropPatches(
    set,
    cell,
    patches.filter((patch) => patch.seq === order.seq && patch.line === order.line)
  )
  if (
    isOvertaken(
      set,
      cell,
      field,
      entry,
      order,
      sourceId,
      groupOf(entry, () => group)
    )
  )
    return false
  const key = rowKey(row)
  const known = cell.rows.get(key)
  if (known && isKept(set, known, order)) return false
  const isNews = !known || isOutdone(cell, known)
  put(set, cell, row, key)
  return isNews || !saysTheSame(known, row) || patches.some((patch) => patchesIt(known, patch))
}

/** States an edge by its ends alone: what the aspect says about it already stands. Says whether the edge is new in it. */
export function stateEdge(
  set: WorkingSet,
  cell: EdgeCell,
  fieldCode: number,
  ends: Ends & { position: number },
  order: Order,
  sourceId = set.sourceId
): boolean {
  const wasStated = rowsOfEdge(cell, ends.downstreamId, ends.upstreamId).length > 0
  const known = cell.rows.get(rowKey({ ...ends, field: fieldCode, sourceId, recordKey: bareRecordKey }))
  stateEntry(
    set,
    cell,
    { ...ends, fieldCode, recordKey: bareRecordKey, attributes: known?.attributes ?? null },
    order,
    sourceId
  )
  return !wasStated && rowsOfEdge(cell, ends.downstreamId, ends.upstreamId).length > 0
}

/**
 * Whether something else was said about the edge after the row, by another source, or by its list where the row is an entry under
 * its own key: what is shown of it is what was said last, so that saying the same again is news. What was stated by its ends
 * alone says nothing.
 */
export const isOutdone = (cell: EdgeCell, row: StatementRow): boolean =>
  row.recordKey !== bareRecordKey &&
  rowsOfEdge(cell, row.downstreamId, row.upstreamId).some(
    (other) =>
      other.recordKey !== bareRecordKey &&
      isNewer(other, row) &&
      ((other.sourceId !== row.sourceId && !equalJson(other.attributes, row.attributes)) ||
        (other.field === row.field && isSingle(other) !== isSingle(row)))
  )

const isSingle = ({ recordKey }: StatementRow): boolean => recordKey === singleRecordKey

/** What is added again keeps its place among what was added. */
export const saysTheSame = (a: StatementRow, b: StatementRow): boolean =>
  placeInList(a) === placeInList(b) && equalJson(a.attributes, b.attributes)
const placeInList = (row: StatementRow): number => Math.min(row.position, appendedPosition)

/** One list, and of column records one group; `written` tells the group of a record of the document by its record key. */
export type RemovedFrom = {
  fieldCode: number
  group: number | null
  written: (recordKey: number) => number | null
}

/** Removes an edge from the aspect, or from one list of it, whoever states it. */
export function removeEdge(
  set: WorkingSet,
  cell: EdgeCell,
  { downstreamId, upstreamId }: Ends,
  order: Order,
  from: RemovedFrom | null = null
): boolean {
  // Also where there is nothing to remove yet: the removal counts for what is older and comes late.
  checkDownstreamWithinLimit(set, downstreamId)
  const isMeant = (row: StatementRow): boolean =>
    from === null ||
    (row.field === from.fieldCode &&
      (from.group === null ||
        groupOf({ fieldCode: row.field, recordKey: row.recordKey }, from.written) === from.group))
  const gone = rowsOfEdge(cell, downstreamId, upstreamId).filter(
    (row) => isMeant(row) && !isKept(set, row, order)
  )
  for (const row of gone) take(set, cell, row)
  dropPatches(
    set,
    cell,
    [...cell.patches].filter(
      (patch) =>
        patch.downstreamId === downstreamId &&
        patch.upstreamId === upstreamId &&
        (from === null || patch.field === from.fieldCode) &&
        !isKept(set, patch, order)
    )
  )
  rememberRemoval(
    set,
    cell,
    { downstreamId, upstreamId },
    order,
    from ? removalCode(from.fieldCode, from.group) : cell.aspectCode
  )
  return gone.length > 0
}

/** Removes every pair that ends in a column. The cell must have been read whole. */
export function removeInto(
  set: WorkingSet,
  cell: EdgeCell,
  fieldCode: number,
  downstreamId: number,
  order: Order
): boolean {
  checkDownstreamWithinLimit(set, downstreamId)
  const gone = [...cell.rows.values()].filter(
    (row) => row.field === fieldCode && row.downstreamId === downstreamId && !isKept(set, row, order)
  )
  for (const row of gone) take(set, cell, row)
  rememberRemoval(set, cell, { downstreamId, upstreamId: 0 }, order, cell.aspectCode)
  return gone.length > 0
}

export function placeTombstone(
  cell: EdgeCell,
  { code, downstreamId, upstreamId }: Ends & { code: number },
  order: Order
): void {
  cell.tombstones.set(tombstoneKey(code, downstreamId, upstreamId), order)
}

function rememberRemoval(
  set: WorkingSet,
  cell: EdgeCell,
  { downstreamId, upstreamId }: Ends,
  order: Order,
  code: number
): void {
  const key = tombstoneKey(code, downstreamId, upstreamId)
  const known = cell.tombstones.get(key)
  if (!set.guards.keepsOrder || isNewer(known, order)) return
  const fresh = cell.freshTombstones.get(key)
  cell.tombstones.set(key, order)
  cell.freshTombstones.set(key, {
    ownerId: cell.ownerId,
    aspectCode: cell.aspectCode,
    code,
    downstreamId,
    upstreamId,
    ...order
  })
  set.undo.push(() => {
    restore(cell.tombstones, key, known)
    restore(cell.freshTombstones, key, fresh)
  })
}

function restore<Value>(map: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

export type Replaced =
  /** Everything the aspect states, or (with a source) what that source states in it. */
  { of: 'aspect'; sourceId: number | null } | { of: 'list'; fieldCode: number }

/** Takes away what an aspect, one source of it, or one list of it states, and states the entries instead. */
export function replaceEdges(
  set: WorkingSet,
  cell: EdgeCell,
  replaced: Replaced,
  entries: readonly ResolvedEntry[],
  order: Order
): boolean {
  const sourceId = replaced.of === 'aspect' ? (replaced.sourceId ?? set.sourceId) : set.sourceId
  const isMeant = (row: StatementRow) =>
    replaced.of === 'list'
      ? row.field === replaced.fieldCode
      : replaced.sourceId === null || row.sourceId === replaced.sourceId
  const older = [...cell.rows.values()].filter((row) => isMeant(row) && !isKept(set, row, order))
  rememberReplacement(set, cell, replaced, order)
  const hasChanged = entries.map((entry) => stateEntry(set, cell, entry, order, sourceId)).some(Boolean)
  // An entry with the same key may have been refused, because it was removed later: so ask what is still there, not what the entries are.
  const gone = older.filter((row) => cell.rows.get(rowKey(row)) === row)
  for (const row of gone) take(set, cell, row)
  const isReplaced = (patch: EdgePatchRow) =>
    replaced.of === 'list' ? patch.field === replaced.fieldCode : replaced.sourceId === null
  dropPatches(
    set,
    cell,
    [...cell.patches].filter((patch) => isReplaced(patch) && !isKept(set, patch, order))
  )
  // An edge that was known by its ends alone and is written out now was shown before and is shown after.
  return (
    hasChanged ||
    gone.some(
      (row) =>
        row.recordKey !== bareRecordKey || rowsOfEdge(cell, row.downstreamId, row.upstreamId).length === 0
    )
  )
}

function rememberReplacement(set: WorkingSet, cell: EdgeCell, replaced: Replaced, order: Order): void {
  const code = replaced.of === 'list' ? replaced.fieldCode : cell.aspectCode
  const sourceId = replaced.of === 'aspect' ? (replaced.sourceId ?? 0) : 0
  const key = `${code} ${sourceId}`
  const known = cell.watermarks.get(key)
  if (!set.guards.keepsOrder || isNewer(known, order)) return
  const fresh = cell.freshWatermarks.get(key)
  cell.watermarks.set(key, order)
  cell.freshWatermarks.set(key, {
    ownerId: cell.ownerId,
    aspectCode: cell.aspectCode,
    code,
    sourceId,
    ...order
  })
  set.undo.push(() => {
    restore(cell.watermarks, key, known)
    restore(cell.freshWatermarks, key, fresh)
  })
}

/** The patches of a statement's edge in its list. */
export const patchesOfEdge = (cell: EdgeCell, row: Ends & { field: number }): EdgePatchRow[] =>
  cell.patches.size === 0
    ? []
    : [...cell.patches].filter(
        (patch) =>
          patch.field === row.field &&
          patch.downstreamId === row.downstreamId &&
          patch.upstreamId === row.upstreamId
      )

export function addPatch(set: WorkingSet, cell: EdgeCell, patch: EdgePatchRow): void {
  cell.patches.add(patch)
  set.undo.push(() => {
    cell.patches.delete(patch)
  })
}

export function dropPatches(set: WorkingSet, cell: EdgeCell, gone: readonly EdgePatchRow[]): void {
  for (const patch of gone) {
    cell.patches.delete(patch)
    set.undo.push(() => {
      cell.patches.add(patch)
    })
  }
}
