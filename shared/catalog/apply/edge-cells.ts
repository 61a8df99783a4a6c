/**
 * The statements of one aspect of one owner, as far as a transaction touches them: adds, removes and replaces edges
 * where that is newer than what is stored, and knows in the end which rows have to be written.
 */
import type { JsonObject } from '../../model/changes.ts'
import { equalJson } from '../../model/equal-json.ts'
import { applyPatch } from '../../model/json-patch.ts'
import { explicitAttributes } from '../../model/lineage-document.ts'
import type { PatchOperation } from '../../model/changes.ts'
import { isNewer, type Order } from '../../model/order.ts'
import type { Tx } from '../../db/database.ts'
import {
  deleteStatements, insertStatements, statementsOfEdges, statementsOfOwners, tombstonesOfEdges, updateStatements, watermarksOfOwners, writeTombstones, writeWatermarks,
  type EdgeKey, type OwnerAspect, type StatementRow, type TombstoneRow, type WatermarkRow
} from '../../store/statements.ts'
import { isDeletedAfter, urnOf, type WorkingSet } from './working-set.ts'

export type EdgeCell = OwnerAspect & {
  rows: Map<string, StatementRow>
  byEdge: Map<string, Set<string>>
  original: Map<string, StatementRow>
  tombstones: Map<string, Order>
  /** By code (of the aspect, or of one list) and source; source 0 is all of them. */
  watermarks: Map<string, Order>
  freshTombstones: Map<string, TombstoneRow>
  freshWatermarks: Map<string, WatermarkRow>
}

export type EdgeCells = Map<string, EdgeCell>

/** An entry of a list with its ends resolved. */
export type ResolvedEntry = { fieldCode: number, downstreamId: number, upstreamId: number, recordKey: number, position: number, attributes: JsonObject | null }

export const edgeCellKey = (ownerId: number, aspectCode: number): string => `${ownerId} ${aspectCode}`
const edgeKey = (downstreamId: number, upstreamId: number): string => `${downstreamId} ${upstreamId}`
const rowKey = (row: Pick<StatementRow, 'downstreamId' | 'upstreamId' | 'field' | 'sourceId' | 'recordKey'>): string =>
  `${row.downstreamId} ${row.upstreamId} ${row.field} ${row.sourceId} ${row.recordKey}`

/** Reads whole aspects where something replaces them, and single edges elsewhere: one upstream more is one row read. */
export async function loadEdgeCells(tx: Tx, whole: readonly OwnerAspect[], single: readonly EdgeKey[]): Promise<EdgeCells> {
  const cells: EdgeCells = new Map()
  const cellOf = ({ ownerId, aspectCode }: OwnerAspect): EdgeCell => {
    const key = edgeCellKey(ownerId, aspectCode)
    const known = cells.get(key)
    if (known) return known
    const fresh: EdgeCell = { ownerId, aspectCode, rows: new Map(), byEdge: new Map(), original: new Map(), tombstones: new Map(), watermarks: new Map(), freshTombstones: new Map(), freshWatermarks: new Map() }
    cells.set(key, fresh)
    return fresh
  }
  const wholeKeys = new Set(whole.map((cell) => edgeCellKey(cellOf(cell).ownerId, cell.aspectCode)))
  const distinct = new Map(single.map((edge) => [`${edgeCellKey(cellOf(edge).ownerId, edge.aspectCode)} ${edgeKey(edge.downstreamId, edge.upstreamId)}`, edge]))
  const edges = [...distinct.values()]
  const rows = [
    ...await statementsOfOwners(tx, [...wholeKeys].flatMap((key) => cells.get(key) ?? [])),
    ...await statementsOfEdges(tx, edges.filter((edge) => !wholeKeys.has(edgeCellKey(edge.ownerId, edge.aspectCode))))
  ]
  for (const row of rows) {
    const cell = cellOf({ ownerId: row.ownerId, aspectCode: row.field >> 4 })
    place(cell, row)
    cell.original.set(rowKey(row), row)
  }
  for (const { downstreamId, upstreamId, seq, line, ...owner } of await tombstonesOfEdges(tx, edges)) cellOf(owner).tombstones.set(edgeKey(downstreamId, upstreamId), { seq, line })
  for (const { code, sourceId, seq, line, ...owner } of await watermarksOfOwners(tx, [...cells.values()])) cellOf(owner).watermarks.set(`${code} ${sourceId}`, { seq, line })
  return cells
}

function place(cell: EdgeCell, row: StatementRow): void {
  const key = rowKey(row)
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

function put(set: WorkingSet, cell: EdgeCell, row: StatementRow): void {
  const before = cell.rows.get(rowKey(row))
  place(cell, row)
  set.undo.push(() => before ? place(cell, before) : displace(cell, row))
}

function take(set: WorkingSet, cell: EdgeCell, row: StatementRow): void {
  displace(cell, row)
  set.undo.push(() => place(cell, row))
}

const rowsOfEdge = (cell: EdgeCell, downstreamId: number, upstreamId: number): StatementRow[] =>
  [...cell.byEdge.get(edgeKey(downstreamId, upstreamId)) ?? []].flatMap((key) => cell.rows.get(key) ?? [])

const isKept = (set: WorkingSet, row: StatementRow, order: Order): boolean => set.guards.keepsOrder && isNewer(row, order)

/** Whether something newer has removed the edge, replaced its list, or deleted one of its ends. */
function isOvertaken(set: WorkingSet, cell: EdgeCell, entry: ResolvedEntry, order: Order): boolean {
  if (!set.guards.keepsOrder) return false
  const watermarks = [`${cell.aspectCode} 0`, `${cell.aspectCode} ${set.sourceId}`, `${entry.fieldCode} 0`]
  return isNewer(cell.tombstones.get(edgeKey(entry.downstreamId, entry.upstreamId)), order)
    || watermarks.some((key) => isNewer(cell.watermarks.get(key), order))
    || [entry.downstreamId, entry.upstreamId, cell.ownerId].some((id) => isDeletedAfter(set, urnOf(set, id), order))
}

/** Whether raising the order of a row that says the same is worth a write. */
const mustRaise = (set: WorkingSet): boolean => set.guards.raisesOrder && set.older.isDestructive

/** States an entry as written. Says whether that changed anything but the order. */
export function stateEntry(set: WorkingSet, cell: EdgeCell, entry: ResolvedEntry, order: Order): boolean {
  if (isOvertaken(set, cell, entry, order)) return false
  const { fieldCode: field, ...ends } = entry
  const row: StatementRow = { ...ends, field, ownerId: cell.ownerId, sourceId: set.sourceId, ...order }
  const known = cell.rows.get(rowKey(row))
  if (known && isKept(set, known, order)) return false
  if (known && saysTheSame(known, row)) {
    if (mustRaise(set)) put(set, cell, row)
    return false
  }
  put(set, cell, row)
  return true
}

/** States an edge by its ends alone: one that this source states in the aspect already, in whichever list, stays as it is. */
export function stateEdge(set: WorkingSet, cell: EdgeCell, entry: ResolvedEntry, order: Order): boolean {
  const known = rowsOfEdge(cell, entry.downstreamId, entry.upstreamId).filter((row) => row.sourceId === set.sourceId)
  if (known.length === 0) return stateEntry(set, cell, entry, order)
  if (mustRaise(set)) for (const row of known) if (!isKept(set, row, order)) put(set, cell, { ...row, ...order })
  return false
}

const saysTheSame = (a: StatementRow, b: StatementRow): boolean => a.position === b.position && equalJson(a.attributes, b.attributes)

/** Removes an edge from the aspect, whoever states it. */
export function removeEdge(set: WorkingSet, cell: EdgeCell, downstreamId: number, upstreamId: number, order: Order): boolean {
  const gone = rowsOfEdge(cell, downstreamId, upstreamId).filter((row) => !isKept(set, row, order))
  for (const row of gone) take(set, cell, row)
  rememberRemoval(set, cell, downstreamId, upstreamId, order)
  return gone.length > 0
}

/** Removes every pair that ends in a column. The cell must have been read whole. */
export function removeInto(set: WorkingSet, cell: EdgeCell, fieldCode: number, downstreamId: number, order: Order): boolean {
  const ends = new Set([...cell.rows.values()].filter((row) => row.field === fieldCode && row.downstreamId === downstreamId).map((row) => row.upstreamId))
  return [...ends].map((upstreamId) => removeEdge(set, cell, downstreamId, upstreamId, order)).some(Boolean)
}

function rememberRemoval(set: WorkingSet, cell: EdgeCell, downstreamId: number, upstreamId: number, order: Order): void {
  const key = edgeKey(downstreamId, upstreamId)
  const known = cell.tombstones.get(key)
  if (!set.guards.keepsOrder || !set.older.isUnfinished || isNewer(known, order)) return
  const fresh = cell.freshTombstones.get(key)
  cell.tombstones.set(key, order)
  cell.freshTombstones.set(key, { ownerId: cell.ownerId, aspectCode: cell.aspectCode, downstreamId, upstreamId, ...order })
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
  | { of: 'aspect', sourceId: number | null }
  | { of: 'list', fieldCode: number }

/** Replaces what an aspect, one source of it, or one list of it states. The cell must have been read whole. */
export function replaceEdges(set: WorkingSet, cell: EdgeCell, replaced: Replaced, entries: readonly ResolvedEntry[], order: Order): boolean {
  const isMeant = (row: StatementRow) => replaced.of === 'list' ? row.field === replaced.fieldCode : replaced.sourceId === null || row.sourceId === replaced.sourceId
  const stated = new Set(entries.map((entry) => rowKey({ ...entry, field: entry.fieldCode, sourceId: set.sourceId })))
  let hasChanged = false
  for (const row of cell.rows.values()) {
    if (!isMeant(row) || isKept(set, row, order) || stated.has(rowKey(row))) continue
    take(set, cell, row)
    hasChanged = true
  }
  rememberReplacement(set, cell, replaced, order)
  for (const entry of entries) if (stateEntry(set, cell, entry, order)) hasChanged = true
  return hasChanged
}

function rememberReplacement(set: WorkingSet, cell: EdgeCell, replaced: Replaced, order: Order): void {
  const code = replaced.of === 'list' ? replaced.fieldCode : cell.aspectCode
  const sourceId = replaced.of === 'aspect' ? replaced.sourceId ?? 0 : 0
  const key = `${code} ${sourceId}`
  const known = cell.watermarks.get(key)
  if (!set.guards.keepsOrder || !set.older.isUnfinished || isNewer(known, order)) return
  const fresh = cell.freshWatermarks.get(key)
  cell.watermarks.set(key, order)
  cell.freshWatermarks.set(key, { ownerId: cell.ownerId, aspectCode: cell.aspectCode, code, sourceId, ...order })
  set.undo.push(() => {
    restore(cell.watermarks, key, known)
    restore(cell.freshWatermarks, key, fresh)
  })
}

/** Changes what an edge of a list says beside its ends; an edge that is not stated is left alone. */
export function patchEdgeAttributes(set: WorkingSet, cell: EdgeCell, fieldCode: number, downstreamId: number, upstreamId: number, patch: PatchOperation, order: Order): boolean {
  let hasChanged = false
  for (const row of rowsOfEdge(cell, downstreamId, upstreamId)) {
    if (row.field !== fieldCode || isKept(set, row, order)) continue
    const attributes = applyPatch('', explicitAttributes(fieldCode, row.attributes), { patch: [patch] })
    if (equalJson(attributes, explicitAttributes(fieldCode, row.attributes))) continue
    put(set, cell, { ...row, attributes, ...order })
    hasChanged = true
  }
  return hasChanged
}

/** Writes what has changed, and tells the graph which edges are stated more or less often than before. */
export async function writeEdgeCells(tx: Tx, set: WorkingSet, cells: EdgeCells): Promise<void> {
  const inserted: StatementRow[] = []
  const updated: StatementRow[] = []
  const deleted: StatementRow[] = []
  for (const cell of cells.values()) {
    for (const [key, row] of cell.rows) {
      const before = cell.original.get(key)
      if (!before) inserted.push(row)
      else if (before !== row) updated.push(row)
    }
    for (const [key, row] of cell.original) if (!cell.rows.has(key)) deleted.push(row)
  }
  await deleteStatements(tx, deleted)
  await updateStatements(tx, updated)
  await insertStatements(tx, inserted)
  await writeTombstones(tx, [...cells.values()].flatMap((cell) => [...cell.freshTombstones.values()]))
  await writeWatermarks(tx, [...cells.values()].flatMap((cell) => [...cell.freshWatermarks.values()]))
  for (const { downstreamId, upstreamId } of deleted) set.graph.push({ kind: 'unstated', downstreamId, upstreamId })
  for (const { downstreamId, upstreamId } of inserted) set.graph.push({ kind: 'stated', downstreamId, upstreamId })
}
