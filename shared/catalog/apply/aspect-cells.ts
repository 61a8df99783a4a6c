/**
 * Aspects as folds of their changes: a change goes to its place in the order, the newer ones are replayed over it.
 *
 * Holds the rows of the aspects that one transaction touches, tells whether a change altered the current value, and
 * knows in the end which rows have to be written.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { aspectTemplate, prepareAspect } from '../../model/aspect-registry.ts'
import type { JsonObject, JsonValue, PatchDocument } from '../../model/changes.ts'
import { equalJson } from '../../model/equal-json.ts'
import { applyPatch } from '../../model/json-patch.ts'
import { isLineageAspect } from '../../model/lineage-fields.ts'
import { beginning, compareOrder, type Order } from '../../model/order.ts'
import type { Tx } from '../../db/database.ts'
import { findAspectHistory, findAspects, trimAspectHistory, writeAspectHistory, writeAspects, type AspectKey, type AspectRow } from '../../store/aspects.ts'
import type { WorkingSet } from './working-set.ts'

export type AspectChange =
  | { kind: 'put', value: JsonObject }
  | { kind: 'patch', patch: PatchDocument }
  /** Fields to set; null takes one away. */
  | { kind: 'merge', fields: JsonObject }
  | { kind: 'delete' }

export type AspectCell = AspectKey & {
  entityType: string
  /** Oldest first; the last is the current one. Rows are never altered, only replaced. */
  rows: AspectRow[]
  storedCurrent: AspectRow | null
  storedHistory: Set<AspectRow>
  isTouched: boolean
}

export type AspectCells = Map<string, AspectCell>

export const aspectCellKey = (entityId: number, aspectName: string): string => `${entityId} ${aspectName}`

export const currentRow = (cell: AspectCell): AspectRow | null => cell.rows.at(-1) ?? null
export const currentValue = (cell: AspectCell): JsonObject | null => currentRow(cell)?.value ?? null

/** Reads the aspects, and the history of those that a change older than the current row will touch. */
export async function loadAspectCells(tx: Tx, set: WorkingSet, wanted: readonly (AspectKey & { oldest: Order })[]): Promise<AspectCells> {
  const cells: AspectCells = new Map()
  const oldest = new Map<string, Order>()
  for (const { entityId, aspectName, oldest: order } of wanted) {
    const key = aspectCellKey(entityId, aspectName)
    const entityType = set.byId.get(entityId)?.entityType ?? ''
    const known = oldest.get(key)
    if (!known || compareOrder(order, known) < 0) oldest.set(key, order)
    if (!cells.has(key)) cells.set(key, { entityId, aspectName, entityType, rows: [], storedCurrent: null, storedHistory: new Set(), isTouched: false })
  }
  const late: AspectKey[] = []
  for (const row of await findAspects(tx, [...cells.values()])) {
    const key = aspectCellKey(row.entityId, row.aspectName)
    const cell = cells.get(key)
    if (!cell) continue
    cell.rows = [row]
    cell.storedCurrent = row
    if (compareOrder(oldest.get(key) ?? row, row) < 0) late.push(row)
  }
  for (const row of await findAspectHistory(tx, late)) {
    const cell = cells.get(aspectCellKey(row.entityId, row.aspectName))
    cell?.rows.splice(-1, 0, row)
    cell?.storedHistory.add(row)
  }
  return cells
}

export type AspectAuthor = { systemMetadata: JsonObject | null }

/**
 * Applies one change at its place and says whether the current value is another now.
 * Throws BAD_REQUEST, VALIDATION_FAILED or PRECONDITION_FAILED where a patch does not fit the value it meets.
 */
export function applyAspectChange(set: WorkingSet, cell: AspectCell, change: AspectChange, order: Order, author: AspectAuthor): boolean {
  keepForUndo(set, cell)
  const before = currentValue(cell)
  const place = set.guards.keepsOrder && set.guards.replaysHistory ? placeOf(cell, order) : cell.rows.length
  const previous = cell.rows[place - 1] ?? null
  const value = evaluate(cell, change, previous?.value ?? null)
  if (change.kind === 'patch' && value && !isLineageAspect(cell.aspectName)) prepareAspect(cell.entityType, cell.aspectName, value)
  const isLast = place === cell.rows.length
  const isSame = equalJson(value, previous?.value ?? null)
  if (isLast && isSame && !(set.older.isDestructive && set.guards.raisesOrder)) return false
  const next = cell.rows[place]
  const version = isSame ? previous?.version ?? 0 : next ? next.version : (previous?.version ?? 0) + 1
  const row: AspectRow = { entityId: cell.entityId, aspectName: cell.aspectName, version, ...order, ...stored(change), value, systemMetadata: author.systemMetadata, actor: set.actor.urn, createdAt: set.now }
  const newer = cell.rows.slice(place)
  cell.rows = [...cell.rows.slice(0, place), row]
  for (const later of newer) replay(cell, later)
  return !equalJson(before, currentValue(cell))
}

/** A change of an aspect that has since been changed again keeps its own version; the newer ones move up by one. */
function replay(cell: AspectCell, later: AspectRow): void {
  const previous = cell.rows.at(-1) ?? null
  const value = evaluate(cell, restored(later), previous?.value ?? null)
  const version = Math.max(later.version + 1, previous?.version ?? 0)
  cell.rows.push({ ...later, value, version })
}

/** After all that are older or of the same record. */
function placeOf(cell: AspectCell, order: Order): number {
  let place = cell.rows.length
  while (place > 0 && compareOrder(cell.rows[place - 1] ?? beginning, order) > 0) place -= 1
  return place
}

export function evaluate(cell: Pick<AspectCell, 'aspectName'>, change: AspectChange, previous: JsonObject | null): JsonObject | null {
  if (change.kind === 'put') return change.value
  if (change.kind === 'delete') return null
  if (change.kind === 'patch') return applyPatch(cell.aspectName, previous, change.patch)
  const merged: JsonObject = { ...(previous ?? aspectTemplate(cell.aspectName)) }
  for (const [name, value] of Object.entries(change.fields)) {
    if (value === null) delete merged[name]
    else merged[name] = value
  }
  return merged
}

function stored(change: AspectChange): { kind: AspectRow['kind'], change: JsonValue } {
  if (change.kind === 'patch') return { kind: 'patch', change: change.patch as unknown as JsonObject }
  if (change.kind === 'merge') return { kind: 'merge', change: change.fields }
  return { kind: change.kind, change: null }
}

export function restored(row: AspectRow): AspectChange {
  if (row.kind === 'patch') return { kind: 'patch', patch: row.change as unknown as PatchDocument }
  if (row.kind === 'merge') return { kind: 'merge', fields: row.change as JsonObject }
  return row.kind === 'put' && row.value ? { kind: 'put', value: row.value } : { kind: 'delete' }
}

/** Counts a change of the edges of an aspect as a version, and makes the aspect exist where only edges were stated so far. */
export function touchForEdges(set: WorkingSet, cell: AspectCell, order: Order, hasChanged: boolean): void {
  const current = currentRow(cell)
  if (current?.value && (!hasChanged || cell.isTouched)) return
  keepForUndo(set, cell)
  cell.isTouched = true
  if (current?.value) {
    cell.rows = [...cell.rows.slice(0, -1), { ...current, version: current.version + 1, actor: set.actor.urn, createdAt: set.now }]
    return
  }
  // Below every order, so that a document stated before or after this edge is the newer one.
  const at = current ? order : beginning
  cell.rows = [...cell.rows, {
    entityId: cell.entityId, aspectName: cell.aspectName, version: (current?.version ?? 0) + 1, ...at, kind: 'merge', change: {},
    value: aspectTemplate(cell.aspectName), systemMetadata: null, actor: set.actor.urn, createdAt: set.now
  }]
}

function keepForUndo(set: WorkingSet, cell: AspectCell): void {
  const { rows, isTouched } = cell
  set.undo.push(() => {
    cell.rows = rows
    cell.isTouched = isTouched
  })
}

/** Throws VALIDATION_FAILED or PRECONDITION_FAILED where the stored aspect is not what the change was made for. */
export function checkAspectCondition(cell: AspectCell, changeType: string, ifVersionMatch: number | undefined): void {
  const current = currentRow(cell)
  if (changeType === 'CREATE' && current?.value) {
    throw new CatalogError('VALIDATION_FAILED', 'Cannot perform CREATE since the aspect already exists.', { field: 'changeType' })
  }
  if (ifVersionMatch === undefined) return
  const version = current?.value ? current.version : -1
  if (version !== ifVersionMatch) {
    throw new CatalogError('PRECONDITION_FAILED', `Expected version ${ifVersionMatch}, actual version ${version}.`, { field: 'If-Version-Match' })
  }
}

/** Writes what has changed: the current rows, and the past ones that are new or were altered by a late change. */
export async function writeAspectCells(tx: Tx, set: WorkingSet, cells: AspectCells): Promise<void> {
  const current: AspectRow[] = []
  const history: AspectRow[] = []
  const kept: (AspectKey & { version: number })[] = []
  for (const cell of cells.values()) {
    const last = currentRow(cell)
    if (!last || last === cell.storedCurrent) continue
    current.push(last)
    history.push(...cell.rows.slice(0, -1).filter((row) => !cell.storedHistory.has(row)))
    const oldest = last.version - limits.aspectVersionsKept + 1
    if (oldest > 1) kept.push({ entityId: cell.entityId, aspectName: cell.aspectName, version: oldest })
  }
  await writeAspects(tx, current)
  await writeAspectHistory(tx, history)
  await trimAspectHistory(tx, kept, set.older.horizonSeq)
}
