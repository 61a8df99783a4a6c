/**
 * Aspects as folds of their changes: a change goes to its place in the order, the newer ones are replayed over it.
 *
 * Holds the rows of the aspects that one transaction touches, tells whether a change altered the current value, and
 * knows in the end which rows have to be written.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { aspectTemplate, prepareAspect } from '../../model/aspect-registry.ts'
import type { JsonObject, JsonValue, PatchDocument, WriteHeaders } from '../../model/changes.ts'
import { equalJson } from '../../model/equal-json.ts'
import { applyPatch } from '../../model/json-patch.ts'
import { isObject } from '../../model/json-values.ts'
import { isLineageAspect } from '../../model/lineage-fields.ts'
import { patchLineageRest } from '../../model/lineage-rest.ts'
import { beginning, compareOrder, type Order } from '../../model/order.ts'
import { TooMuchPatching, type PatchBudget } from '../../model/patch-work.ts'
import { checkConditions } from '../../model/write-conditions.ts'
import type { Tx } from '../../db/database.ts'
import {
  findAspectHistory,
  findAspects,
  trimAspectHistory,
  writeAspectHistory,
  writeAspects,
  type AspectKey,
  type AspectRow
} from '../../store/aspects.ts'
import type { WorkingSet } from './working-set.ts'

export type AspectChange =
  /** `restores`: of which change the value is the work, where an undo writes it; 0 is none. */
  | { kind: 'put'; value: JsonObject; restores?: number }
  | { kind: 'patch'; patch: PatchDocument }
  /** Fields to set; null takes one away. */
  | { kind: 'merge'; fields: JsonObject }
  | { kind: 'delete'; restores?: number }
  /** What one record does to the aspect in more than one step. */
  | { kind: 'several'; changes: AspectChange[] }

export type AspectCell = AspectKey & {
  entityType: string
  /** Oldest first, one for each record; the last is the current one. Rows are never altered, only replaced. */
  rows: AspectRow[]
  storedCurrent: AspectRow | null
  storedHistory: Set<AspectRow>
  /** Whether edges have counted as a version already. */
  isTouched: boolean
}

export type AspectCells = Map<string, AspectCell>

export const aspectCellKey = (entityId: number, aspectName: string): string => `${entityId} ${aspectName}`

export const currentRow = (cell: AspectCell): AspectRow | null => cell.rows.at(-1) ?? null
export const currentValue = (cell: AspectCell): JsonObject | null => currentRow(cell)?.value ?? null

/** Reads the aspects, and the history of those that a change older than the current row will touch. `absent` are known not to be there. */
export async function loadAspectCells(
  tx: Tx,
  set: WorkingSet,
  wanted: readonly (AspectKey & { oldest: Order })[],
  absent: readonly AspectKey[] = []
): Promise<AspectCells> {
  const cells: AspectCells = new Map()
  const add = ({ entityId, aspectName }: AspectKey): void => {
    const key = aspectCellKey(entityId, aspectName)
    const entityType = set.byId.get(entityId)?.entityType ?? ''
    if (!cells.has(key))
      cells.set(key, {
        entityId,
        aspectName,
        entityType,
        rows: [],
        storedCurrent: null,
        storedHistory: new Set(),
        isTouched: false
      })
  }
  const oldest = new Map<string, Order>()
  for (const { entityId, aspectName, oldest: order } of wanted) {
    const key = aspectCellKey(entityId, aspectName)
    const known = oldest.get(key)
    if (!known || compareOrder(order, known) < 0) oldest.set(key, order)
    add({ entityId, aspectName })
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
  for (const key of absent) add(key)
  return cells
}

export type AspectAuthor = { systemMetadata: JsonObject | null }

/**
 * Applies one change at its place and says whether the current value is another now.
 * Throws BAD_REQUEST, VALIDATION_FAILED or PRECONDITION_FAILED where a patch does not fit the value it meets.
 */
export function applyAspectChange(
  set: WorkingSet,
  cell: AspectCell,
  change: AspectChange,
  order: Order,
  author: AspectAuthor
): boolean {
  keepForUndo(set, cell)
  const before = currentRow(cell)
  const place = set.guards.keepsOrder && set.guards.replaysHistory ? placeOf(cell, order) : cell.rows.length
  const last = cell.rows[place - 1]
  // What one record does is one step of the history, and one version.
  const isSameRecord = last !== undefined && compareOrder(last, order) === 0
  const older = cell.rows.slice(0, isSameRecord ? place - 1 : place)
  const previous = older.at(-1) ?? null
  const inStep = isSameRecord ? together(restored(last), change, last.value) : change
  const value = evaluate(cell, change, last?.value ?? null, set.patchBudget)
  const row = {
    entityId: cell.entityId,
    aspectName: cell.aspectName,
    version: 0,
    ...order,
    ...stored(inStep),
    value,
    systemMetadata: author.systemMetadata,
    actor: set.actor.urn,
    createdAt: set.now
  }
  const newer = cell.rows.slice(place)
  cell.rows = [...older, { ...row, version: versionAfter(previous, value, 0) }]
  for (const later of newer) replay(set, cell, later)
  const hasChanged = !equalJson(before?.value ?? null, currentValue(cell))
  countUp(cell)
  return hasChanged
}

/** A value that is the one before it has its version too; another counts up, and never below what it was shown as. */
const versionAfter = (previous: AspectRow | null, value: JsonObject | null, shown: number): number =>
  equalJson(value, previous?.value ?? null)
    ? (previous?.version ?? 0)
    : Math.max(shown, (previous?.version ?? 0) + 1)

/** A newer change makes its value anew. Where it no longer fits what it meets it has no effect: it was accepted long ago. */
function replay(set: WorkingSet, cell: AspectCell, later: AspectRow): void {
  const previous = cell.rows.at(-1) ?? null
  const value = evaluateAgain(cell, restored(later), previous?.value ?? null, set.patchBudget)
  cell.rows.push({ ...later, value, version: versionAfter(previous, value, later.version) })
}

/** Two values are never shown under one version. */
function countUp(cell: AspectCell): void {
  const current = currentRow(cell)
  const shown = cell.storedCurrent
  if (!current || !shown || current.version > shown.version || equalJson(current.value, shown.value)) return
  cell.rows = [...cell.rows.slice(0, -1), { ...current, version: shown.version + 1 }]
}

/** After all that are older or of the same record. */
function placeOf(cell: AspectCell, order: Order): number {
  let place = cell.rows.length
  while (place > 0 && compareOrder(cell.rows[place - 1] ?? beginning, order) > 0) place -= 1
  return place
}

/** Throws BAD_REQUEST, VALIDATION_FAILED, LIMIT_EXCEEDED or PRECONDITION_FAILED where a patch does not fit the value it meets, and TooMuchPatching. */
export function evaluate(
  cell: Pick<AspectCell, 'aspectName' | 'entityType'>,
  change: AspectChange,
  previous: JsonObject | null,
  budget: PatchBudget | null
): JsonObject | null {
  const { aspectName, entityType } = cell
  if (change.kind === 'put') return change.value
  if (change.kind === 'delete') return null
  if (change.kind === 'several')
    return change.changes.reduce((value, each) => evaluate(cell, each, value, budget), previous)
  if (change.kind === 'patch') {
    if (isLineageAspect(aspectName))
      return patchLineageRest(entityType, aspectName, previous, change.patch, budget)
    return prepareAspect(entityType, aspectName, applyPatch(aspectName, previous, change.patch, budget))
  }
  const merged: JsonObject = { ...(previous ?? aspectTemplate(aspectName)) }
  for (const [name, value] of Object.entries(change.fields)) {
    if (value === null) delete merged[name]
    else merged[name] = value
  }
  return merged
}

/** Makes a value again from a change that was accepted before: where it does not fit what it meets, nothing changes. */
export function evaluateAgain(
  cell: Pick<AspectCell, 'aspectName' | 'entityType'>,
  change: AspectChange,
  previous: JsonObject | null,
  budget: PatchBudget | null
): JsonObject | null {
  try {
    return evaluate(cell, change, previous, budget)
  } catch (error) {
    if (error instanceof CatalogError && !(error instanceof TooMuchPatching)) return previous
    throw error
  }
}

/** Two steps of one record as one; where the first leaves a value whatever came before, it need not be kept. */
function together(first: AspectChange, second: AspectChange, between: JsonObject | null): AspectChange {
  if (second.kind === 'put') return second
  // That the first made its entity counts, whatever becomes of the aspect.
  if (second.kind === 'delete')
    return makesEntity(first) && second.restores === undefined
      ? { kind: 'several', changes: [{ kind: 'put', value: {} }, second] }
      : second
  if (first.kind === 'put' && between)
    return { kind: 'several', changes: [{ kind: 'put', value: between }, second] }
  return { kind: 'several', changes: [...(first.kind === 'several' ? first.changes : [first]), second] }
}

function stored(change: AspectChange): { kind: AspectRow['kind']; change: JsonValue } {
  if (change.kind === 'patch') return { kind: 'patch', change: change.patch as unknown as JsonObject }
  if (change.kind === 'merge') return { kind: 'merge', change: change.fields }
  if (change.kind === 'several') return { kind: 'several', change: change.changes as unknown as JsonValue }
  return { kind: change.kind, change: change.restores === undefined ? null : { restores: change.restores } }
}

export function restored(row: AspectRow): AspectChange {
  if (row.kind === 'patch') return { kind: 'patch', patch: row.change as unknown as PatchDocument }
  if (row.kind === 'merge') return { kind: 'merge', fields: row.change as JsonObject }
  if (row.kind === 'several') return { kind: 'several', changes: row.change as unknown as AspectChange[] }
  const restores = restoresOf(row)
  const mark = restores === null ? {} : { restores }
  return row.kind === 'put' && row.value
    ? { kind: 'put', value: row.value, ...mark }
    : { kind: 'delete', ...mark }
}

/** Of which change the row of an undo restores the work. */
function restoresOf({ kind, change }: AspectRow): number | null {
  return (kind === 'put' || kind === 'delete') && isObject(change) && typeof change.restores === 'number'
    ? change.restores
    : null
}

/**
 * Of each row the seq of the change whose work its value is. What a load leaves as it found it is not its work, whatever its
 * records said in between, and an undo restores another's.
 */
export function seqsOfChanges(rows: readonly AspectRow[]): number[] {
  const seqs: number[] = []
  let begin = 0
  for (const [index, row] of rows.entries()) {
    if (rows[begin]?.seq !== row.seq) begin = index
    const isAsFound = begin === 0 ? row.value === null : equalJson(row.value, rows[begin - 1]?.value ?? null)
    seqs.push(restoresOf(row) ?? (isAsFound ? (seqs[begin - 1] ?? 0) : row.seq))
  }
  return seqs
}

/** Whether a row says what the one before it said. Of what came before the first that is kept nothing is known but that deleting nothing is none. */
const isNoChange = (rows: readonly AspectRow[], index: number): boolean =>
  index === 0
    ? rows[0]?.value === null
    : equalJson(rows[index]?.value ?? null, rows[index - 1]?.value ?? null)

/** The rows that are changes of the load of these seqs, by their places. */
export const changesOfLoad = (rows: readonly AspectRow[], seqs: readonly number[]): number[] =>
  rows.flatMap((row, index) =>
    seqs.includes(row.seq) && (restoresOf(row) !== null || !isNoChange(rows, index)) ? [index] : []
  )

/** Counts a change of the edges of an aspect as a version. */
export function countEdgeChange(set: WorkingSet, cell: AspectCell): void {
  const current = currentRow(cell)
  if (!current?.value || cell.isTouched) return
  keepForUndo(set, cell)
  cell.isTouched = true
  cell.rows = [
    ...cell.rows.slice(0, -1),
    { ...current, version: current.version + 1, actor: set.actor.urn, createdAt: set.now }
  ]
}

/** Makes an aspect exist where only edges of it are stated; false where it does already. */
export function existForEdges(set: WorkingSet, cell: AspectCell, order: Order): boolean {
  if (
    currentValue(cell) ||
    !applyAspectChange(set, cell, { kind: 'merge', fields: {} }, order, { systemMetadata: null })
  )
    return false
  // The edges that it is made for are no second version.
  cell.isTouched = true
  return true
}

/** Whether a change brings its entity into existence: one that deletes, or is there for edges that were given by their ends, does not. */
export function makesEntity(change: AspectChange): boolean {
  if (change.kind === 'several') return change.changes.some(makesEntity)
  return change.kind === 'merge' ? Object.keys(change.fields).length > 0 : change.kind !== 'delete'
}

function keepForUndo(set: WorkingSet, cell: AspectCell): void {
  const { rows, isTouched } = cell
  set.undo.push(() => {
    cell.rows = rows
    cell.isTouched = isTouched
  })
}

/** Throws VALIDATION_FAILED or PRECONDITION_FAILED where the stored aspect is not what the change was made for. */
export function checkAspectCondition(
  cell: AspectCell,
  changeType: string,
  headers: WriteHeaders | undefined
): void {
  const current = currentRow(cell)
  if (changeType === 'CREATE' && current?.value) {
    throw new CatalogError('VALIDATION_FAILED', 'Cannot perform CREATE since the aspect already exists.', {
      field: 'changeType'
    })
  }
  if (headers)
    checkConditions(
      headers,
      current?.value ? { version: current.version, modifiedAt: current.createdAt } : null
    )
}

/** Writes what has changed: the current rows, and the past ones that are new or were altered by a late change. */
export async function writeAspectCells(tx: Tx, set: WorkingSet, cells: AspectCells): Promise<void> {
  const current: AspectRow[] = []
  const history: AspectRow[] = []
  const kept: (AspectKey & { version: number })[] = []
  for (const cell of cells.values()) {
    const rows = worthWriting(set, cell)
    const last = rows.at(-1)
    if (!last || last === cell.storedCurrent) continue
    current.push(last)
    noteChange(set, cell, last)
    history.push(...rows.slice(0, -1).filter((row) => !cell.storedHistory.has(row)))
    const oldest = last.version - limits.aspectVersionsKept + 1
    if (oldest > 1) kept.push({ entityId: cell.entityId, aspectName: cell.aspectName, version: oldest })
  }
  await writeAspects(tx, current)
  for (const row of current)
    if (row.aspectName === 'domainProperties') set.graph.push({ kind: 'described', id: row.entityId })
  await writeAspectHistory(tx, history)
  await trimAspectHistory(tx, kept, set.older.horizonSeq)
}

/** A domain that came to exist is taken back as a whole. */
function noteChange(
  { journal, seq }: WorkingSet,
  { entityId, aspectName, storedCurrent }: AspectCell,
  { value }: AspectRow
): void {
  if (equalJson(value, storedCurrent?.value ?? null)) return
  if (aspectName === 'domainProperties' && !storedCurrent?.value)
    journal?.note({ kind: 'madeDomain', entityId })
  else
    journal?.note({
      kind: 'aspect',
      entityId,
      aspectName,
      was: !storedCurrent?.value ? 'none' : storedCurrent.seq === seq ? 'own' : 'kept'
    })
}

/** A new change that changed nothing is worth a row only where something older may yet come before it. */
function worthWriting(set: WorkingSet, cell: AspectCell): readonly AspectRow[] {
  if (set.guards.raisesOrder && set.older.isDestructive) return cell.rows
  const isStored = (row: AspectRow) =>
    [...cell.storedHistory, ...(cell.storedCurrent ? [cell.storedCurrent] : [])].some(
      (known) => compareOrder(known, row) === 0
    )
  return cell.rows.filter((row, index) => {
    const previous = cell.rows[index - 1] ?? null
    return (
      row.version !== (previous?.version ?? 0) ||
      !equalJson(row.value, previous?.value ?? null) ||
      restoresOf(row) !== null ||
      isStored(row)
    )
  })
}
